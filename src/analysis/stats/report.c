/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/call-tree.h"
#include "src/analysis/stats/maker.h"
#include "src/base/language.h"
#include "src/base/memory.h"

#define NO_NVTX      N_ ("NV Tools Extension (NVTX) data")
#define NO_CUDA      N_ ("CUDA trace data")
#define NO_NVTX_CUDA N_ ("both CUDA trace and NV Tools Extension (NVTX) data")
#define NO_KERNELS   N_ ("CUDA kernel data")
#define NO_MEMORY    N_ ("GPU memory data")
#define NO_COPIES    N_ ("CUDA memory transfers data")
#define NO_FAULTS    N_ ("CUDA Unified Memory CPU page faults data")
#define NO_SAMPLES   N_ ("CPU sample data")
#define GPU_STYLES   (LNS_STYLE_KERNEL | LNS_STYLE_COPY | LNS_STYLE_SET)
#define NAMES        "[:nvtx-name][:base|:mangled]"
#define ONLY_NAMES   "[:base|:mangled]"

/* For data that Lanescope neither records nor imports. Scripts that ask for such a report get a message. */
static bool
run_nothing (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  return true;
}

static const LnsStatsWay sums = { _lns_stats_run_sums, NULL, _lns_stats_write_sums },
                         row_sums = { _lns_stats_run_row_sums, NULL, _lns_stats_write_sums },
                         nothing = { run_nothing, NULL, _lns_stats_write_sums };

#define SUMS(styles) &sums, styles
#define ROW_SUMS     &row_sums, LNS_STYLE_ROW
#define NOTHING      &nothing, LNS_STYLE_ROW

