/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* cuda_api_trace and cuda_gpu_trace: rows are written as they are read, whatever their number. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/saturate.h"
#include "src/tables/enums.h"
#include "src/tables/row-cursor.h"

/* The value in the column called NAME of TABLE, which has it. */
static LnsValue
value_of (LnsRowCursor *rows, const LnsTable *table, const char *name)
{
  return lns_row_cursor_value (rows, (unsigned)lns_table_column (table, name));
}

static int64_t
integer (LnsRowCursor *rows, const LnsTable *table, const char *column)
{
  return value_of (rows, table, column).integer;
}

/* A cell for the number in COLUMN; an empty one where that is NULL. */
static LnsStatsCell
number (LnsRowCursor *rows, const LnsTable *table, const char *column)
{
  const LnsValue value = value_of (rows, table, column);

  return value.type == LNS_VALUE_NULL ? (LnsStatsCell){ .is_empty = true }
                                      : _lns_stats_number (value.integer);
}

static uint64_t
count_rows (const LnsStatsResult *result, const char *table)
{
  return lns_tables_n_rows (result->tables, lns_table_find (table));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

#define CALLS "CUPTI_ACTIVITY_KIND_RUNTIME"

static bool
run_calls (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  (void)cancel;
  (void)error;
  result->n = count_rows (result, CALLS);
  return true;
}

/* What the thread of LANE is called; nothing where it has no name. */
static LnsStatsCell
thread_name (const LnsStatsResult *result, uint32_t lane)
{
  LnsReport *report = lns_tables_report (result->tables);
  uint32_t n_threads, n_processes;
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  const uint32_t thread = lns_track_of (report, lane)->thread;

  if (thread >= n_threads)
    return (LnsStatsCell){ .is_empty = true };
  uint32_t name = threads[thread].name;
  const uint32_t process = threads[thread].process;
  if (name == 0 && process < n_processes)
    name = processes[process].name;
  return name != 0 ? _lns_stats_string (result, name) : (LnsStatsCell){ .is_empty = true };
}

static void
add_call (const LnsStatsResult *result,
          LnsStatsTable *out,
          LnsRowCursor *rows,
          const LnsTable *table)
{
  const int64_t start_ns = integer (rows, table, "start"), tid = integer (rows, table, "globalTid");
  const LnsStatsCell cells[] = {
    _lns_stats_number (start_ns),
    _lns_stats_number (lns_difference (integer (rows, table, "end"), start_ns)),
    _lns_stats_call_name (result, (uint32_t)integer (rows, table, "nameId")),
    number (rows, table, "returnValue"),
    number (rows, table, "correlationId"),
    _lns_stats_pid (tid),
    _lns_stats_tid (tid),
    { .is_empty = true },
    thread_name (result, lns_row_cursor_lane (rows)),
  };

  lns_stats_table_add (out, cells);
}

static bool
write_calls (const LnsStatsResult *result, LnsStatsTable *out, LnsError *error)
{
  const LnsTable *table = lns_table_find (CALLS);
  LnsRowCursor *rows = lns_row_cursor_new (result->tables, table);
  bool good = lns_row_cursor_start (rows, NULL, 0, true, error), row = true;

  while (good && (good = lns_row_cursor_next (rows, &row, error)) && row)
    add_call (result, out, rows, table);
  lns_row_cursor_free (rows);
  return good;
}

static const LnsStatsColumn columns[] = {
  { "Start", .is_time = true },
  { "Duration", .is_time = true },
  { "Name", .is_text = true },
  { "Result" },
  { "CorrID" },
  { "Pid" },
  { "Tid" },
  { "T-Pri" },
  { "Thread Name", .is_text = true },
};

const LnsStatsWay _lns_stats_cuda_calls = { run_calls, NULL, write_calls, columns,
                                            sizeof columns / sizeof *columns };

/* ---- GPUs ------------------------------------------------------------------------------------ */

enum
{
  KERNELS,
  COPIES,
  SETS,
  N_SOURCES
};

static const char *const sources[N_SOURCES] = { "CUPTI_ACTIVITY_KIND_KERNEL",
                                                "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                "CUPTI_ACTIVITY_KIND_MEMSET" };

typedef struct
{
  const LnsTable *table;
  LnsRowCursor *rows;
  bool row;
} Source;

static bool
run_operations (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  (void)cancel;
  (void)error;
  for (unsigned i = 0; i < N_SOURCES; i++)
    result->n += count_rows (result, sources[i]);
  return true;
}

/* What the enumeration NAME calls the value in COLUMN of SOURCE's row; an empty cell where that is NULL. */
static LnsStatsCell
label (const char *name, const Source *source, const char *column)
{
  const LnsStatsCell value = number (source->rows, source->table, column);

  const char *text = value.is_empty ? NULL : lns_enum_label (name, value.number);

  return text != NULL ? _lns_stats_text (text, strlen (text)) : (LnsStatsCell){ .is_empty = true };
}

/* "NVIDIA A100 (0)" into TEXT: the device of LANE. */
static LnsStatsCell
device_name (const LnsStatsResult *result, uint32_t lane, char text[160])
{
  LnsReport *report = lns_tables_report (result->tables);
  uint32_t n_devices;
  const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);
  const uint32_t device = lns_track_of (report, lane)->device;

  if (device >= n_devices)
    return (LnsStatsCell){ .is_empty = true };
  int size =
      snprintf (text, 160, "%.128s (%u)", lns_report_string (report, devices[device].name, NULL),
                (unsigned)devices[device].number);
  return _lns_stats_text (text, (size_t)size);
}

static const LnsStatsColumn operation_columns[] = {
  { "Start", .is_time = true },
  { "Duration", .is_time = true },
  { "CorrId" },
  { "GrdX" },
  { "GrdY" },
  { "GrdZ" },
  { "BlkX" },
  { "BlkY" },
  { "BlkZ" },
  { "Reg/Trd" },
  { "StcSMem (MB)", .decimals = 3 },
  { "DymSMem (MB)", .decimals = 3 },
  { "Bytes (MB)", .decimals = 3 },
  { "Throughput (MB/s)", .decimals = 3 },
  { "SrcMemKd", .is_text = true },
  { "DstMemKd", .is_text = true },
  { "Device", .is_text = true },
  { "Ctx" },
  { "GreenCtx" },
  { "Strm" },
  { "Name", .is_text = true },
};
#define N_COLUMNS (sizeof operation_columns / sizeof *operation_columns)

/* The columns of the sources that these show, by number; the others are worked out. */
static const char *const values[N_COLUMNS][N_SOURCES] = {
  [0] = { "start", "start", "start" },
  [2] = { "correlationId", "correlationId", "correlationId" },
  [3] = { "gridX" },
  [4] = { "gridY" },
  [5] = { "gridZ" },
  [6] = { "blockX" },
  [7] = { "blockY" },
  [8] = { "blockZ" },
  [9] = { "registersPerThread" },
  [10] = { "staticSharedMemory" },
  [11] = { "dynamicSharedMemory" },
  [12] = { NULL, "bytes", "bytes" },
  [14] = { NULL, "srcKind", "memKind" },
  [15] = { NULL, "dstKind" },
  [17] = { "contextId", "contextId", "contextId" },
  [19] = { "streamId", "streamId", "streamId" },
};

/* The cell of column C for a row of source I. */
static LnsStatsCell
simple_cell (const Source *source, unsigned i, unsigned c)
{
  const char *column = values[c][i];

  if (column == NULL)
    return (LnsStatsCell){ .is_empty = true };
  if (operation_columns[c].is_text)
    return label ("ENUM_CUDA_MEM_KIND", source, column);
  const LnsStatsCell cell = number (source->rows, source->table, column);
  return operation_columns[c].decimals > 0 && !cell.is_empty
             ? _lns_stats_megabytes ((double)cell.number)
             : cell;
}

/* What the kernel of SOURCE's row is called; TEXT gets a name that goes by a range, too. */
static LnsStatsCell
kernel_name (const LnsStatsResult *result, const Source *source, LnsBuffer *text)
{
  const char *column = result->arguments.is_base      ? "shortName"
                       : result->arguments.is_mangled ? "mangledName"
                                                      : "demangledName";
  const LnsTrack *track =
      lns_track_of (lns_tables_report (result->tables), lns_row_cursor_lane (source->rows));
  uint32_t id = (uint32_t)integer (source->rows, source->table, column);
  const LnsCallRange *range = NULL;

  if (id == 0)
    id = (uint32_t)integer (source->rows, source->table, "demangledName");
  if (result->call_ranges != NULL)
    range = lns_call_ranges_find (result->call_ranges, track->process,
                                  (uint64_t)integer (source->rows, source->table, "correlationId"));
  return _lns_stats_name_in_range (result, range, id, text);
}

static void
add_operation (const LnsStatsResult *result,
               LnsStatsTable *out,
               const Source *source,
               unsigned i,
               LnsBuffer *text)
{
  LnsStatsCell cells[N_COLUMNS], kind;
  const int64_t start_ns = integer (source->rows, source->table, "start"),
                duration_ns =
                    lns_difference (integer (source->rows, source->table, "end"), start_ns),
                green = integer (source->rows, source->table, "greenContextId");
  char device[160], name[96] = "[CUDA memset]";

  for (unsigned c = 0; c < N_COLUMNS; c++)
    cells[c] = simple_cell (source, i, c);
  cells[1] = _lns_stats_number (duration_ns);
  if (duration_ns > 0 && !cells[12].is_empty)
    cells[13] = _lns_stats_number (_lns_stats_rounded (
        (double)integer (source->rows, source->table, "bytes") * 1000 / (double)duration_ns, 3));
  cells[16] = device_name (result, lns_row_cursor_lane (source->rows), device);
  if (green != 0)
    cells[18] = _lns_stats_number (green);
  if (i == COPIES)
    {
      kind = label ("ENUM_CUDA_MEMCPY_OPER", source, "copyKind");
      snprintf (name, sizeof name, "[CUDA memcpy %.*s]", (int)kind.size_bytes,
                kind.is_empty ? "" : kind.bytes);
    }
  cells[20] =
      i == KERNELS ? kernel_name (result, source, text) : _lns_stats_text (name, strlen (name));
  lns_stats_table_add (out, cells);
}

static bool
step (Source *source, LnsError *error)
{
  return lns_row_cursor_next (source->rows, &source->row, error);
}

/* The source whose row starts first, or N_SOURCES. */
static unsigned
first_source (const Source from[N_SOURCES])
{
  unsigned first = N_SOURCES;

  for (unsigned i = 0; i < N_SOURCES; i++)
    if (from[i].row &&
        (first == N_SOURCES || integer (from[i].rows, from[i].table, "start") <
                                   integer (from[first].rows, from[first].table, "start")))
      first = i;
  return first;
}

static bool
write_operations (const LnsStatsResult *result, LnsStatsTable *out, LnsError *error)
{
  Source from[N_SOURCES] = { 0 };
  LnsBuffer text = { 0 };
  bool good = true;
  unsigned i;

  for (i = 0; i < N_SOURCES && good; i++)
    {
      from[i].table = lns_table_find (sources[i]);
      from[i].rows = lns_row_cursor_new (result->tables, from[i].table);
      good = lns_row_cursor_start (from[i].rows, NULL, 0, true, error) && step (&from[i], error);
    }
  while (good && (i = first_source (from)) != N_SOURCES)
    {
      add_operation (result, out, &from[i], i, &text);
      good = step (&from[i], error);
    }
  for (i = 0; i < N_SOURCES; i++)
    lns_row_cursor_free (from[i].rows);
  lns_buffer_clear (&text);
  return good;
}

const LnsStatsWay _lns_stats_cuda_operations = { run_operations, NULL, write_operations,
                                                 operation_columns, N_COLUMNS };
