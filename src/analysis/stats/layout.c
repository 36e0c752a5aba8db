/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tables for people: column and table. Widths come from the first rows, which are kept until then. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/table-private.h"
#include "src/base/memory.h"
#include "src/base/visible.h"

#define N_MEASURED_ROWS 100
#define MAX_WIDTH       100

struct LnsStatsLayout
{
  LnsStatsText *kept; /* of the rows not yet written, n_columns each; their bytes are owned     */
  unsigned n_rows;
  bool measured;  /* `widths` hold, and the header is out                                        */
  size_t *widths; /* in characters; 0 = hidden                                                   */
  LnsStatsText *shown; /* of the row being added                                                 */
  char **made;         /* what was made of its texts, or NULL                                    */
};

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
  size_t n = count_characters (bytes, size), cut = 0;

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
write_row (LnsStatsTable *table, const LnsStatsText *texts)
{
  bool is_first = true;

  for (unsigned i = 0; i < table->n_columns; i++)
    {
      size_t width = table->layout->widths[i], n = count_characters (texts[i].bytes, texts[i].size);
      if (width == 0)
        continue;
      write_border (table, is_first);
      bool is_right = texts[i].is_number || (texts[i].is_empty && !table->columns[i].is_text);
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
      size_t n = count_characters (title, strlen (title));
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
  size_t width = count_characters (title, strlen (title));
  bool is_cut = table->columns[i].is_text && !table->style->no_limit;

  for (unsigned row = 0; row < table->layout->n_rows; row++)
    {
      const LnsStatsText *text = &table->layout->kept[(size_t)row * table->n_columns + i];
      size_t n = count_characters (text->bytes, text->size);
      width = n > width ? n : width;
    }
  return width == 0 ? 1 : is_cut && width > MAX_WIDTH ? MAX_WIDTH : width;
}

/* Takes the widths from the rows kept, and writes the header and those rows. */
static void
measure (LnsStatsTable *table)
{
  LnsStatsLayout *layout = table->layout;

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
  LnsStatsLayout *layout = table->layout = lns_calloc (1, sizeof *layout);

  layout->kept = lns_calloc ((size_t)table->n_columns * N_MEASURED_ROWS, sizeof *layout->kept);
  layout->widths = lns_calloc (table->n_columns, sizeof *layout->widths);
  layout->shown = lns_calloc (table->n_columns, sizeof *layout->shown);
  layout->made = lns_calloc (table->n_columns, sizeof *layout->made);
}

/* TEXT so that it does not break the row. For a terminal, what cannot be shown is escaped; files and pipes get the bytes,
 * with newlines alone escaped. The result is TEXT itself where nothing is escaped, else it borrows RET_MADE, which is to
 * be freed. */
static LnsStatsText
show_text (const LnsStatsTable *table, const LnsStatsText *text, char **ret_made)
{
  LnsStatsText shown = *text;
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
keep_row (LnsStatsTable *table, const LnsStatsText *texts)
{
  LnsStatsLayout *layout = table->layout;
  LnsStatsText *kept = &layout->kept[(size_t)layout->n_rows * table->n_columns];

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
  LnsStatsLayout *layout = table->layout;

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

const LnsStatsWriter _lns_stats_layout_writer = { begin_layout, keep_row, end_layout };
