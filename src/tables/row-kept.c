/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of a large kept table, block by block: memory stays that of one block. Blocks that a constraint on the
 * first column or the rowid excludes are not read. */

#include <stdlib.h>

#include "src/tables/row-cursor-private.h"

/* The part of RANGE that the cursor's constraints on COLUMN leave. */
static LnsRowRange
narrow (const LnsRowCursor *cursor, int column)
{
  LnsRowRange range = LNS_ROW_RANGE_ALL;

  for (unsigned i = 0; i < cursor->n_constraints; i++)
    if (cursor->constraints[i].column == column)
      {
        const LnsRowConstraint *constraint = &cursor->constraints[i];
        range.min = constraint->min > range.min ? constraint->min : range.min;
        range.max = constraint->max < range.max ? constraint->max : range.max;
      }
  return range;
}

void
_lns_row_kept_start (LnsRowCursor *cursor)
{
  LnsRowKept *kept = &cursor->kept;

  kept->firsts = narrow (cursor, cursor->tables->remainders[cursor->table->kept].column[0]);
  kept->block = 0;
  kept->n_before = 0;
  kept->row = 0;
  kept->n_rows = 0;
}

/* Has block BLOCK at hand, which the last search may have left there. False where it is damaged. */
static bool
load (LnsRowCursor *cursor, uint32_t block, LnsError *error)
{
  LnsRowKept *kept = &cursor->kept;
  LnsReport *report = cursor->tables->report;
  const LnsKeptRows *rows = &lns_report_kept_rows (report, NULL)[block];
  size_t size;

  if (kept->values == NULL || kept->loaded != block)
    {
      const char *bytes = lns_report_string (report, rows->rows, &size);
      free (kept->values);
      kept->loaded = block;
      kept->n_columns = cursor->tables->remainders[cursor->table->kept].n_columns;
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
  LnsRowKept *kept = &cursor->kept;
  const LnsRowRange rowids = cursor->bounds.rowid;
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
          return load (cursor, kept->block++, error);
        }
      kept->n_before += it->n_rows;
    }
  return true;
}

bool
_lns_row_kept_next (LnsRowCursor *cursor, bool *ret_row, LnsError *error)
{
  LnsRowKept *kept = &cursor->kept;
  const LnsRemainder *places = &cursor->tables->remainders[cursor->table->kept];

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
      *ret_row = _lns_row_cursor_matches (cursor, cursor->row, cursor->row_number + 1);
      if (*ret_row)
        return true;
    }
}
