/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: what is recorded of CUDA. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

#define AT(member) offsetof (LnsProfileOptions, member)

#define BACKTRACES                                                                                 \
 N_ ("call chains are not recorded yet; put NVTX ranges around calls to see where they come from")

static const LnsOption switches_cuda_options[] = {
  { .name = "cuda-memory-usage",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_memory_usage),
    .default_text = "false",
    .help = N_ ("Record each allocation of GPU memory and how much is in use.") },
  { .name = "cuda-graph-trace",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (cuda_graph_trace),
    .choices = "graph,node",
    .open_choices = true,
    .value_name = "graph|node",
    .default_text = "graph",
    .help =
        N_ ("Record CUDA graphs as a whole, or each kernel and copy in them, which costs more.") },
  { .name = "cuda-event-trace",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (cuda_event_trace),
    .choices = "auto,true,false",
    .default_text = "false",
    .help =
        N_ ("Record the GPU time at which CUDA events completed. This needs CUDA 13 and may make "
            "streams wait for each other. `auto` does it where the driver supports CUDA 12.8 or "
            "newer and CUDA_DEVICE_MAX_CONNECTIONS is not 1.") },
  { .name = "cuda-um-cpu-page-faults",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_um_cpu_page_faults),
    .default_text = "false",
    .help = N_ ("Record CPU page faults in unified memory.") },
  { .name = "cuda-um-gpu-page-faults",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_um_gpu_page_faults),
    .default_text = "false",
    .help = N_ ("Record GPU page faults in unified memory.") },
  { .name = "cuda-trace-all-apis",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_trace_all_apis),
    .default_text = "false",
    .help = N_ ("Also record CUDA calls that only query, such as cudaGetLastError().") },
  { .name = "cuda-flush-interval",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (cuda_flush_ms),
    .value_name = "MS",
    .default_text = "1000",
    .help =
        N_ ("Interval, in milliseconds, at which finished GPU records are collected from CUPTI.") },
  { .name = "flush-on-cudaprofilerstop",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (flush_on_cudaprofilerstop),
    .default_text = "true",
    .help = N_ ("Also collect them at each cudaProfilerStop().") },
  { .name = "cupti-path",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (cupti_path),
    .value_name = "PATH",
    .default_text = N_ ("the newest that fits the driver"),
    .help = N_ ("Use this libcupti.so, or the one in this folder.") },
  { .name = "cupti-device-buffer",
    .kind = LNS_OPTION_BYTES,
    .offset = AT (cupti_device_bytes),
    .value_name = "SIZE",
    .default_text = N_ ("CUPTI's own, some MiB"),
    .help = N_ ("Size of each CUPTI buffer in GPU memory. Smaller buffers leave more memory to the "
                "program.") },
  { .name = "cuda-trace-scope",
    .kind = LNS_OPTION_CHOICE,
    .choices = "process-tree,system-wide",
    .nothing = "process-tree",
    .default_text = "process-tree",
    .help = N_ ("Select the processes whose CUDA calls are recorded."),
    .instead =
        N_ ("processes that others start are not recorded; start each with `lanescope profile`") },
  { .name = "cudabacktrace",
    .kind = LNS_OPTION_LIST,
    .is_whole = true,
    .value_name = "none|all|kernel|memory|sync|other[:NS]",
    .choices = "none,all,true,false,kernel,memory,sync,other",
    .open_choices = true,
    .default_text = "none",
    .help = N_ ("Record the call chains of CUDA calls."),
    .instead = BACKTRACES },
};

const LnsOptionGroup lns_profile_switches_cuda =
    LNS_OPTION_GROUP ("cuda", N_ ("CUDA"), switches_cuda_options);
