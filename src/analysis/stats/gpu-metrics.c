/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* gpu_metrics_sum: samples of GPUs by metric. */

#include "src/analysis/stats/maker.h"

static const LnsResultColumn columns[] = {
  { "GPU", LNS_RESULT_ID },
  { "Name", LNS_RESULT_TEXT },
  { N_ ("Metric"), LNS_RESULT_TEXT },
  { "Samples", LNS_RESULT_COUNT },
  { N_ ("Avg"), LNS_RESULT_NUMBER, 2 },
  { N_ ("Min"), LNS_RESULT_NUMBER, 2 },
  { N_ ("Max"), LNS_RESULT_NUMBER, 2 },
};

/* The last byte of typeId is the number of the GPU. Names are joined to the sums: a join of the samples would read all of them
 * for each name. There is no median: it takes several times as long as all else. */
const LnsStatsWay _lns_stats_gpu_metrics = LNS_STATS_QUERY (
    columns,
    "WITH sums AS ("
    " SELECT typeId, metricId, count(*) AS n, avg(value) AS mean, min(value) AS least,"
    "  max(value) AS most FROM GPU_METRICS GROUP BY typeId, metricId) "
    "SELECT sums.typeId & 255, info.typeName, info.metricName, n, mean, least, most"
    " FROM sums JOIN TARGET_INFO_GPU_METRICS AS info USING (typeId, metricId)"
    " ORDER BY sums.typeId, metricId");
