/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: what is recorded, but for CUDA. */

#include "src/cli/profile/switches.h"

#define AT(member) offsetof (LnsProfileOptions, member)

#define PLUGINS                                                                                    \
 "plugins are not loaded: counters and ranges that a program makes with NVTX are recorded"

static const LnsOption switches_trace_options[] = {
  { .name = "trace",
    .letter = 't',
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .offset = AT (trace),
    .choices = "cuda,nvtx,cublas,cublas-verbose,cudnn,mpi,none",
    .open_choices = true,
    .default_text = "cuda,nvtx",
    .help = "What to record: CUDA calls and what the GPU did; ranges, marks and counters of NVTX; "
            "calls of cuBLAS (with those it makes itself: cublas-verbose) and cuDNN, which turn "
            "CUDA on; calls of MPI; or nothing but the process." },
  { .name = "nvtx",
    .kind = LNS_OPTION_FLAG,
    .offset = AT (nvtx),
    .help = "The same as nvtx in --trace." },
  { .name = "mpi",
    .kind = LNS_OPTION_FLAG,
    .offset = AT (mpi),
    .help = "The same as mpi in --trace." },
  { .name = "nvtx-domain-include",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (nvtx_domain_include),
    .value_name = "default|NAME,…",
    .help =
        "Record these NVTX domains alone; default is the one without a name. A backslash makes a "
        "comma, or the word default, part of a name." },
  { .name = "nvtx-domain-exclude",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (nvtx_domain_exclude),
    .value_name = "default|NAME,…",
    .help = "Record all NVTX domains but these." },
  { .name = "mpi-impl",
    .kind = LNS_OPTION_CHOICE,
    .choices = "openmpi,mpich",
    .help = "Which MPI the program uses.",
    .instead = "one library records each MPI: which one it is need not be said" },
  { .name = "nccl-trace",
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .choices = "none,all,default,api,api-coll,api-group,api-p2p,group,coll,p2p,kernel-launch,rt,"
               "gpu,ce-coll,ce-sync,ce-batch,proxy-op,proxy-step,proxy-counters",
    .value_name = "none|all|default|PART,…",
    .default_text = "none",
    .help = "What of NCCL to record.",
    .instead = LNS_NO_NCCL },
  { .name = "python-functions-trace",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (python_functions_trace),
    .value_name = "FILE",
    .help =
        "Make ranges of the calls of the Python functions that a JSON file lists, without a change "
        "of the program: [{\"module\": \"package.module\", \"functions\": [\"function\", "
        "\"Class.method\"], \"domain\": …, \"category\": …, \"color\": \"0x008000\"}]. CPython 3.9 "
        "to 3.15." },
  { .name = "pytorch",
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .offset = AT (pytorch),
    .choices = "none,autograd-nvtx,autograd-shapes-nvtx,functions-trace,functions-trace-shapes",
    .default_text = "none",
    .help = "Make ranges of what PyTorch does: each operator and its backward pass, these with the "
            "shapes of their tensors, calls of well-known functions." },
  { .name = "dask",
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .offset = AT (dask),
    .choices = "none,functions-trace",
    .default_text = "none",
    .help = "Make ranges of calls of well-known functions of Dask." },
  { .name = "enable",
    .kind = LNS_OPTION_LIST,
    .value_name = "PLUGIN[,ARGUMENT…]",
    .help = "Load a plugin.",
    .instead = PLUGINS },
};

const LnsOptionGroup lns_profile_switches_trace =
    LNS_OPTION_GROUP ("trace", "What is recorded", switches_trace_options);
