/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/call-chain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/id-map.h"
#include "src/store/format/kept-codec.h"
#include "src/store/read/call-walk.h"
#include "src/tables/table.h"

/* Which columns of the table are what, or -1. */
typedef struct
{
  int id, symbol, module, depth, unresolved;
  uint32_t n;
} Columns;

typedef LNS_ARRAY (LnsCallFrame) Chain;

const char *
lns_call_chain_table (LnsLaneKind kind)
{
  unsigned n;
  const LnsTable *tables = lns_table_all (&n);

  for (unsigned i = 0; i < n; i++)
    if ((tables[i].kinds >> kind & 1) != 0 && tables[i].call_chains != NULL)
      return tables[i].call_chains;
  return NULL;
}

static bool
is_called (const LnsKeptValue *name, const char *wanted)
{
  return name->type == LNS_KEPT_TEXT && name->size_bytes == strlen (wanted) &&
         memcmp (name->bytes, wanted, name->size_bytes) == 0;
}

static bool
read_columns (LnsReport *report, const LnsKeptTable *table, Columns *ret_columns)
{
  uint32_t n, n_facts;
  size_t size;
  const char *bytes = lns_report_string (report, table->columns, &size);
  LnsKeptValue *facts = lns_kept_decode (bytes, size, &n, &n_facts);

  *ret_columns = (Columns){ -1, -1, -1, -1, -1, n };
  for (uint32_t i = 0; facts != NULL && n_facts > 0 && i < n; i++)
    {
      const LnsKeptValue *name = &facts[(size_t)i * n_facts];
      int *column = is_called (name, "id")           ? &ret_columns->id
                    : is_called (name, "symbol")     ? &ret_columns->symbol
                    : is_called (name, "module")     ? &ret_columns->module
                    : is_called (name, "stackDepth") ? &ret_columns->depth
                    : is_called (name, "unresolved") ? &ret_columns->unresolved
                                                     : NULL;
      if (column != NULL)
        *column = (int)i;
    }
  bool good = facts != NULL;
  free (facts);
  return good && ret_columns->id >= 0 && ret_columns->symbol >= 0 && ret_columns->depth >= 0;
}

static uint32_t
string_in (const LnsKeptValue *row, int column)
{
  return column >= 0 && row[column].type == LNS_KEPT_STRING ? (uint32_t)row[column].integer : 0;
}

static void
add_frame (Chain *chain, const LnsKeptValue *row, const Columns *columns)
{
  *lns_array_add (chain) = (LnsCallFrame){ .symbol = string_in (row, columns->symbol),
                                           .module = string_in (row, columns->module),
                                           .depth = (uint32_t)row[columns->depth].integer };
}

static void
read_block (LnsReport *report, uint32_t block, int64_t id, const Columns *columns, Chain *chain)
{
  uint32_t n_rows, n_columns;
  size_t size;
  const char *bytes = lns_report_string (report, block, &size);
  LnsKeptValue *values = lns_kept_decode (bytes, size, &n_rows, &n_columns);

  if (values != NULL && n_columns == columns->n)
    for (uint32_t i = 0; i < n_rows; i++)
      {
        const LnsKeptValue *row = &values[(size_t)i * n_columns];
        if (row[columns->id].type == LNS_KEPT_INTEGER && row[columns->id].integer == id)
          add_frame (chain, row, columns);
      }
  free (values);
}

/* Adds the calls of the chain 1 + NODE. */
static void
add_calls (LnsReport *report, int64_t id, Chain *chain)
{
  const LnsModule *modules = lns_report_modules (report, NULL);
  LnsCallWalk walk =
      lns_call_walk (report, id > 0 && id < LNS_ID_NONE ? (uint32_t)(id - 1) : LNS_ID_NONE);
  const LnsStackFrame *frame;

  for (uint32_t depth = 0; (frame = lns_call_walk_next (&walk)) != NULL; depth++)
    *lns_array_add (chain) = (LnsCallFrame){
      .symbol = frame->symbol,
      .module = frame->module != LNS_ID_NONE ? modules[frame->module].path : 0,
      .depth = depth,
      .file = frame->file,
      .line = frame->line,
      .is_inlined = frame->inlined_in != 0,
    };
}

static int
compare_depths (const void *a, const void *b)
{
  uint32_t da = ((const LnsCallFrame *)a)->depth, db = ((const LnsCallFrame *)b)->depth;
  return LNS_COMPARE (da, db);
}

