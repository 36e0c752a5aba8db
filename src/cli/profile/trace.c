/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Turns switches into what each process records: traces, parts of CUDA, capture ranges. */

#include "src/cli/profile/keep-steps.h"
#include "src/cli/profile/profile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/memory.h"
#include "src/cli/terminal/language.h"

/* Names of --trace in Nsight Systems that are not recorded. They are accepted, so that existing command lines work; those
 * with `cuda` turn CUDA on. */
static const struct
{
  const char *names, *instead;
  bool cuda;
} not_recorded[] = {
  { "cudla,cudla-verbose,cutensor,cuda-um",
    N_ ("calls of this library are not recorded yet; the CUDA calls and kernels in them are"),
    true },
  { "openacc", N_ ("calls of OpenACC are not recorded yet; the CUDA calls and kernels in them are"),
    true },
  { "ucx,oshmem,nvshmem,openmp,gds,s3,s3-verbose,python-gil,nvvideo,nvmedia,nvmpi,"
    "tegra-accelerators",
    N_ ("these calls are not recorded yet; put NVTX ranges around them to see them"), false },
  { "opengl,opengl-annotations,vulkan,vulkan-annotations,vulkan-sc,openxr,openxr-annotations",
    N_ ("Lanescope does not record graphics; leave it out, or use RenderDoc"), false },
  { "dx11,dx11-annotations,dx12,dx12-annotations,wddm",
    N_ ("this does not exist on Linux; leave it out"), false },
};
#define N_NOT_RECORDED (sizeof not_recorded / sizeof *not_recorded)

/* What --trace can record, in the order in which reports name it. */
static const struct
{
  const char *name;
  uint32_t own,
      others; /* LNS_WIRE_TRACE_…: what only this name stands for, and what it turns on, too */
} recorded[] = { { "cuda", LNS_WIRE_TRACE_CUDA, 0 },
                 { "nvtx", LNS_WIRE_TRACE_NVTX, 0 },
                 { "cublas", LNS_WIRE_TRACE_CUBLAS, LNS_WIRE_TRACE_CUDA },
                 { "cublas-verbose", LNS_WIRE_TRACE_CUBLAS_VERBOSE, LNS_WIRE_TRACE_CUDA },
                 { "cudnn", LNS_WIRE_TRACE_CUDNN, LNS_WIRE_TRACE_CUDA },
                 { "cusparse", LNS_WIRE_TRACE_CUSPARSE, LNS_WIRE_TRACE_CUDA },
                 { "cusparse-verbose", LNS_WIRE_TRACE_CUSPARSE_VERBOSE, LNS_WIRE_TRACE_CUDA },
                 { "cusolver", LNS_WIRE_TRACE_CUSOLVER, LNS_WIRE_TRACE_CUDA },
                 { "cusolver-verbose", LNS_WIRE_TRACE_CUSOLVER_VERBOSE, LNS_WIRE_TRACE_CUDA },
                 { "mpi", LNS_WIRE_TRACE_MPI, 0 },
                 { "osrt", LNS_WIRE_TRACE_OS, 0 },
                 { "syscall", 0, 0 }, /* lns_profile_wants_syscalls () */
                 { "nccl", 0, LNS_WIRE_TRACE_NVTX },
                 { "cuda-hw", 0, LNS_WIRE_TRACE_CUDA },
                 { "cuda-sw", 0, LNS_WIRE_TRACE_CUDA },
                 { "none", 0, 0 } };
#define N_RECORDED (sizeof recorded / sizeof *recorded)

/* Turns the trace NAME on. False if it cannot be recorded. */
static bool
add_trace (LnsProfile *profile, const char *name)
{
  size_t i = 0;
  while (i < N_RECORDED && strcmp (name, recorded[i].name) != 0)
    i++;
  if (i < N_RECORDED)
    profile->target.traces |= recorded[i].own | recorded[i].others;
  return i < N_RECORDED;
}

