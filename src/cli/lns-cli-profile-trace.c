/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the switches ask of each process: which traces, which of CUDA, from when to when. */

#include "src/cli/lns-cli-profile.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Names that --trace has in Nsight Systems: command lines that use them go on working. */
static const char *const not_recorded[] = { "cusparse",
                                            "cusparse-verbose",
                                            "cudla",
                                            "cudla-verbose",
                                            "cusolver",
                                            "cusolver-verbose",
                                            "cutensor",
                                            "cuda-um",
                                            "opengl",
                                            "opengl-annotations",
                                            "openacc",
                                            "openmp",
                                            "osrt",
                                            "mpi",
                                            "ucx",
                                            "vulkan",
                                            "vulkan-annotations",
                                            "nvvideo",
                                            "nvmpi",
                                            "gds",
                                            "python-gil",
                                            "tegra-accelerators",
                                            "syscall",
                                            "dx11",
                                            "dx12",
                                            "oshmem",
                                            "nvshmem",
                                            "nccl",
                                            "openxr",
                                            "openxr-annotations",
                                            "nvmedia" };

/* What --trace can record. */
static const struct
{
  const char *name;
  uint32_t trace; /* LNS_WIRE_TRACE_… */
} recorded[] = { { "nvtx", LNS_WIRE_TRACE_NVTX },
                 { "cuda", LNS_WIRE_TRACE_CUDA },
                 { "cuda-hw", LNS_WIRE_TRACE_CUDA },
                 { "cuda-sw", LNS_WIRE_TRACE_CUDA },
                 { "cublas", LNS_WIRE_TRACE_CUDA | LNS_WIRE_TRACE_CUBLAS },
                 { "cublas-verbose", LNS_WIRE_TRACE_CUDA | LNS_WIRE_TRACE_CUBLAS_VERBOSE },
                 { "cudnn", LNS_WIRE_TRACE_CUDA | LNS_WIRE_TRACE_CUDNN },
                 { "none", 0 } };
#define N_RECORDED (sizeof recorded / sizeof *recorded)

/* Notes NAME as traced; false where it is not one of the recorded ones. */
static bool
add_trace (LnsProfile *profile, const char *name)
{
  for (size_t i = 0; i < N_RECORDED; i++)
    if (strcmp (name, recorded[i].name) == 0)
      {
        profile->target.traces |= recorded[i].trace;
        return true;
      }
  return false;
}

static bool
check_trace_names (LnsProfile *profile, LnsError *error)
{
  LnsOptionList *trace = &profile->options.trace;
  size_t n_known = sizeof not_recorded / sizeof *not_recorded;
  char text[512] = "";
  if (trace->n_items == 0)
    profile->target.traces = LNS_WIRE_TRACE_NVTX | LNS_WIRE_TRACE_CUDA;
  if (trace->n_items > 1 && lns_option_list_has (trace, "none"))
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--trace: “none” excludes all others: leave it out, or them");
  for (size_t i = 0; i < trace->n_items; i++)
    {
      const char *name = trace->items[i];
      bool is_known = false;
      if (add_trace (profile, name))
        continue;
      for (size_t k = 0; k < n_known && !is_known; k++)
        is_known = strcmp (name, not_recorded[k]) == 0;
      if (!is_known)
        return lns_error_set (error, LNS_ERROR_USAGE, 0,
                              "--trace: “%s” is not known; cuda, nvtx, cublas, cublas-verbose, "
                              "cudnn and none are",
                              name);
      size_t n = strlen (text);
      snprintf (text + n, sizeof text - n, "%s%s", n > 0 ? ", " : "", name);
    }
  uint32_t missing = profile->target.traces & ~lns_session_traces ();
  if (missing != 0 && trace->n_items > 0)
    lns_profile_say ("warning",
                     "--trace: cuda: this lanescope was built without NVIDIA's headers and cannot "
                     "record CUDA or its libraries: build it where they are, or can be fetched "
                     "[LNS-TRACE-002]");
  profile->target.traces &= ~missing;
  if (text[0] != '\0')
    lns_profile_say ("warning", "--trace: %s: not recorded by this version [LNS-TRACE-001]", text);
  return true;
}

