/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: what is recorded, except CUDA. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

#define PLUGINS                                                                                    \
 N_ ("plugins are not supported; counters and ranges that a program makes with NVTX are recorded")

static const LnsOption switches_trace_options[] = {
  { LNS_PROFILE_SWITCH ("trace", LIST, trace), .letter = 't', .is_whole = true,
    .choices = "cuda,nvtx,cublas,cublas-verbose,cudnn,cusparse,cusparse-verbose,cusolver,"
               "cusolver-verbose,mpi,nccl,osrt,none",
    .open_choices = true, .value_name = "NAME,…", .default_text = "cuda,nvtx",
    .help = N_ (
        "Select what is recorded. `cuda`: CUDA calls and what the GPU did; `nvtx`: ranges, marks "
        "and "
        "counters; `cublas`, `cudnn`, `cusparse` and `cusolver`: calls of these libraries, and "
        "CUDA; `cublas-verbose`, `cusparse-verbose` and `cusolver-verbose`: also the calls that "
        "such libraries make of it; `mpi`: calls of MPI; `nccl`: the NVTX ranges "
        "that NCCL makes of its calls; `osrt`: calls of the C "
        "library that take time: files, sockets, locks, sleeps; `none`: only the process.") },
  { LNS_PROFILE_SWITCH ("nvtx", FLAG, nvtx), .help = N_ ("Same as nvtx in --trace.") },
  { LNS_PROFILE_SWITCH ("mpi", FLAG, mpi), .help = N_ ("Same as mpi in --trace.") },
  { LNS_PROFILE_SWITCH ("gpu-environment", TEXT, gpu_environment), .value_name = "HZ|none",
    .default_text = "10",
    .help =
        N_ ("Sample power, clocks and what holds them down, temperature, memory, PCIe and NVLink "
            "throughput and memory errors of each GPU that the program uses, 1 to 100 times a "
            "second. Without the trace of CUDA, a number samples all GPUs that "
            "CUDA_VISIBLE_DEVICES allows.") },
  { LNS_PROFILE_SWITCH ("nvtx-domain-include", TEXT, nvtx_domain_include),
    .value_name = "default|NAME,…",
    .help = N_ ("Record only these NVTX domains. `default` is the domain without a name. Put a "
                "backslash before a comma, or before the word default, that is part of a name.") },
  { LNS_PROFILE_SWITCH ("nvtx-domain-exclude", TEXT, nvtx_domain_exclude),
    .value_name = "default|NAME,…", .help = N_ ("Record all NVTX domains except these.") },
  { LNS_IGNORED_SWITCH ("mpi-impl", CHOICE, N_ ("ignored; Lanescope detects the MPI library")),
    .choices = "openmpi,mpich", .help = N_ ("Select the MPI library.") },
  { LNS_PROFILE_SWITCH ("nccl-trace", LIST, nccl_trace), .is_whole = true,
    .choices = "none,all,default,api,api-coll,api-group,api-p2p,group,coll,p2p,kernel-launch,rt,"
               "gpu,ce-coll,ce-sync,ce-batch,proxy-op,proxy-step,proxy-counters",
    .value_name = "none|all|default|PART,…", .default_text = "none",
    .help =
        N_ ("Make NVTX ranges of what NCCL 2.28 and later does, in the domain “NCCL trace”, each "
            "with its bytes, rank and peer: calls (`api`, or `api-coll`, `api-p2p`, `api-group`), "
            "the operations that they become (`rt`, or `coll` with algorithm and protocol, `p2p`, "
            "`group`, `kernel-launch`), collectives of copy engines (`ce-coll`, `ce-sync`, "
            "`ce-batch`), and transfers over the network (`proxy-op`, `proxy-step`: many). "
            "`default` is api,group,ce-coll; `all` leaves out proxies. Kernels of NCCL are "
            "recorded by --trace=cuda.") },
  { LNS_PROFILE_SWITCH ("python-functions-trace", TEXT, python_functions_trace),
    .value_name = "FILE",
    .help =
        N_ ("Make a range of each call of the Python functions that a JSON file lists. The program "
            "is not changed. The file holds [{\"module\": \"package.module\", \"functions\": "
            "[\"function\", \"Class.method\"], \"domain\": …, \"category\": …, \"color\": "
            "\"0x008000\"}]. Works with CPython 3.9 to 3.15.") },
  { LNS_PROFILE_SWITCH ("pytorch", LIST, pytorch), .is_whole = true,
    .choices = "none,autograd-nvtx,autograd-shapes-nvtx,functions-trace,functions-trace-shapes",
    .default_text = "none",
    .help = N_ ("Make ranges of PyTorch operators and their backward passes (`autograd-nvtx`), of "
                "these with the shapes of their tensors (`autograd-shapes-nvtx`), or of calls of "
                "well-known functions (`functions-trace`, `functions-trace-shapes`).") },
  { LNS_PROFILE_SWITCH ("dask", LIST, dask), .is_whole = true, .choices = "none,functions-trace",
    .default_text = "none", .help = N_ ("Make ranges of calls of well-known Dask functions.") },
  { LNS_IGNORED_SWITCH ("enable", LIST, PLUGINS), .value_name = "PLUGIN[,ARGUMENT…]",
    .help = N_ ("Load a plugin.") },
};

const LnsOptionGroup lns_profile_switches_trace =
    LNS_OPTION_GROUP ("trace", N_ ("What is recorded"), switches_trace_options);
