/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/table-private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

static const LnsStatsWriter *const writers[LNS_STATS_N_FORMATS] = {
  [LNS_STATS_COLUMN] = &_lns_stats_layout_writer, [LNS_STATS_TABLE] = &_lns_stats_layout_writer,
  [LNS_STATS_CSV] = &_lns_stats_lines_writer,     [LNS_STATS_TSV] = &_lns_stats_lines_writer,
  [LNS_STATS_JSON] = &_lns_stats_json_writer,     [LNS_STATS_HDOC] = &_lns_stats_html_writer,
  [LNS_STATS_HTABLE] = &_lns_stats_html_writer,
};

/* The titles of the columns with their units. */
static void
make_titles (LnsStatsTable *table)
{
  static const char *const units[] = { "ns", "us", "ms", "s" };

  for (unsigned i = 0; i < table->n_columns; i++)
    {
      const LnsStatsColumn *column = &table->columns[i];
      table->titles[i] = column->is_time
                             ? lns_asprintf ("%s (%s)", column->title, units[table->style->unit])
                             : lns_strdup (column->title);
    }
}

LnsStatsTable *
lns_stats_table_new (FILE *stream,
                     const LnsStatsStyle *style,
                     const LnsStatsColumn *columns,
                     unsigned n_columns)
{
  LnsStatsTable *table = lns_calloc (1, sizeof *table);

  *table = (LnsStatsTable){ .stream = stream,
                            .style = style,
                            .columns = columns,
                            .n_columns = n_columns,
                            .writer = writers[style->format],
                            .titles = lns_calloc (n_columns, sizeof *table->titles),
                            .texts = lns_calloc (n_columns, sizeof *table->texts),
                            .numbers = lns_calloc (n_columns, sizeof *table->numbers) };
  make_titles (table);
  table->writer->begin (table);
  return table;
}

/* Copies the number of SIZE characters at DIGITS with SEPARATOR between groups of three digits before
 * its point. Returns the length; 0 where it is no plain number, or too long. */
static size_t
group_digits (const char *digits,
              size_t size,
              const char *separator,
              char ret_text[LNS_STATS_NUMBER_SIZE])
{
  size_t sign = size > 0 && digits[0] == '-', end = sign;
  char *to = ret_text;

  while (end < size && digits[end] >= '0' && digits[end] <= '9')
    end++;
  if (end == sign || size > 40 || strlen (separator) > 4 || memchr (digits, 'e', size) != NULL)
    return 0;
  for (size_t i = 0; i < size; i++)
    {
      if (i > sign && i < end && (end - i) % 3 == 0)
        to = stpcpy (to, separator);
      *to++ = digits[i];
    }
  return (size_t)(to - ret_text);
}

/* NUMBER / 10^DECIMALS. */
static size_t
format_number (int64_t number, unsigned decimals, char ret_digits[40])
{
  uint64_t magnitude = number < 0 ? -(uint64_t)number : (uint64_t)number;
  int n = snprintf (ret_digits, 40, "%s%0*" PRIu64, number < 0 ? "-" : "", (int)decimals + 1,
                    magnitude);

  if (decimals == 0)
    return (size_t)n;
  memmove (ret_digits + n - decimals + 1, ret_digits + n - decimals, decimals);
  ret_digits[n - (int)decimals] = '.';
  return (size_t)n + 1;
}

static LnsStatsText
make_text (const LnsStatsTable *table, unsigned i, const LnsStatsCell *cell)
{
  const LnsStatsColumn *column = &table->columns[i];
  const char *separator = table->style->separator;
  char *to = table->numbers[i], digits[40];
  size_t size;

  if (cell->is_empty)
    return (LnsStatsText){ .bytes = "", .is_empty = true };
  if (column->is_text && !cell->is_written)
    return (LnsStatsText){ .bytes = cell->bytes, .size = cell->size_bytes };
  LnsStatsText text = { .bytes = cell->bytes, .size = cell->size_bytes, .is_number = true };
  if (!column->is_text)
    {
      unsigned shift = column->is_time ? 3 * (unsigned)table->style->unit : 0;
      text.size = format_number (cell->number, column->decimals + shift, digits);
      text.bytes = memcpy (to, digits, text.size);
    }
  if (lns_stats_format_info (table->style->format)->is_for_people && separator != NULL &&
      text.size < sizeof digits)
    {
      memcpy (digits, text.bytes, text.size);
      size = group_digits (digits, text.size, separator, to);
      if (size > 0)
        text = (LnsStatsText){ .bytes = to, .size = size, .is_number = true };
    }
  return text;
}

void
lns_stats_table_add (LnsStatsTable *table, const LnsStatsCell *cells)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    table->texts[i] = make_text (table, i, &cells[i]);
  table->writer->row (table, table->texts);
  table->n_rows++;
}

void
lns_stats_table_finish (LnsStatsTable *table)
{
  table->writer->end (table);
  for (unsigned i = 0; i < table->n_columns; i++)
    free (table->titles[i]);
  free (table->titles);
  free (table->texts);
  free (table->numbers);
  free (table);
}