/* The default reports come first, in the order in which nsys prints them. */
static const LnsStatsMaker makers[] = {
  { { "nvtx_sum", N_ ("NVTX Range Summary"), NO_NVTX, N_ ("ranges of both styles by name"), "",
      true },
    SUMS (LNS_STYLE_PUSH_POP | LNS_STYLE_START_END) },
  { { "osrt_sum", N_ ("OS Runtime Summary"), N_ ("OS Runtime trace data"),
      N_ ("calls of the C library by name"), "", true },
    ROW_SUMS },
  { { "cuda_api_sum", N_ ("CUDA API Summary"), NO_CUDA, N_ ("calls of the CUDA API by name"), "",
      true },
    SUMS (LNS_STYLE_CALL) },
  { { "cuda_gpu_kern_sum", N_ ("CUDA GPU Kernel Summary"), NO_KERNELS, N_ ("kernels by name"),
      NAMES, true },
    SUMS (LNS_STYLE_KERNEL) },
  { { "cuda_gpu_mem_time_sum", N_ ("CUDA GPU MemOps Summary (by Time)"), NO_MEMORY,
      N_ ("copies and sets by their times"), "", true },
    SUMS (LNS_STYLE_COPY | LNS_STYLE_SET) },
  { { "cuda_gpu_mem_size_sum", N_ ("CUDA GPU MemOps Summary (by Size)"), NO_MEMORY,
      N_ ("copies and sets by their sizes"), "", true },
    SUMS (LNS_STYLE_COPY | LNS_STYLE_SET) },
  { { "openmp_sum", "OpenMP Summary", N_ ("OpenMP event data"), N_ ("OpenMP regions by name"), "",
      true },
    ROW_SUMS },
  { { "opengl_khr_range_sum", "OpenGL KHR_debug Range Summary", "KHR Extension (KHR_DEBUG) data",
      N_ ("OpenGL's debug groups by name"), "", true },
    NOTHING },
  { { "opengl_khr_gpu_range_sum", "OpenGL KHR_debug GPU Range Summary",
      "GPU KHR Extension (KHR_DEBUG) data", N_ ("the same on the GPU"), "", true },
    NOTHING },
  { { "vulkan_marker_sum", "Vulkan Range Summary",
      "Vulkan Debug Extension (Vulkan Debug Util) data", N_ ("Vulkan's debug labels by name"), "",
      true },
    NOTHING },
  { { "vulkan_gpu_marker_sum", "Vulkan GPU Range Summary",
      "GPU Vulkan Debug Extension (GPU Vulkan Debug markers) data", N_ ("the same on the GPU"), "",
      true },
    NOTHING },
  { { "dx11_pix_sum", "DX11 PIX Range Summary", "DX11 CPU debug markers",
      N_ ("Direct3D 11's markers by name"), "", true },
    NOTHING },
  { { "dx12_gpu_marker_sum", "DX12 GPU Command List PIX Ranges Summary", "DX12 GPU debug markers",
      N_ ("Direct3D 12's markers on the GPU by name"), "", true },
    NOTHING },
  { { "dx12_pix_sum", "DX12 PIX Range Summary", "DX12 CPU debug markers",
      N_ ("Direct3D 12's markers by name"), "", true },
    NOTHING },
  { { "wddm_queue_sum", "WDDM Queue Utilization Summary", "WDDM context data",
      N_ ("the queues of Windows' GPU scheduler"), "", true },
    NOTHING },
  { { "um_sum", N_ ("Unified Memory Analysis Summary"), NO_FAULTS,
      N_ ("pages that moved or were missing, by address"), "[:rows=N]", true },
    &_lns_stats_memory },
  { { "um_total_sum", N_ ("Unified Memory Totals Summary"), NO_FAULTS,
      N_ ("pages that moved or were missing, all together"), "", true },
    &_lns_stats_memory_total },
  { { "um_cpu_page_faults_sum", N_ ("Unified Memory CPU Page Faults Summary"), NO_FAULTS,
      N_ ("pages that were missing, by instruction"), "", true },
    &_lns_stats_faults },
  { { "openacc_sum", "OpenACC Summary", N_ ("OpenACC event data"),
      N_ ("OpenACC constructs by name"), "", true },
    ROW_SUMS },
  { { "syscall_sum", N_ ("Syscall Summary"), N_ ("syscall data"), N_ ("system calls by name"), "",
      true },
    ROW_SUMS },
  { { "nvtx_pushpop_sum", N_ ("NVTX Push/Pop Range Summary"), NO_NVTX,
      N_ ("push/pop ranges by name"), "", false },
    SUMS (LNS_STYLE_PUSH_POP) },
  { { "nvtx_startend_sum", N_ ("NVTX Start/End Range Summary"), NO_NVTX,
      N_ ("start/end ranges by name"), "", false },
    SUMS (LNS_STYLE_START_END) },
  { { "nvtx_pushpop_trace", N_ ("NVTX Push/Pop Range Trace"), NO_NVTX,
      N_ ("push/pop ranges one by one, with their parents"), "", false },
    &_lns_stats_ranges },
  { { "cuda_api_trace", N_ ("CUDA API Trace"), NO_CUDA, N_ ("calls of the CUDA API one by one"), "",
      false },
    &_lns_stats_cuda_calls },
  { { "cuda_gpu_kern_gb_sum", N_ ("CUDA GPU Kernel/Grid/Block Summary"), NO_KERNELS,
      N_ ("kernels by name, grid and block"), NAMES, false },
    SUMS (LNS_STYLE_KERNEL) },
  { { "cuda_gpu_sum", N_ ("CUDA GPU Summary (Kernels/MemOps)"), NO_CUDA,
      N_ ("all that GPUs did by name"), NAMES, false },
    SUMS (GPU_STYLES) },
  { { "cuda_gpu_trace", N_ ("CUDA GPU Trace"), NO_CUDA, N_ ("all that GPUs did one by one"), NAMES,
      false },
    &_lns_stats_cuda_operations },
  { { "cuda_api_gpu_sum", N_ ("CUDA Summary (API/Kernels/MemOps)"), NO_CUDA,
      N_ ("calls of the CUDA API and all that GPUs did by name"), NAMES, false },
    SUMS (LNS_STYLE_CALL | GPU_STYLES) },
  { { "cuda_kern_exec_sum", N_ ("CUDA Kernel Launch & Exec Time Summary"), NO_KERNELS,
      N_ ("calls, queues and kernels by thread, device and name"), NAMES, false },
    &_lns_stats_launch_sums },
  { { "cuda_kern_exec_trace", N_ ("CUDA Kernel Launch & Exec Time Trace"), NO_KERNELS,
      N_ ("calls, queues and kernels one by one"), NAMES, false },
    &_lns_stats_launches },
  { { "nvtx_kern_sum", N_ ("NVTX Range Kernel Summary"), NO_NVTX_CUDA,
      N_ ("kernels by the ranges that launched them"), ONLY_NAMES, false },
    &_lns_stats_projection_kernels },
  { { "nvtx_gpu_proj_sum", N_ ("NVTX GPU Projection Summary"), NO_NVTX_CUDA,
      N_ ("ranges by name, as long as what they launched"), "", false },
    &_lns_stats_projection_sums },
  { { "nvtx_gpu_proj_trace", N_ ("NVTX GPU Projection Trace"), NO_NVTX_CUDA,
      N_ ("the same one by one"), "", false },
    &_lns_stats_projection },
  { { "mpi_event_sum", N_ ("MPI Event Summary"), N_ ("MPI event data"), N_ ("calls of MPI by name"),
      "", false },
    &_lns_stats_mpi_sums,
    LNS_STYLE_ROW },
  { { "mpi_event_trace", N_ ("MPI Event Trace"), N_ ("MPI event data"),
      N_ ("calls of MPI one by one"), "", false },
    &_lns_stats_mpi },
  { { "mpi_msg_size_sum", N_ ("MPI Message Size Summary"), N_ ("MPI event data"),
      N_ ("messages of MPI by their sizes"), "", false },
    &_lns_stats_mpi_sizes,
    LNS_STYLE_ROW },
  { { "osrt_file_sum", N_ ("OS Runtime File Summary"), N_ ("file access data of the OS runtime"),
      N_ ("bytes and times of the files that calls of the C library read and wrote"), "", false },
    &_lns_stats_files },
  { { "sample_sum", N_ ("Sample Summary"), NO_SAMPLES,
      N_ ("samples of CPUs by function: in it, and in it and what it called"), "[:modules]",
      false },
    &_lns_stats_samples },
  { { "sample_tree", N_ ("Sample Call Tree"), NO_SAMPLES,
      N_ ("samples of CPUs by function and its callers, the outermost first"),
      "[:bottom-up][:modules][:threads][:min=PERCENT]", false },
    &_lns_stats_sample_tree },
  { { "sched_sum", N_ ("CPU Scheduling Summary"), N_ ("CPU scheduling data"),
      N_ ("times of threads on CPUs and without, by thread"), "", false },
    &_lns_stats_sched },
  { { "thread_sum", N_ ("Thread Summary"), N_ ("data of threads"),
      N_ ("threads, by their times on CPUs, and how much is recorded of each"), "", false },
    &_lns_stats_threads },
  { { "gpu_metrics_sum", N_ ("GPU Metrics Summary"), N_ ("GPU metrics data"),
      N_ ("samples of GPUs by metric: counters of the hardware, power, clocks and the like"), "",
      false },
    &_lns_stats_gpu_metrics },
  { { "network_congestion", "Network Devices Congestion", "network metrics",
      N_ ("times in which network devices had to wait"), "[:ticks_threshold=N]", false },
    NOTHING },
  { { "nvvideo_api_sum", "NvVideo API Summary", "NvVideo API data",
      N_ ("calls of the video codecs by name"), "", false },
    NOTHING },
  { { "vulkan_api_sum", "Vulkan API Summary", "Vulkan API data", N_ ("calls of Vulkan by name"), "",
      false },
    NOTHING },
  { { "vulkan_api_trace", "Vulkan API Trace", "Vulkan API data", N_ ("calls of Vulkan one by one"),
      "", false },
    NOTHING },
};

