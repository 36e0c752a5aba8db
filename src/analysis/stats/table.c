/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/visible.h"

#define NUMBER_SIZE     96
#define N_MEASURED_ROWS 100
#define MAX_WIDTH       100

/* A cell as it is to be written, before a format escapes what it must. */
typedef struct
{
  const char *bytes;
  size_t size;
  bool is_number, is_empty;
} Text;

/* A format. */
typedef struct
{
  /* Before the first row. */
  void (*begin) (LnsStatsTable *table);
  /* N_COLUMNS texts. */
  void (*row) (LnsStatsTable *table, const Text *texts);
  /* After the last one. */
  void (*end) (LnsStatsTable *table);
} Writer;

/* The rows of a table for people, which are measured before they are written. */
typedef struct
{
  Text *kept; /* of the rows not yet written, n_columns each; their bytes are owned     */
  unsigned n_rows;
  bool measured;  /* `widths` hold, and the header is out                                        */
  size_t *widths; /* in characters; 0 = hidden                                                   */
  Text *shown;    /* of the row being added                                                 */
  char **made;    /* what was made of its texts, or NULL                                    */
} Layout;

struct LnsStatsTable
{
  LnsRows rows; /* first */
  FILE *stream;
  const LnsStatsStyle *style;
  const LnsResultColumn *columns;
  unsigned n_columns;
  const Writer *writer;
  char **titles;                /* of the columns, with their units */
  Text *texts;                  /* of the row being added                               */
  char (*numbers)[NUMBER_SIZE]; /* where its numbers stand                              */
  uint64_t n_rows;
  Layout *layout; /* of column and table, or NULL                                       */
};

static void
end_nothing (LnsStatsTable *table)
{
}

/* ---- Lines ----------------------------------------------------------------------------------- */

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

static void
write_tsv (FILE *stream, const char *bytes, size_t size, bool escapes)
{
  for (size_t i = 0; i < size; i++)
    {
      const char *escape = bytes[i] == '\t'              ? "\\t"
                           : bytes[i] == '\n'            ? "\\n"
                           : bytes[i] == '\r'            ? "\\r"
                           : escapes && bytes[i] == '\\' ? "\\\\"
                                                         : NULL;
      if (escape != NULL)
        fputs (escapes ? escape : " ", stream);
      else
        putc (bytes[i], stream);
    }
}

static void
write_value (LnsStatsTable *table, unsigned column, const char *bytes, size_t size)
{
  bool csv = table->style->format == LNS_STATS_CSV;

  if (column > 0)
    putc (csv ? ',' : '\t', table->stream);
  if (csv)
    write_csv (table->stream, bytes, size);
  else
    write_tsv (table->stream, bytes, size, table->style->escapes);
  if (column + 1 == table->n_columns)
    putc ('\n', table->stream);
}

static void
begin_lines (LnsStatsTable *table)
{
  for (unsigned i = 0; !table->style->no_header && i < table->n_columns; i++)
    {
      const char *title = table->titles[i];
      write_value (table, i, title, strlen (title));
    }
}

static void
write_line (LnsStatsTable *table, const Text *texts)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    write_value (table, i, texts[i].bytes, texts[i].size);
}

static const Writer lines_writer = { begin_lines, write_line, end_nothing };

/* ---- JSON ------------------------------------------------------------------------------------ */

static void
begin_json (LnsStatsTable *table)
{
  putc ('[', table->stream);
}

static void
write_object (LnsStatsTable *table, const Text *texts)
{
  fputs (table->n_rows > 0 ? ",\n{" : "{", table->stream);
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      const char *title = table->titles[i];
      fputs (i > 0 ? "," : "", table->stream);
      lns_json_write_string (table->stream, title, strlen (title));
      putc (':', table->stream);
      if (texts[i].is_empty)
        fputs ("null", table->stream);
      else if (texts[i].is_number)
        fwrite (texts[i].bytes, 1, texts[i].size, table->stream);
      else
        lns_json_write_string (table->stream, texts[i].bytes, texts[i].size);
    }
  putc ('}', table->stream);
}

static void
end_json (LnsStatsTable *table)
{
  fputs ("]\n", table->stream);
}

static const Writer json_writer = { begin_json, write_object, end_json };

/* ---- HTML ------------------------------------------------------------------------------------ */

