/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes hostile files of other programs: SQLite exports as nsys writes them, and traces as
 * PyTorch and Chrome write them. */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/hostile.h"

/* Tables and columns as exports have them. A column's letter says what mostly is in it: t a time, e one behind
 * it, i a small number, s a string's id, g a thread, p a process, x a text, b a blob, k an ascending id. */
static const char *const tables[] = {
  "StringIds k:id x:value",
  "PROCESSES p:globalPid i:pid x:name",
  "ThreadNames s:nameId i:priority g:globalTid",
  "NVTX_EVENTS t:start e:end n:eventType i:rangeId i:category i:color x:text g:globalTid "
  "g:endGlobalTid "
  "s:textId i:domainId i:uint64Value i:int64Value i:doubleValue i:uint32Value i:int32Value "
  "i:floatValue "
  "s:jsonTextId x:jsonText b:binaryData",
  "CUPTI_ACTIVITY_KIND_RUNTIME t:start e:end i:eventClass g:globalTid i:correlationId s:nameId "
  "i:returnValue "
  "i:callchainId",
  "CUPTI_ACTIVITY_KIND_KERNEL t:start e:end i:deviceId i:contextId i:streamId i:correlationId "
  "p:globalPid "
  "s:demangledName s:shortName s:mangledName i:gridX i:gridY i:gridZ i:blockX i:blockY i:blockZ "
  "i:registersPerThread i:graphNodeId i:gridId",
  "CUPTI_ACTIVITY_KIND_MEMCPY t:start e:end i:deviceId i:contextId i:streamId i:correlationId "
  "p:globalPid "
  "i:bytes i:copyKind i:srcKind i:dstKind i:srcDeviceId i:dstDeviceId",
  "CUPTI_ACTIVITY_KIND_MEMSET t:start e:end i:deviceId i:contextId i:streamId i:correlationId "
  "p:globalPid "
  "i:value i:bytes i:memKind",
  "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION t:start e:end i:deviceId i:contextId i:streamId "
  "i:correlationId "
  "p:globalPid i:syncType i:eventId",
  "CUDA_GPU_MEMORY_USAGE_EVENTS t:start p:globalPid i:deviceId i:contextId i:address i:pc i:bytes "
  "i:memKind "
  "i:memoryOperationType x:name i:correlationId i:streamId",
  "CUDA_UM_CPU_PAGE_FAULT_EVENTS t:start p:globalPid i:address i:pc",
  "CUDA_UM_GPU_PAGE_FAULT_EVENTS t:start e:end p:globalPid i:deviceId i:address "
  "i:numberOfPageFaults "
  "i:faultAccessType",
  "PROFILER_OVERHEAD t:start e:end g:globalTid i:correlationId s:nameId i:returnValue "
  "i:overheadType",
  "OSRT_API t:start e:end i:eventClass g:globalTid s:nameId i:returnValue i:nestingLevel "
  "i:callchainId",
  "OSRT_CALLCHAINS i:id s:symbol s:module i:stackDepth",
  "SCHED_EVENTS t:start i:cpu i:isSchedIn g:globalTid i:threadState i:threadBlock",
  "COMPOSITE_EVENTS k:id t:start i:cpu i:threadState g:globalTid i:cpuCycles",
  "SAMPLING_CALLCHAINS i:id s:symbol s:module i:unresolved i:originalIP i:stackDepth",
  "GPU_METRICS i:rawTimestamp t:timestamp i:typeId i:metricId i:value",
  "TARGET_INFO_GPU_METRICS i:typeId i:sourceId x:typeName i:metricId x:metricName",
  "MPI_P2P_EVENTS t:start e:end g:globalTid s:textId i:commHandle i:tag i:remoteRank i:size "
  "i:requestHandle",
  "MPI_COLLECTIVES_EVENTS t:start e:end g:globalTid s:textId i:commHandle i:rootRank i:size "
  "i:recvSize",
  "TARGET_INFO_GPU i:id x:name x:busLocation i:isDiscrete i:l2CacheSize i:totalMemory "
  "i:memoryBandwidth "
  "i:clockRate i:smCount i:uuid i:computeMajor i:computeMinor",
  "TARGET_INFO_CUDA_DEVICE i:gpuId i:cudaId i:pid x:uuid i:numMultiprocessors",
  "TARGET_INFO_CUDA_STREAM i:streamId i:hwId i:vmId i:processId i:contextId i:priority i:flag",
  "NVTX_PAYLOAD_SCHEMAS i:domainId p:globalPid i:schemaId x:name i:type i:flags i:numEntries "
  "i:payloadSize "
  "i:alignTo",
  "NVTX_PAYLOAD_SCHEMA_ENTRIES i:domainId p:globalPid i:schemaId i:idx i:flags i:type x:name "
  "x:description "
  "i:arrayOrUnionDetail i:offset",
  "ANALYSIS_DETAILS i:globalVid i:duration t:startTime e:stopTime",
  "TARGET_INFO_SESSION_START_TIME t:utcEpochNs x:utcTime x:localTime",
  "META_DATA_EXPORT x:name x:value",
  "ENUM_NSYS_EVENT_TYPE k:id x:name x:label",
  "NOBODY_KNOWS_IT i:a t:b x:c b:d",
};

