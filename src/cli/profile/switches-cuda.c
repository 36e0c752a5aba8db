/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: what is recorded of CUDA. */

#include "src/cli/profile/switches.h"

#define AT(member) offsetof (LnsProfileOptions, member)

#define BACKTRACES                                                                                 \
 "call chains are not recorded by this version: NVTX ranges around calls say where they come from"

static const LnsOption switches_cuda_options[] = {
  { .name = "cuda-memory-usage",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_memory_usage),
    .default_text = "false",
    .help = "Record each allocation of GPU memory, and how much is in use." },
  { .name = "cuda-graph-trace",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (cuda_graph_trace),
    .choices = "graph,node",
    .open_choices = true,
    .value_name = "graph|node",
    .default_text = "graph",
    .help =
        "CUDA graphs as a whole, or the kernels and copies in them one by one, which costs more." },
  { .name = "cuda-event-trace",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (cuda_event_trace),
    .choices = "auto,true,false",
    .default_text = "false",
    .help =
        "Record when CUDA events came about on the GPU, which takes CUDA 13 and may make streams "
        "wait for each other; auto: where the driver is of CUDA 12.8 or newer and "
        "CUDA_DEVICE_MAX_CONNECTIONS is not 1." },
  { .name = "cuda-um-cpu-page-faults",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_um_cpu_page_faults),
    .default_text = "false",
    .help = "Record page faults of the CPU in unified memory." },
  { .name = "cuda-um-gpu-page-faults",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_um_gpu_page_faults),
    .default_text = "false",
    .help = "Record page faults of the GPU in unified memory." },
  { .name = "cuda-trace-all-apis",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_trace_all_apis),
    .default_text = "false",
    .help = "Record also CUDA calls that only ask, such as cudaGetLastError()." },
  { .name = "cuda-flush-interval",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (cuda_flush_ms),
    .value_name = "MS",
    .default_text = "1000",
    .help = "How often finished GPU records are taken from CUPTI, in milliseconds." },
  { .name = "flush-on-cudaprofilerstop",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (flush_on_cudaprofilerstop),
    .default_text = "true",
    .help = "Take them at each cudaProfilerStop() too." },
  { .name = "cupti-path",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (cupti_path),
    .value_name = "PATH",
    .default_text = "the newest that fits the driver",
    .help = "The libcupti.so to use, or the folder that holds it." },
  { .name = "cupti-device-buffer",
    .kind = LNS_OPTION_BYTES,
    .offset = AT (cupti_device_bytes),
    .value_name = "SIZE",
    .default_text = "CUPTI's own, some MiB",
    .help = "GPU memory of each buffer of CUPTI's; smaller ones leave more to the program." },
  { .name = "cuda-trace-scope",
    .kind = LNS_OPTION_CHOICE,
    .choices = "process-tree,system-wide",
    .nothing = "process-tree",
    .default_text = "process-tree",
    .help = "Whose CUDA calls to record.",
    .instead =
        "processes that others start are not recorded: start each with `lanescope profile`" },
  { .name = "cudabacktrace",
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .value_name = "none|all|kernel|memory|sync|other[:NS]",
    .choices = "none,all,true,false,kernel,memory,sync,other",
    .open_choices = true,
    .default_text = "none",
    .help = "Record from where CUDA is called.",
    .instead = BACKTRACES },
};

const LnsOptionGroup lns_profile_switches_cuda =
    LNS_OPTION_GROUP ("cuda", "CUDA", switches_cuda_options);