/* Warns about names of --trace that cannot be recorded. False if a name is unknown. */
static bool
tell_not_recorded (LnsProfile *profile, bool *known, LnsError *error)
{
  const LnsOptionList *trace = &profile->options.trace;
  for (size_t k = 0; k < N_NOT_RECORDED; k++)
    {
      char names[256] = "";
      for (size_t i = 0; i < trace->n_items; i++)
        {
          const size_t n = strlen (names);
          if (known[i] || lns_option_choice (not_recorded[k].names, trace->items[i]) == NULL)
            continue;
          known[i] = true;
          snprintf (names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "", trace->items[i]);
          if (not_recorded[k].cuda)
            profile->target.traces |= LNS_WIRE_TRACE_CUDA;
        }
      if (names[0] != '\0')
        lns_cli_say ("warning", "--trace: %s: %s [LNS-TRACE-001]", names,
                     _ (not_recorded[k].instead));
    }
  for (size_t i = 0; i < trace->n_items; i++)
    if (!known[i])
      return lns_cli_usage (error,
                            "--trace: unknown name “%s”; use cuda, nvtx, cublas, cublas-verbose, "
                            "cudnn, cusparse, cusparse-verbose, cusolver, cusolver-verbose, mpi, "
                            "nccl, osrt, syscall or none",
                            trace->items[i]);
  return true;
}

/* --- NCCL ------------------------------------------------------------------------------------- */

#define NCCL_API (LNS_WIRE_NCCL_GROUP_API | LNS_WIRE_NCCL_COLLECTIVE_API | LNS_WIRE_NCCL_P2P_API)
#define NCCL_RT                                                                                    \
 (LNS_WIRE_NCCL_GROUP | LNS_WIRE_NCCL_COLLECTIVE | LNS_WIRE_NCCL_P2P | LNS_WIRE_NCCL_KERNEL_LAUNCH)
#define NCCL_CE (LNS_WIRE_NCCL_CE_COLLECTIVE | LNS_WIRE_NCCL_CE_SYNC | LNS_WIRE_NCCL_CE_BATCH)

/* The parts of --nccl-trace. */
static const struct
{
  const char *name;
  uint32_t events; /* LNS_WIRE_NCCL_… */
} nccl_parts[] = {
  { "none", 0 },
  { "all", NCCL_API | NCCL_RT | NCCL_CE },
  { "default", NCCL_API | LNS_WIRE_NCCL_GROUP | LNS_WIRE_NCCL_CE_COLLECTIVE },
  { "api", NCCL_API },
  { "api-coll", LNS_WIRE_NCCL_COLLECTIVE_API },
  { "api-group", LNS_WIRE_NCCL_GROUP_API },
  { "api-p2p", LNS_WIRE_NCCL_P2P_API },
  { "group", LNS_WIRE_NCCL_GROUP },
  { "coll", LNS_WIRE_NCCL_COLLECTIVE },
  { "p2p", LNS_WIRE_NCCL_P2P },
  { "kernel-launch", LNS_WIRE_NCCL_KERNEL_LAUNCH },
  { "rt", NCCL_RT },
  { "gpu", 0 }, /* kernels are recorded through CUPTI */
  { "ce-coll", LNS_WIRE_NCCL_CE_COLLECTIVE },
  { "ce-sync", LNS_WIRE_NCCL_CE_SYNC },
  { "ce-batch", LNS_WIRE_NCCL_CE_BATCH },
  { "proxy-op", LNS_WIRE_NCCL_PROXY_OP },
  { "proxy-step", LNS_WIRE_NCCL_PROXY_OP | LNS_WIRE_NCCL_PROXY_STEP },
  { "proxy-counters", 0 },
};
#define N_NCCL_PARTS (sizeof nccl_parts / sizeof *nccl_parts)

/* NCCL makes NVTX ranges of its calls, in the domain NCCL; our plug-in in NCCL makes others. */
#define NCCL_DOMAINS "NCCL," LNS_WIRE_NCCL_DOMAIN

