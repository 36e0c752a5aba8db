/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tables of table.h over one report. No row is stored: an event's row is computed from its
 * lane when asked for.
 *
 * Order: rows of lanes by (lane id, ordinal), then those of definitions (by time); a table's rowid
 * is its row's position + 1, or its KEY column where it has one.
 *
 * globalTid packs pid << 24 | tid, globalPid pid << 24, both with 24 bits each; above them, of imported
 * reports, the machine. */

#pragma once

#include "src/tables/table.h"
#include "src/tables/value.h"
#include "src/store/read/report.h"

typedef struct LnsTables LnsTables;

/* The tables of REPORT, which is borrowed and must outlive the result. The caller frees that. NULL and ERROR where
 * the report keeps rows that Lanescope does not write. O(lanes). Any thread may call all functions but free. */
LnsTables *lns_tables_new (LnsReport *report, LnsError *error);
void lns_tables_free (LnsTables *tables); /* NULL is fine                                       */

LnsReport *lns_tables_report (const LnsTables *tables);

/* The tables of this report: those of lns_table_all () with the rows and columns that the report keeps from
 * elsewhere, then tables that only this report has. TABLES owns them. These functions and cursors also take a table
 * of lns_table_all () and use the report's table of that name. O(1). */
const LnsTable *lns_tables_all (const LnsTables *tables, unsigned *ret_n);

/* The one called NAME (as SQL compares), or NULL. O(tables). */
const LnsTable *lns_tables_find (const LnsTables *tables, const char *name);

/* How many rows TABLE has. For StringIds this is an upper bound: payloads are counted and are not rows. */
uint64_t lns_tables_n_rows (LnsTables *tables, const LnsTable *table);

/* The rowid of event ORDINAL of LANE in TABLE; 0 where the lane has no rows there. O(log lanes). */
int64_t
lns_tables_rowid (const LnsTables *tables, const LnsTable *table, uint32_t lane, uint64_t ordinal);

/* The lane of the event with ROWID in TABLE; LNS_ID_NONE where there is none. O(log lanes). */
uint32_t lns_tables_lane (const LnsTables *tables, const LnsTable *table, int64_t rowid);

/* The packed ids of a thread or process instance; 0 for LNS_ID_NONE and unknown ids. O(1). */
int64_t lns_tables_global_tid (const LnsTables *tables, uint32_t thread);
int64_t lns_tables_global_pid (const LnsTables *tables, uint32_t process);

/* The name of THREAD, or of its process where it has none (a string id); LNS_ID_NONE for LNS_ID_NONE, and where
 * ThreadNames has no row for it. O(1). */
uint32_t lns_tables_thread_name (const LnsTables *tables, uint32_t thread);

/* The id of the string of these bytes: RET_ID gets LNS_ID_NONE where the report has none. The first call reads all
 * strings, and which of them are payloads; others are O(size). False and ERROR where a chunk is damaged. */
bool lns_tables_find_string (
    LnsTables *tables, const void *bytes, size_t size_bytes, uint32_t *ret_id, LnsError *error);