void
lns_profile_trace_text (const LnsProfile *profile, char *ret_text, size_t n_max)
{
  static const struct
  {
    const char *name;
    uint32_t trace;
  } all[] = { { "cuda", LNS_WIRE_TRACE_CUDA },
              { "nvtx", LNS_WIRE_TRACE_NVTX },
              { "cublas", LNS_WIRE_TRACE_CUBLAS },
              { "cublas-verbose", LNS_WIRE_TRACE_CUBLAS_VERBOSE },
              { "cudnn", LNS_WIRE_TRACE_CUDNN } };
  snprintf (ret_text, n_max, "none");
  for (size_t i = 0, n = 0; i < sizeof all / sizeof *all; i++)
    if (profile->target.traces & all[i].trace)
      n += (size_t)snprintf (ret_text + n, n_max - n, "%s%s", n > 0 ? "," : "", all[i].name);
}

/* --- CUDA ------------------------------------------------------------------------------------- */

/* PATTERN[:FORM…]: forms of the reference that make no difference here are accepted, but for one. */
static bool
check_graph_trace (LnsProfile *profile, LnsError *error)
{
  const char *given = profile->options.cuda_graph_trace;
  const size_t n = strcspn (given, ":");
  if (n == 4 && strncmp (given, "node", n) == 0)
    profile->target.cuda |= LNS_WIRE_CUDA_GRAPH_NODES;
  else if (n != 5 || strncmp (given, "graph", n) != 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--cuda-graph-trace: “%s” is not graph or node", given);
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
        return lns_error_set (error, LNS_ERROR_USAGE, 0, "--cuda-graph-trace: “%s” is not known",
                              form);
      if (known == 3)
        lns_profile_say ("warning", "--cuda-graph-trace: nvtx-precapture: not recorded by this "
                                    "version [LNS-TRACE-001]");
    }
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
  } flags[] = { { given->cuda_memory_usage, LNS_WIRE_CUDA_MEMORY_USAGE },
                { given->cuda_um_cpu_page_faults, LNS_WIRE_CUDA_UM_CPU_FAULTS },
                { given->cuda_um_gpu_page_faults, LNS_WIRE_CUDA_UM_GPU_FAULTS },
                { given->cuda_trace_all_apis, LNS_WIRE_CUDA_ALL_APIS },
                { given->flush_on_cudaprofilerstop, LNS_WIRE_CUDA_FLUSH_ON_STOP },
                { strcmp (given->cuda_event_trace, "true") == 0, LNS_WIRE_CUDA_EVENTS } };
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    target->cuda |= flags[i].is_wanted ? flags[i].flag : 0;
  if (given->cuda_flush_ms > 3600000)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--cuda-flush-interval is in milliseconds: at most 3600000, an hour");
  target->flush_ms = (uint32_t)given->cuda_flush_ms;
  if (given->cupti_device_bytes >> 10 > UINT32_MAX)
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "--cupti-device-buffer: at most 4095 GiB");
  target->device_buffer_kib = (uint32_t)((given->cupti_device_bytes + 1023) >> 10);
  if (given->cupti_path != NULL)
    {
      char *whole = realpath (given->cupti_path, NULL); /* the program may change its folder */
      const bool fits = whole != NULL && strlen (whole) < sizeof target->cupti_path;
      if (fits)
        strcpy (target->cupti_path, whole);
      free (whole);
      if (!fits)
        return lns_error_set (error, LNS_ERROR_USAGE, 0,
                              "--cupti-path: %s is not there: name libcupti.so or its folder",
                              given->cupti_path);
    }
  return check_graph_trace (profile, error);
}