/* Turns on what --nccl-trace asks for. Leaves out what is not of NCCL where NVTX is traced for its sake alone. */
static void
choose_nccl (LnsProfile *profile)
{
  LnsProfileOptions *given = &profile->options;
  for (size_t i = 0; i < given->nccl_trace.n_items; i++)
    for (size_t k = 0; k < N_NCCL_PARTS; k++)
      if (strcmp (nccl_parts[k].name, given->nccl_trace.items[i]) == 0)
        profile->target.nccl |= nccl_parts[k].events;
  if (lns_option_list_has (&given->nccl_trace, "gpu") &&
      !(profile->target.traces & LNS_WIRE_TRACE_CUDA))
    lns_cli_say ("warning", "--nccl-trace: gpu: kernels are recorded by --trace=cuda, which is not "
                            "among what is recorded [LNS-TRACE-001]");
  if (lns_option_list_has (&given->nccl_trace, "proxy-counters"))
    lns_cli_say ("warning", "--nccl-trace: proxy-counters: these are not recorded; proxy-op tells "
                            "the bytes of each transfer [LNS-TRACE-001]");
  const bool has_nvtx = (profile->target.traces & LNS_WIRE_TRACE_NVTX) != 0;
  if (profile->target.nccl != 0)
    profile->target.traces |= LNS_WIRE_TRACE_NVTX;
  if (given->nvtx_domain_exclude != NULL ||
      !(profile->target.nccl != 0 || lns_option_list_has (&given->trace, "nccl")))
    return;
  if (given->nvtx_domain_include != NULL && profile->target.nccl != 0)
    {
      profile->domains = lns_asprintf ("%s,%s", given->nvtx_domain_include, LNS_WIRE_NCCL_DOMAIN);
      given->nvtx_domain_include = profile->domains;
    }
  else if (given->nvtx_domain_include == NULL &&
           (!has_nvtx ||
            (given->trace.n_items > 0 && !lns_option_list_has (&given->trace, "nvtx"))))
    given->nvtx_domain_include = NCCL_DOMAINS;
}

/* --- What is traced --------------------------------------------------------------------------- */

static bool
check_trace_names (LnsProfile *profile, LnsError *error)
{
  LnsOptionList *trace = &profile->options.trace;
  const bool is_given = trace->n_items > 0;
  if (!is_given)
    profile->target.traces = LNS_WIRE_TRACE_NVTX | LNS_WIRE_TRACE_CUDA;
  if (profile->options.nvtx)
    lns_option_list_add (trace, "nvtx");
  if (profile->options.mpi)
    lns_option_list_add (trace, "mpi");
  if (trace->n_items > 1 && lns_option_list_has (trace, "none"))
    return lns_cli_usage (error, "--trace: “none” cannot be combined with other names");
  bool *known = lns_calloc (trace->n_items, sizeof *known);
  for (size_t i = 0; i < trace->n_items; i++)
    known[i] = add_trace (profile, trace->items[i]);
  const bool good = tell_not_recorded (profile, known, error);
  free (known);
  if (good)
    choose_nccl (profile);
  /* Of what this build lacks, a warning tells. */
  profile->can_trace_nothing = lns_option_list_has (trace, "none") || profile->target.traces != 0 ||
                               lns_profile_wants_syscalls (profile);
  uint32_t missing = profile->target.traces & ~lns_session_traces ();
  if (good && missing != 0 && is_given)
    lns_cli_say ("warning", "--trace: cuda: this Lanescope was built without NVIDIA's headers and "
                            "cannot record CUDA or its libraries; build it where the headers are "
                            "installed or can be fetched [LNS-TRACE-002]");
  profile->target.traces &= ~missing;
  profile->wants_cuda = is_given && (profile->target.traces & LNS_WIRE_TRACE_CUDA);
  profile->wants_nvtx = lns_option_list_has (trace, "nvtx");
  return good;
}

void
lns_profile_trace_text (const LnsProfile *profile, char *ret_text, size_t n_max)
{
  snprintf (ret_text, n_max, "none");
  for (size_t i = 0, n = 0; i < N_RECORDED; i++)
    if (profile->target.traces & recorded[i].own ||
        (strcmp (recorded[i].name, "syscall") == 0 && lns_profile_wants_syscalls (profile)))
      n += (size_t)snprintf (ret_text + n, n_max - n, "%s%s", n > 0 ? "," : "", recorded[i].name);
}

/* --- CUDA ------------------------------------------------------------------------------------- */

