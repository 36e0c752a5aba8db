/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* State that the importers of tables share: the report that is written, and which of its objects stand for the ids of
 * the foreign file. */

#pragma once

#include "src/base/array.h"
#include "src/base/buffer.h"
#include "src/base/id-map.h"
#include "src/base/string-table.h"
#include "src/import/nsys/foreign.h"
#include "src/import/nsys/import.h"
#include "src/tables/table.h"
#include "src/store/format/kept-codec.h"
#include "src/store/write/overlap.h"
#include "src/store/write/writer.h"

/* Times beyond ±146 years are rejected, so that sums and differences of the others fit into 64 bits. */
#define LNS_IMPORT_TIME_MAX (INT64_C (1) << 62)

/* A track, and the lanes that the table being imported has given it so far. */
typedef struct
{
  LnsTrack track;
  LnsLaneKind kind;
  uint32_t id;
  uint32_t n_lanes_before; /* of tables imported before                                         */
  LNS_ARRAY (uint32_t) lanes; /* by ordinal - n_lanes_before                                    */
  bool is_held; /* LNS_LANE_SCHED: `held` waits, for `held_lane`                     */
  uint32_t held_lane;
  LnsEvent held;
  LnsOverlap overlap;
} LnsImportTrack;

/* A CPU on which threads ran. */
typedef struct
{
  uint32_t number;
  uint32_t lane;   /* LNS_ID_NONE until a thread has run on it */
  int64_t end_ns;  /* of its last event */
  int64_t last_ns; /* start of the last row of SCHED_EVENTS that names it */
} LnsImportCpu;

/* A GPU as the file describes it, before it is known which processes use it. */
typedef struct
{
  int64_t id, number; /* the file's and CUDA's                                                  */
  LnsCudaDevice device;
} LnsImportGpu;

/* Identifies a metric of GPUs. */
typedef struct
{
  int64_t type, metric;
} LnsImportMetric;

typedef struct
{
  LnsForeign *foreign;
  LnsWriter *writer;
  const LnsImportOptions *options;
  LnsError *error;
  /* Maps from keys of the foreign file to ids of the report. */
  LNS_ARRAY (uint32_t) strings; /* of StringIds by id, as far as ids are small                  */
  LnsIdMap large_strings;       /* of other ids                                                 */
  LnsStringTable *texts;        /* that came last, by their bytes                               */
  size_t text_bytes;            /* in it                                                        */
  LnsIdMap process_ids, thread_ids;
  LnsIdMap leaves;       /* call chain → string of its innermost function                       */
  LnsIdMap addresses;    /* 1 for 1 + each string that is a bare address                        */
  LnsIdMap module_names; /* by 1 + string of a path: the file's name (char *)                    */
  LnsIdMap public_calls; /* string of an entry point → string of its public name                */
  LnsStringTable *object_ids; /* of domains, devices, contexts and streams                    */
  LnsStringTable *launch_ids, *track_ids, *metrics;
  LNS_ARRAY (LnsProcess) processes; /* as they were written, by id                              */
  LNS_ARRAY (LnsThread) threads;
  LNS_ARRAY (LnsDomain) domains;
  LNS_ARRAY (LnsCudaDevice) devices;
  LNS_ARRAY (LnsCudaContext) contexts;
  LNS_ARRAY (LnsCudaStream) streams;
  LNS_ARRAY (LnsImportGpu) gpus;
  LNS_ARRAY (LnsImportTrack) tracks;
  LNS_ARRAY (LnsImportCpu) cpus; /* so far, of the table that is imported                       */
  LnsIdMap cpu_ids;              /* by number                                                   */
  int64_t last_switch_ns;        /* the latest start of a row of SCHED_EVENTS                   */
  uint32_t n_launches, n_lanes;
  int64_t last_thread_key; /* the thread asked for last                                          */
  uint32_t last_thread;
  int64_t end_ns; /* the largest time of any row                                          */
  uint64_t n_rows, n_bad, n_done, n_total;
  LnsBuffer left_out; /* LnsImportResult.left_out                                             */
} LnsImport;

/* ---- Maps of ids ----------------------------------------------------------------------------- */

/* Returns the number of KEY, or OTHERWISE if it has none. */
static inline uint32_t
_lns_import_find (const LnsIdMap *map, uint64_t key, uint32_t otherwise)
{
  const uint64_t found = lns_id_map_number (map, key);
  return found > 0 ? (uint32_t)(found - 1) : otherwise;
}