#define N_MAKERS (sizeof makers / sizeof makers[0])

const LnsStatsReport *
lns_stats_report_at (size_t i)
{
  return i < N_MAKERS ? &makers[i].report : NULL;
}

bool
lns_stats_report_is_made (const LnsStatsReport *stats)
{
  for (size_t i = 0; i < N_MAKERS; i++)
    if (&makers[i].report == stats)
      return makers[i].way != &nothing;
  return false;
}

/* Reads the argument of SIZE bytes at TEXT, which the report must have: LIST. */
static bool
read_argument (const char *list, const char *text, size_t size, LnsStatsArguments *arguments)
{
  size_t equals = strcspn (text, "=:");
  size_t n = equals < size ? equals + 1 : size; /* of its name, with the equals sign              */

  const char *found = list;
  while ((found = strchr (found, ':')) != NULL)
    {
      found++;
      if (strncmp (found, text, n) == 0 && (text[n - 1] == '=' || strchr ("]|", found[n]) != NULL))
        break;
    }
  if (found == NULL || size == 0)
    return false;
  char *end = NULL;
#define IS(name)     (size == strlen (name) && strncmp (text, name, size) == 0)
#define BEGINS(name) (n == strlen (name) && strncmp (text, name, n) == 0)
  if (BEGINS ("rows="))
    arguments->n_rows = strtol (text + n, &end, 10);
  else if (BEGINS ("min="))
    arguments->min_percent = strtod (text + n, &end);
  arguments->by_range |= IS ("nvtx-name");
  arguments->is_base |= IS ("base");
  arguments->is_mangled |= IS ("mangled");
  arguments->is_bottom_up |= IS ("bottom-up");
  arguments->is_by_module |= IS ("modules");
  arguments->is_by_thread |= IS ("threads");
#undef IS
#undef BEGINS
  if (end != NULL && (n == size || end != text + size))
    return false;
  const bool is_count = arguments->n_rows >= -1 || arguments->n_rows == LNS_STATS_DEFAULT_ROWS;
  return is_count && arguments->min_percent >= 0 && arguments->min_percent <= 100 &&
         (!arguments->is_base || !arguments->is_mangled);
}

