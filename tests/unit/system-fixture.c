/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/system-fixture.h"

#include <sqlite3.h>
#include <stdio.h>

#include "src/import/nsys/import.h"
#include "tests/unit/report-fixture.h"

#define THREAD "281474993487873" /* machine 1, process 1, thread 1                                */

static const char *const statements =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (3, 'leaf'), (4, 'caller'), (5, 'libx.so'), (6, 'write'), (7, "
    "'MPI_Send'), (0, '');"
    "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER);"
    "INSERT INTO SCHED_EVENTS VALUES (100, 3, 1, " THREAD "), (250, 3, 0, " THREAD
    "), (400, 5, 1, " THREAD "), (120, 4, 1, 281474993487874);"
    "CREATE TABLE COMPOSITE_EVENTS (id INTEGER PRIMARY KEY, start INTEGER, cpu INTEGER, "
    "threadState "
    "INTEGER, globalTid INTEGER, cpuCycles INTEGER);"
    "INSERT INTO COMPOSITE_EVENTS VALUES (1, 150, 3, 1, " THREAD ", 9), (2, 160, 3, 1, " THREAD
    ", 9);"
    "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, stackDepth "
    "INTEGER);"
    "INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 4, 5, 1), (1, 3, 5, 0), (2, 4, 5, 0);"
    "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
    "nameId "
    "INTEGER, returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER);"
    "INSERT INTO OSRT_API VALUES (110, 130, 27, " THREAD ", 6, -1, 0, 2);"
    "CREATE TABLE SYSCALL (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
    "nameId INTEGER, callchainId INTEGER);"
    "INSERT INTO SYSCALL VALUES (112, 128, 107, " THREAD ", 6, 2);"
    "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT);"
    "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 1, 'SMs Active');"
    "CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId "
    "INTEGER, value INTEGER);"
    "INSERT INTO GPU_METRICS VALUES (7, 100, 256, 1, 50), (8, 200, 256, 1, 70), (8, 200, 256, 2, "
    "1);"
    "CREATE TABLE MPI_P2P_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, "
    "commHandle "
    "INTEGER, tag INTEGER, remoteRank INTEGER, size INTEGER, requestHandle INTEGER);"
    "INSERT INTO MPI_P2P_EVENTS VALUES (300, 350, " THREAD ", 7, 5, 9, 1, 8, NULL);"
    "CREATE TABLE OSRT_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, stackDepth INTEGER);"
    "INSERT INTO OSRT_CALLCHAINS VALUES (2, 3, 5, 0), (2, 4, 0, 1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, "
    "globalTid "
    "INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500, 590, 67, " THREAD
    ", 5, 6, 0, 0), (510, 580, 0, " THREAD ", 5, 6, 0, NULL), (600, 610, 0, " THREAD
    ", 6, 6, 0, NULL);"
    "CREATE TABLE CUDA_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, stackDepth INTEGER);"
    "INSERT INTO CUDA_CALLCHAINS VALUES (0, 4, 5, 0);"
    "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, "
    "severity "
    "INTEGER, text TEXT, globalPid INTEGER);"
    "INSERT INTO DIAGNOSTIC_EVENT VALUES (5, 1, 2, 2, 'no counters', -144115188075855872);";

LnsReport *
system_fixture_open (void)
{
  static char out[256];
  char source[256];
  sqlite3 *db;

  if (out[0] != '\0')
    return fixture_open (out, NULL);
  snprintf (source, sizeof source, "%s", fixture_path ("made.sqlite"));
  snprintf (out, sizeof out, "%s", fixture_path ("made.rep"));
  if (sqlite3_open (source, &db) != SQLITE_OK ||
      sqlite3_exec (db, statements, NULL, NULL, NULL) != SQLITE_OK)
    fprintf (stderr, "%s\n", sqlite3_errmsg (db));
  sqlite3_close (db);
  lns_import_sqlite (source, out, NULL, NULL, NULL);
  return fixture_open (out, NULL);
}