/* Whether the report begins after the program. */
static bool
begins_later (const LnsProfile *profile)
{
  return !profile->begins_by_itself || profile->options.delay_ns > 0 ||
         strcasecmp (profile->options.capture_range, "none") != 0;
}

/* PATTERN[:FORM…]. All forms of nsys are accepted; there is a warning for those that change what is recorded. */
static bool
check_graph_trace (LnsProfile *profile, LnsError *error)
{
  const char *given = profile->options.cuda_graph_trace;
  const size_t n = strcspn (given, ":");
  if (n == 4 && strncmp (given, "node", n) == 0)
    profile->target.cuda |= LNS_WIRE_CUDA_GRAPH_NODES;
  else if (n != 5 || strncmp (given, "graph", n) != 0)
    return lns_cli_usage (error, "--cuda-graph-trace: “%s” is not graph or node", given);
  static const char *const forms[] = { "host-only", "host-and-device", "nvtx-live",
                                       "nvtx-precapture" };
  for (const char *form = given + n; *form == ':'; form += strcspn (form, ":"))
    {
      const size_t n_form = strcspn (++form, ":");
      size_t known = 0;
      while (known < 4 &&
             (strlen (forms[known]) != n_form || strncmp (form, forms[known], n_form) != 0))
        known++;
      if (known == 4)
        return lns_cli_usage (error, "--cuda-graph-trace: unknown form “%s”", form);
      const bool is_node = (profile->target.cuda & LNS_WIRE_CUDA_GRAPH_NODES) != 0;
      if (known == 1 && is_node)
        lns_cli_say ("warning", "--cuda-graph-trace: host-and-device: the nodes of graphs that the "
                                "GPU launches are not recorded yet [LNS-SWITCH-001]");
      else if (known == 1)
        profile->target.cuda |= LNS_WIRE_CUDA_DEVICE_GRAPHS;
      if (known == 3 && begins_later (profile))
        lns_cli_say ("warning", "--cuda-graph-trace: nvtx-precapture: what a program does before "
                                "the report begins is not recorded; begin with the program, and "
                                "choose the time with --filter-time [LNS-SWITCH-001]");
    }
  return true;
}

#define BACKTRACE_NS 1000

/* Turns on Python callers, of all calls unless some were chosen. */
static void
check_python_backtraces (LnsProfile *profile)
{
  const LnsProfileOptions *given = &profile->options;
  LnsWireOptions *target = &profile->target;
  if (given->python_backtrace == NULL || strcmp (given->python_backtrace, "cuda") != 0)
    return;
  if (given->cudabacktrace.n_items > 0 && !target->has_callers)
    {
      lns_cli_say ("warning", "--python-backtrace=cuda records nothing with --cudabacktrace=none: "
                              "leave out one of them [LNS-SWITCH-001]");
      return;
    }
  for (int class = 0; given->cudabacktrace.n_items == 0 && class < LNS_WIRE_CALL_CLASSES; class ++)
    target->callers_ns[class] = BACKTRACE_NS;
  target->has_callers = target->has_python_callers = 1;
}

