/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* um_sum, um_total_sum and um_cpu_page_faults_sum: pages of unified memory that moved or were missing. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/saturate.h"
#include "src/tables/row-cursor.h"

#define DEFAULT_ROWS 10

/* CUpti_ActivityMemcpyKind as the tables number copies of unified memory. */
enum
{
  COPY_TO_DEVICE = 11,
  COPY_TO_HOST = 12
};

/* What happened at one address; of instructions, what they touched that was missing. */
typedef struct
{
  uint64_t address;
  int64_t to_device_bytes, to_host_bytes, moved_ns;
  int64_t cpu_faults, gpu_faults;
} Place;

typedef bool (*RowFunc) (LnsStatsResult *result, LnsRowCursor *rows, const LnsTable *table);

static int64_t
integer (LnsRowCursor *rows, const LnsTable *table, const char *column)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    if (strcmp (table->columns[i].name, column) == 0)
      return lns_row_cursor_value (rows, i).integer;
  return 0;
}

static bool
add_place (LnsStatsResult *result, Place place)
{
  Place *places = result->rows;

  /* The number allocated is the power of two that is not below n.                               */
  if ((result->n & (result->n - 1)) == 0)
    places = realloc (places, (result->n == 0 ? 1 : 2 * result->n) * sizeof *places);
  if (places == NULL)
    return false;
  result->rows = places;
  places[result->n++] = place;
  return true;
}

static bool
add_copy (LnsStatsResult *result, LnsRowCursor *rows, const LnsTable *table)
{
  int64_t kind = integer (rows, table, "copyKind"), bytes = integer (rows, table, "bytes");
  Place place = { .address = (uint64_t)integer (rows, table, "virtualAddress") };

  if (kind != COPY_TO_DEVICE && kind != COPY_TO_HOST)
    return true;
  place.moved_ns = lns_difference (integer (rows, table, "end"), integer (rows, table, "start"));
  if (kind == COPY_TO_DEVICE)
    place.to_device_bytes = bytes;
  else
    place.to_host_bytes = bytes;
  return add_place (result, place);
}

static bool
add_cpu_fault (LnsStatsResult *result, LnsRowCursor *rows, const LnsTable *table)
{
  return add_place (
      result, (Place){ .address = (uint64_t)integer (rows, table, "address"), .cpu_faults = 1 });
}

static bool
add_instruction (LnsStatsResult *result, LnsRowCursor *rows, const LnsTable *table)
{
  return add_place (result, (Place){ .address = (uint64_t)integer (rows, table, "originalFaultPc"),
                                     .cpu_faults = 1 });
}

static bool
add_gpu_faults (LnsStatsResult *result, LnsRowCursor *rows, const LnsTable *table)
{
  return add_place (result, (Place){ .address = (uint64_t)integer (rows, table, "address"),
                                     .gpu_faults = integer (rows, table, "numberOfPageFaults") });
}

/* Has FUNCTION look at each row of the table called NAME. */
static bool
read_rows (LnsStatsResult *result,
           const char *name,
           RowFunc function,
           const atomic_bool *cancel,
           LnsError *error)
{
  const LnsTable *table = lns_table_find (name);
  LnsRowCursor *rows = lns_row_cursor_new (result->tables, table, error);
  bool row = true, good = rows != NULL && lns_row_cursor_start (rows, NULL, 0, false, error);

  while (good && row)
    {
      good = lns_row_cursor_next (rows, &row, error);
      if (good && row)
        good = function (result, rows, table) ||
               lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                              "not enough memory for statistics; close other programs");
      if (good && cancel != NULL && atomic_load_explicit (cancel, memory_order_relaxed))
        good = lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
    }
  lns_row_cursor_free (rows);
  return good;
}

static int
compare_addresses (const void *a, const void *b)
{
  const Place *pa = a, *pb = b;
  return pa->address < pb->address ? -1 : pa->address > pb->address;
}

/* What moved most comes first, then where most was missing. */
static int
compare_amounts (const void *a, const void *b)
{
  const Place *pa = a, *pb = b;
  const int64_t ka[] = { lns_sum (pa->to_device_bytes, pa->to_host_bytes),
                         lns_sum (pa->cpu_faults, pa->gpu_faults) },
                kb[] = { lns_sum (pb->to_device_bytes, pb->to_host_bytes),
                         lns_sum (pb->cpu_faults, pb->gpu_faults) };

  for (unsigned i = 0; i < 2; i++)
    if (ka[i] != kb[i])
      return ka[i] > kb[i] ? -1 : 1;
  return compare_addresses (a, b);
}

/* Adds what happened at OTHER to PLACE. */
static void
merge_place (Place *place, const Place *other)
{
  place->to_device_bytes = lns_sum (place->to_device_bytes, other->to_device_bytes);
  place->to_host_bytes = lns_sum (place->to_host_bytes, other->to_host_bytes);
  place->moved_ns = lns_sum (place->moved_ns, other->moved_ns);
  place->cpu_faults = lns_sum (place->cpu_faults, other->cpu_faults);
  place->gpu_faults = lns_sum (place->gpu_faults, other->gpu_faults);
}