/* Reads what follows NAME. */
static bool
read_arguments (const LnsStatsReport *report,
                const char *name,
                LnsStatsArguments *arguments,
                LnsError *error)
{
  const char *at = name + strcspn (name, ":");

  *arguments = (LnsStatsArguments){ .n_rows = LNS_STATS_DEFAULT_ROWS };
  for (size_t size; *at == ':'; at += 1 + size)
    {
      size = strcspn (at + 1, ":");
      if (!read_argument (report->arguments, at + 1, size, arguments))
        return lns_error_set (error, LNS_ERROR_USAGE, 0, "--report: “%s” is not valid; write %s%s",
                              name, report->name, report->arguments);
    }
  return true;
}

/* Names that nsys used until 2022, and that scripts still use. */
static const struct
{
  const char *older, *name;
} older_names[] = {
  { "apigpusum", "cuda_api_gpu_sum" },
  { "cudaapisum", "cuda_api_sum" },
  { "cudaapitrace", "cuda_api_trace" },
  { "gpukerngbsum", "cuda_gpu_kern_gb_sum" },
  { "gpukernsum", "cuda_gpu_kern_sum" },
  { "gpumemsizesum", "cuda_gpu_mem_size_sum" },
  { "gpumemtimesum", "cuda_gpu_mem_time_sum" },
  { "gpusum", "cuda_gpu_sum" },
  { "gputrace", "cuda_gpu_trace" },
  { "kernexecsum", "cuda_kern_exec_sum" },
  { "kernexectrace", "cuda_kern_exec_trace" },
  { "nvtxkernsum", "nvtx_kern_sum" },
  { "nvtxppsum", "nvtx_pushpop_sum" },
  { "nvtxpptrace", "nvtx_pushpop_trace" },
  { "nvtxssesum", "nvtx_startend_sum" },
  { "nvtxsum", "nvtx_sum" },
  { "openaccsum", "openacc_sum" },
  { "osrtsum", "osrt_sum" },
  { "umsum", "um_sum" },
  { "umtotalsum", "um_total_sum" },
};

/* Whether the SIZE bytes at NAME name the report called WANTED. */
static bool
is_named (const char *wanted, const char *name, size_t size)
{
  for (size_t i = 0; i < sizeof older_names / sizeof *older_names; i++)
    if (strcmp (older_names[i].name, wanted) == 0 && strlen (older_names[i].older) == size &&
        strncmp (older_names[i].older, name, size) == 0)
      return true;
  return strlen (wanted) == size && strncmp (wanted, name, size) == 0;
}

const LnsStatsReport *
lns_stats_report_find (const char *name, LnsError *error)
{
  size_t size = strcspn (name, ":");
  LnsStatsArguments arguments;

  for (size_t i = 0; i < N_MAKERS; i++)
    if (is_named (makers[i].report.name, name, size))
      return read_arguments (&makers[i].report, name, &arguments, error) ? &makers[i].report : NULL;
  lns_error_set (error, LNS_ERROR_USAGE, 0,
                 "--report: unknown report “%s”; --help-reports lists the reports", name);
  return NULL;
}

