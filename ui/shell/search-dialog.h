/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/shell/report-page.h"

#define LNS_TYPE_SEARCH_DIALOG (lns_search_dialog_get_type ())

/* Finds commands, rows of the timeline and events by what the user types, and goes there: one entry, and what it finds below it. */
G_DECLARE_FINAL_TYPE (LnsSearchDialog, lns_search_dialog, LNS, SEARCH_DIALOG, AdwWindow)

/* Over PARENT, whose page is PAGE, or NULL: then there are commands alone. PAGE is borrowed: PARENT closes the dialog before it goes. */
GtkWidget *lns_search_dialog_new (GtkWindow *parent, LnsReportPage *page) G_GNUC_WARN_UNUSED_RESULT;
