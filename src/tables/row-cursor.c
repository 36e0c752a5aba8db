/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/compare.h"
#include "src/base/heap.h"
#include "src/base/memory.h"
#include "src/base/search.h"
#include "src/store/read/call-walk.h"
#include "src/tables/chain-rows.h"
#include "src/tables/row-lane.h"

/* A merge of more lanes goes through the cache: each walker has a connection, which is a file
 * descriptor and some MB. */
#define MAX_WALKERS 8

/* Where a cursor is. Rows of lanes come first, then those of definitions; in the order of start, the rows of
 * definitions are merged like one more lane. */
typedef enum
{
  AT_LANES,
  AT_CELLS,
  AT_STRINGS,
  AT_KEPT,
  AT_CHAINS,
  AT_END
} Place;

/* Where a cursor is in a large kept table. */
typedef struct
{
  LnsRowRange firsts;   /* values of the first column that constraints allow                     */
  uint32_t block;       /* LnsKeptRows to look at next                                           */
  uint64_t n_before;    /* rows of the table before the block at hand                            */
  uint32_t row, n_rows; /* of it: the next one, and how many                                    */
  uint32_t loaded;      /* LnsKeptRows that `values` are of                                      */
  LnsKeptValue *values; /* of the block, by n_columns; owned                                    */
  uint32_t n_columns;
  LnsValue cells[LNS_KEPT_MAX_COLUMNS]; /* the row                                              */
} KeptPlace;

/* Where a cursor is in the chains of samples, or of calls. */
typedef struct
{
  LnsRowCursor *samples; /* over COMPOSITE_EVENTS; NULL in other tables                          */
  const uint32_t *nodes; /* of calls: the chain after this one …                                 */
  const uint32_t *last; /* … up to here                                                         */
  int64_t id;           /* of the chain at hand                                                 */
  LnsCallWalk walk;     /* the functions to come of it                                          */
  uint32_t depth;       /* of the next one                                                      */
  LnsValue *cells;      /* the row                                                              */
} ChainPlace;

struct LnsRowCursor
{
  LnsTables *tables;
  const LnsTable *table;
  const LnsTableLanes *table_lanes; /* or NULL                                                  */
  uint64_t column_mask;
  LnsColumnMask columns; /* that lanes are read with                           */

  LnsRowBounds bounds;
  LnsRowConstraint constraints[LNS_ROW_MAX_CONSTRAINTS]; /* for the rows of definitions          */
  unsigned n_constraints;
  bool by_start;

  Place place;
  bool on_row;
  uint32_t *lanes; /* positions in table_lanes that may have rows, ascending                    */
  uint32_t n_lanes, next_lane;
  LnsRowLane current; /* in table order: the lane being walked                                  */
  bool is_open;
  LnsRowLane *heap; /* by start: the lanes with rows left, a binary heap                        */
  uint32_t n_heap;

  const LnsTableCells *cells;
  const uint32_t *index; /* rows in the order of a constraint's column, or NULL                 */
  uint64_t cell, last_cell;
  const LnsValue *row; /* the row of definitions that the cursor is on, or NULL                 */
  uint64_t row_number;
  uint64_t string, last_string;
  const uint64_t *hidden_strings;
  KeptPlace kept;
  ChainPlace chains;
  char *text[2];   /* the last JSON text and binary data made                                     */
  uint64_t absent; /* columns that are NULL in all events                                */
  bool has_remainders; /* events may have values beside their lanes                          */
  uint64_t remainder;  /* LNS_COLUMN_REMAINDER of the one at hand, 0 = none yet              */
  LnsKeptValue *told;  /* its values; owned                                                  */
  int8_t told_at[LNS_KEPT_MAX_COLUMNS + 1]; /* by column: index of its value, or -1              */
};

/* ---- Constraints ----------------------------------------------------------------------------- */

LnsColumnRole
lns_table_column_role (const LnsTable *table, int column)
{
  if (column == -1 || table->columns[column].rule == LNS_COLUMN_KEY)
    return LNS_ROLE_ROWID;
  const LnsCell *cell = &table->columns[column].cell;
  if (!lns_table_has_events (table))
    return LNS_ROLE_NONE;
  switch (cell->rule)
    {
    case LNS_CELL_START:
      return LNS_ROLE_START;
    case LNS_CELL_END:
    case LNS_CELL_END_IF_KNOWN:
      return LNS_ROLE_END;
    case LNS_CELL_NAME:
    case LNS_CELL_REGISTERED_NAME:
      return LNS_ROLE_NAME;
    case LNS_CELL_GLOBAL_TID:
    case LNS_CELL_THREAD:
    case LNS_CELL_STARTER:
      return LNS_ROLE_THREAD;
    case LNS_CELL_DOMAIN:
      return LNS_ROLE_DOMAIN;
    case LNS_CELL_EVENT_TYPE:
      return LNS_ROLE_TYPE;
    default:
      return lns_cell_is_of_lane (cell->rule)         ? LNS_ROLE_LANE
             : cell->column == LNS_COLUMN_CORRELATION ? LNS_ROLE_CORRELATION
                                                      : LNS_ROLE_NONE;
    }
}

