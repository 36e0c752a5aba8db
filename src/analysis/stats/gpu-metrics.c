/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* gpu_metrics_sum: samples of GPUs by metric. */

#include "src/analysis/stats/maker.h"

static const LnsStatsColumn columns[] = {
  { "GPU" },
  { "Name", .is_text = true },
  { "Metric", .is_text = true },
  { "Samples" },
  { "Avg", .decimals = 2 },
  { "Min", .decimals = 2 },
  { "Max", .decimals = 2 },
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
