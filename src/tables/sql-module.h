/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Offers a report's tables to SQL as SQLite virtual tables in TEMP, under the names of the nsys export. */

#pragma once

#include <sqlite3.h>

#include "src/store/read/report.h"

/* Registers the tables of REPORT with DB. REPORT is borrowed and must outlive DB. Row order, rowids and values are those
 * of `export --type sqlite`. False and ERROR where SQLite refuses. DB's thread. */
bool lns_sql_attach (sqlite3 *db, LnsReport *report, LnsError *error);