bool
lns_row_cursor_can_use (const LnsTables *tables,
                        const LnsTable *table,
                        int column,
                        bool *ret_only_equal)
{
  LnsColumnRole role = lns_table_column_role (table, column);

  *ret_only_equal = role > LNS_ROLE_END;
  if (lns_table_has_chains (table))
    return column == 0;
  if (role == LNS_ROLE_ROWID)
    return table->source != LNS_ROWS_NONE;
  if (_lns_tables_is_streamed (tables, table) && column != tables->kept[table->kept].column[0])
    return false;
  if (table->source == LNS_ROWS_DEFINITIONS || table->source == LNS_ROWS_KEPT)
    return table->columns[column].type[0] == 'I';
  return role != LNS_ROLE_NONE;
}

/* Leaves of RANGE what CONSTRAINT allows. False where that is nothing. */
static bool
narrow (LnsRowRange *range, const LnsRowConstraint *constraint)
{
  range->min = constraint->min > range->min ? constraint->min : range->min;
  range->max = constraint->max < range->max ? constraint->max : range->max;
  return range->min <= range->max;
}

static bool
set_bounds (LnsRowCursor *cursor)
{
  for (LnsColumnRole role = 0; role < LNS_N_ROLES; role++)
    cursor->bounds.of[role] = LNS_ROW_RANGE_ALL;
  cursor->bounds.table = cursor->table;
  for (unsigned i = 0; i < cursor->n_constraints; i++)
    {
      const LnsRowConstraint *constraint = &cursor->constraints[i];
      const LnsColumnRole role = lns_table_column_role (cursor->table, constraint->column);
      LnsRowRange any = LNS_ROW_RANGE_ALL;
      /* Columns of these roles share no range: each is looked at by itself. */
      const bool is_alone = role == LNS_ROLE_NONE || role == LNS_ROLE_LANE;
      if (!narrow (is_alone ? &any : &cursor->bounds.of[role], constraint))
        return false;
    }
  return true;
}

static bool
lane_may_match (const LnsRowCursor *cursor, const LnsTableLane *lane)
{
  const LnsRowBounds *bounds = &cursor->bounds;

  if (lane->n_events == 0 || !lns_row_range_has (bounds->of[LNS_ROLE_DOMAIN], lane->domain_number))
    return false;
  if (!lns_row_range_has (bounds->of[LNS_ROLE_TYPE], _lns_row_event_type (lane->kind)))
    return false;
  if (lane->global_tid != 0 && !lns_row_range_has (bounds->of[LNS_ROLE_THREAD], lane->global_tid))
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
  return bounds->of[LNS_ROLE_ROWID].max > (int64_t)lane->first &&
         bounds->of[LNS_ROLE_ROWID].min <= (int64_t)(lane->first + lane->n_events);
}

static bool
is_by_name (const LnsRowCursor *cursor, const LnsRowConstraint *constraint)
{
  return cursor->table_lanes != NULL &&
         lns_table_column_role (cursor->table, constraint->column) == LNS_ROLE_NAME;
}

/* Collects the lanes by_thread[] has for KEY. O(log lanes + found). */
static void
collect_thread (LnsRowCursor *cursor, int64_t key, bool of_thread)
{
  const LnsTableLanes *all = cursor->table_lanes;
  size_t at =
      LNS_LOWER_BOUND (all->n_lanes, i, _lns_table_lane_key (&all->lanes[all->by_thread[i]]) < key);

  for (; at < all->n_lanes; at++)
    {
      const LnsTableLane *lane = &all->lanes[all->by_thread[at]];
      if (_lns_table_lane_key (lane) != key)
        break;
      if ((lane->global_tid != 0) == of_thread && lane_may_match (cursor, lane))
        cursor->lanes[cursor->n_lanes++] = all->by_thread[at];
    }
}

static int
compare_positions (const void *a, const void *b)
{
  uint32_t pa = *(const uint32_t *)a, pb = *(const uint32_t *)b;
  return LNS_COMPARE (pa, pb);
}

