/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tables for programs and browsers: csv, tsv, json, hdoc and htable. */

#include <string.h>

#include "src/analysis/stats/table-private.h"
#include "src/base/json.h"

static void
end_nothing (LnsStatsTable *table)
{
  (void)table;
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
write_line (LnsStatsTable *table, const LnsStatsText *texts)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    write_value (table, i, texts[i].bytes, texts[i].size);
}

const LnsStatsWriter _lns_stats_lines_writer = { begin_lines, write_line, end_nothing };

/* ---- JSON ------------------------------------------------------------------------------------ */

static void
begin_json (LnsStatsTable *table)
{
  putc ('[', table->stream);
}

static void
write_object (LnsStatsTable *table, const LnsStatsText *texts)
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

const LnsStatsWriter _lns_stats_json_writer = { begin_json, write_object, end_json };

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
write_html_row (LnsStatsTable *table, const LnsStatsText *texts)
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

const LnsStatsWriter _lns_stats_html_writer = { begin_html, write_html_row, end_html };