/* CLASS[:NS],… */
static bool
check_backtraces (LnsProfile *profile, LnsError *error)
{
  static const char *const names[] = { [LNS_WIRE_CALLS_KERNEL] = "kernel",
                                       [LNS_WIRE_CALLS_MEMORY] = "memory",
                                       [LNS_WIRE_CALLS_SYNC] = "sync",
                                       [LNS_WIRE_CALLS_OTHER] = "other" };
  const LnsOptionList *given = &profile->options.cudabacktrace;
  LnsWireOptions *target = &profile->target;
  for (int class = 0; class < LNS_WIRE_CALL_CLASSES; class ++)
    target->callers_ns[class] = LNS_WIRE_NO_CALLERS;
  for (size_t i = 0; i < given->n_items; i++)
    {
      const char *item = given->items[i], *colon = strchr (item, ':');
      const size_t n = colon != NULL ? (size_t)(colon - item) : strlen (item);
      const bool is_all = (n == 3 && strncasecmp (item, "all", n) == 0) ||
                          (n == 4 && strncasecmp (item, "true", n) == 0);
      bool is_known =
          is_all ||
          (colon == NULL && (strcasecmp (item, "none") == 0 || strcasecmp (item, "false") == 0));
      char *end = NULL;
      const unsigned long ns = colon != NULL ? strtoul (colon + 1, &end, 10) : BACKTRACE_NS;
      if (colon != NULL &&
          (colon[1] < '0' || colon[1] > '9' || *end != '\0' || ns >= LNS_WIRE_NO_CALLERS))
        return lns_cli_usage (error, "--cudabacktrace: “%s” is not a number of nanoseconds",
                              colon + 1);
      for (int class = 0; class < LNS_WIRE_CALL_CLASSES; class ++)
        if (is_all || (strlen (names[class]) == n && strncasecmp (item, names[class], n) == 0))
          {
            is_known = true;
            target->callers_ns[class] = (uint32_t)ns;
            target->has_callers = 1;
          }
      if (!is_known)
        return lns_cli_usage (error,
                              "--cudabacktrace: “%s” is not none, all, kernel, memory, sync or "
                              "other, with :NS behind it if need be",
                              item);
    }
  check_python_backtraces (profile);
  if (target->has_callers && !(target->traces & LNS_WIRE_TRACE_CUDA))
    lns_cli_say ("warning", "%s records nothing without --trace=cuda [LNS-SWITCH-001]",
                 given->n_items > 0 ? "--cudabacktrace" : "--python-backtrace");
  return true;
}

static bool
check_cuda (LnsProfile *profile, LnsError *error)
{
  const LnsProfileOptions *given = &profile->options;
  LnsWireOptions *target = &profile->target;
  const struct
  {
    bool is_wanted;
    uint32_t flag;
  } flags[] = {
    { given->cuda_memory_usage, LNS_WIRE_CUDA_MEMORY_USAGE },
    { given->cuda_um_cpu_page_faults, LNS_WIRE_CUDA_UM_CPU_FAULTS },
    { given->cuda_um_gpu_page_faults, LNS_WIRE_CUDA_UM_GPU_FAULTS },
    { given->cuda_trace_all_apis, LNS_WIRE_CUDA_ALL_APIS },
    { given->gpuctxsw, LNS_WIRE_CUDA_SWITCHES },
    { given->cuda_allocation_source, LNS_WIRE_CUDA_SOURCES | LNS_WIRE_CUDA_MEMORY_USAGE },
    { given->cuda_kernel_latency, LNS_WIRE_CUDA_LATENCIES },
    { strcmp (given->cuda_trace, "hw") == 0 || lns_option_list_has (&given->trace, "cuda-hw"),
      LNS_WIRE_CUDA_HARDWARE },
    { given->flush_on_cudaprofilerstop, LNS_WIRE_CUDA_FLUSH_ON_STOP },
    { !given->cupti_sharing, LNS_WIRE_CUDA_ALONE },
    { given->cupti_host_buffers, LNS_WIRE_CUDA_HOST_BUFFERS },
    { strcmp (given->cuda_event_trace, "true") == 0, LNS_WIRE_CUDA_EVENTS },
    { strcmp (given->cuda_event_trace, "auto") == 0, LNS_WIRE_CUDA_EVENTS_AUTO }
  };
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    target->cuda |= flags[i].is_wanted ? flags[i].flag : 0;
  if (given->cuda_kernel_latency && (target->cuda & LNS_WIRE_CUDA_HARDWARE))
    return lns_cli_usage (error, "--cuda-kernel-latency needs the trace in software; leave out "
                                 "--cuda-trace=hw or cuda-hw in --trace");
  if (given->cuda_flush_ms > 3600000)
    return lns_cli_usage (
        error, "--cuda-flush-interval is in milliseconds, and at most 3600000 (an hour)");
  target->flush_ms = (uint32_t)given->cuda_flush_ms;
  if (given->cupti_device_bytes >> 10 > UINT32_MAX)
    return lns_cli_usage (error, "--cupti-device-buffer may be at most 4095 GiB");
  target->device_buffer_kib = (uint32_t)((given->cupti_device_bytes + 1023) >> 10);
  if (given->cupti_path != NULL)
    {
      char *whole = realpath (given->cupti_path, NULL); /* the program may change its folder */
      const bool fits = whole != NULL && strlen (whole) < sizeof target->cupti_path;
      if (fits)
        strcpy (target->cupti_path, whole);
      free (whole);
      if (!fits)
        return lns_cli_usage (error, "--cupti-path: cannot find %s; name libcupti.so or its folder",
                              given->cupti_path);
    }
  return check_backtraces (profile, error) && check_graph_trace (profile, error);
}

