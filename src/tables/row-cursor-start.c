/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "src/tables/row-cursor-private.h"

static LnsColumnRole
role_of_nvtx (int column)
{
  switch (column)
    {
    case LNS_NVTX_START:
      return LNS_ROLE_START;
    case LNS_NVTX_END:
      return LNS_ROLE_END;
    case LNS_NVTX_EVENT_TYPE:
      return LNS_ROLE_TYPE;
    case LNS_NVTX_GLOBAL_TID:
      return LNS_ROLE_THREAD;
    case LNS_NVTX_DOMAIN_ID:
      return LNS_ROLE_DOMAIN;
    case LNS_NVTX_TEXT_ID:
      return LNS_ROLE_NAME;
    default:
      return LNS_ROLE_NONE;
    }
}

static LnsColumnRole
role_of_cell (const LnsCell *cell)
{
  switch (cell->rule)
    {
    case LNS_CELL_START:
      return LNS_ROLE_START;
    case LNS_CELL_END:
    case LNS_CELL_END_IF_KNOWN:
      return LNS_ROLE_END;
    case LNS_CELL_NAME:
      return LNS_ROLE_NAME;
    case LNS_CELL_GLOBAL_TID:
    case LNS_CELL_THREAD:
      return LNS_ROLE_THREAD;
    case LNS_CELL_GLOBAL_PID:
    case LNS_CELL_DEVICE:
    case LNS_CELL_CONTEXT:
    case LNS_CELL_GREEN_CONTEXT:
    case LNS_CELL_STREAM:
    case LNS_CELL_STREAM_OR_ALL:
    case LNS_CELL_DEPTH:
    case LNS_CELL_TRACK_NUMBER:
    case LNS_CELL_TRACK_METRIC:
      return LNS_ROLE_LANE;
    default:
      return cell->column == LNS_COLUMN_CORRELATION ? LNS_ROLE_CORRELATION : LNS_ROLE_NONE;
    }
}

LnsColumnRole
lns_table_column_role (const LnsTable *table, int column)
{
  if (column == -1 || table->columns[column].rule == LNS_COLUMN_KEY)
    return LNS_ROLE_ROWID;
  switch (table->source)
    {
    case LNS_ROWS_NVTX:
      return role_of_nvtx (column);
    case LNS_ROWS_COUNTERS:
      return column == LNS_COUNTERS_TIMESTAMP   ? LNS_ROLE_START
             : column == LNS_COUNTERS_DOMAIN_ID ? LNS_ROLE_DOMAIN
                                                : LNS_ROLE_NONE;
    case LNS_ROWS_EVENTS:
      return role_of_cell (&table->columns[column].cell);
    default:
      return LNS_ROLE_NONE;
    }
}

bool
lns_row_cursor_can_use (const LnsTable *table, int column, bool *ret_only_equal)
{
  LnsColumnRole role = lns_table_column_role (table, column);

  *ret_only_equal = role > LNS_ROLE_END;
  if (role == LNS_ROLE_ROWID)
    return table->source != LNS_ROWS_NONE;
  if (table->source == LNS_ROWS_DEFINITIONS || table->source == LNS_ROWS_KEPT)
    return table->columns[column].type[0] == 'I';
  return role != LNS_ROLE_NONE;
}

/* The bound that a constraint on a column of ROLE narrows, or NULL. */
static LnsRowRange *
bound_of (LnsRowBounds *bounds, LnsColumnRole role)
{
  switch (role)
    {
    case LNS_ROLE_ROWID:
      return &bounds->rowid;
    case LNS_ROLE_START:
      return &bounds->start;
    case LNS_ROLE_END:
      return &bounds->end;
    case LNS_ROLE_TYPE:
      return &bounds->type;
    case LNS_ROLE_THREAD:
      return &bounds->global_tid;
    case LNS_ROLE_DOMAIN:
      return &bounds->domain;
    case LNS_ROLE_NAME:
      return &bounds->name;
    case LNS_ROLE_CORRELATION:
      return &bounds->correlation;
    default:
      return NULL;
    }
}