static void
collect_lanes (LnsRowCursor *cursor)
{
  LnsRowRange tid = cursor->bounds.of[LNS_ROLE_THREAD];

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
  const LnsValue *cells = cursor->cells->values + column;
  const unsigned n_columns = cursor->table->n_columns;

  return LNS_LOWER_BOUND (cursor->cells->n_rows, i,
                          cells[(size_t)index[i] * n_columns].type != LNS_VALUE_INTEGER ||
                              cells[(size_t)index[i] * n_columns].integer < value);
}

static void
start_cells (LnsRowCursor *cursor)
{
  const LnsRowConstraint *best = NULL;

  cursor->cells = _lns_tables_cells (cursor->tables, cursor->table);
  cursor->index = NULL;
  cursor->cell = 0;
  cursor->last_cell = cursor->cells->n_rows;
  for (unsigned i = 0; i < cursor->n_constraints; i++)
    {
      const LnsRowConstraint *constraint = &cursor->constraints[i];
      bool equal = constraint->min == constraint->max;
      /* Only an equality, and start, keep the rows of events in the order of start.              */
      if (constraint->column < 0 || cursor->table->columns[constraint->column].type[0] != 'I' ||
          (cursor->cells->mixed >> constraint->column & 1) != 0 ||
          is_by_name (cursor, constraint) ||
          (cursor->table_lanes != NULL && !equal && constraint->column != LNS_NVTX_START))
        continue;
      if (best == NULL || (equal && best->min != best->max))
        best = constraint;
    }
  if (best == NULL || cursor->cells->n_rows == 0)
    return;
  cursor->index = _lns_tables_index (cursor->tables, cursor->table, (unsigned)best->column);
  cursor->cell = index_bound (cursor, cursor->index, (unsigned)best->column, best->min);
  if (best->max != INT64_MAX)
    cursor->last_cell = index_bound (cursor, cursor->index, (unsigned)best->column, best->max + 1);
}

static bool
start_strings (LnsRowCursor *cursor, LnsError *error)
{
  uint32_t n = lns_report_n_strings (cursor->tables->report);
  LnsRowRange ids = cursor->bounds.of[LNS_ROLE_ROWID];

  cursor->string = ids.min > 0 ? (uint64_t)ids.min : 0;
  cursor->last_string = ids.max < 0 ? 0 : ids.max < n ? (uint64_t)ids.max + 1 : n;
  cursor->hidden_strings = NULL;
  /* A query for one id has it from a row, so that string is not hidden. */
  if (ids.min == ids.max)
    return true;
  cursor->hidden_strings = _lns_tables_hidden_strings (cursor->tables, error);
  return cursor->hidden_strings != NULL;
}

static bool
matches (const LnsRowCursor *cursor, const LnsValue *row, uint64_t rowid)
{
  for (unsigned i = 0; i < cursor->n_constraints; i++)
    {
      const LnsRowConstraint *constraint = &cursor->constraints[i];
      if (is_by_name (cursor, constraint))
        continue;
      LnsValue value =
          constraint->column >= 0 ? row[constraint->column] : lns_value_integer ((int64_t)rowid);
      /* SQLite compares the other values of a kept table itself. */
      if (value.type != LNS_VALUE_INTEGER && value.type != LNS_VALUE_NULL &&
          cursor->table->source == LNS_ROWS_KEPT)
        continue;
      if (value.type != LNS_VALUE_INTEGER || value.integer < constraint->min ||
          value.integer > constraint->max)
        return false;
    }
  return true;
}

/* ---- The cursor ------------------------------------------------------------------------------ */

/* The lane columns that TABLE's columns of MASK are made of. */
static LnsColumnMask
lane_columns (const LnsTable *table, uint64_t mask)
{
  LnsColumnMask columns = LNS_COLUMN_BIT (LNS_COLUMN_START) | LNS_COLUMN_BIT (LNS_COLUMN_DURATION) |
                          _lns_cell_columns (&table->filter);

  for (unsigned i = 0; i < table->n_columns; i++)
    if (mask >> i & 1)
      columns |= _lns_cell_columns (&table->columns[i].cell);
  return columns;
}

void
lns_row_cursor_set_columns (LnsRowCursor *cursor, uint64_t column_mask)
{
  if (cursor->column_mask == column_mask)
    return;
  cursor->column_mask = column_mask;
  cursor->columns = lane_columns (cursor->table, column_mask);
  if (cursor->has_remainders)
    cursor->columns |= LNS_COLUMN_BIT (LNS_COLUMN_REMAINDER);
}

