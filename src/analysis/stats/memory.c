/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* um_sum, um_total_sum and um_cpu_page_faults_sum: pages of unified memory that moved or were missing. */

#include "src/analysis/stats/maker.h"

/* What happened at each address. Copies of the kinds 11 and 12 (CUpti_ActivityMemcpyKind as the tables number it) move
 * pages to the device and to the host. Addresses count up from 0, though SQL has the upper half as negative numbers. */
#define PLACES                                                                                     \
 "WITH places AS ("                                                                                \
 " SELECT address, saturated_sum(down) AS down, saturated_sum(up) AS up,"                          \
 "  saturated_sum(moved_ns) AS moved_ns, saturated_sum(cpu) AS cpu, saturated_sum(gpu) AS gpu"     \
 " FROM ("                                                                                         \
 "  SELECT ifnull(virtualAddress, 0) AS address, iif(copyKind = 11, bytes, 0) AS down,"            \
 "   iif(copyKind = 12, bytes, 0) AS up, difference(end, start) AS moved_ns, 0 AS cpu, 0 AS gpu"   \
 "   FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind IN (11, 12)"                                   \
 "  UNION ALL SELECT ifnull(address, 0), 0, 0, 0, 1, 0 FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS"         \
 "  UNION ALL SELECT ifnull(address, 0), 0, 0, 0, 0, numberOfPageFaults"                           \
 "   FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS)"                                                          \
 " GROUP BY address) "

static const LnsResultColumn columns[] = {
  { "Virtual Address", LNS_RESULT_TEXT },
  { "HtoD Migration Size (MB)", LNS_RESULT_MEGABYTES, 3 },
  { "DtoH Migration Size (MB)", LNS_RESULT_MEGABYTES, 3 },
  { "CPU Page Faults", LNS_RESULT_COUNT },
  { "GPU PageFaults", LNS_RESULT_COUNT },
  { "Migration Throughput (MB/s)", LNS_RESULT_NUMBER, 3 },
};

/* What moved most comes first, then where most was missing. */
const LnsStatsWay _lns_stats_memory = LNS_STATS_QUERY (
    columns,
    PLACES "SELECT printf('0x%X', address), down / 1e6, up / 1e6, cpu, gpu,"
           " iif(moved_ns > 0, (down + up) * 1e3 / moved_ns, NULL)"
           " FROM places ORDER BY down + up DESC, cpu + gpu DESC, address < 0, address"
           " LIMIT ifnull(:rows, 10)");

static const LnsResultColumn total_columns[] = {
  { "Total HtoD Migration Size (MB)", LNS_RESULT_MEGABYTES, 3 },
  { "Total DtoH Migration Size (MB)", LNS_RESULT_MEGABYTES, 3 },
  { "Total CPU Page Faults", LNS_RESULT_COUNT },
  { "Total GPU PageFaults", LNS_RESULT_COUNT },
  { "Minimum Virtual Address", LNS_RESULT_TEXT },
  { "Maximum Virtual Address", LNS_RESULT_TEXT },
};

const LnsStatsWay _lns_stats_memory_total = LNS_STATS_QUERY (
    total_columns,
    PLACES
    "SELECT saturated_sum(down) / 1e6, saturated_sum(up) / 1e6, saturated_sum(cpu),"
    " saturated_sum(gpu),"
    " (SELECT printf('0x%X', address) FROM places ORDER BY address < 0, address LIMIT 1),"
    " (SELECT printf('0x%X', address) FROM places ORDER BY address < 0 DESC, address DESC LIMIT 1)"
    " FROM places GROUP BY ''");

static const LnsResultColumn fault_columns[] = {
  { "CPU Page Faults", LNS_RESULT_COUNT },
  { "CPU Instruction Address", LNS_RESULT_TEXT },
};

const LnsStatsWay _lns_stats_faults = LNS_STATS_QUERY (
    fault_columns,
    "SELECT count(*), printf('0x%X', address)"
    " FROM (SELECT ifnull(originalFaultPc, 0) AS address FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS)"
    " GROUP BY address ORDER BY 1 DESC, address < 0, address");