bool
_lns_row_cursor_set_bounds (LnsRowCursor *cursor)
{
  LnsRowBounds *bounds = &cursor->bounds;

  bounds->rowid = bounds->start = bounds->end = bounds->type = LNS_ROW_RANGE_ALL;
  bounds->global_tid = bounds->domain = bounds->name = bounds->correlation = LNS_ROW_RANGE_ALL;
  bounds->table = cursor->table;
  for (unsigned i = 0; i < cursor->n_constraints; i++)
    {
      const LnsRowConstraint *constraint = &cursor->constraints[i];
      LnsRowRange *bound =
          bound_of (bounds, lns_table_column_role (cursor->table, constraint->column));
      if (constraint->min > constraint->max)
        return false;
      if (bound == NULL)
        continue;
      bound->min = constraint->min > bound->min ? constraint->min : bound->min;
      bound->max = constraint->max < bound->max ? constraint->max : bound->max;
      if (bound->min > bound->max)
        return false;
    }
  return true;
}

static bool
lane_may_match (const LnsRowCursor *cursor, const LnsTableLane *lane)
{
  const LnsRowBounds *bounds = &cursor->bounds;

  if (lane->n_events == 0 || !lns_row_range_has (bounds->domain, lane->domain_number))
    return false;
  if (cursor->table->source == LNS_ROWS_NVTX &&
      !lns_row_range_has (bounds->type, _lns_row_event_type (lane->kind)))
    return false;
  if (lane->global_tid != 0 && !lns_row_range_has (bounds->global_tid, lane->global_tid))
    return false;
  for (unsigned i = 0; i < cursor->n_constraints; i++)
    {
      const LnsRowConstraint *constraint = &cursor->constraints[i];
      if (lns_table_column_role (cursor->table, constraint->column) != LNS_ROLE_LANE)
        continue;
      int64_t value = _lns_lane_cell (lane, &cursor->table->columns[constraint->column].cell);
      if (value < constraint->min || value > constraint->max)
        return false;
    }
  return bounds->rowid.max > (int64_t)lane->first &&
         bounds->rowid.min <= (int64_t)(lane->first + lane->n_events);
}

bool
_lns_row_cursor_is_by_name (const LnsRowCursor *cursor, const LnsRowConstraint *constraint)
{
  return cursor->table_lanes != NULL &&
         lns_table_column_role (cursor->table, constraint->column) == LNS_ROLE_NAME;
}

/* Collects the lanes by_thread[] has for KEY. O(log lanes + found). */
static void
collect_thread (LnsRowCursor *cursor, int64_t key, bool of_thread)
{
  const LnsTableLanes *all = cursor->table_lanes;
  uint32_t low = 0, high = all->n_lanes;

#define KEY(i) (all->lanes[i].global_tid != 0 ? all->lanes[i].global_tid : all->lanes[i].global_pid)
  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;
      if (KEY (all->by_thread[middle]) < key)
        low = middle + 1;
      else
        high = middle;
    }
  for (; low < all->n_lanes && KEY (all->by_thread[low]) == key; low++)
    {
      const LnsTableLane *lane = &all->lanes[all->by_thread[low]];
      if ((lane->global_tid != 0) == of_thread && lane_may_match (cursor, lane))
        cursor->lanes[cursor->n_lanes++] = all->by_thread[low];
    }
#undef KEY
}

static int
compare_positions (const void *a, const void *b)
{
  uint32_t pa = *(const uint32_t *)a, pb = *(const uint32_t *)b;
  return pa < pb ? -1 : pa > pb;
}