/* ---- SQLite ---------------------------------------------------------------------------------- */

static void
bind_hostile (sqlite3_stmt *insert, int at)
{
  const char *text;

  switch (hostile_draw (6))
    {
    case 0:
      sqlite3_bind_null (insert, at);
      return;
    case 1:
      sqlite3_bind_double (insert, at, (double)(int64_t)hostile_number () * 1e290);
      return;
    case 2:
      {
        const size_t n = hostile_text (&text);
        sqlite3_bind_text (insert, at, text, (int)n, SQLITE_TRANSIENT);
        return;
      }
    default:
      sqlite3_bind_int64 (insert, at, (int64_t)hostile_number ());
    }
}

static void
bind_value (sqlite3_stmt *insert, int at, char kind, int64_t row, int64_t start_ns)
{
  static const int event_types[] = { 33, 34, 39, 59, 60, 75, 76, 70, 71 };
  const char *text;

  if (hostile_one_in (40))
    bind_hostile (insert, at);
  else if (kind == 't')
    sqlite3_bind_int64 (insert, at, start_ns);
  else if (kind == 'e')
    sqlite3_bind_int64 (insert, at, (int64_t)((uint64_t)start_ns + hostile_draw (900)));
  else if (kind == 'n')
    sqlite3_bind_int (insert, at, event_types[hostile_draw (9)]);
  else if (kind == 'k')
    sqlite3_bind_int64 (insert, at, row);
  else if (kind == 'g' || kind == 'p')
    sqlite3_bind_int64 (insert, at,
                        INT64_C (1) << 48 | (int64_t)(1 + hostile_draw (3)) << 24 |
                            (kind == 'g' ? (int64_t)hostile_draw (4) : 0));
  else if (kind == 'x' || kind == 'b')
    {
      const size_t n = hostile_one_in (2) ? hostile_text (&text) : 0;
      if (n == 0)
        sqlite3_bind_null (insert, at);
      else if (kind == 'x')
        sqlite3_bind_text (insert, at, text, (int)(n % 5000), SQLITE_TRANSIENT);
      else
        sqlite3_bind_blob (insert, at, text, (int)(n % 5000), SQLITE_TRANSIENT);
    }
  else
    sqlite3_bind_int64 (insert, at, (int64_t)hostile_draw (kind == 's' ? 40 : 12));
}

/* Fills TABLE, whose columns are of KINDS. */
static void
fill_table (sqlite3 *db, const char *table, const char *kinds)
{
  char sql[512] = "", *at = sql + sprintf (sql, "INSERT OR IGNORE INTO \"%s\" VALUES (", table);
  sqlite3_stmt *insert = NULL;
  const int n_columns = (int)strlen (kinds);
  int64_t start_ns = (int64_t)(hostile_one_in (12) ? hostile_number () : hostile_draw (1000));

  for (int i = 0; i < n_columns; i++)
    at += sprintf (at, i > 0 ? ",?" : "?");
  sprintf (at, ")");
  sqlite3_prepare_v2 (db, sql, -1, &insert, NULL);
  const int64_t n_rows = (int64_t)hostile_draw (hostile_one_in (6) ? 600 : 60);
  for (int64_t row = 0; insert != NULL && row < n_rows; row++)
    {
      for (int i = 0; i < n_columns; i++)
        bind_value (insert, i + 1, kinds[i], row, start_ns);
      sqlite3_step (insert);
      sqlite3_reset (insert);
      start_ns = (int64_t)((uint64_t)start_ns +
                           (hostile_one_in (150) ? hostile_number () : hostile_draw (300)));
    }
  sqlite3_finalize (insert);
}

