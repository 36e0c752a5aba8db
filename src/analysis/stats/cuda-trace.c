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

/* The position of the column called NAME in TABLE, which has it. */
static unsigned
column_of (const LnsTable *table, const char *name)
{
  unsigned i = 0;

  while (i + 1 < table->n_columns && strcmp (table->columns[i].name, name) != 0)
    i++;
  return i;
}

static int64_t
integer (LnsRowCursor *rows, const LnsTable *table, const char *column)
{
  return lns_row_cursor_value (rows, column_of (table, column)).integer;
}

/* A cell for the number in COLUMN; an empty one where that is NULL. */
static LnsStatsCell
number (LnsRowCursor *rows, const LnsTable *table, const char *column)
{
  const LnsValue value = lns_row_cursor_value (rows, column_of (table, column));

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
  LnsRowCursor *rows = lns_row_cursor_new (result->tables, table, error);
  bool good = rows != NULL && lns_row_cursor_start (rows, NULL, 0, true, error), row = true;

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

const LnsStatsWay _lns_stats_cuda_calls = { run_calls, write_calls, columns,
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

/* The size in COLUMN in thousandths of a MB; likewise. */
static LnsStatsCell
megabytes (LnsRowCursor *rows, const LnsTable *table, const char *column)
{
  const LnsStatsCell cell = number (rows, table, column);

  return cell.is_empty ? cell : _lns_stats_megabytes ((double)cell.number);
}

/* TEXT gets the name that goes by a range, too. */
static void
fill_kernel (const LnsStatsResult *result,
             const Source *source,
             LnsStatsCell cells[21],
             LnsBuffer *text)
{
  static const char *const shape[] = {
    "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread"
  };
  const char *name = result->arguments.is_base      ? "shortName"
                     : result->arguments.is_mangled ? "mangledName"
                                                    : "demangledName";
  const LnsCallRange *range = NULL;

  for (unsigned i = 0; i < 7; i++)
    cells[3 + i] = number (source->rows, source->table, shape[i]);
  cells[10] = megabytes (source->rows, source->table, "staticSharedMemory");
  cells[11] = megabytes (source->rows, source->table, "dynamicSharedMemory");
  uint32_t id = (uint32_t)integer (source->rows, source->table, name);
  if (id == 0)
    id = (uint32_t)integer (source->rows, source->table, "demangledName");
  if (result->call_ranges != NULL)
    range = lns_call_ranges_find (
        result->call_ranges,
        lns_track_of (lns_tables_report (result->tables), lns_row_cursor_lane (source->rows))
            ->process,
        (uint64_t)integer (source->rows, source->table, "correlationId"));
  cells[20] = _lns_stats_name_in_range (result, range, id, text);
}

static void
fill_memory (const Source *source,
             bool is_copy,
             int64_t duration_ns,
             LnsStatsCell cells[21],
             char ret_name[96])
{
  const int64_t bytes = integer (source->rows, source->table, "bytes");
  LnsStatsCell kind = { .is_empty = true };

  cells[12] = megabytes (source->rows, source->table, "bytes");
  if (duration_ns > 0 && !cells[12].is_empty)
    cells[13] =
        _lns_stats_number (_lns_stats_rounded ((double)bytes * 1000 / (double)duration_ns, 3));
  cells[14] = label ("ENUM_CUDA_MEM_KIND", source, is_copy ? "srcKind" : "memKind");
  if (is_copy)
    {
      cells[15] = label ("ENUM_CUDA_MEM_KIND", source, "dstKind");
      kind = label ("ENUM_CUDA_MEMCPY_OPER", source, "copyKind");
    }
  const int size = is_copy ? snprintf (ret_name, 96, "[CUDA memcpy %.*s]", (int)kind.size_bytes,
                                       kind.is_empty ? "" : kind.bytes)
                           : snprintf (ret_name, 96, "[CUDA memset]");
  cells[20] = _lns_stats_text (ret_name, (size_t)size);
}

static void
add_operation (const LnsStatsResult *result,
               LnsStatsTable *out,
               const Source *source,
               unsigned i,
               LnsBuffer *text)
{
  LnsStatsCell cells[21];
  const int64_t start_ns = integer (source->rows, source->table, "start"),
                duration_ns =
                    lns_difference (integer (source->rows, source->table, "end"), start_ns),
                green = integer (source->rows, source->table, "greenContextId");
  char device[160], name[96];

  for (unsigned c = 0; c < 21; c++)
    cells[c] = (LnsStatsCell){ .is_empty = true };
  cells[0] = _lns_stats_number (start_ns);
  cells[1] = _lns_stats_number (duration_ns);
  cells[2] = number (source->rows, source->table, "correlationId");
  if (i == KERNELS)
    fill_kernel (result, source, cells, text);
  else
    fill_memory (source, i == COPIES, duration_ns, cells, name);
  cells[16] = device_name (result, lns_row_cursor_lane (source->rows), device);
  cells[17] = number (source->rows, source->table, "contextId");
  if (green != 0)
    cells[18] = _lns_stats_number (green);
  cells[19] = number (source->rows, source->table, "streamId");
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
      from[i].rows = lns_row_cursor_new (result->tables, from[i].table, error);
      good = from[i].rows != NULL && lns_row_cursor_start (from[i].rows, NULL, 0, true, error) &&
             step (&from[i], error);
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

static const LnsStatsColumn operation_columns[21] = {
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

const LnsStatsWay _lns_stats_cuda_operations = { run_operations, write_operations,
                                                 operation_columns, 21 };