LnsRowCursor *
lns_row_cursor_new (LnsTables *tables, const LnsTable *table)
{
  LnsRowCursor *cursor = lns_calloc (1, sizeof *cursor);
  const size_t position = _lns_tables_position (tables, table);

  cursor->tables = tables;
  cursor->table = table = &tables->all[position];
  cursor->table_lanes = _lns_tables_lanes (tables, table);
  cursor->has_remainders = tables->contents[position].has_remainders;
  cursor->absent = tables->contents[position].absent;
  lns_row_cursor_set_columns (cursor, ~UINT64_C (0));
  cursor->place = AT_END;
  if (cursor->table_lanes != NULL)
    cursor->lanes = lns_calloc (cursor->table_lanes->n_lanes, sizeof *cursor->lanes);
  if (table->source == LNS_ROWS_CHAINS)
    {
      cursor->chains.samples =
          lns_row_cursor_new (tables, lns_tables_find (tables, _lns_chain_samples (table)));
      lns_row_cursor_set_columns (cursor->chains.samples, 0);
      cursor->chains.samples->columns |= LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN);
    }
  if (lns_table_has_chains (table))
    cursor->chains.cells = lns_calloc (table->n_columns, sizeof *cursor->chains.cells);
  return cursor;
}

static void
close_lanes (LnsRowCursor *cursor)
{
  if (cursor->is_open)
    _lns_row_lane_close (&cursor->current);
  cursor->is_open = false;
  for (uint32_t i = 0; i < cursor->n_heap; i++)
    _lns_row_lane_close (&cursor->heap[i]);
  cursor->n_heap = 0;
}

void
lns_row_cursor_free (LnsRowCursor *cursor)
{
  if (cursor == NULL)
    return;
  close_lanes (cursor);
  free (cursor->heap);
  free (cursor->lanes);
  free (cursor->text[0]);
  free (cursor->text[1]);
  free (cursor->told);
  free (cursor->kept.values);
  lns_row_cursor_free (cursor->chains.samples);
  free (cursor->chains.cells);
  free (cursor);
}

/* ---- Merging by start ------------------------------------------------------------------------ */

static bool
is_before (const LnsRowLane *a, const LnsRowLane *b)
{
  int64_t sa = _lns_row_lane_start (a), sb = _lns_row_lane_start (b);
  return sa != sb ? sa < sb : a->lane->first < b->lane->first;
}

static bool
fill_heap (LnsRowCursor *cursor, LnsError *error)
{
  free (cursor->heap);
  cursor->heap = lns_calloc (cursor->n_lanes, sizeof *cursor->heap);
  for (uint32_t i = 0; i < cursor->n_lanes; i++)
    {
      LnsRowLane *lane = &cursor->heap[cursor->n_heap];
      bool row = false;
      bool good = _lns_row_lane_open (
                      lane, cursor->tables, &cursor->table_lanes->lanes[cursor->lanes[i]],
                      &cursor->bounds, cursor->columns, cursor->n_lanes <= MAX_WALKERS, error) &&
                  _lns_row_lane_settle (lane, cursor->tables, &cursor->bounds, cursor->columns,
                                        &row, error);
      if (row)
        cursor->n_heap++;
      else
        _lns_row_lane_close (lane);
      if (!good)
        return false;
    }
  for (uint32_t i = cursor->n_heap / 2; i-- > 0;)
    LNS_HEAP_SINK (cursor->heap, cursor->n_heap, i, a, b, is_before (a, b));
  return true;
}

/* Steps the heap's first lane and puts it where it belongs. */
static bool
advance_heap (LnsRowCursor *cursor, LnsError *error)
{
  LnsRowLane *top = &cursor->heap[0];
  bool row;

  top->ordinal++;
  if (!_lns_row_lane_settle (top, cursor->tables, &cursor->bounds, cursor->columns, &row, error))
    return false;
  if (!row)
    {
      _lns_row_lane_close (top);
      *top = cursor->heap[--cursor->n_heap];
    }
  if (cursor->n_heap > 0)
    LNS_HEAP_SINK (cursor->heap, cursor->n_heap, 0, a, b, is_before (a, b));
  return true;
}

/* ---- Large kept tables: block by block, so that memory stays that of one block ----------------- */

static void
start_kept (LnsRowCursor *cursor)
{
  KeptPlace *kept = &cursor->kept;

  kept->firsts = LNS_ROW_RANGE_ALL;
  for (unsigned i = 0; i < cursor->n_constraints; i++)
    if (cursor->constraints[i].column == cursor->tables->kept[cursor->table->kept].column[0])
      narrow (&kept->firsts, &cursor->constraints[i]);
  kept->block = 0;
  kept->n_before = 0;
  kept->row = 0;
  kept->n_rows = 0;
}