/* Computes STATS over what PART says of TABLES, or over all if it is NULL. */
static LnsStatsResult *
run (const LnsStatsReport *stats,
     const char *name,
     LnsTables *tables,
     const LnsFilterSpan *part,
     const atomic_bool *cancel,
     LnsError *error)
{
  LnsStatsResult *result = lns_calloc (1, sizeof *result);

  result->maker = (const LnsStatsMaker *)stats; /* its first member                               */
  result->tables = tables;
  result->part = part;
  result->span = lns_filter_span (lns_tables_report (tables));
  bool good = read_arguments (stats, name, &result->arguments, error);
  if (good && result->arguments.by_range)
    good = (result->call_ranges =
                lns_call_ranges_new (lns_tables_report (tables), cancel, error)) != NULL;
  bool by_shape = _lns_stats_is_called (result, "cuda_gpu_kern_gb_sum");
  LnsKernelName naming = _lns_stats_naming (result);
  if (good && (by_shape || naming != LNS_KERNEL_NAME))
    good = lns_kernel_keys_init (&result->kernels, lns_tables_report (tables), naming, by_shape,
                                 cancel, error);
  if (good && result->maker->way->run (result, cancel, error))
    return result;
  lns_stats_result_free (result);
  return NULL;
}

LnsStatsResult *
lns_stats_report_run (const LnsStatsReport *stats,
                      const char *name,
                      LnsTables *tables,
                      const atomic_bool *cancel,
                      LnsError *error)
{
  return run (stats, name, tables, NULL, cancel, error);
}

bool
lns_stats_report_takes_spans (const LnsStatsReport *stats, const char *name)
{
  const LnsStatsMaker *maker = (const LnsStatsMaker *)stats;
  LnsStatsArguments arguments;

  return maker->way == &sums && read_arguments (stats, name, &arguments, NULL) &&
         !arguments.by_range && !arguments.is_base && !arguments.is_mangled;
}

LnsStatsResult *
lns_stats_report_run_between (const LnsStatsReport *stats,
                              const char *name,
                              LnsTables *tables,
                              const LnsFilterSpan *span,
                              const atomic_bool *cancel,
                              LnsError *error)
{
  return run (stats, name, tables, span, cancel, error);
}

void
lns_stats_result_free (LnsStatsResult *result)
{
  if (result == NULL)
    return;
  lns_kernel_keys_clear (&result->kernels);
  lns_call_ranges_free (result->call_ranges);
  free (result->sums);
  free (result->ranges);
  free (result->projected);
  sqlite3_finalize (result->statement);
  sqlite3_close (result->db);
  free (result->rows);
  free (result);
}

size_t
lns_stats_result_n_rows (const LnsStatsResult *result)
{
  return result->n;
}

uint64_t
lns_stats_result_n_unnamed (const LnsStatsResult *result)
{
  return result->kernels.n_unnamed;
}

const char *
lns_stats_result_share_whole (const LnsStatsResult *result)
{
  return *result->share_whole != '\0' ? result->share_whole : NULL;
}

const char *
lns_stats_result_unread (const LnsStatsResult *result)
{
  static const struct
  {
    const char *report, *table; /* how their names begin */
  } places[] = { { "vulkan_", "VULKAN_" },   { "opengl_", "OPENGL_" }, { "opengl_", "KHR_DEBUG" },
                 { "dx11_", "D3D11_" },      { "dx12_", "D3D12_" },    { "wddm_", "WDDM_" },
                 { "nvvideo_", "NVVIDEO_" }, { "network_", "NET_" } };
  unsigned n;
  const LnsTable *tables = lns_tables_all (result->tables, &n);

  if (result->maker->way != &nothing)
    return NULL;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++)
    for (unsigned i = 0; i < n; i++)
      if (strncmp (result->maker->report.name, places[k].report, strlen (places[k].report)) == 0 &&
          strncmp (tables[i].name, places[k].table, strlen (places[k].table)) == 0 &&
          lns_tables_n_rows (result->tables, &tables[i]) > 0)
        return tables[i].name;
  return NULL;
}

