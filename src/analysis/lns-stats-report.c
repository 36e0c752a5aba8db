/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/lns-stats-report-private.h"

#define NO_NVTX      "NV Tools Extension (NVTX) data"
#define NO_CUDA      "CUDA trace data"
#define NO_NVTX_CUDA "both CUDA trace and NV Tools Extension (NVTX) data"
#define NO_KERNELS   "CUDA kernel data"
#define NO_MEMORY    "GPU memory data"
#define NO_FAULTS    "CUDA Unified Memory CPU page faults data"
#define GPU_STYLES   (LNS_STYLE_KERNEL | LNS_STYLE_COPY | LNS_STYLE_SET)
#define NAMES        "base,mangled"

#define SUMS(styles) styles, _lns_stats_run_sums, _lns_stats_write_sums

static const LnsStatsMaker makers[] = {
  { { "nvtx_sum", "NVTX Range Summary", NO_NVTX, "ranges of both styles by name", NULL },
    SUMS (LNS_STYLE_PUSH_POP | LNS_STYLE_START_END) },
  { { "nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", NO_NVTX, "push/pop ranges by name", NULL },
    SUMS (LNS_STYLE_PUSH_POP) },
  { { "nvtx_startend_sum", "NVTX Start/End Range Summary", NO_NVTX, "start/end ranges by name",
      NULL },
    SUMS (LNS_STYLE_START_END) },
  { { "nvtx_pushpop_trace", "NVTX Push/Pop Range Trace", NO_NVTX,
      "push/pop ranges one by one, with their parents", NULL },
    0,
    _lns_stats_run_ranges,
    _lns_stats_write_ranges },
  { { "cuda_api_sum", "CUDA API Summary", NO_CUDA, "calls of the CUDA API by name", NULL },
    SUMS (LNS_STYLE_CALL) },
  { { "cuda_api_trace", "CUDA API Trace", NO_CUDA, "calls of the CUDA API one by one", NULL },
    0,
    _lns_stats_run_calls,
    _lns_stats_write_calls },
  { { "cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", NO_KERNELS, "kernels by name", NAMES },
    SUMS (LNS_STYLE_KERNEL) },
  { { "cuda_gpu_kern_gb_sum", "CUDA GPU Kernel/Grid/Block Summary", NO_KERNELS,
      "kernels by name, grid and block", NULL },
    SUMS (LNS_STYLE_KERNEL) },
  { { "cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", NO_MEMORY,
      "copies and sets by their times", NULL },
    SUMS (LNS_STYLE_COPY | LNS_STYLE_SET) },
  { { "cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)", NO_MEMORY,
      "copies and sets by their sizes", NULL },
    SUMS (LNS_STYLE_COPY | LNS_STYLE_SET) },
  { { "cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps)", NO_CUDA, "all that GPUs did by name",
      NAMES },
    SUMS (GPU_STYLES) },
  { { "cuda_gpu_trace", "CUDA GPU Trace", NO_CUDA, "all that GPUs did one by one", NAMES },
    0,
    _lns_stats_run_gpu,
    _lns_stats_write_gpu },
  { { "cuda_api_gpu_sum", "CUDA Summary (API/Kernels/MemOps)", NO_CUDA,
      "calls of the CUDA API and all that GPUs did by name", NAMES },
    SUMS (LNS_STYLE_CALL | GPU_STYLES) },
  { { "cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary", NO_KERNELS,
      "calls, queues and kernels by thread, device and name", NAMES },
    0,
    _lns_stats_run_launch_sums,
    _lns_stats_write_launch_sums },
  { { "cuda_kern_exec_trace", "CUDA Kernel Launch & Exec Time Trace", NO_KERNELS,
      "calls, queues and kernels one by one", NAMES },
    0,
    _lns_stats_run_launches,
    _lns_stats_write_launches },
  { { "nvtx_kern_sum", "NVTX Range Kernel Summary", NO_NVTX_CUDA,
      "kernels by the ranges that launched them", NAMES },
    0,
    _lns_stats_run_range_kernels,
    _lns_stats_write_range_kernels },
  { { "nvtx_gpu_proj_sum", "NVTX GPU Projection Summary", NO_NVTX_CUDA,
      "ranges by name, as long as what they launched", NULL },
    0,
    _lns_stats_run_projection,
    _lns_stats_write_projection_sums },
  { { "nvtx_gpu_proj_trace", "NVTX GPU Projection Trace", NO_NVTX_CUDA, "the same one by one",
      NULL },
    0,
    _lns_stats_run_projection,
    _lns_stats_write_projection },
  { { "um_sum", "Unified Memory Analysis Summary", NO_FAULTS,
      "pages that moved or were missing, by address", "rows=" },
    0,
    _lns_stats_run_memory,
    _lns_stats_write_memory },
  { { "um_total_sum", "Unified Memory Totals Summary", NO_FAULTS,
      "pages that moved or were missing, all together", NULL },
    0,
    _lns_stats_run_memory,
    _lns_stats_write_memory_total },
  { { "um_cpu_page_faults_sum", "Unified Memory CPU Page Faults Summary", NO_FAULTS,
      "pages that were missing, by instruction", NULL },
    0,
    _lns_stats_run_faults,
    _lns_stats_write_faults },
};