/* --- The C library ---------------------------------------------------------------------------- */

static void
check_os (LnsProfile *profile)
{
  LnsWireOptions *target = &profile->target;
  target->os_threshold_ns = (uint32_t)profile->options.osrt_threshold_ns;
  target->os_files = profile->options.osrt_file_access;
  target->os_callers_ns = profile->options.osrt_callers_most > 0
                              ? (uint32_t)profile->options.osrt_callers_ns
                              : LNS_WIRE_NO_CALLERS;
  target->os_callers_most = (uint32_t)profile->options.osrt_callers_most;
  target->os_stack_bytes = (uint32_t)profile->options.osrt_stack_bytes;
}

/* --- GPUs ------------------------------------------------------------------------------------- */

#define GPU_HZ 10

#define METRICS_HZ 10000

/* Whether TEXT is a list of numbers of GPUs. */
static bool
is_gpu_list (const char *text)
{
  for (size_t n; (n = strspn (text, "0123456789")) > 0 && n < 4; text += n + 1)
    if (text[n] != ',')
      return text[n] == '\0';
  return false;
}

static bool
check_metrics (LnsProfile *profile, LnsError *error)
{
  const char *devices = profile->options.gpu_metrics_devices;
  const char *given = profile->options.gpu_metrics_frequency;
  char *end;
  long hz = METRICS_HZ;
  if (devices != NULL && strcmp (devices, "none") != 0 && strcmp (devices, "all") != 0 &&
      strcmp (devices, "cuda-visible") != 0 && !is_gpu_list (devices))
    return lns_cli_usage (error,
                          "--gpu-metrics-devices: “%s” is not none, all, cuda-visible or a list of "
                          "numbers such as 0,2",
                          devices);
  if (given != NULL)
    {
      hz = strtol (given, &end, 10);
      if (end != given && (*end == 'k' || *end == 'K') && hz <= LNS_GPU_METRICS_MAX_HZ / 1000)
        {
          hz *= 1000;
          end++;
        }
      if (end == given || *end != '\0' || hz < LNS_GPU_METRICS_MIN_HZ ||
          hz > LNS_GPU_METRICS_MAX_HZ)
        return lns_cli_usage (error, "--gpu-metrics-frequency: “%s” is not a number from %d to %d",
                              given, LNS_GPU_METRICS_MIN_HZ, LNS_GPU_METRICS_MAX_HZ);
    }
  profile->metrics_hz = devices != NULL && strcmp (devices, "none") != 0 ? (unsigned)hz : 0;
  return true;
}

bool
lns_profile_check_gpus (LnsProfile *profile, LnsError *error)
{
  const char *given = profile->options.gpu_environment;
  char *end;
  /* Only the trace of CUDA shows which GPUs a program uses. Others are sampled where somebody asks for it. */
  profile->gpu_hz = profile->target.traces & LNS_WIRE_TRACE_CUDA ? GPU_HZ : 0;
  if (!check_metrics (profile, error))
    return false;
  if (given == NULL)
    return true;
  const long hz = strcmp (given, "none") == 0 ? 0 : strtol (given, &end, 10);
  if (strcmp (given, "none") != 0 &&
      (end == given || *end != '\0' || hz < 1 || hz > LNS_GPU_MAX_HZ))
    return lns_cli_usage (error, "--gpu-environment: “%s” is not none or a number from 1 to %d",
                          given, LNS_GPU_MAX_HZ);
  profile->gpu_hz = (unsigned)hz;
  return true;
}

/* --- Capture ranges --------------------------------------------------------------------------- */

