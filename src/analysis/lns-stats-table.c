/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/lns-stats-table.h"

#define N_MEASURED_ROWS 100
#define MAX_WIDTH       100
#define NUMBER_SIZE     96

struct LnsStatsTable
{
  FILE *stream;
  const LnsStatsStyle *style;
  const LnsStatsColumn *columns;
  unsigned n_columns;
  char **cells; /* of the rows not yet written, n_columns each                                  */
  size_t *sizes;
  unsigned n_rows;
  bool measured;  /* `widths` hold, and the header is out                                        */
  size_t *widths; /* in characters                                                              */
};

LnsStatsTable *
lns_stats_table_new (FILE *stream,
                     const LnsStatsStyle *style,
                     const LnsStatsColumn *columns,
                     unsigned n_columns)
{
  LnsStatsTable *table = calloc (1, sizeof *table);

  if (table == NULL)
    return NULL;
  *table = (LnsStatsTable){
    .stream = stream, .style = style, .columns = columns, .n_columns = n_columns
  };
  table->cells = calloc ((size_t)n_columns * N_MEASURED_ROWS, sizeof *table->cells);
  table->sizes = calloc ((size_t)n_columns * N_MEASURED_ROWS, sizeof *table->sizes);
  table->widths = calloc (n_columns, sizeof *table->widths);
  if (table->cells != NULL && table->sizes != NULL && table->widths != NULL)
    return table;
  lns_stats_table_finish (table);
  return NULL;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void
make_title (const LnsStatsTable *table, const LnsStatsColumn *column, char ret_title[NUMBER_SIZE])
{
  static const char *const units[] = { "ns", "us", "ms", "s" };

  if (column->is_time)
    snprintf (ret_title, NUMBER_SIZE, "%s (%s)", column->title, units[table->style->unit]);
  else
    snprintf (ret_title, NUMBER_SIZE, "%s", column->title);
}

/* NUMBER / 10^DECIMALS with SEPARATOR between groups of three digits. */
static size_t
format_number (int64_t number, unsigned decimals, const char *separator, char ret_text[NUMBER_SIZE])
{
  char digits[32];
  uint64_t magnitude = number < 0 ? -(uint64_t)number : (uint64_t)number;
  int n = snprintf (digits, sizeof digits, "%0*" PRIu64, (int)decimals + 1, magnitude),
      n_whole = n - (int)decimals;
  char *end = ret_text;

  if (number < 0)
    *end++ = '-';
  for (int i = 0; i < n_whole; i++)
    {
      if (i > 0 && (n_whole - i) % 3 == 0)
        end = stpcpy (end, separator);
      *end++ = digits[i];
    }
  if (decimals > 0)
    end += sprintf (end, ".%s", digits + n_whole);
  *end = '\0';
  return (size_t)(end - ret_text);
}

/* The text of CELL; NUMBER_TEXT is where a number's goes. */
static const char *
cell_text (const LnsStatsTable *table,
           const LnsStatsColumn *column,
           const LnsStatsCell *cell,
           char number_text[NUMBER_SIZE],
           size_t *ret_size)
{
  bool groups = table->style->format == LNS_STATS_COLUMN && strlen (table->style->separator) <= 4;

  if (!cell->is_empty && column->is_text)
    {
      *ret_size = cell->size_bytes;
      return cell->bytes;
    }
  *ret_size = 0;
  if (!cell->is_empty)
    *ret_size = format_number (
        cell->number, column->decimals + (column->is_time ? 3 * (unsigned)table->style->unit : 0),
        groups ? table->style->separator : "", number_text);
  return number_text;
}

static void
write_csv (FILE *stream, const char *bytes, size_t size)
{
  bool quoted = false;

  for (size_t i = 0; i < size; i++)
    quoted = quoted || bytes[i] == ',' || bytes[i] == '"' || bytes[i] == '\n' || bytes[i] == '\r';
  if (!quoted)
    {
      fwrite (bytes, 1, size, stream);
      return;
    }
  putc ('"', stream);
  for (size_t i = 0; i < size; i++)
    {
      if (bytes[i] == '"')
        putc ('"', stream);
      putc (bytes[i], stream);
    }
  putc ('"', stream);
}

/* How many characters BYTES hold: UTF-8's continuation bytes do not count. */
static size_t
count_characters (const char *bytes, size_t size)
{
  size_t n = 0;

  for (size_t i = 0; i < size; i++)
    n += ((unsigned char)bytes[i] & 0xC0) != 0x80;
  return n;
}

static void
write_repeated (FILE *stream, char character, size_t n)
{
  while (n-- > 0)
    putc (character, stream);
}

static void
write_cell (const LnsStatsTable *table, unsigned column, const char *bytes, size_t size)
{
  size_t width = table->widths[column], n = count_characters (bytes, size), cut = 0;

  fputs (column == 0 ? " " : "  ", table->stream);
  if (!table->columns[column].is_text)
    {
      write_repeated (table->stream, ' ', n < width ? width - n : 0);
      fwrite (bytes, 1, size, table->stream);
      return;
    }
  if (n > width)
    {
      for (n = 0; n < width; cut++)
        n += ((unsigned char)bytes[cut] & 0xC0) != 0x80;
      fwrite (bytes, 1, cut - 1, table->stream);
      fputs ("…", table->stream);
      return;
    }
  fwrite (bytes, 1, size, table->stream);
  write_repeated (table->stream, ' ', width - n);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void
write_header (LnsStatsTable *table)
{
  char title[NUMBER_SIZE];

  for (unsigned i = 0; i < table->n_columns; i++)
    {
      make_title (table, &table->columns[i], title);
      if (table->style->format == LNS_STATS_CSV)
        {
          fputs (i > 0 ? "," : "", table->stream);
          write_csv (table->stream, title, strlen (title));
          continue;
        }
      size_t pad = table->widths[i] - strlen (title);
      fputs (i == 0 ? " " : "  ", table->stream);
      write_repeated (table->stream, ' ', pad / 2);
      fputs (title, table->stream);
      write_repeated (table->stream, ' ', pad - pad / 2);
    }
  putc ('\n', table->stream);
  for (unsigned i = 0; table->style->format == LNS_STATS_COLUMN && i < table->n_columns; i++)
    {
      fputs (i == 0 ? " " : "  ", table->stream);
      write_repeated (table->stream, '-', table->widths[i]);
    }
  if (table->style->format == LNS_STATS_COLUMN)
    putc ('\n', table->stream);
}

/* Takes the widths from the rows kept, and writes the header and those rows. */
static void
measure (LnsStatsTable *table)
{
  char title[NUMBER_SIZE];

  table->measured = true;
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      make_title (table, &table->columns[i], title);
      table->widths[i] = strlen (title);
      for (unsigned row = 0; row < table->n_rows; row++)
        {
          size_t cell = (size_t)row * table->n_columns + i,
                 n = count_characters (table->cells[cell], table->sizes[cell]);
          table->widths[i] = n > table->widths[i] ? n : table->widths[i];
        }
      if (table->columns[i].is_text && !table->style->no_limit && table->widths[i] > MAX_WIDTH)
        table->widths[i] = MAX_WIDTH;
    }
  if (!table->style->no_header)
    write_header (table);
  for (unsigned row = 0; row < table->n_rows; row++)
    {
      for (unsigned i = 0; i < table->n_columns; i++)
        {
          size_t cell = (size_t)row * table->n_columns + i;
          write_cell (table, i, table->cells[cell], table->sizes[cell]);
        }
      putc ('\n', table->stream);
    }
}

bool
lns_stats_table_add (LnsStatsTable *table, const LnsStatsCell *cells)
{
  char number[NUMBER_SIZE];
  bool csv = table->style->format == LNS_STATS_CSV, keep = !csv && !table->measured;
  size_t first = (size_t)table->n_rows * table->n_columns, size;

  if (csv && !table->measured)
    measure (table);
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      const char *bytes = cell_text (table, &table->columns[i], &cells[i], number, &size);
      if (csv)
        {
          fputs (i > 0 ? "," : "", table->stream);
          write_csv (table->stream, bytes, size);
        }
      else if (!keep)
        write_cell (table, i, bytes, size);
      else if ((table->cells[first + i] = malloc (size + 1)) == NULL)
        return false;
      else
        {
          memcpy (table->cells[first + i], bytes, size);
          table->sizes[first + i] = size;
        }
    }
  if (!keep)
    putc ('\n', table->stream);
  else if (++table->n_rows == N_MEASURED_ROWS)
    measure (table);
  return true;
}

void
lns_stats_table_finish (LnsStatsTable *table)
{
  if (table == NULL)
    return;
  if (table->widths != NULL && table->sizes != NULL && table->cells != NULL && !table->measured)
    measure (table);
  for (size_t i = 0; table->cells != NULL && i < (size_t)table->n_columns * N_MEASURED_ROWS; i++)
    free (table->cells[i]);
  free (table->cells);
  free (table->sizes);
  free (table->widths);
  free (table);
}
