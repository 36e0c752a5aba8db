/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/functions/function-rows.h"

#define LNS_TYPE_FUNCTION_TABLE (lns_function_table_get_type ())

/* A table of functions, as a tree or flat, with their shares of the samples. Its actions: functions.show-next,
 * functions.expand-heaviest and functions.copy-name, of the selected row. */
G_DECLARE_FINAL_TYPE (LnsFunctionTable, lns_function_table, LNS, FUNCTION_TABLE, AdwBin)

/* Holds references on FUNCTIONS and on MENU, which is the menu of its rows. */
GtkWidget *lns_function_table_new (LnsFunctions *functions,
                                   GMenuModel *menu) G_GNUC_WARN_UNUSED_RESULT;

/* What it shows, for settings. Owned by the table. */
LnsFunctionRows *lns_function_table_get_rows (LnsFunctionTable *self);

/* Shows other rows, from the first one on. */
void lns_function_table_set_mode (LnsFunctionTable *self, LnsFunctionRowsMode mode);
