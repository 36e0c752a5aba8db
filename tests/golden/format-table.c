/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Formats the table on stdin as `stats` does. The first line has the titles, the others the
 * values, separated by tabs. A title that ends in " (ns)" makes its column a time; the last column
 * is text. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/table.h"

#define MAX_COLUMNS 16

static unsigned
split (char *line, char *ret_fields[MAX_COLUMNS])
{
  unsigned n = 0;

  line[strcspn (line, "\n")] = '\0';
  for (char *field; n < MAX_COLUMNS && (field = strsep (&line, "\t")) != NULL;)
    ret_fields[n++] = field;
  return n;
}

int
main (void)
{
  static char titles[65536], line[65536];
  char *fields[MAX_COLUMNS];
  LnsResultColumn columns[MAX_COLUMNS] = { 0 };
  LnsStatsStyle style = { .format = LNS_STATS_COLUMN, .separator = "" };

  if (fgets (titles, sizeof titles, stdin) == NULL)
    return 1;
  unsigned n = split (titles, fields);
  for (unsigned i = 0; i < n; i++)
    {
      char *unit = strstr (fields[i], " (ns)");
      columns[i] = (LnsResultColumn){ .title = fields[i],
                                      .type = i + 1 == n     ? LNS_RESULT_TEXT
                                              : unit != NULL ? LNS_RESULT_TIME
                                                             : LNS_RESULT_NUMBER };
      if (unit != NULL)
        *unit = '\0';
      /* The reference writes shares, averages, medians and deviations with one decimal. */
      if (strstr (fields[i], "%") || strstr (fields[i], "Avg") || strstr (fields[i], "Med") ||
          strstr (fields[i], "Std"))
        columns[i].decimals = 1;
    }
  LnsStatsTable *table = lns_stats_table_new (stdout, &style, columns, n);
  while (fgets (line, sizeof line, stdin) != NULL && split (line, fields) == n)
    {
      LnsResultCell cells[MAX_COLUMNS] = { 0 };
      for (unsigned i = 0; i < n; i++)
        {
          char *point = strchr (fields[i], '.');
          cells[i] = (LnsResultCell){ .bytes = fields[i], .size_bytes = strlen (fields[i]) };
          if (columns[i].type != LNS_RESULT_TEXT && point != NULL)
            memmove (point, point + 1, strlen (point));
          if (columns[i].type != LNS_RESULT_TEXT)
            cells[i].number = strtoll (fields[i], NULL, 10);
        }
      lns_rows_add (lns_stats_table_rows (table), cells, NULL);
    }
  lns_stats_table_finish (table);
  return 0;
}