/* --- Capture ranges --------------------------------------------------------------------------- */

/* Takes RANGE@DOMAIN apart at the last @ that has no backslash before it. */
static bool
check_nvtx_capture (LnsProfile *profile, LnsError *error)
{
  const char *given = profile->options.nvtx_capture;
  LnsWireOptions *target = &profile->target;
  if (given == NULL || given[0] == '\0' || strcmp (given, "none") == 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--capture-range=nvtx needs --nvtx-capture=RANGE[@DOMAIN]: which range "
                          "begins the report");
  const char *at = NULL;
  for (const char *c = given; *c != '\0'; c++)
    if (*c == '\\' && c[1] == '@')
      c++;
    else if (*c == '@')
      at = c;
  char *out = target->range_message, *const ends[] = {
    target->range_message + sizeof target->range_message - 1,
    target->range_domain + sizeof target->range_domain - 1
  };
  int part = 0;
  for (const char *c = given; *c != '\0'; c++)
    {
      if (c == at)
        {
          part = 1;
          out = target->range_domain;
          continue;
        }
      if (*c == '\\' && c[1] == '@')
        c++;
      if (out == ends[part])
        return lns_error_set (error, LNS_ERROR_USAGE, 0,
                              "--nvtx-capture: names of more than %d bytes cannot be looked for",
                              LNS_WIRE_RANGE_TEXT_BYTES - 1);
      *out++ = *c;
    }
  target->range_any_domain = strcmp (target->range_domain, "*") == 0;
  if (target->range_message[0] == '\0')
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "--nvtx-capture: “%s” names no range", given);
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
  if (profile->options.stop_on_range_end != NULL)
    given = strcmp (profile->options.stop_on_range_end, "true") == 0 ? "stop-shutdown" : "none";
  const size_t n = strcspn (given, ":");
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    {
      if (strlen (ends[i].name) != n || strncmp (given, ends[i].name, n) != 0)
        continue;
      const char *rest = given + n;
      unsigned long count = 0;
      if (rest[0] == ':' && rest[1] >= '0' && rest[1] <= '9' && ends[i].may_count)
        count = strtoul (rest + 1, (char **)&rest, 10);
      /* What may follow says when reports are written: here, always at once. */
      if (*rest != '\0' && strcmp (rest, ":defer") != 0 && strcmp (rest, ":sync") != 0 &&
          strcmp (rest, ":async") != 0)
        break;
      const bool has_count = rest != given + n;
      if ((ends[i].must_count || has_count) && (count == 0 || count > INT32_MAX))
        break;
      profile->target.range_end = ends[i].end;
      profile->target.n_ranges = (uint32_t)count;
      return true;
    }
  return lns_error_set (error, LNS_ERROR_USAGE, 0,
                        "--capture-range-end: “%s” is not none, stop, stop-shutdown, repeat[:N] or "
                        "repeat-shutdown:N",
                        given);
}

static bool
check_range (LnsProfile *profile, LnsError *error)
{
  const char *given = profile->options.capture_range;
  if (strcasecmp (given, "none") == 0)
    return true;
  if (profile->options.delay_ns > 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--delay and --capture-range both say when the report begins: leave out "
                          "one");
  if (!check_range_end (profile, error))
    return false;
  if (strcasecmp (given, "cudaProfilerApi") == 0)
    {
      profile->target.range_kind = LNS_WIRE_RANGE_PROFILER_API;
      return true;
    }
  profile->target.range_kind = LNS_WIRE_RANGE_NVTX;
  if (strcasecmp (given, "nvtx") != 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--capture-range: “%s” is not none, cudaProfilerApi or nvtx", given);
  return check_nvtx_capture (profile, error);
}

bool
lns_profile_check_trace (LnsProfile *profile, LnsError *error)
{
  return check_trace_names (profile, error) && check_cuda (profile, error) &&
         check_range (profile, error);
}