/* The number of the kept table called NAME, and its columns. */
static bool
find_kept (LnsReport *report, const char *name, uint32_t *ret_kept, Columns *ret_columns)
{
  uint32_t n;
  const LnsKeptTable *tables = lns_report_kept_tables (report, &n);
  uint32_t kept = 0;

  while (kept < n && (tables[kept].is_remainder ||
                      strcasecmp (lns_report_string (report, tables[kept].name, NULL), name) != 0))
    kept++;
  *ret_kept = kept;
  return kept < n && read_columns (report, &tables[kept], ret_columns);
}

LnsCallFrame *
lns_call_chain_read (LnsReport *report, const char *table, int64_t id, unsigned *ret_n)
{
  uint32_t n_rows, n_nodes, kept;
  const LnsKeptRows *rows = lns_report_kept_rows (report, &n_rows);
  Chain chain = { 0 };
  Columns columns;

  *ret_n = 0;
  lns_report_call_nodes (report, &n_nodes);
  if (n_nodes > 0)
    {
      add_calls (report, id, &chain);
      *ret_n = (unsigned)chain.n;
      return chain.items;
    }
  if (!find_kept (report, table, &kept, &columns))
    return NULL;
  for (uint32_t i = 0; i < n_rows; i++)
    if (rows[i].table == kept && (columns.id != 0 || (rows[i].min <= id && id <= rows[i].max)))
      read_block (report, rows[i].rows, id, &columns, &chain);
  if (chain.n > 0)
    qsort (chain.items, chain.n, sizeof *chain.items, compare_depths);
  *ret_n = (unsigned)chain.n;
  return chain.items;
}

/* ---- All chains ------------------------------------------------------------------------------- */

typedef struct
{
  LnsReport *report;
  Columns columns;
  LnsCallChainFunc func;
  void *data;
  LnsError *error;
  int64_t id; /* of the chain that is being read */
  Chain chain;
  LnsIdMap seen; /* ids whose chain was read */
} Walk;

/* Whether ROW's function is not known, so that its symbol is the bare address. */
static bool
is_address (LnsReport *report, const LnsKeptValue *row, const Columns *columns)
{
  return columns->unresolved >= 0 && row[columns->unresolved].type == LNS_KEPT_INTEGER &&
         row[columns->unresolved].integer != 0 &&
         strncmp (lns_report_string (report, string_in (row, columns->symbol), NULL), "0x", 2) == 0;
}

/* Tells the chain that is whole now. */
static bool
end_chain (Walk *walk)
{
  bool good = true;
  if (walk->chain.n > 0)
    {
      if (lns_id_map_number (&walk->seen, (uint64_t)walk->id) != 0)
        return lns_error_set (walk->error, LNS_ERROR_FORMAT, 0,
                              "%s: the call chains of samples are in no order and cannot be summed "
                              "up; export the report with nsys again",
                              lns_report_info (walk->report)->path);
      lns_id_map_set_number (&walk->seen, (uint64_t)walk->id, 1);
      qsort (walk->chain.items, walk->chain.n, sizeof *walk->chain.items, compare_depths);
      good = walk->func (walk->data, walk->id, walk->chain.items, walk->chain.n);
    }
  walk->chain.n = 0;
  return good;
}

static bool
walk_block (Walk *walk, uint32_t block)
{
  uint32_t n_rows, n_columns;
  size_t size;
  const char *bytes = lns_report_string (walk->report, block, &size);
  LnsKeptValue *values = lns_kept_decode (bytes, size, &n_rows, &n_columns);
  bool good = true;

  if (values != NULL && n_columns == walk->columns.n)
    for (uint32_t i = 0; good && i < n_rows; i++)
      {
        const LnsKeptValue *row = &values[(size_t)i * n_columns];
        if (row[walk->columns.id].type != LNS_KEPT_INTEGER)
          continue;
        if (row[walk->columns.id].integer != walk->id)
          good = end_chain (walk);
        walk->id = row[walk->columns.id].integer;
        add_frame (&walk->chain, row, &walk->columns);
        LnsCallFrame *frame = &walk->chain.items[walk->chain.n - 1];
        if (frame->module != 0 && is_address (walk->report, row, &walk->columns))
          frame->symbol = frame->module;
      }
  free (values);
  return good;
}

bool
lns_call_chain_each (
    LnsReport *report, const char *table, LnsCallChainFunc func, void *data, LnsError *error)
{
  uint32_t n_rows, kept;
  const LnsKeptRows *rows = lns_report_kept_rows (report, &n_rows);
  Walk walk = { .report = report, .func = func, .data = data, .error = error };
  bool good = true;

  if (!find_kept (report, table, &kept, &walk.columns))
    return true;
  for (uint32_t i = 0; good && i < n_rows; i++)
    if (rows[i].table == kept)
      good = walk_block (&walk, rows[i].rows);
  good = good && end_chain (&walk);
  lns_array_clear (&walk.chain);
  lns_id_map_clear (&walk.seen);
  return good;
}
