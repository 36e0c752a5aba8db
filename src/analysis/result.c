/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/result.h"

#include <stdlib.h>

#include "src/base/array.h"
#include "src/base/buffer.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

/* A cell as it is kept: texts move when the buffer that has them grows. */
typedef struct
{
  int64_t number; /* or, of a text, where it begins in `texts`                                   */
  size_t size_bytes;
  bool is_empty, is_written;
} Kept;

typedef struct
{
  LnsPlace place;
  bool has_place;
} Row;

/* From the least to the greatest number of a column. */
typedef struct
{
  int64_t least, most; /* least > most: there is none */
} Range;

struct LnsResult
{
  LnsRows rows; /* first */
  LnsResultColumn *columns;
  Range *ranges; /* of each column, while it has a number */
  unsigned n_columns;
  size_t max_rows;
  LNS_ARRAY (Row) kept;
  LNS_ARRAY (Kept) cells; /* n_columns a row */
  LnsBuffer texts;
  uint64_t n_left_out;
};

LnsPlace
lns_place (uint32_t lane, uint64_t ordinal, int64_t start_ns, int64_t duration_ns)
{
  return (LnsPlace){ .lane = lane,
                     .ordinal = ordinal,
                     .start_ns = start_ns,
                     .end_ns = lns_sum (start_ns, duration_ns > 0 ? duration_ns : 0) };
}

static void
keep_row (LnsRows *rows, const LnsResultCell *cells, const LnsPlace *place)
{
  LnsResult *result = (LnsResult *)rows; /* its first member */

  if (result->kept.n >= result->max_rows)
    {
      result->n_left_out++;
      return;
    }
  *lns_array_add (&result->kept) =
      (Row){ .place = place != NULL ? *place : (LnsPlace){ 0 }, .has_place = place != NULL };
  for (unsigned i = 0; i < result->n_columns; i++)
    {
      Kept *kept = lns_array_add (&result->cells);
      kept->is_empty = cells[i].is_empty;
      if (cells[i].is_empty)
        continue;
      if (result->columns[i].type != LNS_RESULT_TEXT)
        {
          kept->number = cells[i].number;
          Range *range = &result->ranges[i];
          range->least = kept->number < range->least ? kept->number : range->least;
          range->most = kept->number > range->most ? kept->number : range->most;
          continue;
        }
      kept->is_written = cells[i].is_written;
      kept->number = (int64_t)result->texts.size_bytes;
      kept->size_bytes = cells[i].size_bytes;
      lns_buffer_append (&result->texts, cells[i].bytes, cells[i].size_bytes);
      if (result->texts.failed)
        lns_out_of_memory ();
    }
}

LnsResult *
lns_result_new (const LnsResultColumn *columns, unsigned n_columns, size_t max_rows)
{
  LnsResult *result = lns_calloc (1, sizeof *result);

  result->rows = (LnsRows){ .add = keep_row, .wants_places = true };
  result->columns = lns_calloc (n_columns, sizeof *result->columns);
  result->ranges = lns_calloc (n_columns, sizeof *result->ranges);
  result->n_columns = n_columns;
  result->max_rows = max_rows;
  for (unsigned i = 0; i < n_columns; i++)
    {
      result->columns[i] = columns[i];
      result->columns[i].title = lns_strdup (columns[i].title);
      result->ranges[i] = (Range){ INT64_MAX, INT64_MIN };
    }
  return result;
}

void
lns_result_free (LnsResult *result)
{
  if (result == NULL)
    return;
  for (unsigned i = 0; i < result->n_columns; i++)
    free ((void *)result->columns[i].title);
  free (result->columns);
  free (result->ranges);
  lns_array_clear (&result->kept);
  lns_array_clear (&result->cells);
  lns_buffer_clear (&result->texts);
  free (result);
}

LnsRows *
lns_result_rows (LnsResult *result)
{
  return &result->rows;
}

const LnsResultColumn *
lns_result_columns (const LnsResult *result, unsigned *ret_n)
{
  *ret_n = result->n_columns;
  return result->columns;
}

size_t
lns_result_n_rows (const LnsResult *result)
{
  return result->kept.n;
}

uint64_t
lns_result_n_left_out (const LnsResult *result)
{
  return result->n_left_out;
}

LnsResultCell
lns_result_cell (const LnsResult *result, size_t row, unsigned column)
{
  const Kept *kept = &result->cells.items[row * result->n_columns + column];
  const char *texts = result->texts.bytes != NULL ? (const char *)result->texts.bytes : "";

  if (kept->is_empty)
    return (LnsResultCell){ .is_empty = true };
  if (result->columns[column].type != LNS_RESULT_TEXT)
    return (LnsResultCell){ .number = kept->number };
  return (LnsResultCell){ .is_written = kept->is_written,
                          .bytes = texts + kept->number,
                          .size_bytes = kept->size_bytes };
}

bool
lns_result_range (const LnsResult *result, unsigned column, int64_t *ret_least, int64_t *ret_most)
{
  *ret_least = result->ranges[column].least;
  *ret_most = result->ranges[column].most;
  return *ret_least <= *ret_most;
}

const LnsPlace *
lns_result_place (const LnsResult *result, size_t row)
{
  return result->kept.items[row].has_place ? &result->kept.items[row].place : NULL;
}

void
lns_result_give (const LnsResult *result, LnsRows *rows)
{
  LnsResultCell *cells = lns_calloc (result->n_columns, sizeof *cells);

  for (size_t row = 0; row < result->kept.n; row++)
    {
      for (unsigned i = 0; i < result->n_columns; i++)
        cells[i] = lns_result_cell (result, row, i);
      lns_rows_add (rows, cells, lns_result_place (result, row));
    }
  free (cells);
}
