/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/row.h"

#include <string.h>

#include "src/tables/enums.h"

LnsImportCell
_lns_import_cell (const LnsTableColumn *column, LnsLaneKind kind)
{
  LnsColumnId id =
      column->cell.rule == LNS_CELL_CUDA_CALL_CLASS ? LNS_COLUMN_CALLBACK : column->cell.column;
  return (LnsImportCell){ column, id != 0 ? lns_lane_kind_extra (kind, id) : -1 };
}

void
_lns_import_row_begin (LnsImportRow *row, const LnsImportCell *cells, unsigned n_cells)
{
  if (row->has_launch)
    memset (&row->launch, 0, sizeof row->launch);
  row->event = (LnsEvent){ 0 };
  row->has_launch = row->has_start = row->has_end = false;
  row->thread = row->process = row->device = row->context = row->stream = row->green = 0;
  row->track_number = row->metric = row->nesting = 0;
  row->value_type = LNS_PAYLOAD_NONE;
  for (unsigned i = 0; i < n_cells; i++)
    if (cells[i].column->cell.rule == LNS_CELL_THREAD && cells[i].extra >= 0)
      row->event.extra[cells[i].extra] = LNS_ID_NONE;
}

/* ---- Rules backwards ------------------------------------------------------------------------- */

/* Whether all of NUMBER is kept. */
static bool
put_bits (LnsImportRow *row, const LnsImportCell *cell, uint64_t number)
{
  const LnsCell *rule = &cell->column->cell;
  uint64_t mask = rule->n_bits < 64 ? (UINT64_C (1) << rule->n_bits) - 1 : UINT64_MAX;

  if (cell->extra < 0)
    return false;
  row->event.extra[cell->extra] |= (number & mask) << rule->shift;
  return (number & ~mask) == 0;
}

/* CUPTI's numbers of kinds of overhead, of those of ENUM_CUPTI_OVERHEAD_TYPE. */
static bool
put_overhead_kind (LnsImportRow *row, const LnsImportCell *cell, int64_t type)
{
  uint64_t kind = type == 2               ? 1
                  : type > 2 && type <= 8 ? (uint64_t)(type - 2) << 16
                  : type != 0             ? 99 << 16
                                          : 0;

  return put_bits (row, cell, kind) && type >= 0 && type <= 8;
}

/* Calls of the runtime are told from those of the driver by a bit, other classes stand above it. */
static bool
put_call_class (LnsImportRow *row, const LnsImportCell *cell, int64_t class)
{
  if (cell->extra < 0 || class < 0 || class > UINT16_MAX)
    return false;
  row->event.extra[cell->extra] |= class == LNS_CLASS_RUNTIME ? UINT64_C (1) << 32
                                   : class > LNS_CLASS_DRIVER ? (uint64_t) class << 40
                                                              : 0;
  return true;
}

static bool
put_launch (LnsImportRow *row, const LnsCell *cell, const LnsKeptValue *value, int64_t number)
{
  char *at = (char *)&row->launch + cell->argument;
  uint32_t narrow;

  row->has_launch = true;
  if (cell->rule == LNS_CELL_LAUNCH_WIDE)
    {
      memcpy (at, &number, sizeof number);
      return true;
    }
  memcpy (&narrow, at, sizeof narrow);
  bool is_name = cell->argument == offsetof (LnsCudaLaunch, short_name) ||
                 cell->argument == offsetof (LnsCudaLaunch, mangled_name);
  narrow |= is_name ? _lns_import_string (row->import, value) : (uint32_t)number << cell->shift;
  memcpy (at, &narrow, sizeof narrow);
  return is_name || (number >= 0 && number <= UINT32_MAX >> cell->shift);
}

/* Where the row belongs; false for rules that do not tell. */
static bool
put_owner (LnsImportRow *row, LnsCellRule rule, int64_t number)
{
  switch (rule)
    {
    case LNS_CELL_GLOBAL_TID:
      row->thread = number;
      return true;
    case LNS_CELL_GLOBAL_PID:
      row->process = number;
      return true;
    case LNS_CELL_DEVICE:
      row->device = number;
      return number >= 0 && number <= UINT32_MAX;
    case LNS_CELL_CONTEXT:
      row->context = number;
      return number >= 0 && number <= UINT32_MAX;
    case LNS_CELL_GREEN_CONTEXT:
      row->green = number;
      return number == 0 || number == row->context;
    case LNS_CELL_STREAM:
      row->stream = number;
      return number >= 0 && number <= UINT32_MAX;
    case LNS_CELL_STREAM_OR_ALL:
      row->stream = number == UINT32_MAX ? 0 : number;
      return number > 0 && number <= UINT32_MAX;
    case LNS_CELL_DEPTH:
      row->nesting = number;
      return true;
    case LNS_CELL_TRACK_NUMBER:
      row->track_number = number;
      return true;
    case LNS_CELL_TRACK_METRIC:
      row->metric = number;
      return number >= 0 && number <= UINT32_MAX;
    default:
      return false;
    }
}