/* Loads block BLOCK, unless the last search has loaded it. False where it is damaged. */
static bool
load_block (LnsRowCursor *cursor, uint32_t block, LnsError *error)
{
  KeptPlace *kept = &cursor->kept;
  LnsReport *report = cursor->tables->report;
  const LnsKeptRows *rows = &lns_report_kept_rows (report, NULL)[block];
  size_t size;

  if (kept->values == NULL || kept->loaded != block)
    {
      const char *bytes = lns_report_string (report, rows->rows, &size);
      free (kept->values);
      kept->loaded = block;
      kept->n_columns = cursor->tables->kept[cursor->table->kept].n_columns;
      kept->values = lns_kept_decode_as (bytes, size, rows->n_rows, kept->n_columns);
    }
  if (kept->values == NULL)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s: the report is damaged (rows of %s cannot be read); get the rest "
                          "back with \"lanescope recover\"",
                          lns_report_info (report)->path, cursor->table->name);
  kept->n_rows = rows->n_rows;
  kept->row = 0;
  return true;
}

/* Goes to the next block that may have rows; RET_BLOCK gets whether there is one. */
static bool
next_block (LnsRowCursor *cursor, bool *ret_block, LnsError *error)
{
  KeptPlace *kept = &cursor->kept;
  const LnsRowRange rowids = cursor->bounds.of[LNS_ROLE_ROWID];
  uint32_t n;
  const LnsKeptRows *rows = lns_report_kept_rows (cursor->tables->report, &n);

  *ret_block = false;
  kept->n_before += kept->n_rows;
  kept->n_rows = 0;
  for (; kept->block < n; kept->block++)
    {
      const LnsKeptRows *it = &rows[kept->block];
      if (it->table != cursor->table->kept || it->n_rows == 0)
        continue;
      if (it->max >= kept->firsts.min && it->min <= kept->firsts.max &&
          rowids.max > (int64_t)kept->n_before &&
          rowids.min <= (int64_t)(kept->n_before + it->n_rows))
        {
          *ret_block = true;
          return load_block (cursor, kept->block++, error);
        }
      kept->n_before += it->n_rows;
    }
  return true;
}

static bool
next_kept (LnsRowCursor *cursor, bool *ret_row, LnsError *error)
{
  KeptPlace *kept = &cursor->kept;
  const LnsTableKept *places = &cursor->tables->kept[cursor->table->kept];

  for (;;)
    {
      while (kept->row == kept->n_rows)
        {
          if (!next_block (cursor, ret_row, error))
            return false;
          if (!*ret_row)
            return true;
        }
      const LnsKeptValue *values = &kept->values[(size_t)kept->row * kept->n_columns];
      for (uint32_t i = 0; i < kept->n_columns; i++)
        if (places->column[i] >= 0)
          kept->cells[places->column[i]] = _lns_kept_value (&values[i]);
      cursor->row = kept->cells;
      cursor->row_number = kept->n_before + kept->row++;
      *ret_row = matches (cursor, cursor->row, cursor->row_number + 1);
      if (*ret_row)
        return true;
    }
}

/* ---- Call chains: a row for each function of each chain ---------------------------------------- */

/* Starts with the chains of calls whose ids are from MIN to MAX. */
static void
start_call_chains (LnsRowCursor *cursor, int64_t min, int64_t max)
{
  uint32_t n;
  const uint32_t *nodes = _lns_chain_nodes (cursor->tables, cursor->table, &n);
  const size_t first = LNS_LOWER_BOUND (n, i, 1 + (int64_t)nodes[i] < min);
  const size_t last = LNS_LOWER_BOUND (n, i, 1 + (int64_t)nodes[i] <= max);
  cursor->chains.nodes = nodes + first;
  cursor->chains.last = nodes + (last > first ? last : first);
}

static bool
start_chains (LnsRowCursor *cursor, LnsError *error)
{
  LnsRowConstraint of_chain = { .column = -1, .min = INT64_MIN, .max = INT64_MAX };

  for (unsigned i = 0; i < cursor->n_constraints; i++)
    if (cursor->constraints[i].column == 0)
      {
        const LnsRowConstraint *it = &cursor->constraints[i];
        of_chain.min = it->min > of_chain.min ? it->min : of_chain.min;
        of_chain.max = it->max < of_chain.max ? it->max : of_chain.max;
      }
  cursor->chains.walk = lns_call_walk (cursor->tables->report, LNS_ID_NONE);
  if (cursor->chains.samples != NULL)
    return lns_row_cursor_start (cursor->chains.samples, &of_chain, 1, false, error);
  start_call_chains (cursor, of_chain.min, of_chain.max);
  return true;
}