static void
write_html (FILE *stream, const char *bytes, size_t size)
{
  for (size_t i = 0; i < size; i++)
    {
      const char *entity = bytes[i] == '&'   ? "&amp;"
                           : bytes[i] == '<' ? "&lt;"
                           : bytes[i] == '>' ? "&gt;"
                           : bytes[i] == '"' ? "&quot;"
                                             : NULL;
      if (entity != NULL)
        fputs (entity, stream);
      else
        putc (bytes[i], stream);
    }
}

static void
begin_html (LnsStatsTable *table)
{
  const LnsStatsStyle *style = table->style;

  if (style->format == LNS_STATS_HDOC)
    {
      fputs ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>",
             table->stream);
      write_html (table->stream, style->title, style->title_size);
      fputs ("</title>\n", table->stream);
      if (style->css != NULL)
        {
          fputs ("<link rel=\"stylesheet\" href=\"", table->stream);
          write_html (table->stream, style->css, style->css_size);
          fputs ("\">\n", table->stream);
        }
      fputs ("</head>\n<body>\n", table->stream);
    }
  fputs ("<table>\n<thead><tr>", table->stream);
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      const char *title = table->titles[i];
      fputs ("<th>", table->stream);
      write_html (table->stream, title, strlen (title));
      fputs ("</th>", table->stream);
    }
  fputs ("</tr></thead>\n<tbody>\n", table->stream);
}

static void
write_html_row (LnsStatsTable *table, const Text *texts)
{
  fputs ("<tr>", table->stream);
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      fputs (texts[i].is_number ? "<td style=\"text-align:right\">" : "<td>", table->stream);
      write_html (table->stream, texts[i].bytes, texts[i].size);
      fputs ("</td>", table->stream);
    }
  fputs ("</tr>\n", table->stream);
}

static void
end_html (LnsStatsTable *table)
{
  fputs ("</tbody>\n</table>\n", table->stream);
  if (table->style->format == LNS_STATS_HDOC)
    fputs ("</body>\n</html>\n", table->stream);
}

static const Writer html_writer = { begin_html, write_html_row, end_html };

/* ---- Column and table ------------------------------------------------------------------------ */

/* Widths come from the first rows, which are kept until then. */

static void
write_repeated (FILE *stream, char character, size_t n)
{
  while (n-- > 0)
    putc (character, stream);
}

/* What stands before column I: the first one that is shown begins the line. */
static void
write_border (const LnsStatsTable *table, bool is_first)
{
  if (table->style->format == LNS_STATS_TABLE)
    fputs (is_first ? "| " : " | ", table->stream);
  else
    fputs (is_first ? " " : "  ", table->stream);
}

static void
end_line (const LnsStatsTable *table)
{
  fputs (table->style->format == LNS_STATS_TABLE ? " |\n" : "\n", table->stream);
}

/* Writes BYTES within WIDTH characters, PAD_BEFORE spaces before them and what is left behind. */
static void
write_padded (FILE *stream, const char *bytes, size_t size, size_t width, size_t pad_before)
{
  size_t n = lns_visible_width (bytes, size), cut = 0;

  write_repeated (stream, ' ', pad_before);
  if (n > width)
    {
      for (n = 0; n < width; cut++)
        n += ((unsigned char)bytes[cut] & 0xC0) != 0x80;
      fwrite (bytes, 1, cut - 1, stream);
      fputs ("…", stream);
      return;
    }
  fwrite (bytes, 1, size, stream);
  write_repeated (stream, ' ', width - n - pad_before);
}

static void
write_row (LnsStatsTable *table, const Text *texts)
{
  bool is_first = true;

  for (unsigned i = 0; i < table->n_columns; i++)
    {
      size_t width = table->layout->widths[i],
             n = lns_visible_width (texts[i].bytes, texts[i].size);
      if (width == 0)
        continue;
      write_border (table, is_first);
      bool is_right =
          texts[i].is_number || (texts[i].is_empty && table->columns[i].type != LNS_RESULT_TEXT);
      write_padded (table->stream, texts[i].bytes, texts[i].size, width,
                    is_right && n < width ? width - n : 0);
      is_first = false;
    }
  end_line (table);
}

/* A line of dashes; of a table, with corners. */
static void
write_rule (LnsStatsTable *table)
{
  bool boxed = table->style->format == LNS_STATS_TABLE, is_first = true;

  for (unsigned i = 0; i < table->n_columns; i++)
    if (table->layout->widths[i] > 0)
      {
        fputs (boxed ? "+" : is_first ? " " : "  ", table->stream);
        write_repeated (table->stream, '-', table->layout->widths[i] + (boxed ? 2 : 0));
        is_first = false;
      }
  fputs (boxed ? "+\n" : "\n", table->stream);
}

