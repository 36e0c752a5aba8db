/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The switches of `profile`, in groups that other commands which record share: all of them keep their
 * values in one struct. A group is a table in switches-….c. */

#pragma once

#include "src/cli/options/options.h"

/* What the switches say. To be begun with LNS_PROFILE_DEFAULTS, and cleared. */
typedef struct
{
  LnsOptionList trace, nccl_trace;
  bool nvtx, mpi; /* in addition */
  const char *nvtx_domain_include, *nvtx_domain_exclude;
  const char *gpu_environment;                                               /* NULL: not given */
  const char *gpu_metrics_devices, *gpu_metrics_frequency, *gpu_metrics_set; /* NULL likewise */
  const char *output, *output_dir;
  LnsOptionList export;
  bool stats, why, strict;
  bool force_overwrite;
  const char *mode; /* of the report's file; NULL: only its owner may read it */
  bool show_output;
  int64_t duration_ns; /* -1: until the program ends */
  int64_t delay_ns;
  bool stop_on_exit;
  LnsOptionList env_var;
  bool inherit_environment;
  bool discard_environment;
  const char *kill;
  const char *wait;
  const char *run_as;   /* NULL or none: the caller */
  int64_t buffer_bytes; /* 0: the session's default */
  const char *env_record;
  bool cuda_memory_usage, cuda_um_cpu_page_faults, cuda_um_gpu_page_faults, cuda_trace_all_apis;
  bool gpuctxsw, cuda_allocation_source, cuda_kernel_latency;
  const char *cuda_trace;
  bool flush_on_cudaprofilerstop;
  const char *cuda_graph_trace, *cuda_event_trace, *cupti_path;
  LnsOptionList cudabacktrace;
  const char *python_backtrace; /* NULL: not given */
  bool cupti_sharing, cupti_host_buffers;
  int64_t cupti_device_bytes; /* 0: CUPTI's default */
  int64_t cuda_flush_ms;      /* 0: the engine's default */
  const char *capture_range, *capture_range_end, *nvtx_capture;
  const char *stop_on_range_end;      /* NULL: not given */
  const char *python_functions_trace; /* NULL: not given */
  LnsOptionList pytorch, dask;
  const char *sample, *cpuctxsw, *backtrace, *syscall;         /* NULL: not given */
  int64_t sampling_hz, sampling_period, samples_per_backtrace; /* 0: not given */
  bool resolve_symbols, show_source_info;
  const char *python_sampling; /* NULL: not given */
  int64_t python_sampling_hz;
  int64_t stack_bytes, cpu_buffer_bytes;
  const char *debug_symbols;       /* NULL: not given */
  int64_t progress_fd, control_fd; /* -1: none */
  bool start_later;
  int64_t keep_ns;                          /* 0: all */
  const char *keep_steps, *steps, *keep_on; /* NULL: not given */
  const char *session, *session_new;        /* NULL: not given, as the next */
  const char *after_collection_start, *after_report_ready;
  int64_t osrt_threshold_ns, osrt_callers_ns, osrt_callers_most, osrt_stack_bytes;
  bool osrt_file_access;
  LnsOptionList pids; /* of `attach`, as the next */
  const char *match;  /* NULL: not given */
} LnsProfileOptions;

#define LNS_PROFILE_DEFAULTS                                                                       \
 {                                                                                                 \
  .show_output = true, .duration_ns = -1, .stop_on_exit = true, .inherit_environment = true,       \
  .kill = "sigterm", .wait = "all", .flush_on_cudaprofilerstop = true,                             \
  .gpu_metrics_set = "general", .cuda_graph_trace = "graph", .cuda_event_trace = "false",          \
  .cuda_trace = "sw", .cupti_sharing = true, .capture_range = "none", .progress_fd = -1,           \
  .control_fd = -1, .osrt_threshold_ns = 1000, .osrt_callers_ns = 80000, .osrt_callers_most = 24,  \
  .osrt_stack_bytes = 16384, .resolve_symbols = true, .show_source_info = true, .why = true,       \
  .python_sampling_hz = 1000                                                                       \
 }

/* What the row of a switch begins with whose value is a member of LnsProfileOptions. */
#define LNS_PROFILE_SWITCH(long_name, kind_name, member)                                           \
 LNS_SWITCH (long_name, kind_name, LnsProfileOptions, member)

/* The signal that --kill=KILL means; 0: none. */
bool lns_profile_parse_kill (const char *kill, int *ret_signal, LnsError *error);

extern const LnsOptionGroup lns_profile_switches_trace;   /* what is recorded                     */
extern const LnsOptionGroup lns_profile_switches_cuda;    /* the same, of CUDA                    */
extern const LnsOptionGroup lns_profile_switches_range;   /* from when to when                    */
extern const LnsOptionGroup lns_profile_switches_report;  /* where the report goes                */
extern const LnsOptionGroup lns_profile_switches_program; /* how the program runs                 */
extern const LnsOptionGroup lns_profile_switches_session; /* its name, and when it begins         */
extern const LnsOptionGroup
    lns_profile_switches_collection;                     /* what of it, and commands meanwhile  */
extern const LnsOptionGroup lns_profile_switches_cpu;    /* samples, threads, counters           */
extern const LnsOptionGroup lns_profile_switches_system; /* calls of the operating system        */
extern const LnsOptionGroup
    lns_profile_switches_hardware;                     /* counters of GPUs, networks, disks    */
extern const LnsOptionGroup lns_profile_switches_tool; /* how Lanescope itself works           */

#define LNS_PROFILE_N_REFUSALS 3
extern const LnsRefusal lns_profile_refusals[LNS_PROFILE_N_REFUSALS];
