/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tables of one report: those that every report has, with what this one keeps from elsewhere. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/tables/tables-private.h"

#define NAME_MAX_BYTES 120

/* Of all kept tables together so many values (24 bytes each) are held in memory, of one table half of that. */
#define HELD_VALUES 4000000

void *
_lns_tables_own (LnsTables *tables, void *pointer)
{
  void **kept = pointer == NULL
                    ? NULL
                    : reallocarray (tables->kept, tables->n_kept + 1, sizeof *tables->kept);

  if (kept == NULL)
    {
      free (pointer);
      return NULL;
    }
  tables->kept = kept;
  return kept[tables->n_kept++] = pointer;
}

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
  return table->source == LNS_ROWS_KEPT && tables->is_streamed[table->kept];
}

bool
lns_tables_finds (const LnsTables *tables, const LnsTable *table, int column)
{
  table = &tables->all[_lns_tables_position (tables, table)];
  return column < 0 || !_lns_tables_is_streamed (tables, table) ||
         column == tables->remainders[table->kept].column[0];
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* The columns of KEPT, to be freed; names and types are owned by TABLES. NULL where they are damaged. */
static LnsTableColumn *
read_columns (LnsTables *tables, const LnsKeptTable *kept, unsigned *ret_n)
{
  size_t size;
  uint32_t n, n_facts;
  const char *bytes = lns_report_string (tables->report, kept->columns, &size);
  LnsKeptValue *facts = lns_kept_decode (bytes, size, &n, &n_facts);
  bool good = facts != NULL && n_facts == 3 && n > 0 && n <= LNS_KEPT_MAX_COLUMNS;
  LnsTableColumn *columns = good ? calloc (n, sizeof *columns) : NULL;

  for (uint32_t i = 0; good && i < n; i++)
    {
      const LnsKeptValue *name = &facts[3 * i], *type = &facts[3 * i + 1];
      good = columns != NULL && name->type == LNS_KEPT_TEXT && type->type == LNS_KEPT_TEXT;
      if (!good)
        break;
      columns[i].name = _lns_tables_own (tables, strndup (name->bytes, name->size_bytes));
      columns[i].type = _lns_tables_own (tables, strndup (type->bytes, type->size_bytes));
      columns[i].rule = facts[3 * i + 2].integer != 0 ? LNS_COLUMN_NOT_NULL : LNS_COLUMN_PLAIN;
      good = columns[i].name != NULL && columns[i].type != NULL && columns[i].name[0] != '\0';
      /* SQL takes a type as it is written.                                                       */
      for (const char *c = columns[i].type; good && *c != '\0'; c++)
        if (!isalnum ((unsigned char)*c) && strchr (" _(),", *c) == NULL)
          columns[i].type = "";
      if (good && strcasestr (columns[i].type, "hidden") != NULL)
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
 * where there is no room. False without memory. */
static bool
add_columns (LnsTables *tables,
             LnsTable *table,
             const LnsTableColumn *kept,
             unsigned n_kept,
             int8_t *ret_positions)
{
  LnsTableColumn *columns =
      _lns_tables_own (tables, calloc (table->n_columns + n_kept, sizeof *columns));
  unsigned n = table->n_columns;

  if (columns == NULL)
    return false;
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
      ret_positions[i] = (int8_t)at;
    }
  table->columns = columns;
  table->n_columns = n;
  return true;
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

/* Whether an event whose source lacks COLUMN says it all the same: when it was, as that of its call, and what
 * holds for all events of TABLE. */
static bool
follows (const LnsTable *table, const LnsTableColumn *column)
{
  if (table->source == LNS_ROWS_NVTX)
    return column->rule == LNS_COLUMN_KEY;
  return column->cell.rule == LNS_CELL_START || column->cell.rule == LNS_CELL_DEPTH ||
         column->cell.rule == LNS_CELL_CONSTANT;
}

/* The columns of TABLE that its source, which had the N_KEPT at POSITIONS, did not have: NULL in all events, where
 * zeros would pass for something that was measured. */
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

/* What events say of themselves is never NULL where the schema has it so; what is kept beside them may be. */
static void
become_told (LnsTable *table, const LnsTableColumn *kept, unsigned n_kept, const int8_t *positions)
{
  LnsTableColumn *columns = (LnsTableColumn *)table->columns;

  for (unsigned i = 0; i < n_kept; i++)
    if (positions[i] >= 0 && kept[i].rule == LNS_COLUMN_PLAIN &&
        columns[positions[i]].rule == LNS_COLUMN_NOT_NULL)
      columns[positions[i]].rule = LNS_COLUMN_PLAIN;
}

/* Makes TABLE, whose columns are those of KEPT at POSITIONS, one of kept rows. What they do not say is
 * NULL there, and no row has a number of its own. */
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

static bool
add_kept (LnsTables *tables, uint32_t id, const LnsKeptTable *kept)
{
  const char *name = lns_report_string (tables->report, kept->name, NULL);
  LnsRemainder *remainder = &tables->remainders[id];
  unsigned n;
  LnsTableColumn *columns = is_name (name) ? read_columns (tables, kept, &n) : NULL;
  LnsTable *table = (LnsTable *)lns_tables_find (tables, name);
  bool good = true;

  if (columns == NULL ||
      (table != NULL ? lns_table_has_events (table) != (kept->is_remainder != 0) ||
                           (kept->is_remainder == 0 && !can_be_kept (table))
                     : kept->is_remainder != 0))
    {
      free (columns);
      return true;
    }
  if (table == NULL)
    {
      table = &tables->all[tables->n_all++];
      *table = (LnsTable){ .name = name };
    }
  good = add_columns (tables, table, columns, n, remainder->column);
  remainder->n_columns = n;
  if (good && kept->is_remainder)
    {
      tables->has_remainders[table - tables->all] |= tables->n_kept_rows[id] > 0;
      /* A recording keeps beside its events only what they do not say. */
      if (lns_report_meta (tables->report, "imported_from") != NULL)
        tables->absent[table - tables->all] = find_absent (table, n, remainder->column);
      become_told (table, columns, n, remainder->column);
    }
  else if (good)
    become_kept (table, id, columns, n, remainder->column);
  free (columns);
  return good;
}

/* ---- What they cost -------------------------------------------------------------------------- */

static bool
no_memory (const LnsTables *tables, LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "%s: not enough memory for its tables; close other programs",
                        lns_report_info (tables->report)->path);
}

/* Counts the rows of each table. False and ERROR where a block is that of several: a few bytes of the file
 * each would make as many rows again. What was lost in a recovery is one string for all. */
static bool
count_rows (LnsTables *tables, LnsError *error)
{
  const uint32_t n_strings = lns_report_n_strings (tables->report);
  uint32_t n, n_rows, n_columns;
  size_t size;
  const LnsKeptRows *rows = lns_report_kept_rows (tables->report, &n);
  uint64_t *seen = n > 0 ? calloc ((size_t)n_strings / 64 + 1, sizeof *seen) : NULL;
  bool good = true;

  if (n > 0 && seen == NULL)
    return no_memory (tables, error);
  for (uint32_t i = 0; good && i < n; i++)
    {
      const uint32_t id = rows[i].rows;
      const uint64_t bit = UINT64_C (1) << id % 64;
      tables->n_kept_rows[rows[i].table] += rows[i].n_rows;
      if (id >= n_strings)
        continue;
      const char *bytes =
          (seen[id / 64] & bit) != 0 ? lns_report_string (tables->report, id, &size) : NULL;
      seen[id / 64] |= bit;
      good =
          bytes == NULL || !lns_kept_shape (bytes, size, &n_rows, &n_columns) ||
          lns_error_set (error, LNS_ERROR_FORMAT, 0,
                         "%s: kept rows %u are those of others, which no report of Lanescope has",
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

  if (n_values[ta] != n_values[tb])
    return n_values[ta] < n_values[tb] ? -1 : 1;
  return ta < tb ? -1 : ta > tb;
}

/* Holds the smallest tables, as many as there is room for. False without memory. */
static bool
choose_held (LnsTables *tables, uint32_t n_kept)
{
  uint64_t *n_values = calloc ((size_t)n_kept + 1, sizeof *n_values), n_held = 0;
  uint32_t *order = calloc ((size_t)n_kept + 1, sizeof *order);
  bool good = n_values != NULL && order != NULL;

  for (unsigned i = 0; good && i < tables->n_all; i++)
    if (tables->all[i].source == LNS_ROWS_KEPT)
      n_values[tables->all[i].kept] =
          tables->n_kept_rows[tables->all[i].kept] * tables->all[i].n_columns;
  for (uint32_t i = 0; good && i < n_kept; i++)
    order[i] = i;
  if (good)
    qsort_r (order, n_kept, sizeof *order, compare_values, n_values);
  for (uint32_t i = 0; good && i < n_kept; i++)
    {
      const uint64_t n = n_values[order[i]];
      tables->is_streamed[order[i]] = n > HELD_VALUES / 2 || n_held + n > HELD_VALUES;
      n_held += tables->is_streamed[order[i]] ? 0 : n;
    }
  free (n_values);
  free (order);
  return good;
}

bool
_lns_tables_make_all (LnsTables *tables, LnsError *error)
{
  unsigned n_common;
  uint32_t n_kept;
  const LnsTable *common = lns_table_all (&n_common);
  const LnsKeptTable *kept = lns_report_kept_tables (tables->report, &n_kept);

  if (n_kept > LNS_KEPT_MAX_TABLES)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s keeps %u tables, which no report of Lanescope does",
                          lns_report_info (tables->report)->path, n_kept);
  tables->all = calloc ((size_t)n_common + n_kept, sizeof *tables->all);
  tables->has_remainders = calloc ((size_t)n_common + n_kept, sizeof *tables->has_remainders);
  tables->absent = calloc ((size_t)n_common + n_kept, sizeof *tables->absent);
  tables->remainders = calloc ((size_t)n_kept + 1, sizeof *tables->remainders);
  tables->n_kept_rows = calloc ((size_t)n_kept + 1, sizeof *tables->n_kept_rows);
  tables->is_streamed = calloc ((size_t)n_kept + 1, sizeof *tables->is_streamed);
  if (tables->all == NULL || tables->has_remainders == NULL || tables->absent == NULL ||
      tables->remainders == NULL || tables->n_kept_rows == NULL || tables->is_streamed == NULL)
    return no_memory (tables, error);
  if (!count_rows (tables, error))
    return false;
  memcpy (tables->all, common, n_common * sizeof *common);
  tables->n_all = n_common;
  for (uint32_t i = 0; i < n_kept; i++)
    if (!add_kept (tables, i, &kept[i]))
      return no_memory (tables, error);
  return choose_held (tables, n_kept) || no_memory (tables, error);
}