static bool
put_number (LnsImportRow *row, const LnsImportCell *cell, const LnsKeptValue *value, int64_t number)
{
  const LnsCell *rule = &cell->column->cell;

  switch (rule->rule)
    {
    case LNS_CELL_NONE:
    case LNS_CELL_EMPTY_LIST:
    case LNS_CELL_NAME_TEXT:
      return false;
    case LNS_CELL_CONSTANT:
      return number == rule->argument;
    case LNS_CELL_START:
      row->event.start_ns = number;
      return row->has_start = _lns_import_time (value, &number);
    case LNS_CELL_END:
    case LNS_CELL_END_IF_KNOWN:
      row->end_ns = number;
      return row->has_end = _lns_import_time (value, &number) && number >= row->event.start_ns;
    case LNS_CELL_START_PLUS:
      return put_bits (row, cell, (uint64_t)number - (uint64_t)row->event.start_ns);
    case LNS_CELL_NAME:
      row->event.name = _lns_import_string (row->import, value);
      return true;
    case LNS_CELL_VALUE:
      row->value_type = LNS_PAYLOAD_INT64;
      return put_bits (row, cell, (uint64_t)number);
    case LNS_CELL_BITS_OR_NULL:
      return put_bits (row, cell, (uint64_t)number) && number != 0;
    case LNS_CELL_BITS:
    case LNS_CELL_BITS_IF_ANY:
      return put_bits (row, cell, (uint64_t)number);
    case LNS_CELL_BITS_PLUS:
      return put_bits (row, cell, (uint64_t)number - rule->argument);
    case LNS_CELL_BITS_LESS_ONE:
      return put_bits (row, cell, (uint64_t)number + 1);
    case LNS_CELL_MEMORY_KIND:
      return put_bits (row, cell, number == LNS_MEMORY_KIND_UNKNOWN ? 0 : (uint64_t)number + 1);
    case LNS_CELL_OVERHEAD_KIND:
      return put_overhead_kind (row, cell, number);
    case LNS_CELL_CUDA_CALL_CLASS:
      return put_call_class (row, cell, number);
    case LNS_CELL_GRAPH_CLASS: /* follows from the graph's ids                                    */
      return true;
    case LNS_CELL_LAUNCH:
    case LNS_CELL_LAUNCH_WIDE:
      return put_launch (row, rule, value, number);
    case LNS_CELL_THREAD:
      row->process = number;
      if (cell->extra >= 0)
        row->event.extra[cell->extra] = _lns_import_thread (row->import, number);
      return cell->extra >= 0 && number != 0;
    default:
      return put_owner (row, rule->rule, number);
    }
}

/* Text and numbers with fractions. */
static bool
put_other (LnsImportRow *row, const LnsImportCell *cell, const LnsKeptValue *value)
{
  double real = _lns_import_real (value);
  uint64_t bits;

  switch (cell->column->cell.rule)
    {
    case LNS_CELL_NAME_TEXT:
      row->event.name = _lns_import_text (row->import, value);
      return row->event.name != 0;
    case LNS_CELL_EMPTY_LIST:
      return value->type == LNS_KEPT_TEXT && value->size_bytes == 2 &&
             memcmp (value->bytes, "[]", 2) == 0;
    case LNS_CELL_VALUE:
      if (value->type != LNS_KEPT_REAL)
        return false;
      row->value_type = LNS_PAYLOAD_DOUBLE;
      memcpy (&bits, &real, sizeof bits);
      return put_bits (row, cell, bits);
    default:
      return false;
    }
}

/* Whether an event that was told nothing says NULL. */
static bool
is_null_by_itself (LnsCellRule rule)
{
  return rule == LNS_CELL_NONE || rule == LNS_CELL_END_IF_KNOWN || rule == LNS_CELL_NAME_TEXT ||
         rule == LNS_CELL_BITS_OR_NULL || rule == LNS_CELL_BITS_IF_ANY || rule == LNS_CELL_THREAD;
}

bool
_lns_import_row_put (LnsImportRow *row, const LnsImportCell *cell, const LnsKeptValue *value)
{
  int64_t number;

  if (value->type == LNS_KEPT_NULL)
    return is_null_by_itself (cell->column->cell.rule);
  return _lns_import_integer (value, &number) ? put_number (row, cell, value, number)
                                              : put_other (row, cell, value);
}

/* ---- What the whole row says ----------------------------------------------------------------- */

static int64_t
graph_class (const LnsEvent *event)
{
  const LnsLaneKind kind = LNS_LANE_CUDA_GRAPH_NODE;

  if (event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_GRAPH_EXEC)] != 0)
    return LNS_CLASS_GRAPH_EXEC;
  return event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_ORIGINAL)] != 0 ? LNS_CLASS_GRAPH_CLONE
                                                                            : LNS_CLASS_GRAPH;
}

/* CUDA's number of the device that the track is of. */
static int64_t
device_of (const LnsImport *import, uint32_t track)
{
  const uint32_t device = import->tracks.items[track].track.device;
  return device < import->devices.n ? import->devices.items[device].number : 0;
}

bool
_lns_import_row_says (const LnsImportRow *row,
                      const LnsImportCell *cell,
                      const LnsKeptValue *value,
                      const LnsImportPlace *place)
{
  const bool is_null = value->type == LNS_KEPT_NULL;

  switch (cell->column->cell.rule)
    {
    case LNS_CELL_BITS_IF_ANY:
      return cell->extra < 0 || is_null == (row->event.extra[cell->extra] == 0);
    case LNS_CELL_GRAPH_CLASS:
      return !is_null && _lns_import_number (value) == graph_class (&row->event);
    case LNS_CELL_DEPTH:
      return !is_null && row->nesting == place->ordinal;
    case LNS_CELL_DEVICE:
      return is_null || row->device == device_of (row->import, place->track);
    default:
      return true;
    }
}
