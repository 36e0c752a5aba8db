/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/topology.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "src/base/visible.h"
#include "src/tables/sql-module.h"

/* Each gives lines of text. GPUs bear the number that they have in the list above these lines, or else their UUID. */
static const struct
{
  const char *table, *query;
} parts[] = {
  { "LNS_PCIE",
    "SELECT format('  %s: PCIe %d x%d, %d GT/s', coalesce(g.number, p.uuid), generation, "
    "width, rateGTps) "
    "FROM LNS_PCIE AS p LEFT JOIN"
    " (SELECT uuid, min(cuDevice) AS number FROM TARGET_INFO_GPU GROUP BY uuid) AS g"
    " ON g.uuid = p.uuid "
    "WHERE p.uuid IS NOT NULL ORDER BY 1" },
  { "LNS_NVLINKS",
    "WITH gpus AS"
    " (SELECT uuid, min(cuDevice) AS number FROM TARGET_INFO_GPU GROUP BY uuid) "
    "SELECT format('  %s and %s: %d link%s of NVLink %d%s, %.1f GB/s',"
    " coalesce(a.number, l.uuid, 'processor ' || npu),"
    " coalesce(b.number, l.peerUuid, 'processor ' || peerNpu), links, iif(links = 1, '', 's'),"
    " version, iif(isSwitched, ' through NVSwitch', ''), bandwidthKBps / 1e6) "
    "FROM LNS_NVLINKS AS l LEFT JOIN gpus AS a ON a.uuid = l.uuid"
    " LEFT JOIN gpus AS b ON b.uuid = l.peerUuid ORDER BY 1" },
};
#define N_PARTS (sizeof parts / sizeof *parts)

static bool
has_table (LnsReport *report, const char *name)
{
  uint32_t n;
  const LnsKeptTable *tables = lns_report_kept_tables (report, &n);
  for (uint32_t i = 0; i < n; i++)
    if (!tables[i].is_remainder &&
        strcmp (lns_report_string (report, tables[i].name, NULL), name) == 0)
      return true;
  return false;
}

/* Prints the lines of QUERY, after a title unless *INOUT_IS_TITLED. A table of that name with other columns prints none. */
static void
print_lines (sqlite3 *db, const char *query, bool *inout_is_titled)
{
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2 (db, query, -1, &statement, NULL) != SQLITE_OK)
    return;
  while (sqlite3_step (statement) == SQLITE_ROW)
    {
      const char *line = (const char *)sqlite3_column_text (statement, 0);
      if (line == NULL)
        continue;
      if (!*inout_is_titled)
        puts ("connections of GPUs:");
      *inout_is_titled = true;
      lns_visible_write (stdout, line, strlen (line));
      putchar ('\n');
    }
  sqlite3_finalize (statement);
}

void
lns_cli_print_topology (LnsReport *report)
{
  sqlite3 *db = NULL;
  bool is_titled = false, has_any = false;
  for (size_t i = 0; i < N_PARTS; i++)
    has_any = has_any || has_table (report, parts[i].table);
  if (has_any && sqlite3_open (":memory:", &db) == SQLITE_OK && lns_sql_attach (db, report, NULL))
    for (size_t i = 0; i < N_PARTS; i++)
      if (has_table (report, parts[i].table))
        print_lines (db, parts[i].query, &is_titled);
  sqlite3_close (db);
}