static void
make_table (sqlite3 *db, const char *described)
{
  char name[64], kinds[32] = "", *at = NULL, *sql = NULL;
  char *text = strdup (described);
  int n = 0;

  snprintf (name, sizeof name, "%s", strtok_r (text, " ", &at));
  for (char *column; (column = strtok_r (NULL, " ", &at)) != NULL;)
    {
      if (hostile_one_in (40))
        continue; /* an older export */
      char *longer = sqlite3_mprintf ("%z%s\"%w\" %s%s", sql, n > 0 ? "," : "", column + 2,
                                      column[0] == 'x' || column[0] == 'b' ? "TEXT" : "INTEGER",
                                      column[0] == 'k' ? " PRIMARY KEY" : "");
      sql = longer;
      kinds[n++] = column[0];
    }
  free (text);
  char *create = n > 0 ? sqlite3_mprintf ("CREATE TABLE \"%w\" (%s)", name, sql) : NULL;
  if (create != NULL && sqlite3_exec (db, create, NULL, NULL, NULL) == SQLITE_OK)
    fill_table (db, name, kinds);
  sqlite3_free (create);
  sqlite3_free (sql);
}

void
hostile_export (const char *path)
{
  sqlite3 *db = NULL;

  unlink (path);
  if (sqlite3_open (path, &db) != SQLITE_OK)
    abort ();
  sqlite3_exec (db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (i < 4 || hostile_one_in (2))
      make_table (db, tables[i]);
  sqlite3_exec (db, "COMMIT", NULL, NULL, NULL);
  sqlite3_close (db);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Any number as JSON may write it. */
static void
put_number (FILE *stream, uint64_t below)
{
  static const char *const odd[] = { "1e308",
                                     "-1e308",
                                     "1e999",
                                     "-0",
                                     "0.1e-400",
                                     "1E+18",
                                     "\"0x7\"",
                                     "null",
                                     "true",
                                     "\"abc\"",
                                     "[]",
                                     "{}",
                                     "18446744073709551616",
                                     "-9223372036854775809",
                                     "9223372036854775.807" };

  if (hostile_one_in (25))
    fputs (odd[hostile_draw (sizeof odd / sizeof *odd)], stream);
  else if (hostile_one_in (25))
    fprintf (stream, "%lld", (long long)hostile_number ());
  else if (hostile_one_in (4))
    fprintf (stream, "%llu.%03u", (unsigned long long)hostile_draw (below),
             (unsigned)hostile_draw (1000));
  else
    fprintf (stream, "%llu", (unsigned long long)hostile_draw (below));
}

static void
put_text (FILE *stream)
{
  const char *text;
  size_t n = hostile_text (&text) % 3000;

  fputc ('"', stream);
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)text[i] < 0x20 || text[i] == '"' || text[i] == '\\')
      fprintf (stream, "\\u%04x", (unsigned char)text[i]);
    else
      fputc (text[i], stream);
  fputc ('"', stream);
}