static const LnsRowLane *lane_of (const LnsRowCursor *cursor);

/* Goes to the next chain, which may be empty. *RET_ANY says whether there is one. */
static bool
next_chain (LnsRowCursor *cursor, bool *ret_any, LnsError *error)
{
  ChainPlace *chains = &cursor->chains;
  LnsReport *report = cursor->tables->report;
  uint32_t node;
  chains->depth = 0;
  if (chains->samples == NULL)
    {
      *ret_any = chains->nodes < chains->last;
      node = *ret_any ? *chains->nodes++ : LNS_ID_NONE;
      chains->id = 1 + (int64_t)node;
    }
  else if (!lns_row_cursor_next (chains->samples, ret_any, error))
    return false;
  else if (!*ret_any)
    return true;
  else
    {
      const uint64_t leaf = _lns_row_lane_extra (lane_of (chains->samples), LNS_COLUMN_CALL_CHAIN);
      node = leaf - 1 < LNS_ID_NONE ? (uint32_t)(leaf - 1) : LNS_ID_NONE;
      chains->id = lns_row_cursor_rowid (chains->samples);
    }
  chains->walk = lns_call_walk (report, node);
  return true;
}

static bool
next_chain_row (LnsRowCursor *cursor, bool *ret_row, LnsError *error)
{
  ChainPlace *chains = &cursor->chains;
  const LnsStackFrame *function;

  for (;;)
    {
      while ((function = lns_call_walk_next (&chains->walk)) == NULL)
        {
          if (!next_chain (cursor, ret_row, error))
            return false;
          if (!*ret_row)
            return true;
        }
      _lns_chain_row (cursor->tables->report, cursor->table, chains->id, function, chains->depth,
                      chains->cells);
      cursor->row = chains->cells;
      cursor->row_number = (uint64_t)chains->id << 16 | (chains->depth & 0xFFFF);
      chains->depth++;
      *ret_row = matches (cursor, cursor->row, cursor->row_number + 1);
      if (*ret_row)
        return true;
    }
}

/* ---- Start and next -------------------------------------------------------------------------- */

bool
lns_row_cursor_start (LnsRowCursor *cursor,
                      const LnsRowConstraint *constraints,
                      unsigned n_constraints,
                      bool by_start,
                      LnsError *error)
{
  close_lanes (cursor);
  cursor->place = AT_END;
  cursor->on_row = false;
  cursor->row = NULL;
  cursor->by_start = by_start;
  for (unsigned i = 0; i < n_constraints; i++)
    cursor->constraints[i] = constraints[i];
  cursor->n_constraints = n_constraints;
  if (!set_bounds (cursor))
    return true;
  if (!lns_row_range_is_all (cursor->bounds.of[LNS_ROLE_NAME]))
    cursor->columns |= LNS_COLUMN_BIT (LNS_COLUMN_NAME);
  if (!lns_row_range_is_all (cursor->bounds.of[LNS_ROLE_THREAD]))
    cursor->columns |= LNS_COLUMN_BIT (LNS_COLUMN_THREAD);
  if (cursor->table->source == LNS_ROWS_STRINGS)
    {
      cursor->place = AT_STRINGS;
      return start_strings (cursor, error);
    }
  if (lns_table_has_chains (cursor->table))
    {
      cursor->place = AT_CHAINS;
      return start_chains (cursor, error);
    }
  if (_lns_tables_is_streamed (cursor->tables, cursor->table))
    {
      cursor->place = AT_KEPT;
      start_kept (cursor);
      return true;
    }
  collect_lanes (cursor);
  start_cells (cursor);
  if (by_start && !fill_heap (cursor, error))
    return false;
  cursor->place = AT_LANES;
  return true;
}

/* Puts `cell` on the next row of definitions that matches, from where it is on. */
static bool
settle_cell (LnsRowCursor *cursor)
{
  uint64_t before = cursor->table_lanes != NULL ? cursor->table_lanes->n_events : 0;

  for (; cursor->cell < cursor->last_cell; cursor->cell++)
    {
      uint64_t number = cursor->index != NULL ? cursor->index[cursor->cell] : cursor->cell;
      const LnsValue *row = &cursor->cells->values[number * cursor->table->n_columns];
      if (matches (cursor, row, before + number + 1))
        {
          cursor->row = row;
          cursor->row_number = before + number;
          return true;
        }
    }
  cursor->row = NULL;
  return false;
}