/* Splits RANGE@DOMAIN at the last @ that has no backslash before it. */
static bool
check_nvtx_capture (LnsProfile *profile, LnsError *error)
{
  const char *given = profile->options.nvtx_capture;
  LnsWireOptions *target = &profile->target;
  if (given == NULL || given[0] == '\0' || strcmp (given, "none") == 0)
    return lns_cli_usage (error, "--capture-range=nvtx needs --nvtx-capture=RANGE[@DOMAIN], the "
                                 "range that begins the report");
  if (!lns_range_name_parse ("nvtx-capture", given, target->range_message, target->range_domain,
                             LNS_WIRE_RANGE_TEXT_BYTES, error))
    return false;
  target->range_any_domain = strcmp (target->range_domain, "*") == 0;
  return true;
}

/* Reads what reports keep if that is not all: --keep-steps, --steps and --keep-on. With them, the seconds of --keep are those around
 * what is kept. */
static bool
check_steps (LnsProfile *profile, LnsError *error)
{
  const LnsProfileOptions *given = &profile->options;
  const bool has_ranges = strcasecmp (given->capture_range, "none") != 0;
  profile->keeps_steps = given->keep_steps != NULL || given->keep_on != NULL;
  profile->keep_signal = 0;
  profile->step_rule = (LnsStepRule){ 0 };
  if (given->steps != NULL && given->keep_steps == NULL)
    return lns_cli_usage (error, "--steps names the range of --keep-steps, which is missing");
  if (!profile->keeps_steps)
    return true;
  if (has_ranges)
    return lns_cli_usage (error,
                          "--capture-range and --%s both say what the report keeps; leave out one",
                          given->keep_steps != NULL ? "keep-steps" : "keep-on");
  if (given->keep_on != NULL && given->keep_ns == 0)
    return lns_cli_usage (error,
                          "--keep-on needs --keep=SECONDS, the time around each signal or command");
  if (given->keep_steps != NULL &&
      !lns_keep_steps_parse (given->keep_steps, given->steps, &profile->step_rule, error))
    return false;
  if (given->keep_on != NULL)
    {
      profile->keep_signal = strcmp (given->keep_on, "sigusr1") == 0   ? SIGUSR1
                             : strcmp (given->keep_on, "sigusr2") == 0 ? SIGUSR2
                                                                       : 0;
      if (given->keep_steps == NULL)
        snprintf (profile->step_rule.text, sizeof profile->step_rule.text, "%s", given->keep_on);
    }
  profile->step_rule.around_ns = given->keep_ns / 2;
  return true;
}

static bool
check_range_end (LnsProfile *profile, LnsError *error)
{
  static const struct
  {
    const char *name;
    LnsWireRangeEnd end;
    bool may_count, must_count;
  } ends[] = { { "none", LNS_WIRE_RANGE_END_NONE, false, false },
               { "stop", LNS_WIRE_RANGE_END_STOP, false, false },
               { "stop-shutdown", LNS_WIRE_RANGE_END_STOP_SHUTDOWN, false, false },
               { "repeat", LNS_WIRE_RANGE_END_REPEAT, true, false },
               { "repeat-shutdown", LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN, true, true } };
  const char *given = profile->options.capture_range_end;
  const char *older = profile->options.stop_on_range_end;
  if (given != NULL && older != NULL)
    return lns_cli_usage (error, "--stop-on-range-end and --capture-range-end both say what "
                                 "happens at the end of a range; leave out one");
  if (given == NULL)
    given = older == NULL || strcmp (older, "true") == 0 ? "stop-shutdown" : "none";
  const size_t n = strcspn (given, ":");
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    {
      if (strlen (ends[i].name) != n || strncmp (given, ends[i].name, n) != 0)
        continue;
      const char *rest = given + n;
      unsigned long count = 0;
      if (rest[0] == ':' && rest[1] >= '0' && rest[1] <= '9' && ends[i].may_count)
        count = strtoul (rest + 1, (char **)&rest, 10);
      const char *mode = *rest == ':' ? rest + 1 : rest;
      const bool is_async = strcmp (mode, "async") == 0;
      const bool waits = strcmp (mode, "sync") == 0 || strcmp (mode, "defer") == 0;
      if (*rest != '\0' && !is_async && !waits)
        break;
      const bool has_count = rest != given + n;
      if ((ends[i].must_count || has_count) && (count == 0 || count > INT32_MAX))
        break;
      if (waits)
        lns_cli_say (
            "note",
            "--capture-range-end: %s: each report is written while its range is recorded, and "
            "the program does not wait for it [LNS-SWITCH-001]",
            mode);
      profile->target.range_end = ends[i].end;
      profile->target.n_ranges = (uint32_t)count;
      return true;
    }
  return lns_cli_usage (error,
                        "--capture-range-end: “%s” is not none, stop, stop-shutdown, repeat[:N] or "
                        "repeat-shutdown:N",
                        given);
}

