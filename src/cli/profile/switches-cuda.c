/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: what is recorded of CUDA. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

static const LnsOption switches_cuda_options[] = {
  { LNS_PROFILE_SWITCH ("cuda-memory-usage", BOOL, cuda_memory_usage), .default_text = "false",
    .help = N_ ("Record each allocation of GPU memory and how much is in use.") },
  { LNS_PROFILE_SWITCH ("cuda-allocation-source", BOOL, cuda_allocation_source),
    .default_text = "false",
    .help = N_ ("Also record which library asked for GPU memory, and turn --cuda-memory-usage on. "
                "Allocations take longer. Needs CUDA 12.8 or later on x86-64.") },
  { LNS_PROFILE_SWITCH ("cuda-kernel-latency", BOOL, cuda_kernel_latency), .default_text = "false",
    .help = N_ ("Record when each kernel was queued by the program and submitted to the GPU.") },
  { LNS_PROFILE_SWITCH ("cuda-trace", CHOICE, cuda_trace), .choices = "sw,hw", .default_text = "sw",
    .help =
        N_ ("Select what takes the times of GPU work: CUPTI in software (`sw`), or the GPU "
            "itself (`hw`), which costs less, but takes 128 MiB of the host's memory for each "
            "context. `hw` needs a GPU of Blackwell or later and CUDA 13.4 Update 1 or later.") },
  { LNS_PROFILE_SWITCH ("cuda-graph-trace", TEXT, cuda_graph_trace), .choices = "graph,node",
    .open_choices = true, .value_name = "graph|node", .default_text = "graph",
    .help = N_ (
        "Record CUDA graphs as a whole, or each kernel and copy in them, which costs more. "
        "`graph:host-and-device` also records graphs that the GPU launches, for which CUPTI takes "
        "16 MiB of GPU memory in each context.") },
  { LNS_PROFILE_SWITCH ("cuda-event-trace", CHOICE, cuda_event_trace), .choices = "auto,true,false",
    .default_text = "false",
    .help =
        N_ ("Record the GPU time at which CUDA events completed. This needs CUDA 13 and may make "
            "streams wait for each other. `auto` does it where the driver supports CUDA 12.8 or "
            "newer and CUDA_DEVICE_MAX_CONNECTIONS is not 1.") },
  { LNS_PROFILE_SWITCH ("cuda-um-cpu-page-faults", BOOL, cuda_um_cpu_page_faults),
    .default_text = "false", .help = N_ ("Record CPU page faults in unified memory.") },
  { LNS_PROFILE_SWITCH ("cuda-um-gpu-page-faults", BOOL, cuda_um_gpu_page_faults),
    .default_text = "false", .help = N_ ("Record GPU page faults in unified memory.") },
  { LNS_PROFILE_SWITCH ("cuda-trace-all-apis", BOOL, cuda_trace_all_apis), .default_text = "false",
    .help = N_ ("Also record CUDA calls that only query, such as cudaGetLastError().") },
  { LNS_PROFILE_SWITCH ("cuda-flush-interval", INTEGER, cuda_flush_ms), .value_name = "MS",
    .default_text = "1000",
    .help =
        N_ ("Interval, in milliseconds, at which finished GPU records are collected from CUPTI.") },
  { LNS_PROFILE_SWITCH ("flush-on-cudaprofilerstop", BOOL, flush_on_cudaprofilerstop),
    .default_text = "true", .help = N_ ("Also collect them at each cudaProfilerStop().") },
  { LNS_PROFILE_SWITCH ("cupti-path", TEXT, cupti_path), .value_name = "PATH",
    .default_text = N_ ("the newest that fits the driver"),
    .help = N_ ("Use this libcupti.so, or the one in this folder.") },
  { LNS_PROFILE_SWITCH ("cupti-device-buffer", BYTES, cupti_device_bytes), .value_name = "SIZE",
    .default_text = N_ ("CUPTI's own, some MiB"),
    .help = N_ ("Size of each CUPTI buffer in GPU memory. Smaller buffers leave more memory to the "
                "program.") },
  { LNS_PROFILE_SWITCH ("cupti-host-buffers", BOOL, cupti_host_buffers), .default_text = "false",
    .help = N_ ("Put CUPTI's buffers into page-locked memory of the host instead of GPU memory. "
                "Confidential Computing does not allow it.") },
  { LNS_PROFILE_SWITCH ("cupti-sharing", BOOL, cupti_sharing), .default_text = "true",
    .help = N_ ("Let profilers in the program record with CUPTI at the same time. This needs CUPTI "
                "13.3, a driver of r610, and profilers that use CUPTI's functions for several "
                "clients; they get graphs as --cuda-graph-trace says. With `false`, profilers that "
                "use the older functions work, but Lanescope may lose data to them.") },
  { LNS_IGNORED_SWITCH (
        "cuda-trace-scope",
        CHOICE,
        N_ ("processes that others start are not recorded; start each with `lanescope profile`")),
    .choices = "process-tree,system-wide", .nothing = "process-tree",
    .default_text = "process-tree",
    .help = N_ ("Select the processes whose CUDA calls are recorded.") },
  { LNS_PROFILE_SWITCH ("cudabacktrace", LIST, cudabacktrace), .is_whole = true,
    .value_name = "none|all|kernel|memory|sync|other[:NS]",
    .choices = "none,all,true,false,kernel,memory,sync,other", .open_choices = true,
    .default_text = "none",
    .help =
        N_ ("Record the call chains of CUDA calls that take at least NS nanoseconds (default: "
            "1000): of all calls, or of launches (`kernel`), allocations and copies (`memory`), "
            "waits (`sync`) and other calls.") },
};

const LnsOptionGroup lns_profile_switches_cuda =
    LNS_OPTION_GROUP ("cuda", N_ ("CUDA"), switches_cuda_options);