void
_lns_row_cursor_collect_lanes (LnsRowCursor *cursor)
{
  LnsRowRange tid = cursor->bounds.global_tid;

  cursor->n_lanes = cursor->next_lane = 0;
  if (cursor->table_lanes == NULL)
    return;
  if (tid.min == tid.max)
    {
      collect_thread (cursor, tid.min, true);
      collect_thread (cursor, tid.min & ~INT64_C (0xFFFFFF), false);
      qsort (cursor->lanes, cursor->n_lanes, sizeof *cursor->lanes, compare_positions);
      return;
    }
  for (uint32_t i = 0; i < cursor->table_lanes->n_lanes; i++)
    if (lane_may_match (cursor, &cursor->table_lanes->lanes[i]))
      cursor->lanes[cursor->n_lanes++] = i;
}

/* The first of INDEX's rows whose COLUMN is ≥ VALUE (NULL is the least). */
static uint64_t
index_bound (const LnsRowCursor *cursor, const uint32_t *index, unsigned column, int64_t value)
{
  uint64_t low = 0, high = cursor->cells->n_rows;

  while (low < high)
    {
      uint64_t middle = low + (high - low) / 2;
      const LnsValue *cell =
          &cursor->cells->values[(size_t)index[middle] * cursor->table->n_columns + column];
      if (cell->type != LNS_VALUE_INTEGER || cell->integer < value)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

bool
_lns_row_cursor_start_cells (LnsRowCursor *cursor, LnsError *error)
{
  const LnsRowConstraint *best = NULL;

  cursor->cells = _lns_tables_cells (cursor->tables, cursor->table, error);
  if (cursor->cells == NULL)
    return false;
  cursor->index = NULL;
  cursor->cell = 0;
  cursor->last_cell = cursor->cells->n_rows;
  for (unsigned i = 0; i < cursor->n_constraints; i++)
    {
      const LnsRowConstraint *constraint = &cursor->constraints[i];
      bool equal = constraint->min == constraint->max;
      /* Only an equality, and start, keep the rows of events in the order of start.              */
      if (constraint->column < 0 || cursor->table->columns[constraint->column].type[0] != 'I' ||
          _lns_row_cursor_is_by_name (cursor, constraint) ||
          (cursor->table_lanes != NULL && !equal && constraint->column != LNS_NVTX_START))
        continue;
      if (best == NULL || (equal && best->min != best->max))
        best = constraint;
    }
  if (best == NULL || cursor->cells->n_rows == 0)
    return true;
  cursor->index = _lns_tables_index (cursor->tables, cursor->table, (unsigned)best->column, error);
  if (cursor->index == NULL)
    return false;
  cursor->cell = index_bound (cursor, cursor->index, (unsigned)best->column, best->min);
  if (best->max != INT64_MAX)
    cursor->last_cell = index_bound (cursor, cursor->index, (unsigned)best->column, best->max + 1);
  return true;
}

bool
_lns_row_cursor_start_strings (LnsRowCursor *cursor, LnsError *error)
{
  uint32_t n = lns_report_n_strings (cursor->tables->report);
  LnsRowRange ids = cursor->bounds.rowid;

  cursor->string = ids.min > 0 ? (uint64_t)ids.min : 0;
  cursor->last_string = ids.max < 0 ? 0 : ids.max < n ? (uint64_t)ids.max + 1 : n;
  cursor->hidden_strings = NULL;
  /* Who looks up one id has it from a name: it need not be told from others.                   */
  return ids.min == ids.max ||
         _lns_tables_hidden_strings (cursor->tables, &cursor->hidden_strings, error);
}

/* ---- Next ------------------------------------------------------------------------------------ */

bool
_lns_row_cursor_matches (const LnsRowCursor *cursor, const LnsValue *row, uint64_t rowid)
{
  for (unsigned i = 0; i < cursor->n_constraints; i++)
    {
      const LnsRowConstraint *constraint = &cursor->constraints[i];
      if (_lns_row_cursor_is_by_name (cursor, constraint))
        continue;
      LnsValue value = constraint->column >= 0
                           ? row[constraint->column]
                           : (LnsValue){ .type = LNS_VALUE_INTEGER, .integer = (int64_t)rowid };
      if (value.type != LNS_VALUE_INTEGER || value.integer < constraint->min ||
          value.integer > constraint->max)
        return false;
    }
  return true;
}
