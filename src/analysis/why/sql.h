/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The answer as tables for SQL: LNS_FINDINGS, LNS_GAPS (the parts of idle time, a cause each), LNS_COSTS (what copies, kernels and
 * steps cost that were slow while the GPU was busy) and LNS_STEPS. */

#pragma once

#include <sqlite3.h>

#include "src/store/read/report.h"

/* Registers the tables with DB, in TEMP. REPORT is borrowed and must outlive DB, and so must CANCEL, which may be NULL. The
 * answer is made when one of them is first read. False and ERROR where SQLite refuses. DB's thread. */
bool
lns_why_sql_attach (sqlite3 *db, LnsReport *report, const atomic_bool *cancel, LnsError *error);
