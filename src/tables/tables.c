/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/search.h"
#include "src/tables/chain-rows.h"
#include "src/tables/tables-private.h"

#define NAME_MAX_BYTES 120

/* Of all kept tables together so many values (24 bytes each) are held in memory, of one table half of that. */
#define HELD_VALUES 4000000

const LnsTable *
lns_tables_all (const LnsTables *tables, unsigned *ret_n)
{
  *ret_n = tables->n_all;
  return tables->all;
}

const LnsTable *
lns_tables_find (const LnsTables *tables, const char *name)
{
  for (unsigned i = 0; i < tables->n_all; i++)
    if (strcasecmp (tables->all[i].name, name) == 0)
      return &tables->all[i];
  return NULL;
}

bool
_lns_tables_is_streamed (const LnsTables *tables, const LnsTable *table)
{
  return table->source == LNS_ROWS_KEPT && tables->kept[table->kept].is_streamed;
}

/* ---- Columns of kept tables ------------------------------------------------------------------- */

/* Whether TYPE may stand in the text of a statement as the report has it. */
static bool
is_type (const char *type)
{
  for (const char *c = type; *c != '\0'; c++)
    if (!isalnum ((unsigned char)*c) && strchr (" _(),", *c) == NULL)
      return false;
  return strcasestr (type, "hidden") == NULL;
}

/* The columns of KEPT. The caller frees them; TABLES owns names and types. NULL where they are damaged. */
static LnsTableColumn *
read_columns (LnsTables *tables, const LnsKeptTable *kept, unsigned *ret_n)
{
  size_t size;
  uint32_t n, n_facts;
  const char *bytes = lns_report_string (tables->report, kept->columns, &size);
  LnsKeptValue *facts = lns_kept_decode (bytes, size, &n, &n_facts);
  bool good = facts != NULL && n_facts == 3 && n > 0 && n <= LNS_KEPT_MAX_COLUMNS;
  LnsTableColumn *columns = good ? lns_calloc (n, sizeof *columns) : NULL;

  for (uint32_t i = 0; good && i < n; i++)
    {
      const LnsKeptValue *name = &facts[3 * i], *type = &facts[3 * i + 1];
      good = name->type == LNS_KEPT_TEXT && type->type == LNS_KEPT_TEXT;
      if (!good)
        break;
      columns[i].name = _lns_tables_own (tables, lns_memdup (name->bytes, name->size_bytes));
      columns[i].type = _lns_tables_own (tables, lns_memdup (type->bytes, type->size_bytes));
      columns[i].rule = facts[3 * i + 2].integer != 0 ? LNS_COLUMN_NOT_NULL : LNS_COLUMN_PLAIN;
      good = columns[i].name[0] != '\0';
      if (!is_type (columns[i].type))
        columns[i].type = "";
    }
  free (facts);
  if (!good)
    {
      free (columns);
      return NULL;
    }
  *ret_n = n;
  return columns;
}

static int
position_of (const LnsTableColumn *columns, unsigned n, const char *name)
{
  for (unsigned i = 0; i < n; i++)
    if (strcasecmp (columns[i].name, name) == 0)
      return (int)i;
  return -1;
}

/* Gives TABLE the columns of KEPT that it lacks, behind its own. RET_POSITIONS gets where each is, or -1
 * where there is no room. */