/* In the order of the table: the lanes one by one. */
static bool
next_of_lanes (LnsRowCursor *cursor, bool *ret_row, LnsError *error)
{
  *ret_row = false;
  if (cursor->on_row)
    cursor->current.ordinal++;
  for (;;)
    {
      if (cursor->is_open)
        {
          if (!_lns_row_lane_settle (&cursor->current, cursor->tables, &cursor->bounds,
                                     cursor->columns, ret_row, error))
            return false;
          if (*ret_row)
            return true;
          _lns_row_lane_close (&cursor->current);
          cursor->is_open = false;
        }
      if (cursor->next_lane == cursor->n_lanes)
        return true;
      const LnsTableLane *lane = &cursor->table_lanes->lanes[cursor->lanes[cursor->next_lane++]];
      cursor->is_open = true;
      if (!_lns_row_lane_open (&cursor->current, cursor->tables, lane, &cursor->bounds,
                               cursor->columns, true, error))
        return false;
    }
}

/* By start: the least of the lanes and the rows of definitions. */
static bool
next_by_start (LnsRowCursor *cursor, bool *ret_row, LnsError *error)
{
  if (cursor->on_row && cursor->row != NULL)
    cursor->cell++;
  else if (cursor->on_row && !advance_heap (cursor, error))
    return false;
  bool cell = settle_cell (cursor);
  *ret_row = cell || cursor->n_heap > 0;
  if (cell && cursor->n_heap > 0 &&
      _lns_row_lane_start (&cursor->heap[0]) <= cursor->row[LNS_NVTX_START].integer)
    cursor->row = NULL;
  return true;
}

static bool
next_string (LnsRowCursor *cursor)
{
  const uint64_t *hidden = cursor->hidden_strings;

  if (cursor->on_row)
    cursor->string++;
  while (hidden != NULL && cursor->string < cursor->last_string &&
         (hidden[cursor->string / 64] >> (cursor->string % 64) & 1))
    cursor->string++;
  return cursor->string < cursor->last_string;
}

bool
lns_row_cursor_next (LnsRowCursor *cursor, bool *ret_row, LnsError *error)
{
  bool good = true;

  *ret_row = false;
  switch (cursor->place)
    {
    case AT_STRINGS:
      *ret_row = next_string (cursor);
      break;
    case AT_KEPT:
      good = next_kept (cursor, ret_row, error);
      break;
    case AT_CHAINS:
      good = next_chain_row (cursor, ret_row, error);
      break;
    case AT_LANES:
      good = (cursor->by_start ? next_by_start : next_of_lanes) (cursor, ret_row, error);
      if (!good || *ret_row || cursor->by_start)
        break;
      cursor->place = AT_CELLS;
      *ret_row = settle_cell (cursor);
      break;
    case AT_CELLS:
      cursor->cell++;
      *ret_row = settle_cell (cursor);
      break;
    case AT_END:
      break;
    }
  if (!good)
    return false;
  cursor->on_row = *ret_row;
  if (!*ret_row)
    cursor->place = AT_END;
  return true;
}

/* ---- The row --------------------------------------------------------------------------------- */

static const LnsRowLane *
lane_of (const LnsRowCursor *cursor)
{
  return cursor->by_start ? &cursor->heap[0] : &cursor->current;
}

int64_t
lns_row_cursor_rowid (const LnsRowCursor *cursor)
{
  if (cursor->place == AT_STRINGS)
    return (int64_t)cursor->string;
  if (cursor->row == NULL)
    return (int64_t)(lane_of (cursor)->lane->first + lane_of (cursor)->ordinal + 1);
  return cursor->table->columns[0].rule == LNS_COLUMN_KEY ? cursor->row[0].integer
                                                          : (int64_t)cursor->row_number + 1;
}

uint32_t
lns_row_cursor_lane (const LnsRowCursor *cursor)
{
  return cursor->place == AT_STRINGS || cursor->row != NULL ? LNS_ID_NONE
                                                            : lane_of (cursor)->lane->lane;
}

uint32_t
lns_row_cursor_name (const LnsRowCursor *cursor)
{
  if (lns_row_cursor_lane (cursor) == LNS_ID_NONE)
    return LNS_ID_NONE;
  const LnsRowLane *lane = lane_of (cursor);
  return lane->chunk->name[lane->ordinal - lane->chunk->first];
}

bool
lns_row_cursor_length (const LnsRowCursor *cursor, int64_t *ret_duration_ns)
{
  if (lns_row_cursor_lane (cursor) == LNS_ID_NONE)
    return false;
  const LnsRowLane *lane = lane_of (cursor);
  const uint32_t i = (uint32_t)(lane->ordinal - lane->chunk->first);
  *ret_duration_ns = lane->chunk->duration_ns[i];
  return lns_event_has_length (lane->chunk->flags[i]) && *ret_duration_ns >= 0;
}