const char *
lns_stats_result_lacks (const LnsStatsResult *result)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (lns_tables_report (result->tables), &n);

  /* Migrations of unified memory are copies: a report without any copy lacks those. */
  if (result->maker->way != &_lns_stats_memory && result->maker->way != &_lns_stats_memory_total)
    return result->maker->report.lacks;
  for (uint32_t i = 0; i < n; i++)
    if (lanes[i].kind == LNS_LANE_CUDA_MEMCPY)
      return result->maker->report.lacks;
  return NO_COPIES;
}

#define KIND(name) (1u << LNS_LANE_##name)

uint32_t
lns_stats_result_kinds (const LnsStatsResult *result)
{
  static const struct
  {
    const LnsStatsWay *way;
    uint32_t kinds;
  } ways[] = { { &_lns_stats_ranges, KIND (NVTX_PUSH_POP) },
               { &_lns_stats_cuda_calls, KIND (CUDA_API) },
               { &_lns_stats_cuda_operations,
                 KIND (CUDA_KERNEL) | KIND (CUDA_MEMCPY) | KIND (CUDA_MEMSET) },
               { &_lns_stats_launches, KIND (CUDA_KERNEL) },
               { &_lns_stats_launch_sums, KIND (CUDA_KERNEL) },
               { &_lns_stats_mpi, KIND (MPI_CALL) },
               { &_lns_stats_mpi_sums, KIND (MPI_CALL) },
               { &_lns_stats_mpi_sizes, KIND (MPI_CALL) },
               { &_lns_stats_sched, KIND (SCHED) } };
  const LnsStatsWay *way = result->maker->way;
  uint32_t kinds = 0;

  if (way == &_lns_stats_samples || way == &_lns_stats_sample_tree)
    return 1u << lns_call_sample_kind (lns_tables_report (result->tables));
  if (_lns_stats_is_called (result, "osrt_sum"))
    return KIND (OS_CALL);
  for (LnsLaneKind kind = 0; way == &sums && kind < LNS_N_LANE_KINDS; kind++)
    kinds |= lns_range_style (kind) & result->maker->styles ? 1u << kind : 0;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    kinds |= ways[i].way == way ? ways[i].kinds : 0;
  return kinds;
}

/* The columns of RESULT; ROOM has those that are put together. */
static const LnsResultColumn *
columns_of (const LnsStatsResult *result,
            LnsResultColumn room[LNS_STATS_MAX_SUM_COLUMNS],
            unsigned *ret_n)
{
  const LnsStatsWay *way = result->maker->way;

  *ret_n = way->columns != NULL ? way->n_columns : _lns_stats_sum_columns (result, room);
  return way->columns != NULL ? way->columns : room;
}

/* Gives the rows of RESULT to ROWS. */
static bool
give_rows (const LnsStatsResult *result, LnsRows *rows, LnsError *error)
{
  const LnsStatsWay *way = result->maker->way;
  LnsBuffer text = { 0 };

  if (way->add == NULL)
    return way->write (result, rows, error);
  for (size_t i = 0; i < result->n; i++)
    {
      lns_buffer_reset (&text);
      way->add (result, i, rows, &text);
    }
  lns_buffer_clear (&text);
  return true;
}

bool
lns_stats_result_write (const LnsStatsResult *result,
                        FILE *stream,
                        const LnsStatsStyle *style,
                        LnsError *error)
{
  LnsResultColumn room[LNS_STATS_MAX_SUM_COLUMNS];
  unsigned n_columns;
  const LnsResultColumn *columns = columns_of (result, room, &n_columns);
  LnsStatsTable *table = lns_stats_table_new (stream, style, columns, n_columns);
  const bool good = give_rows (result, lns_stats_table_rows (table), error);

  lns_stats_table_finish (table);
  return good;
}

LnsResult *
lns_stats_result_collect (const LnsStatsResult *result, size_t max_rows, LnsError *error)
{
  LnsResultColumn room[LNS_STATS_MAX_SUM_COLUMNS];
  unsigned n_columns;
  const LnsResultColumn *columns = columns_of (result, room, &n_columns);
  LnsResult *collected = lns_result_new (columns, n_columns, max_rows);

  if (give_rows (result, lns_result_rows (collected), error))
    return collected;
  lns_result_free (collected);
  return NULL;
}