/* Adds what happened at one address, and puts the addresses in order. */
static void
merge_places (LnsStatsResult *result)
{
  Place *places = result->rows;
  size_t n = 0;

  if (result->n == 0)
    return;
  qsort (places, result->n, sizeof *places, compare_addresses);
  for (size_t i = 0; i < result->n; i++)
    if (n == 0 || places[n - 1].address != places[i].address)
      places[n++] = places[i];
    else
      merge_place (&places[n - 1], &places[i]);
  qsort (places, n, sizeof *places, compare_amounts);
  result->n = n;
}

bool
_lns_stats_run_memory (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  bool good = read_rows (result, "CUPTI_ACTIVITY_KIND_MEMCPY", add_copy, cancel, error) &&
              read_rows (result, "CUDA_UM_CPU_PAGE_FAULT_EVENTS", add_cpu_fault, cancel, error) &&
              read_rows (result, "CUDA_UM_GPU_PAGE_FAULT_EVENTS", add_gpu_faults, cancel, error);

  merge_places (result);
  return good;
}

bool
_lns_stats_run_faults (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  bool good = read_rows (result, "CUDA_UM_CPU_PAGE_FAULT_EVENTS", add_instruction, cancel, error);

  merge_places (result);
  return good;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static LnsStatsCell
megabytes (int64_t bytes)
{
  return _lns_stats_number (_lns_stats_rounded ((double)bytes / 1e6, 3));
}

static LnsStatsCell
hexadecimal (uint64_t address, char text[24])
{
  int size = snprintf (text, 24, "0x%" PRIX64, address);
  return _lns_stats_text (text, (size_t)size);
}

bool
_lns_stats_write_memory (const LnsStatsResult *result,
                         FILE *stream,
                         const LnsStatsStyle *style,
                         LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "Virtual Address", .is_text = true },
    { "HtoD Migration Size (MB)", .decimals = 3 },
    { "DtoH Migration Size (MB)", .decimals = 3 },
    { "CPU Page Faults" },
    { "GPU PageFaults" },
    { "Migration Throughput (MB/s)", .decimals = 3 },
  };
  const Place *places = result->rows;
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof columns[0]);
  bool good = table != NULL;
  int64_t limit =
      result->arguments.n_rows != LNS_STATS_DEFAULT_ROWS ? result->arguments.n_rows : DEFAULT_ROWS;
  char address[24];

  (void)error;
  for (size_t i = 0; good && i < result->n && (limit < 0 || i < (uint64_t)limit); i++)
    {
      double bytes = (double)(places[i].to_device_bytes + places[i].to_host_bytes);
      LnsStatsCell cells[] = {
        hexadecimal (places[i].address, address), megabytes (places[i].to_device_bytes),
        megabytes (places[i].to_host_bytes),      _lns_stats_number (places[i].cpu_faults),
        _lns_stats_number (places[i].gpu_faults), { .is_empty = places[i].moved_ns <= 0 },
      };
      if (!cells[5].is_empty)
        cells[5].number = _lns_stats_rounded (bytes * 1000 / (double)places[i].moved_ns, 3);
      good = lns_stats_table_add (table, cells);
    }
  lns_stats_table_finish (table);
  return good;
}

bool
_lns_stats_write_memory_total (const LnsStatsResult *result,
                               FILE *stream,
                               const LnsStatsStyle *style,
                               LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "Total HtoD Migration Size (MB)", .decimals = 3 },
    { "Total DtoH Migration Size (MB)", .decimals = 3 },
    { "Total CPU Page Faults" },
    { "Total GPU PageFaults" },
    { "Minimum Virtual Address", .is_text = true },
    { "Maximum Virtual Address", .is_text = true },
  };
  const Place *places = result->rows;
  LnsStatsTable *table =
      lns_stats_table_new (stream, style, columns, sizeof columns / sizeof columns[0]);
  Place all = { 0 };
  uint64_t least = UINT64_MAX, greatest = 0;
  char first[24], last[24];

  (void)error;
  for (size_t i = 0; i < result->n; i++)
    {
      merge_place (&all, &places[i]);
      least = places[i].address < least ? places[i].address : least;
      greatest = places[i].address > greatest ? places[i].address : greatest;
    }
  LnsStatsCell cells[] = {
    megabytes (all.to_device_bytes),    megabytes (all.to_host_bytes),
    _lns_stats_number (all.cpu_faults), _lns_stats_number (all.gpu_faults),
    hexadecimal (least, first),         hexadecimal (greatest, last),
  };
  bool good = table != NULL && (result->n == 0 || lns_stats_table_add (table, cells));
  lns_stats_table_finish (table);
  return good;
}

bool
_lns_stats_write_faults (const LnsStatsResult *result,
                         FILE *stream,
                         const LnsStatsStyle *style,
                         LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "CPU Page Faults" },
    { "CPU Instruction Address", .is_text = true },
  };
  const Place *places = result->rows;
  LnsStatsTable *table = lns_stats_table_new (stream, style, columns, 2);
  bool good = table != NULL;
  char address[24];

  (void)error;
  for (size_t i = 0; good && i < result->n; i++)
    {
      LnsStatsCell cells[] = { _lns_stats_number (places[i].cpu_faults),
                               hexadecimal (places[i].address, address) };
      good = lns_stats_table_add (table, cells);
    }
  lns_stats_table_finish (table);
  return good;
}