static void
add_columns (LnsTables *tables,
             LnsTable *table,
             const LnsTableColumn *kept,
             unsigned n_kept,
             int8_t *ret_positions)
{
  LnsTableColumn *columns =
      _lns_tables_own (tables, lns_calloc (table->n_columns + n_kept, sizeof *columns));
  unsigned n = table->n_columns;

  if (n > 0)
    memcpy (columns, table->columns, n * sizeof *columns);
  for (unsigned i = 0; i < n_kept; i++)
    {
      int at = position_of (columns, n, kept[i].name);
      if (at < 0 && n < LNS_KEPT_MAX_COLUMNS)
        {
          columns[n] = kept[i];
          at = (int)n++;
        }
      if (at >= 0 && columns[at].rule == LNS_COLUMN_OURS)
        columns[at].rule = LNS_COLUMN_PLAIN; /* the source has it, too */
      ret_positions[i] = (int8_t)at;
    }
  table->columns = columns;
  table->n_columns = n;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* A name under which SQL can offer a table. */
static bool
is_name (const char *name)
{
  size_t length = strlen (name);
  return length > 0 && length <= NAME_MAX_BYTES && strncasecmp (name, "sqlite_", 7) != 0;
}

/* Rows of events cannot be replaced, those of definitions can. */
static bool
can_be_kept (const LnsTable *table)
{
  return table->source == LNS_ROWS_NONE || table->source == LNS_ROWS_DEFINITIONS ||
         table->source == LNS_ROWS_ENUM;
}

/* Whether events have a value of COLUMN although their source lacks it: their start, their depth, and constants of TABLE. */
static bool
follows (const LnsTable *table, const LnsTableColumn *column)
{
  if (table->source == LNS_ROWS_NVTX)
    return column->rule == LNS_COLUMN_KEY;
  return column->cell.rule == LNS_CELL_START || column->cell.rule == LNS_CELL_DEPTH ||
         column->cell.rule == LNS_CELL_CONSTANT;
}

/* The columns of TABLE that its source lacks, which had the N_KEPT at POSITIONS. They are NULL in all events, because zeros
 * would look like measured values. */
static uint64_t
find_absent (LnsTable *table, unsigned n_kept, const int8_t *positions)
{
  LnsTableColumn *columns = (LnsTableColumn *)table->columns;
  uint64_t absent = 0;

  for (unsigned i = 0; i < table->n_columns; i++)
    absent |= follows (table, &columns[i]) ? 0 : UINT64_C (1) << i;
  for (unsigned i = 0; i < n_kept; i++)
    absent &= positions[i] >= 0 ? ~(UINT64_C (1) << positions[i]) : UINT64_MAX;
  for (unsigned i = 0; i < table->n_columns; i++)
    if (absent >> i & 1 && columns[i].rule == LNS_COLUMN_NOT_NULL)
      columns[i].rule = LNS_COLUMN_PLAIN;
  return absent;
}

/* Drops NOT NULL from the columns of TABLE whose kept values may be NULL. */
static void
become_told (LnsTable *table, const LnsTableColumn *kept, unsigned n_kept, const int8_t *positions)
{
  LnsTableColumn *columns = (LnsTableColumn *)table->columns;

  for (unsigned i = 0; i < n_kept; i++)
    if (positions[i] >= 0 && kept[i].rule == LNS_COLUMN_PLAIN &&
        columns[positions[i]].rule == LNS_COLUMN_NOT_NULL)
      columns[positions[i]].rule = LNS_COLUMN_PLAIN;
}

/* Makes TABLE, whose columns are those of KEPT at POSITIONS, a table of kept rows. Columns that they lack are NULL, and no
 * column is a key. */
static void
become_kept (LnsTable *table,
             uint32_t id,
             const LnsTableColumn *kept,
             unsigned n_kept,
             const int8_t *positions)
{
  LnsTableColumn *columns = (LnsTableColumn *)table->columns;

  for (unsigned i = 0; i < table->n_columns; i++)
    columns[i].rule = LNS_COLUMN_PLAIN;
  for (unsigned i = 0; i < n_kept; i++)
    if (positions[i] >= 0)
      columns[positions[i]].rule = kept[i].rule;
  table->source = LNS_ROWS_KEPT;
  table->kept = id;
}

static void
add_kept (LnsTables *tables, uint32_t id, const LnsKeptTable *kept)
{
  const char *name = lns_report_string (tables->report, kept->name, NULL);
  LnsTableKept *state = &tables->kept[id];
  unsigned n;
  LnsTableColumn *columns = is_name (name) ? read_columns (tables, kept, &n) : NULL;
  LnsTable *table = (LnsTable *)lns_tables_find (tables, name);

  if (columns == NULL ||
      (table != NULL ? lns_table_has_events (table) != (kept->is_remainder != 0) ||
                           (kept->is_remainder == 0 && !can_be_kept (table))
                     : kept->is_remainder != 0))
    {
      free (columns);
      return;
    }
  if (table == NULL)
    {
      table = &tables->all[tables->n_all++];
      *table = (LnsTable){ .name = name };
    }
  add_columns (tables, table, columns, n, state->column);
  state->n_columns = n;
  if (kept->is_remainder)
    {
      LnsTableContents *contents = &tables->contents[table - tables->all];
      contents->has_remainders |= state->n_rows > 0;
      /* A recording keeps beside its events only what they do not say. */
      if (tables->is_import)
        contents->absent = find_absent (table, n, state->column);
      become_told (table, columns, n, state->column);
    }
  else
    become_kept (table, id, columns, n, state->column);
  free (columns);
}

/* ---- Memory of kept tables --------------------------------------------------------------------- */

/* Counts the rows of each table. False and ERROR where two tables share a block, because a few bytes of the file
 * would then stand for any number of rows. Blocks that a recovery lost are one string for all. */
static bool
count_rows (LnsTables *tables, LnsError *error)
{
  const uint32_t n_strings = lns_report_n_strings (tables->report);
  uint32_t n, n_rows, n_columns;
  size_t size;
  const LnsKeptRows *rows = lns_report_kept_rows (tables->report, &n);
  uint64_t *seen = lns_calloc (n > 0 ? (size_t)n_strings / 64 + 1 : 0, sizeof *seen);
  bool good = true;

  for (uint32_t i = 0; good && i < n; i++)
    {
      const uint32_t id = rows[i].rows;
      const uint64_t bit = UINT64_C (1) << id % 64;
      tables->kept[rows[i].table].n_rows += rows[i].n_rows;
      if (id >= n_strings)
        continue;
      const char *bytes =
          (seen[id / 64] & bit) != 0 ? lns_report_string (tables->report, id, &size) : NULL;
      seen[id / 64] |= bit;
      good = bytes == NULL || !lns_kept_shape (bytes, size, &n_rows, &n_columns) ||
             lns_error_set (
                 error, LNS_ERROR_FORMAT, 0,
                 "%s is damaged: kept rows %u share a block with others; record or import it again",
                 lns_report_info (tables->report)->path, i);
    }
  free (seen);
  return good;
}

static int
compare_values (const void *a, const void *b, void *data)
{
  const uint64_t *n_values = data;
  uint32_t ta = *(const uint32_t *)a, tb = *(const uint32_t *)b;

  return LNS_COMPARE (n_values[ta], n_values[tb]) ?: LNS_COMPARE (ta, tb);
}

/* Holds the smallest tables in memory, as many as HELD_VALUES allows. */
static void
choose_held (LnsTables *tables, uint32_t n_kept)
{
  uint64_t *n_values = lns_calloc (n_kept, sizeof *n_values), n_held = 0;
  uint32_t *order = lns_calloc (n_kept, sizeof *order);

  for (unsigned i = 0; i < tables->n_all; i++)
    if (tables->all[i].source == LNS_ROWS_KEPT)
      n_values[tables->all[i].kept] =
          tables->kept[tables->all[i].kept].n_rows * tables->all[i].n_columns;
  for (uint32_t i = 0; i < n_kept; i++)
    order[i] = i;
  qsort_r (order, n_kept, sizeof *order, compare_values, n_values);
  for (uint32_t i = 0; i < n_kept; i++)
    {
      const uint64_t n = n_values[order[i]];
      tables->kept[order[i]].is_streamed = n > HELD_VALUES / 2 || n_held + n > HELD_VALUES;
      n_held += tables->kept[order[i]].is_streamed ? 0 : n;
    }
  free (n_values);
  free (order);
}

/* Adds the call chains of a recording, in which samples are known by their rows: a chain has many. */
static void
add_chains (LnsTables *tables)
{
  uint32_t n;
  LnsTable *samples = (LnsTable *)lns_tables_find (tables, "COMPOSITE_EVENTS");

  lns_report_call_nodes (tables->report, &n);
  if (n == 0)
    return;
  LnsTableColumn *columns =
      _lns_tables_own (tables, lns_calloc (samples->n_columns, sizeof *columns));
  memcpy (columns, samples->columns, samples->n_columns * sizeof *columns);
  columns[0].rule = LNS_COLUMN_KEY;
  columns[0].cell = (LnsCell){ .rule = LNS_CELL_ROWID };
  samples->columns = columns;
  tables->all[tables->n_all++] = _lns_chain_table;
  tables->all[tables->n_all++] = _lns_python_chain_table;
  tables->all[tables->n_all++] = _lns_call_chain_table;
  tables->all[tables->n_all++] = _lns_os_chain_table;
}

/* Makes `all` and `kept`, and adds the columns of kept tables. False and ERROR where the report keeps rows that
 * Lanescope does not write. */
static bool
make_all (LnsTables *tables, LnsError *error)
{
  unsigned n_common;
  uint32_t n_kept;
  const LnsTable *common = lns_table_all (&n_common);
  const LnsKeptTable *kept = lns_report_kept_tables (tables->report, &n_kept);

  if (n_kept > LNS_KEPT_MAX_TABLES)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s is damaged: it keeps %u tables, and a report keeps at most %u; "
                          "record or import it again",
                          lns_report_info (tables->report)->path, n_kept, LNS_KEPT_MAX_TABLES);
  tables->all = lns_calloc ((size_t)n_common + n_kept + 4, sizeof *tables->all);
  tables->contents = lns_calloc ((size_t)n_common + n_kept + 4, sizeof *tables->contents);
  tables->kept = lns_calloc (n_kept, sizeof *tables->kept);
  if (!count_rows (tables, error))
    return false;
  memcpy (tables->all, common, n_common * sizeof *common);
  tables->n_all = n_common;
  add_chains (tables);
  for (uint32_t i = 0; i < n_kept; i++)
    add_kept (tables, i, &kept[i]);
  choose_held (tables, n_kept);
  return true;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

/* An open report has all that its definitions refer to. */
static LnsTableLane
describe_lane (const LnsTables *tables, const LnsLane *lanes, uint32_t lane)
{
  LnsReport *report = tables->report;
  const LnsTrack *track = &lns_report_tracks (report, NULL)[lanes[lane].track];
  LnsTableLane result = {
    .lane = lane,
    .kind = lanes[lane].kind,
    .n_events = lns_report_lane_info (report, lane)->n_events,
    .global_tid = lns_tables_global_tid (tables, track->thread),
    .global_pid = lns_tables_global_pid (tables, track->process),
    .track = track,
    .ordinal = lanes[lane].ordinal,
  };

  if (track->domain != LNS_ID_NONE)
    result.domain_number = (int64_t)lns_report_domains (report, NULL)[track->domain].number;
  if (track->device != LNS_ID_NONE)
    {
      result.device = lns_report_devices (report, NULL)[track->device].number;
      result.gpu = _lns_tables_gpu_id (lns_report_devices (report, NULL), track->device);
    }
  if (track->stream != LNS_ID_NONE)
    {
      const LnsCudaStream *stream = &lns_report_streams (report, NULL)[track->stream];
      const LnsCudaContext *context = &lns_report_contexts (report, NULL)[stream->context];
      result.stream = stream->number;
      result.context = context->number;
      result.is_green = context->is_green != 0;
    }
  return result;
}

static int
compare_by_thread (const void *a, const void *b, void *data)
{
  const LnsTableLane *lanes = data;
  uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
  int64_t ka = _lns_table_lane_key (&lanes[ia]), kb = _lns_table_lane_key (&lanes[ib]);

  return LNS_COMPARE (ka, kb) ?: LNS_COMPARE (ia, ib);
}

/* Whether events of LANE are rows of TABLE. */
static bool
has_lane (LnsReport *report, const LnsTable *table, const LnsLane *lane)
{
  const LnsTrack *track = &lns_report_tracks (report, NULL)[lane->track];

  return lane->kind < LNS_N_LANE_KINDS && (table->kinds >> lane->kind & 1) != 0 &&
         (table->tracks == 0 || (table->tracks >> track->kind & 1) != 0);
}

static void
collect_lanes (const LnsTables *tables, const LnsTable *table, LnsTableLanes *ret_lanes)
{
  uint32_t n, n_rows_lanes = 0;
  const LnsLane *lanes = lns_report_lanes (tables->report, &n);

  for (uint32_t i = 0; i < n; i++)
    n_rows_lanes += has_lane (tables->report, table, &lanes[i]);
  ret_lanes->lanes = lns_calloc (n_rows_lanes, sizeof *ret_lanes->lanes);
  ret_lanes->by_thread = lns_calloc (n_rows_lanes, sizeof *ret_lanes->by_thread);
  for (uint32_t i = 0; i < n; i++)
    if (has_lane (tables->report, table, &lanes[i]))
      {
        LnsTableLane *lane = &ret_lanes->lanes[ret_lanes->n_lanes];
        *lane = describe_lane (tables, lanes, i);
        lane->first = ret_lanes->n_events;
        ret_lanes->n_events += lane->n_events;
        ret_lanes->by_thread[ret_lanes->n_lanes] = ret_lanes->n_lanes;
        ret_lanes->n_lanes++;
      }
  qsort_r (ret_lanes->by_thread, ret_lanes->n_lanes, sizeof *ret_lanes->by_thread,
           compare_by_thread, ret_lanes->lanes);
}

/* ---- Life ------------------------------------------------------------------------------------ */

LnsTables *
lns_tables_new (LnsReport *report, LnsError *error)
{
  LnsTables *tables = lns_calloc (1, sizeof *tables);

  tables->report = report;
  tables->is_import = lns_report_meta (report, "imported_from") != NULL;
  pthread_mutex_init (&tables->lock, NULL);
  for (LnsLaneKind kind = 0; kind < LNS_N_LANE_KINDS; kind++)
    for (LnsColumnId column = 0; column < LNS_N_COLUMNS; column++)
      tables->extra[kind][column] = (int8_t)lns_lane_kind_extra (kind, column);
  tables->payloads = lns_payload_decoder_new (report);
  if (!make_all (tables, error))
    {
      lns_tables_free (tables);
      return NULL;
    }
  for (unsigned i = 0; i < tables->n_all; i++)
    if (lns_table_has_events (&tables->all[i]))
      collect_lanes (tables, &tables->all[i], &tables->contents[i].lanes);
  tables->nvtx = _lns_tables_lanes (tables, lns_table_find ("NVTX_EVENTS"));
  return tables;
}

void
lns_tables_free (LnsTables *tables)
{
  if (tables == NULL)
    return;
  for (unsigned i = 0; i < tables->n_all; i++)
    {
      LnsTableContents *contents = &tables->contents[i];
      free (contents->lanes.lanes);
      free (contents->lanes.by_thread);
      free (contents->cells.values);
      for (unsigned column = 0; column < 64; column++)
        free (contents->cells.index[column]);
    }
  for (size_t i = 0; i < tables->owned.n; i++)
    free (tables->owned.items[i]);
  lns_array_clear (&tables->owned);
  free (tables->all);
  free (tables->contents);
  free (tables->kept);
  for (unsigned kind = 0; kind < LNS_N_LANE_KINDS; kind++)
    free (tables->chain_nodes[kind].nodes);
  free (tables->payload_strings);
  free (tables->hidden_strings);
  free (tables->strings_by_hash);
  lns_payload_decoder_free (tables->payloads);
  pthread_mutex_destroy (&tables->lock);
  free (tables);
}

LnsReport *
lns_tables_report (const LnsTables *tables)
{
  return tables->report;
}

uint64_t
lns_tables_n_rows (LnsTables *tables, const LnsTable *table)
{
  const LnsTableLanes *lanes = _lns_tables_lanes (tables, table);

  table = &tables->all[_lns_tables_position (tables, table)];
  if (table->source == LNS_ROWS_STRINGS)
    return lns_report_n_strings (tables->report);
  if (_lns_tables_is_streamed (tables, table))
    return tables->kept[table->kept].n_rows;
  if (lns_table_has_chains (table))
    {
      uint64_t *known = &tables->n_chain_rows[_lns_chain_kind (table)];
      uint64_t n_rows = __atomic_load_n (known, __ATOMIC_ACQUIRE);
      if (n_rows == 0)
        __atomic_store_n (known, n_rows = 1 + _lns_chain_n_rows (tables, table), __ATOMIC_RELEASE);
      return n_rows - 1;
    }
  return (lanes != NULL ? lanes->n_events : 0) + _lns_tables_cells (tables, table)->n_rows;
}

int64_t
lns_tables_rowid (const LnsTables *tables, const LnsTable *table, uint32_t lane, uint64_t ordinal)
{
  const LnsTableLanes *lanes = _lns_tables_lanes (tables, table);
  const uint32_t n = lanes != NULL ? lanes->n_lanes : 0;
  const size_t at = LNS_LOWER_BOUND (n, i, lanes->lanes[i].lane < lane);

  return at < n && lanes->lanes[at].lane == lane ? (int64_t)(lanes->lanes[at].first + ordinal + 1)
                                                 : 0;
}

uint32_t
lns_tables_lane (const LnsTables *tables, const LnsTable *table, int64_t rowid)
{
  const LnsTableLanes *lanes = _lns_tables_lanes (tables, table);
  const size_t n = LNS_LOWER_BOUND (lanes != NULL ? lanes->n_lanes : 0, i,
                                    (int64_t)lanes->lanes[i].first < rowid);

  return n > 0 ? lanes->lanes[n - 1].lane : LNS_ID_NONE;
}

/* ---- Built on first use -------------------------------------------------------------------- */

const LnsTableCells *
_lns_tables_cells (LnsTables *tables, const LnsTable *table)
{
  const size_t position = _lns_tables_position (tables, table);
  LnsTableCells *cells = &tables->contents[position].cells;

  table = &tables->all[position];
  pthread_mutex_lock (&tables->lock);
  if (!cells->built)
    (table->source == LNS_ROWS_KEPT ? _lns_kept_cells_build : _lns_cells_build) (tables, table,
                                                                                 cells);
  cells->built = true;
  pthread_mutex_unlock (&tables->lock);
  return cells;
}

typedef struct
{
  const LnsTableCells *cells;
  unsigned n_columns, column;
} IndexOrder;

static const LnsValue *
indexed (const IndexOrder *order, uint32_t row)
{
  return &order->cells->values[(size_t)row * order->n_columns + order->column];
}

static int
compare_rows (const void *a, const void *b, void *data)
{
  uint32_t ra = *(const uint32_t *)a, rb = *(const uint32_t *)b;
  const LnsValue *va = indexed (data, ra), *vb = indexed (data, rb);
  const bool is_a = va->type == LNS_VALUE_INTEGER, is_b = vb->type == LNS_VALUE_INTEGER;

  return LNS_COMPARE (is_a, is_b)
             ?: is_a && va->integer != vb->integer ? LNS_COMPARE (va->integer, vb->integer)
                                                   : LNS_COMPARE (ra, rb);
}

const uint32_t *
_lns_tables_index (LnsTables *tables, const LnsTable *table, unsigned column)
{
  const size_t position = _lns_tables_position (tables, table);
  LnsTableCells *cells = &tables->contents[position].cells;
  IndexOrder order = { _lns_tables_cells (tables, table), tables->all[position].n_columns, column };

  pthread_mutex_lock (&tables->lock);
  uint32_t *index = cells->index[column];
  if (index == NULL)
    {
      index = lns_calloc (cells->n_rows, sizeof *index);
      for (uint32_t row = 0; row < cells->n_rows; row++)
        index[row] = row;
      qsort_r (index, cells->n_rows, sizeof *index, compare_rows, &order);
      cells->index[column] = index;
    }
  pthread_mutex_unlock (&tables->lock);
  return index;
}