static void
put_arguments (FILE *stream)
{
  static const char *const keys[] = { "correlation",
                                      "device",
                                      "stream",
                                      "bytes",
                                      "External id",
                                      "grid",
                                      "block",
                                      "context",
                                      "name",
                                      "value",
                                      "Addr",
                                      "Total Allocated",
                                      "Device Id",
                                      "sort_index",
                                      "cbid",
                                      "labels",
                                      "registers per thread" };
  fputs (",\"args\":{", stream);
  for (uint64_t n = hostile_draw (7), i = 0; i < n; i++)
    {
      fprintf (stream, "%s\"%s\":", i > 0 ? "," : "",
               keys[hostile_draw (sizeof keys / sizeof *keys)]);
      if (hostile_one_in (6))
        put_text (stream);
      else if (hostile_one_in (6))
        {
          fputc ('[', stream);
          for (unsigned k = 0; k < 3; k++)
            {
              fputs (k > 0 ? "," : "", stream);
              put_number (stream, 64);
            }
          fputc (']', stream);
        }
      else if (hostile_one_in (30))
        for (unsigned depth = 0, all = (unsigned)hostile_draw (300), k = 0; k <= 2 * all; k++)
          {
            if (k < all)
              fputs (depth++ % 2 == 0 ? "[" : "{\"d\":", stream);
            else if (k == all)
              fputc ('0', stream);
            else
              fputs (--depth % 2 == 0 ? "]" : "}", stream);
          }
      else
        put_number (stream, 90);
    }
  fputc ('}', stream);
}

static void
put_event (FILE *stream, uint64_t *ts)
{
  static const char phases[] = "XXXXXXBEBEbenCsftiMIRSTFpPONDcvV(";
  static const char *const categories[] = { "cpu_op",
                                            "kernel",
                                            "gpu_memcpy",
                                            "gpu_memset",
                                            "cuda_runtime",
                                            "cuda_driver",
                                            "user_annotation",
                                            "ac2g",
                                            "gpu_user_annotation",
                                            "python_function",
                                            "fwdbwd",
                                            "overhead",
                                            "cpu_instant_event",
                                            "Trace",
                                            "" };
  static const char *const names[] = { "process_name",     "thread_name",
                                       "process_labels",   "process_sort_index",
                                       "cudaLaunchKernel", "Memcpy HtoD (Pinned -> Device)",
                                       "[memory]" };
  const char phase = phases[hostile_draw (sizeof phases - 1)];

  fprintf (stream, "{\"ph\":\"%c\",\"cat\":\"%s\",\"name\":", phase,
           categories[hostile_draw (sizeof categories / sizeof *categories)]);
  if (hostile_one_in (2))
    fprintf (stream, "\"%s\"", names[hostile_draw (sizeof names / sizeof *names)]);
  else
    put_text (stream);
  fputs (",\"pid\":", stream);
  put_number (stream, 3);
  fputs (",\"tid\":", stream);
  put_number (stream, 4);
  *ts += hostile_draw (20);
  fputs (",\"ts\":", stream);
  if (hostile_one_in (60))
    put_number (stream, 100);
  else
    fprintf (stream, "%llu", (unsigned long long)*ts);
  if (phase == 'X' || hostile_one_in (20))
    {
      fputs (",\"dur\":", stream);
      put_number (stream, 40);
    }
  if (strchr ("bensftNODSTFpP", phase) != NULL)
    {
      fputs (hostile_one_in (6) ? ",\"id2\":{\"local\":\"0x1\"},\"id\":" : ",\"id\":", stream);
      put_number (stream, 9);
    }
  if (!hostile_one_in (4))
    put_arguments (stream);
  fputc ('}', stream);
}

void
hostile_trace (const char *path)
{
  FILE *stream = fopen (path, "w");
  const int is_list = hostile_one_in (2);
  uint64_t ts = hostile_one_in (8) ? hostile_number () >> 4 : hostile_draw (1000);

  if (stream == NULL)
    abort ();
  fputs (is_list ? "["
                 : "{\"deviceProperties\":[{\"id\":0,\"name\":\"G\"}],\"displayTimeUnit\":\"ms\","
                   "\"baseTimeNanoseconds\":",
         stream);
  if (!is_list)
    {
      put_number (stream, 1000);
      fputs (",\"traceEvents\":[", stream);
    }
  for (uint64_t n = 1 + hostile_draw (hostile_one_in (6) ? 2000 : 200), i = 0; i < n; i++)
    {
      fputs (i > 0 ? ",\n" : "\n", stream);
      put_event (stream, &ts);
    }
  fputs (is_list ? "]" : "]}", stream);
  fclose (stream);
}
