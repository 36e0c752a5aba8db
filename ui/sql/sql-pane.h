/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_SQL_PANE (lns_sql_pane_get_type ())

/* Runs SQL over the tables of the report, on a worker, and shows what it gives. A row with a `start` leads there. */
G_DECLARE_FINAL_TYPE (LnsSqlPane, lns_sql_pane, LNS, SQL_PANE, AdwBin)

/* Holds references on VIEW and on SETTINGS, which keep the statements that were run last. */
GtkWidget *lns_sql_pane_new (LnsView *view, GSettings *settings) G_GNUC_WARN_UNUSED_RESULT;

/* Writes STATEMENT (UTF-8) in place of the one at hand, and runs it. */
void lns_sql_pane_run (LnsSqlPane *self, const char *statement);