/* Warns about switches of capture ranges that have no effect without --capture-range. */
static void
tell_no_range (const LnsProfileOptions *given)
{
  const char *name = given->nvtx_capture != NULL && strcasecmp (given->nvtx_capture, "none") != 0
                         ? "nvtx-capture"
                     : given->capture_range_end != NULL ? "capture-range-end"
                     : given->stop_on_range_end != NULL ? "stop-on-range-end"
                                                        : NULL;
  if (name != NULL)
    lns_cli_say ("warning",
                 "--%s: there is no range without --capture-range; the whole run is recorded "
                 "[LNS-SWITCH-001]",
                 name);
}

bool
lns_profile_check_range (LnsProfile *profile, LnsError *error)
{
  const char *given = profile->options.capture_range;
  LnsWireOptions *target = &profile->target;
  target->range_kind = LNS_WIRE_RANGE_NONE;
  target->n_ranges = 0;
  memset (target->range_message, 0, sizeof target->range_message);
  memset (target->range_domain, 0, sizeof target->range_domain);
  if (!check_steps (profile, error))
    return false;
  if (strcasecmp (given, "none") == 0)
    {
      tell_no_range (&profile->options);
      return true;
    }
  if (profile->options.delay_ns > 0)
    return lns_cli_usage (
        error, "--delay and --capture-range both say when the report begins; leave out one");
  if (profile->options.keep_ns > 0)
    return lns_cli_usage (
        error, "--keep and --capture-range both say when the report begins; leave out one");
  if (!check_range_end (profile, error))
    return false;
  if (strcasecmp (given, "cudaProfilerApi") == 0)
    {
      profile->target.range_kind = LNS_WIRE_RANGE_PROFILER_API;
      return true;
    }
  profile->target.range_kind = LNS_WIRE_RANGE_NVTX;
  if (strcasecmp (given, "cuda") == 0)
    return lns_cli_usage (error,
                          "--capture-range: “cuda” is not a range; use -t cuda to record CUDA, or "
                          "-c cudaProfilerApi to record from cudaProfilerStart() on");
  if (strcasecmp (given, "hotkey") == 0)
    return lns_cli_usage (error, "--capture-range: “hotkey” is about graphics, which Lanescope "
                                 "does not record; use none, cudaProfilerApi or nvtx");
  if (strcasecmp (given, "nvtx") != 0)
    return lns_cli_usage (error, "--capture-range: “%s” is not none, cudaProfilerApi or nvtx",
                          given);
  return check_nvtx_capture (profile, error);
}

bool
lns_profile_check_trace (LnsProfile *profile, LnsError *error)
{
  if (profile->options.nvtx_domain_include != NULL && profile->options.nvtx_domain_exclude != NULL)
    return lns_cli_usage (error, "--nvtx-domain-include and --nvtx-domain-exclude both say which "
                                 "domains are recorded; leave out one");
  if (!check_trace_names (profile, error))
    return false;
  check_os (profile);
  lns_profile_check_python (profile);
  if (profile->target.traces == 0 && !profile->can_trace_nothing)
    return lns_cli_usage (error, "--trace: none of these is recorded yet; add nvtx or cuda, or use "
                                 "--trace=none to write a report without events");
  return check_cuda (profile, error) && lns_profile_check_range (profile, error);
}
