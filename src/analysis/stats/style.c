/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/style.h"

#include <stdlib.h>
#include <string.h>

#define LAYOUT "[:nohdr][:nolimit][:nofmt][:WIDTH…]"

static const LnsStatsFormatInfo formats[] = {
  [LNS_STATS_COLUMN] = { "column", LAYOUT, "txt",
                         "Columns for people. nohdr leaves the header out, nolimit lets columns be "
                         "wider than 100 characters, nofmt leaves digits ungrouped. Each WIDTH is "
                         "that of a column; 0 hides it, and a point takes the width that fits.",
                         true },
  [LNS_STATS_TABLE] = { "table", LAYOUT, "txt", "The same with lines around the cells.", true },
  [LNS_STATS_CSV] = { "csv", "[:nohdr]", "csv", "Comma-separated values.", false },
  [LNS_STATS_TSV] = { "tsv", "[:nohdr][:esc]", "tsv",
                      "Tab-separated values. Tabs and newlines within texts become spaces, or \\t "
                      "and "
                      "\\n with esc.",
                      false },
  [LNS_STATS_JSON] = { "json", "", "json", "An array of objects.", false },
  [LNS_STATS_HDOC] = { "hdoc", "[:title=TITLE][:css=URL]", "html",
                       "An HTML document. css comes last, because a URL has colons.", false },
  [LNS_STATS_HTABLE] = { "htable", "", "html", "An HTML table to put into a document.", false },
};

const LnsStatsFormatInfo *
lns_stats_format_info (LnsStatsFormat format)
{
  return &formats[format];
}

/* Whether the SIZE bytes at TEXT are WORD. */
static bool
is_word (const char *text, size_t size, const char *word)
{
  return strlen (word) == size && memcmp (text, word, size) == 0;
}

/* A width of columns: "20", or "." for what fits. */
static bool
read_width (LnsStatsStyle *style, const char *text, size_t size)
{
  char *end;
  long width = is_word (text, size, ".") ? LNS_STATS_AUTO : strtol (text, &end, 10);

  if (width != LNS_STATS_AUTO && (text[0] < '0' || text[0] > '9' || end != text + size))
    return false;
  if (width > 10000 || style->n_widths == LNS_STATS_MAX_WIDTHS)
    return false;
  style->widths[style->n_widths++] = (short)width;
  return true;
}

/* One argument of SIZE bytes at TEXT. */
static bool
read_argument (LnsStatsStyle *style, const char *text, size_t size)
{
  bool is_layout = style->format == LNS_STATS_COLUMN || style->format == LNS_STATS_TABLE,
       is_lines = style->format == LNS_STATS_CSV || style->format == LNS_STATS_TSV;

  if ((is_layout || is_lines) && is_word (text, size, "nohdr"))
    return style->no_header = true;
  if (is_layout && is_word (text, size, "nolimit"))
    return style->no_limit = true;
  if (is_layout && is_word (text, size, "nofmt"))
    {
      style->separator = NULL;
      return true;
    }
  if (style->format == LNS_STATS_TSV && is_word (text, size, "esc"))
    return style->escapes = true;
  if (style->format == LNS_STATS_HDOC && size > 6 && strncmp (text, "title=", 6) == 0)
    {
      style->title = text + 6;
      style->title_size = size - 6;
      return true;
    }
  return is_layout && read_width (style, text, size);
}

bool
lns_stats_style_parse (LnsStatsStyle *style, const char *text, LnsError *error)
{
  size_t size = strcspn (text, ":"), format = 0;

  while (format < LNS_STATS_N_FORMATS && !is_word (text, size, formats[format].name))
    format++;
  if (format == LNS_STATS_N_FORMATS)
    return lns_error_set (
        error, LNS_ERROR_USAGE, 0,
        "--format: unknown format “%s”; use column, table, csv, tsv, json, hdoc or "
        "htable",
        text);
  style->format = (LnsStatsFormat)format;
  for (const char *at = text + size; *at == ':'; at += 1 + size)
    {
      if (format == LNS_STATS_HDOC && strncmp (at, ":css=", 5) == 0)
        {
          style->css = at + 5;
          style->css_size = strlen (at + 5);
          return true;
        }
      size = strcspn (at + 1, ":");
      if (!read_argument (style, at + 1, size))
        return lns_error_set (error, LNS_ERROR_USAGE, 0, "--format: “%s” is not valid; write %s%s",
                              at, formats[format].name, formats[format].arguments);
    }
  return true;
}