/* Returns a typed payload as text or bytes, which live until the next call for its column. Kept apart from
 * lns_row_cursor_value (), which is called for each value of a report and needs no stack frame for the others. */
static __attribute__ ((noinline)) LnsValue
payload_value (LnsRowCursor *cursor, bool json)
{
  const LnsRowLane *lane = lane_of (cursor);
  LnsReport *report = cursor->tables->report;
  size_t size, text_size;

  const uint64_t type = _lns_row_lane_extra (lane, LNS_COLUMN_PAYLOAD_TYPE);
  const uint32_t id = (uint32_t)_lns_row_lane_extra (lane, LNS_COLUMN_PAYLOAD);
  if (json && type == LNS_PAYLOAD_JSON)
    return _lns_string_value (report, id);
  if (type != LNS_PAYLOAD_TYPED)
    return (LnsValue){ 0 };
  const char *bytes = lns_report_string (report, id, &size);
  free (cursor->text[json]);
  cursor->text[json] = NULL;
  FILE *stream = lns_memory_stream (&cursor->text[json], &text_size);
  lns_payload_write (cursor->tables->payloads, json ? LNS_PAYLOAD_AS_JSON : LNS_PAYLOAD_AS_BINARY,
                     lane->lane->track->domain, bytes, size, stream);
  lns_memory_stream_end (stream);
  LnsValue value = lns_value_text (cursor->text[json], text_size);
  value.type = json ? LNS_VALUE_TEXT : LNS_VALUE_BLOB;
  value.transient = true;
  return value;
}

/* Reads the remainder called REMAINDER; one of another table, or a damaged one, says nothing. Kept apart for the same
 * reason. */
static __attribute__ ((noinline)) void
read_remainder (LnsRowCursor *cursor, uint64_t remainder)
{
  const LnsTables *tables = cursor->tables;
  uint32_t n;
  const LnsKeptRows *all = lns_report_kept_rows (tables->report, &n);
  const LnsKeptTable *kept = lns_report_kept_tables (tables->report, NULL);

  free (cursor->told);
  cursor->told = NULL;
  cursor->remainder = remainder;
  memset (cursor->told_at, -1, sizeof cursor->told_at);
  if (remainder > n)
    return;
  const uint32_t table = all[remainder - 1].table;
  const LnsTableKept *places = &tables->kept[table];
  size_t size;
  if (!kept[table].is_remainder ||
      strcasecmp (lns_report_string (tables->report, kept[table].name, NULL),
                  cursor->table->name) != 0)
    return;
  const char *bytes = lns_report_string (tables->report, all[remainder - 1].rows, &size);
  cursor->told = lns_kept_decode_as (bytes, size, 1, places->n_columns);
  for (uint32_t i = 0; cursor->told != NULL && i < places->n_columns; i++)
    if (places->column[i] >= 0 && cursor->told[i].type != LNS_KEPT_UNSET)
      cursor->told_at[places->column[i]] = (int8_t)i;
}

/* The value of COLUMN in the event's remainder, or NULL. */
static const LnsKeptValue *
told_value (LnsRowCursor *cursor, unsigned column)
{
  uint64_t remainder = _lns_row_lane_extra (lane_of (cursor), LNS_COLUMN_REMAINDER);

  if (remainder == 0)
    return NULL;
  if (remainder != cursor->remainder)
    read_remainder (cursor, remainder);
  return cursor->told_at[column] >= 0 ? &cursor->told[cursor->told_at[column]] : NULL;
}

LnsValue
lns_row_cursor_value (LnsRowCursor *cursor, unsigned column)
{
  if (cursor->place == AT_STRINGS)
    return column == 0 ? lns_value_integer ((int64_t)cursor->string)
                       : _lns_string_value (cursor->tables->report, (uint32_t)cursor->string);
  if (cursor->row != NULL)
    return cursor->row[column];
  if (cursor->absent >> column & 1)
    return (LnsValue){ 0 };
  const LnsKeptValue *told = cursor->has_remainders ? told_value (cursor, column) : NULL;
  if (told != NULL)
    return _lns_kept_value (told);
  const LnsCell *cell = &cursor->table->columns[column].cell;
  if (cell->rule == LNS_CELL_PAYLOAD_JSON || cell->rule == LNS_CELL_PAYLOAD_BINARY)
    return payload_value (cursor, cell->rule == LNS_CELL_PAYLOAD_JSON);
  return _lns_row_lane_cell (lane_of (cursor), cursor->tables, cell);
}