static void
write_header (LnsStatsTable *table)
{
  bool is_first = true;

  for (unsigned i = 0; i < table->n_columns; i++)
    {
      size_t width = table->layout->widths[i];
      if (width == 0)
        continue;
      const char *title = table->titles[i];
      size_t n = lns_visible_width (title, strlen (title));
      write_border (table, is_first);
      write_padded (table->stream, title, strlen (title), width, n < width ? (width - n) / 2 : 0);
      is_first = false;
    }
  end_line (table);
  write_rule (table);
}

/* The width that fits the title and the kept rows of column I. */
static size_t
fitting_width (const LnsStatsTable *table, unsigned i)
{
  const char *title = table->titles[i];
  size_t width = lns_visible_width (title, strlen (title));
  bool is_cut = table->columns[i].type == LNS_RESULT_TEXT && !table->style->no_limit;

  for (unsigned row = 0; row < table->layout->n_rows; row++)
    {
      const Text *text = &table->layout->kept[(size_t)row * table->n_columns + i];
      size_t n = lns_visible_width (text->bytes, text->size);
      width = n > width ? n : width;
    }
  return width == 0 ? 1 : is_cut && width > MAX_WIDTH ? MAX_WIDTH : width;
}

/* Takes the widths from the rows kept, and writes the header and those rows. */
static void
measure (LnsStatsTable *table)
{
  Layout *layout = table->layout;

  layout->measured = true;
  for (unsigned i = 0; i < table->n_columns; i++)
    layout->widths[i] = i < table->style->n_widths && table->style->widths[i] != LNS_STATS_AUTO
                            ? (size_t)table->style->widths[i]
                            : fitting_width (table, i);
  if (table->style->format == LNS_STATS_TABLE)
    write_rule (table);
  if (!table->style->no_header)
    write_header (table);
  for (unsigned row = 0; row < layout->n_rows; row++)
    write_row (table, &layout->kept[(size_t)row * table->n_columns]);
}

static void
begin_layout (LnsStatsTable *table)
{
  Layout *layout = table->layout = lns_calloc (1, sizeof *layout);

  layout->kept = lns_calloc ((size_t)table->n_columns * N_MEASURED_ROWS, sizeof *layout->kept);
  layout->widths = lns_calloc (table->n_columns, sizeof *layout->widths);
  layout->shown = lns_calloc (table->n_columns, sizeof *layout->shown);
  layout->made = lns_calloc (table->n_columns, sizeof *layout->made);
}

/* TEXT so that it does not break the row. For a terminal, what cannot be shown is escaped; files and pipes get the bytes,
 * with newlines alone escaped. The result is TEXT itself where nothing is escaped, else it borrows RET_MADE, which is to
 * be freed. */
static Text
show_text (const LnsStatsTable *table, const Text *text, char **ret_made)
{
  Text shown = *text;
  size_t n_newlines = 0, n = 0;

  *ret_made = NULL;
  if (table->style->is_terminal)
    {
      shown.bytes = *ret_made = lns_visible_text (text->bytes, text->size);
      if (shown.bytes == NULL)
        lns_out_of_memory ();
      shown.size = strlen (shown.bytes);
      return shown;
    }
  for (size_t i = 0; i < text->size; i++)
    n_newlines += text->bytes[i] == '\n';
  if (n_newlines == 0)
    return shown;
  char *bytes = *ret_made = lns_realloc (NULL, text->size + n_newlines, 1);
  for (size_t i = 0; i < text->size; i++)
    {
      const bool is_newline = text->bytes[i] == '\n';
      if (is_newline)
        bytes[n++] = '\\';
      bytes[n++] = is_newline ? 'n' : text->bytes[i];
    }
  shown.bytes = bytes;
  shown.size = n;
  return shown;
}

static void
keep_row (LnsStatsTable *table, const Text *texts)
{
  Layout *layout = table->layout;
  Text *kept = &layout->kept[(size_t)layout->n_rows * table->n_columns];

  for (unsigned i = 0; i < table->n_columns; i++)
    {
      free (layout->made[i]);
      layout->shown[i] = show_text (table, &texts[i], &layout->made[i]);
      if (layout->measured)
        continue;
      kept[i] = layout->shown[i];
      kept[i].bytes = lns_memdup (kept[i].bytes, kept[i].size);
    }
  if (layout->measured)
    write_row (table, layout->shown);
  else if (++layout->n_rows == N_MEASURED_ROWS)
    measure (table);
}