#define N_MAKERS (sizeof makers / sizeof makers[0])

const LnsStatsReport *
lns_stats_report_at (size_t i)
{
  return i < N_MAKERS ? &makers[i].report : NULL;
}

/* Whether ARGUMENT is in LIST, which commas divide, where "rows=" stands for any number of rows. */
static bool
is_in (const char *list, const char *argument)
{
  while (list != NULL && *list != '\0')
    {
      size_t size = strcspn (list, ",");
      char *end;
      if (list[size - 1] == '=' && strncmp (list, argument, size) == 0)
        return strtol (argument + size, &end, 10) >= -1 && end > argument + size && *end == '\0';
      if (strlen (argument) == size && strncmp (list, argument, size) == 0)
        return true;
      list += size + (list[size] != '\0');
    }
  return false;
}

const LnsStatsReport *
lns_stats_report_find (const char *name)
{
  size_t size = strcspn (name, ":");

  for (size_t i = 0; i < N_MAKERS; i++)
    if (strlen (makers[i].report.name) == size && strncmp (makers[i].report.name, name, size) == 0)
      return name[size] == '\0' || is_in (makers[i].report.arguments, name + size + 1)
                 ? &makers[i].report
                 : NULL;
  return NULL;
}

LnsStatsResult *
lns_stats_report_run (const LnsStatsReport *stats,
                      const char *argument,
                      LnsTables *tables,
                      const atomic_bool *cancel,
                      LnsError *error)
{
  LnsStatsResult *result = calloc (1, sizeof *result);

  if (result == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                     "not enough memory for statistics; close other programs");
      return NULL;
    }
  result->maker = (const LnsStatsMaker *)stats; /* its first member                               */
  result->argument = argument != NULL ? argument : "";
  result->tables = tables;
  if (result->maker->run (result, cancel, error))
    return result;
  lns_stats_result_free (result);
  return NULL;
}

void
lns_stats_result_free (LnsStatsResult *result)
{
  if (result == NULL)
    return;
  lns_cuda_keys_clear (&result->keys);
  free (result->sums);
  free (result->ranges);
  free (result->projected);
  free (result->rows);
  free (result);
}

size_t
lns_stats_result_n_rows (const LnsStatsResult *result)
{
  return result->n;
}

bool
lns_stats_result_write (const LnsStatsResult *result,
                        FILE *stream,
                        const LnsStatsStyle *style,
                        LnsError *error)
{
  return result->maker->write (result, stream, style, error) ||
         lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "not enough memory to write %s; close other programs",
                        result->maker->report.name);
}

/* ---- What makers share ----------------------------------------------------------------------- */

LnsStatsCell
_lns_stats_string (const LnsStatsResult *result, uint32_t id)
{
  size_t size;
  const char *bytes = lns_report_string (lns_tables_report (result->tables), id, &size);
  return _lns_stats_text (bytes, size);
}

/* The double itself, halves away from zero, so that 841.15, which no double is, becomes 841.1. A
 * thousand times a double fits a long double. */
int64_t
_lns_stats_rounded (double value, unsigned decimals)
{
  long double scaled = value;

  for (unsigned i = 0; i < decimals; i++)
    scaled *= 10;
  return (int64_t)roundl (fminl (scaled, 9e18L));
}

static uint32_t
domain_name (LnsReport *report, uint32_t lane)
{
  uint32_t n_lanes, n_tracks, n_domains;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  const LnsDomain *domains = lns_report_domains (report, &n_domains);
  uint32_t domain = lane < n_lanes && lanes[lane].track < n_tracks
                        ? tracks[lanes[lane].track].domain
                        : LNS_ID_NONE;

  return domain < n_domains ? domains[domain].name : 0;
}

void
_lns_stats_write_range (const LnsStatsResult *result, FILE *stream, uint32_t lane, uint32_t name)
{
  LnsReport *report = lns_tables_report (result->tables);
  LnsStatsCell domain = _lns_stats_string (result, domain_name (report, lane)),
               text = _lns_stats_string (result, name);

  fwrite (domain.bytes, 1, domain.size_bytes, stream);
  putc (':', stream);
  fwrite (text.bytes, 1, text.size_bytes, stream);
}