/* Returns the number of KEY. A KEY without one gets NUMBER. */
static inline uint32_t
_lns_import_intern (LnsIdMap *map, uint64_t key, size_t number)
{
  const uint64_t found = lns_id_map_number (map, key);

  if (found > 0)
    return (uint32_t)(found - 1);
  lns_id_map_set_number (map, key, number + 1);
  return (uint32_t)number;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Reads the integer in VALUE. Returns false if VALUE is something else (NULL, text, a fraction). */
bool _lns_import_integer (const LnsKeptValue *value, int64_t *ret_number);

/* Returns the integer in VALUE, or 0. */
int64_t _lns_import_number (const LnsKeptValue *value);

/* Returns the number in VALUE, or 0. */
double _lns_import_real (const LnsKeptValue *value);

/* Notes that row ID of StringIds is STRING of the report. */
void _lns_import_note_string (LnsImport *import, int64_t id, uint32_t string);

/* Reads VALUE as a time. Returns false if it is not a time of at most LNS_IMPORT_TIME_MAX. */
bool _lns_import_time (const LnsKeptValue *value, int64_t *ret_ns);

/* Returns the text in VALUE as a string of the report, 0 for NULL. */
uint32_t _lns_import_text (LnsImport *import, const LnsKeptValue *value);

/* Returns the string of the report with these bytes. Equal bytes share a string, unless tens of MB of others came
 * between them, because memory is bounded. */
uint32_t _lns_import_bytes (LnsImport *import, const void *bytes, size_t size_bytes);

/* Returns the string of row VALUE of StringIds, or 0. */
uint32_t _lns_import_string (LnsImport *import, const LnsKeptValue *value);

/* Returns whether columns called NAME hold ids of StringIds, in any table. */
bool _lns_import_is_string_id (const char *name);

/* Returns VALUE as the report keeps it. IS_STRING_ID: an integer is an id of StringIds, whose string is kept. An id that
 * the file lacks stays a number, one that no reader takes for a string of the report. */
LnsKeptValue _lns_import_keep (LnsImport *import, const LnsKeptValue *value, bool is_string_id);

/* ---- Objects, made when first asked for ------------------------------------------------------ */

/* Returns the process of a globalPid or globalTid. */
uint32_t _lns_import_process (LnsImport *import, int64_t global_id);
uint32_t _lns_import_thread (LnsImport *import, int64_t global_tid);
uint32_t _lns_import_domain (LnsImport *import, uint32_t process, int64_t number);
uint32_t _lns_import_device (LnsImport *import, uint32_t process, int64_t number);
uint32_t _lns_import_context (LnsImport *import, uint32_t process, uint32_t device, int64_t number);

/* Returns the device of the context NUMBER if it is known, otherwise OTHERWISE. nsys writes device 0 in every row of
 * synchronization. */
uint32_t _lns_import_context_device (const LnsImport *import,
                                     uint32_t process,
                                     int64_t number,
                                     uint32_t otherwise);
uint32_t _lns_import_stream (LnsImport *import, uint32_t context, int64_t number);
uint32_t _lns_import_launch (LnsImport *import, const LnsCudaLaunch *launch);

/* ---- Events ---------------------------------------------------------------------------------- */

/* The place of an event: the lane, and its number among the lanes of its track. */
typedef struct
{
  uint32_t track, lane, ordinal;
} LnsImportPlace;

/* Returns the position in `tracks` of TRACK with lanes of KIND. */
uint32_t _lns_import_track (LnsImport *import, const LnsTrack *track, LnsLaneKind kind);

/* Finds the lowest lane of TRACK that is free from START_NS on, for _lns_import_append () next. Each track's events
 * must come by start, those of equal starts the longest first. Returns false, and counts the event, if there would be
 * too many lanes. */
bool _lns_import_take_place (LnsImport *import,
                             uint32_t track,
                             int64_t start_ns,
                             LnsImportPlace *ret_place);

/* Appends EVENT at PLACE. Returns false and fills import->error if the report cannot be written. */
bool _lns_import_append (LnsImport *import, const LnsImportPlace *place, const LnsEvent *event);

/* Ends the lanes of all tracks. Events of the next table get lanes of their own. */
void _lns_import_end_table (LnsImport *import);

/* Notes that a row of SCHED_EVENTS is EVENT. */
void _lns_import_note_switch (LnsImport *import, const LnsEvent *event);

/* Until when the last row of OF has its thread on a CPU, for want of a row that says so: until that of the last row of
 * SCHED_EVENTS. Returns false, and leaves RET_UNTIL_NS alone, if another row of that CPU came later: then nobody knows. */
bool
_lns_import_last_run (const LnsImport *import, const LnsImportTrack *of, int64_t *ret_until_ns);

/* Adds the time on a CPU that OF holds, which lasted until UNTIL_NS, to the row of that CPU. */
void _lns_import_run_on_cpu (LnsImport *import, const LnsImportTrack *of, int64_t until_ns);

/* Ends the rows of CPUs. */
void _lns_import_end_cpus (LnsImport *import);

/* ---- Diagnostics of the import --------------------------------------------------------------- */

/* Writes the diagnostic "WHAT: TEXT" into the report. */
void _lns_import_tell (
    LnsImport *import, LnsSeverity severity, const char *code, const char *what, const char *text);

/* Notes a line about something that is left out, and writes it into the report as a diagnostic. */
void _lns_import_leave_out (LnsImport *import, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* ---- Tables ---------------------------------------------------------------------------------- */

/* How a table is imported: one row of the list in import.c. */
typedef struct LnsImportTable
{
  const char *name; /* in the foreign file; that of src/tables/table.h has the columns to keep   */
  LnsTrackKind track;
  /* Finishes an event: names it if no column does, and may move it to a track and lane of other kinds. May be NULL. */
  void (*finish) (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane);
  /* Imports a row with the values of `columns`. NULL: see `import`. */
  void (*row) (LnsImport *import, const LnsKeptValue *values);
  const char *columns[10]; /* up to a NULL                                                      */
  /* Imports the table in its own way. NULL: row by row, by the cells of the schema. */
  bool (*import) (LnsImport *import, LnsForeignTable *table);
} LnsImportTable;

/* Imports a table of events by the cells of its columns. */
bool _lns_import_events (LnsImport *import, LnsForeignTable *table, const LnsImportTable *how);

/* Keeps every table that does not hold events as it is. */
bool _lns_import_keep_tables (LnsImport *import);

/* Called for each row: reports progress and commits events now and then. Returns false and fills import->error if they
 * cannot be written. */
bool _lns_import_look_up (LnsImport *import);
