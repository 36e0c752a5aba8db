/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: what is recorded, except CUDA. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

#define AT(member) offsetof (LnsProfileOptions, member)

#define PLUGINS                                                                                    \
 N_ ("plugins are not supported; counters and ranges that a program makes with NVTX are recorded")

static const LnsOption switches_trace_options[] = {
  { .name = "trace",
    .letter = 't',
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .offset = AT (trace),
    .choices = "cuda,nvtx,cublas,cublas-verbose,cudnn,mpi,none",
    .open_choices = true,
    .default_text = "cuda,nvtx",
    .help = N_ (
        "Select what is recorded. `cuda`: CUDA calls and what the GPU did; `nvtx`: ranges, marks "
        "and "
        "counters; `cublas` and `cudnn`: calls of these libraries, and CUDA; `cublas-verbose`: "
        "also the calls that cuBLAS makes itself; `mpi`: calls of MPI; `none`: only the "
        "process.") },
  { .name = "nvtx",
    .kind = LNS_OPTION_FLAG,
    .offset = AT (nvtx),
    .help = N_ ("Same as nvtx in --trace.") },
  { .name = "mpi",
    .kind = LNS_OPTION_FLAG,
    .offset = AT (mpi),
    .help = N_ ("Same as mpi in --trace.") },
  { .name = "nvtx-domain-include",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (nvtx_domain_include),
    .value_name = "default|NAME,…",
    .help = N_ ("Record only these NVTX domains. `default` is the domain without a name. Put a "
                "backslash before a comma, or before the word default, that is part of a name.") },
  { .name = "nvtx-domain-exclude",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (nvtx_domain_exclude),
    .value_name = "default|NAME,…",
    .help = N_ ("Record all NVTX domains except these.") },
  { .name = "mpi-impl",
    .kind = LNS_OPTION_CHOICE,
    .choices = "openmpi,mpich",
    .help = N_ ("Select the MPI library."),
    .instead = N_ ("ignored; Lanescope detects the MPI library") },
  { .name = "nccl-trace",
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .choices = "none,all,default,api,api-coll,api-group,api-p2p,group,coll,p2p,kernel-launch,rt,"
               "gpu,ce-coll,ce-sync,ce-batch,proxy-op,proxy-step,proxy-counters",
    .value_name = "none|all|default|PART,…",
    .default_text = "none",
    .help = N_ ("Record the inner steps of NCCL."),
    .instead = LNS_NO_NCCL },
  { .name = "python-functions-trace",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (python_functions_trace),
    .value_name = "FILE",
    .help =
        N_ ("Make a range of each call of the Python functions that a JSON file lists. The program "
            "is not changed. The file holds [{\"module\": \"package.module\", \"functions\": "
            "[\"function\", \"Class.method\"], \"domain\": …, \"category\": …, \"color\": "
            "\"0x008000\"}]. Works with CPython 3.9 to 3.15.") },
  { .name = "pytorch",
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .offset = AT (pytorch),
    .choices = "none,autograd-nvtx,autograd-shapes-nvtx,functions-trace,functions-trace-shapes",
    .default_text = "none",
    .help = N_ ("Make ranges of PyTorch operators and their backward passes (`autograd-nvtx`), of "
                "these with the shapes of their tensors (`autograd-shapes-nvtx`), or of calls of "
                "well-known functions (`functions-trace`, `functions-trace-shapes`).") },
  { .name = "dask",
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .offset = AT (dask),
    .choices = "none,functions-trace",
    .default_text = "none",
    .help = N_ ("Make ranges of calls of well-known Dask functions.") },
  { .name = "enable",
    .kind = LNS_OPTION_LIST,
    .value_name = "PLUGIN[,ARGUMENT…]",
    .help = N_ ("Load a plugin."),
    .instead = PLUGINS },
};

const LnsOptionGroup lns_profile_switches_trace =
    LNS_OPTION_GROUP ("trace", N_ ("What is recorded"), switches_trace_options);
