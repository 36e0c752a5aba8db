/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The answer as tables for SQL: LNS_LEDGERS (how long each GPU, or without one a thread, was busy and idle), LNS_FINDINGS, LNS_GAPS (the
 * parts of idle time, a cause each), LNS_COSTS (what copies, kernels and steps cost that were slow while the GPU was busy) and
 * LNS_STEPS. */

#pragma once

#include <sqlite3.h>

#include "src/analysis/why/why.h"

/* The answer behind the tables of one database. */
typedef struct LnsWhySql LnsWhySql;

/* Registers the tables with DB, in TEMP. REPORT is borrowed and must outlive DB, and so must CANCEL, which may be NULL. The
 * answer is made when one of them is first read. The result is DB's; NULL and ERROR where SQLite refuses. DB's thread. */
LnsWhySql *
lns_why_sql_attach (sqlite3 *db, LnsReport *report, const atomic_bool *cancel, LnsError *error);

/* The answer that the tables of SQL tell, with all gaps and in English, and in RET_TABLES (may be NULL) the tables whose report it
 * refers to; both are SQL's. Made if nobody asked yet. NULL and ERROR as lns_why_run (). DB's thread. */
const LnsWhy *lns_why_sql_answer (LnsWhySql *sql, LnsTables **ret_tables, LnsError *error);

/* The same with how long the run would take without the first findings, in reports of at most LNS_WHY_MOST_FORETOLD events. NULL and ERROR as lns_why_foretell (), too. DB's thread. */
const LnsWhy *lns_why_sql_foretell (LnsWhySql *sql, LnsTables **ret_tables, LnsError *error);
