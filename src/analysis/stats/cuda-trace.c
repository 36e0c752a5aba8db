/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* cuda_api_trace and cuda_gpu_trace: calls of the CUDA API and what GPUs did, one by one. Rows are written as they are
 * read, whatever their number. */

#include "src/analysis/stats/maker.h"

static const LnsResultColumn columns[] = {
  { "Start", LNS_RESULT_TIME },
  { "Duration", LNS_RESULT_TIME },
  { "Name", LNS_RESULT_TEXT },
  { "Result", LNS_RESULT_ID },
  { "CorrID", LNS_RESULT_ID },
  { "Pid", LNS_RESULT_ID },
  { "Tid", LNS_RESULT_ID },
  { "T-Pri", LNS_RESULT_NUMBER },
  { N_ ("Thread Name"), LNS_RESULT_TEXT },
};

/* Imported tables may have more columns than ours, of any name: each column is asked for by its table where it could be
 * taken for one of theirs. */

const LnsStatsWay _lns_stats_cuda_calls = LNS_STATS_QUERY (
    columns,
    "SELECT start, difference(end, start), call_name(nameId), returnValue, correlationId,"
    " globalTid >> 24 & 0xFFFFFF, globalTid & 0xFFFFFF, NULL,"
    " thread_name('CUPTI_ACTIVITY_KIND_RUNTIME', rowid),"
    " 'CUPTI_ACTIVITY_KIND_RUNTIME', rowid, start, end"
    " FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start");

static const LnsResultColumn operation_columns[] = {
  { "Start", LNS_RESULT_TIME },
  { "Duration", LNS_RESULT_TIME },
  { "CorrId", LNS_RESULT_ID },
  { "GrdX", LNS_RESULT_COUNT },
  { "GrdY", LNS_RESULT_COUNT },
  { "GrdZ", LNS_RESULT_COUNT },
  { "BlkX", LNS_RESULT_COUNT },
  { "BlkY", LNS_RESULT_COUNT },
  { "BlkZ", LNS_RESULT_COUNT },
  { "Reg/Trd", LNS_RESULT_COUNT },
  { "StcSMem (MB)", LNS_RESULT_MEGABYTES, 3 },
  { "DymSMem (MB)", LNS_RESULT_MEGABYTES, 3 },
  { N_ ("Bytes (MB)"), LNS_RESULT_MEGABYTES, 3 },
  { N_ ("Throughput (MB/s)"), LNS_RESULT_NUMBER, 3 },
  { "SrcMemKd", LNS_RESULT_TEXT },
  { "DstMemKd", LNS_RESULT_TEXT },
  { "Device", LNS_RESULT_TEXT },
  { "Ctx", LNS_RESULT_ID },
  { "GreenCtx", LNS_RESULT_ID },
  { "Strm", LNS_RESULT_ID },
  { "Name", LNS_RESULT_TEXT },
};

/* What the rows of all three tables have. */
#define BEGIN "SELECT start, difference(end, start), correlationId,"
#define PLACE " contextId, nullif(greenContextId, 0), streamId,"

/* What rows of copies and sets have in place of a launch, and their sizes. */
#define MEMORY                                                                                     \
 " NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, bytes / 1e6,"                             \
 " iif(end > start, bytes * 1e3 / difference(end, start), NULL),"

const LnsStatsWay _lns_stats_cuda_operations = LNS_STATS_QUERY (
    operation_columns,
    BEGIN
    " gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread,"
    " staticSharedMemory / 1e6, dynamicSharedMemory / 1e6, NULL, NULL, NULL, NULL,"
    " device_name('CUPTI_ACTIVITY_KIND_KERNEL', work.rowid)," PLACE
    " kernel_name('CUPTI_ACTIVITY_KIND_KERNEL', work.rowid, correlationId, ifnull(nullif("
    "  CASE :naming WHEN 1 THEN shortName WHEN 2 THEN mangledName END, 0), demangledName)),"
    " 'CUPTI_ACTIVITY_KIND_KERNEL', work.rowid, start, end"
    " FROM CUPTI_ACTIVITY_KIND_KERNEL AS work UNION ALL " BEGIN MEMORY
    " source.label, target.label, device_name('CUPTI_ACTIVITY_KIND_MEMCPY', work.rowid)," PLACE
    " '[CUDA memcpy ' || ifnull(kind.label, '') || ']',"
    " 'CUPTI_ACTIVITY_KIND_MEMCPY', work.rowid, start, end"
    " FROM CUPTI_ACTIVITY_KIND_MEMCPY AS work"
    " LEFT JOIN ENUM_CUDA_MEM_KIND AS source ON source.id = srcKind"
    " LEFT JOIN ENUM_CUDA_MEM_KIND AS target ON target.id = dstKind"
    " LEFT JOIN ENUM_CUDA_MEMCPY_OPER AS kind ON kind.id = copyKind UNION ALL " BEGIN MEMORY
    " source.label, NULL, device_name('CUPTI_ACTIVITY_KIND_MEMSET', work.rowid)," PLACE
    " '[CUDA memset]', 'CUPTI_ACTIVITY_KIND_MEMSET', work.rowid, start, end"
    " FROM CUPTI_ACTIVITY_KIND_MEMSET AS work"
    " LEFT JOIN ENUM_CUDA_MEM_KIND AS source ON source.id = memKind ORDER BY 1");
