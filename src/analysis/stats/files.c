/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* osrt_file_sum: calls of the C library about files, by file. */

#include "src/analysis/stats/maker.h"

static const LnsResultColumn columns[] = {
  { N_ ("Time (%)"), LNS_RESULT_SHARE, 1 },
  { N_ ("Total Time"), LNS_RESULT_TIME },
  { "Opens", LNS_RESULT_COUNT },
  { "Reads", LNS_RESULT_COUNT },
  { "Read (B)", LNS_RESULT_BYTES },
  { "Writes", LNS_RESULT_COUNT },
  { "Written (B)", LNS_RESULT_BYTES },
  { "File", LNS_RESULT_TEXT },
};

/* The bytes of a call are in fileBytes: returnValue of some is a number of items, or an address. */
static bool
run (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  const LnsTable *calls = lns_tables_find (result->tables, "OSRT_API");

  /* Only reports that were recorded with --osrt-file-access have the columns. */
  if (calls == NULL || lns_table_column (calls, "filePath") < 0)
    return true;
  return _lns_stats_run_query (result, cancel, error);
}

const LnsStatsWay _lns_stats_files = {
  .run = run,
  .write = _lns_stats_write_query,
  .columns = columns,
  .n_columns = sizeof columns / sizeof *columns,
  .sql = "WITH calls AS ("
         " SELECT filePath AS path, nameId, count(*) AS n, saturated_sum(ifnull(fileBytes, 0)) AS "
         "bytes,"
         "  saturated_sum(difference(end, start)) AS ns"
         " FROM OSRT_API WHERE filePath IS NOT NULL AND eventClass = 27 GROUP BY filePath, nameId),"
         " kinds AS ("
         " SELECT path, n, bytes, ns, value GLOB '*open*' OR value GLOB 'creat*' AS opens,"
         "  value GLOB '*read*' OR value GLOB '*gets*' OR value GLOB '*getdelim'"
         "  OR value = 'getline' AS reads,"
         "  value GLOB '*write*' OR value GLOB '*puts*' AS writes"
         " FROM calls JOIN StringIds ON id = nameId) "
         "SELECT 100.0 * saturated_sum(ns) / (SELECT saturated_sum(ns) FROM calls),"
         " saturated_sum(ns), saturated_sum(iif(opens, n, 0)), saturated_sum(iif(reads, n, 0)),"
         " saturated_sum(iif(reads, bytes, 0)), saturated_sum(iif(writes, n, 0)),"
         " saturated_sum(iif(writes, bytes, 0)), path"
         " FROM kinds GROUP BY path ORDER BY saturated_sum(ns) DESC, path",
};