static void
end_layout (LnsStatsTable *table)
{
  Layout *layout = table->layout;

  if (!layout->measured)
    measure (table);
  if (table->style->format == LNS_STATS_TABLE)
    write_rule (table);
  for (size_t i = 0; i < (size_t)table->n_columns * N_MEASURED_ROWS; i++)
    free ((void *)layout->kept[i].bytes);
  for (unsigned i = 0; i < table->n_columns; i++)
    free (layout->made[i]);
  free (layout->kept);
  free (layout->made);
  free (layout->shown);
  free (layout->widths);
  free (layout);
}

static const Writer layout_writer = { begin_layout, keep_row, end_layout };

/* ---- Tables ---------------------------------------------------------------------------------- */

static const Writer *const writers[LNS_STATS_N_FORMATS] = {
  [LNS_STATS_COLUMN] = &layout_writer, [LNS_STATS_TABLE] = &layout_writer,
  [LNS_STATS_CSV] = &lines_writer,     [LNS_STATS_TSV] = &lines_writer,
  [LNS_STATS_JSON] = &json_writer,     [LNS_STATS_HDOC] = &html_writer,
  [LNS_STATS_HTABLE] = &html_writer,
};

/* The titles of the columns with their units. */
static void
make_titles (LnsStatsTable *table)
{
  static const char *const units[] = { "ns", "us", "ms", "s" };

  for (unsigned i = 0; i < table->n_columns; i++)
    {
      const LnsResultColumn *column = &table->columns[i];
      table->titles[i] = lns_result_type_is_time (column->type)
                             ? lns_asprintf ("%s (%s)", column->title, units[table->style->unit])
                             : lns_strdup (column->title);
    }
}

/* Copies the number of SIZE characters at DIGITS with SEPARATOR between groups of three digits before
 * its point. Returns the length; 0 where it is no plain number, or too long. */
static size_t
group_digits (const char *digits, size_t size, const char *separator, char ret_text[NUMBER_SIZE])
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

static Text
make_text (const LnsStatsTable *table, unsigned i, const LnsResultCell *cell)
{
  const LnsResultColumn *column = &table->columns[i];
  const char *separator = table->style->separator;
  char *to = table->numbers[i], digits[40];
  size_t size;

  if (cell->is_empty)
    return (Text){ .bytes = "", .is_empty = true };
  if (column->type == LNS_RESULT_TEXT && !cell->is_written)
    return (Text){ .bytes = cell->bytes, .size = cell->size_bytes };
  Text text = { .bytes = cell->bytes, .size = cell->size_bytes, .is_number = true };
  if (column->type != LNS_RESULT_TEXT)
    {
      unsigned shift =
          lns_result_type_is_time (column->type) ? 3 * (unsigned)table->style->unit : 0;
      text.size = format_number (cell->number, column->decimals + shift, digits);
      text.bytes = memcpy (to, digits, text.size);
    }
  if (lns_stats_format_info (table->style->format)->is_for_people && separator != NULL &&
      text.size < sizeof digits)
    {
      memcpy (digits, text.bytes, text.size);
      size = group_digits (digits, text.size, separator, to);
      if (size > 0)
        text = (Text){ .bytes = to, .size = size, .is_number = true };
    }
  return text;
}

static void
add_row (LnsRows *rows, const LnsResultCell *cells, const LnsPlace *place)
{
  LnsStatsTable *table = (LnsStatsTable *)rows; /* its first member */

  for (unsigned i = 0; i < table->n_columns; i++)
    table->texts[i] = make_text (table, i, &cells[i]);
  table->writer->row (table, table->texts);
  table->n_rows++;
}

LnsStatsTable *
lns_stats_table_new (FILE *stream,
                     const LnsStatsStyle *style,
                     const LnsResultColumn *columns,
                     unsigned n_columns)
{
  LnsStatsTable *table = lns_calloc (1, sizeof *table);

  *table = (LnsStatsTable){ .rows = { .add = add_row },
                            .stream = stream,
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

LnsRows *
lns_stats_table_rows (LnsStatsTable *table)
{
  return &table->rows;
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
