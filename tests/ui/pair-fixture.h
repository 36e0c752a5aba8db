/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports of a few processes, for the tests of two reports beside each other. */

#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "src/import/nsys/import.h"

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

/* A process with a kernel, unless it has none, and a thread with a range. */
typedef struct
{
  int pid;
  const char *name;
  int gpu;           /* -1: none */
  int64_t kernel_ns; /* how long its kernel takes; 0: 400 ms */
} Made;

/* The path of a report of N processes, whose events lie within a second from BASE_NS on, and in which time 0 is UTC_NS (0: that is not
 * known). To be freed. */
static inline char *
make_at (const char *name, const Made *made, size_t n, int64_t base_ns, int64_t utc_ns)
{
  g_autofree char *source = g_strconcat (fixture_path (name), ".sqlite", NULL);
  char *out = g_strdup (fixture_path (name));
  const LnsImportOptions options = { .overwrite = true };
  LnsError error = { 0 };
  sqlite3 *db;
  g_autoptr (GString) sql = g_string_new (
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'k');"
      "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
      "globalTid INTEGER, domainId INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
      "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "
      "demangledName INTEGER, shortName INTEGER);"
      "CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, "
      "stopTime INTEGER);");

  g_string_append_printf (
      sql, "INSERT INTO ANALYSIS_DETAILS VALUES (0, 1000000000, %" PRId64 ", %" PRId64 ");",
      base_ns, base_ns + 1000000000);
  for (size_t i = 0; i < n; i++)
    {
      const int64_t pid = (int64_t)made[i].pid << 24;
      g_string_append_printf (sql, "INSERT INTO PROCESSES VALUES (%" PRId64 ", %d, '%s');", pid,
                              made[i].pid, made[i].name);
      g_string_append_printf (sql,
                              "INSERT INTO NVTX_EVENTS VALUES (%" PRId64 ", %" PRId64
                              ", 59, 'step', %" PRId64 ", 0);",
                              base_ns, base_ns + 1000000000, pid | made[i].pid);
      if (made[i].gpu >= 0)
        g_string_append_printf (
            sql,
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%" PRId64 ", %" PRId64
            ", %d, 1, 7, 1, %" PRId64 ", 1, 1);",
            base_ns + 100, base_ns + 100 + (made[i].kernel_ns != 0 ? made[i].kernel_ns : 400000000),
            made[i].gpu, pid);
    }
  if (utc_ns != 0)
    g_string_append_printf (sql,
                            "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
                            "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (%" PRId64 ");",
                            utc_ns);
  remove (source);
  LNS_CHECK (sqlite3_open (source, &db) == SQLITE_OK);
  LNS_CHECK (sqlite3_exec (db, sql->str, NULL, NULL, NULL) == SQLITE_OK);
  sqlite3_close (db);
  LNS_CHECK (lns_import_sqlite (source, out, &options, NULL, &error));
  return out;
}

/* The same, where the time of day is not known. */
static inline char *
make (const char *name, const Made *made, size_t n, int64_t base_ns)
{
  return make_at (name, made, n, base_ns, 0);
}
