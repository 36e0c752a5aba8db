/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A report's tables for SQL: SQLite virtual tables in TEMP, under the names of the nsys export. */

#pragma once

#include <sqlite3.h>

#include "src/store/read/report.h"

/* Makes the tables of REPORT, which is borrowed and must outlive DB, known to DB. Row order, rowids
 * and values are those of `export --type sqlite`. False and ERROR without memory. DB's thread. */
bool lns_sql_attach (sqlite3 *db, LnsReport *report, LnsError *error);
