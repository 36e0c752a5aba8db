/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/shell/report-page.h"

#define LNS_TYPE_REPORT_TAB (lns_report_tab_get_type ())

/* One report of a window: it is being opened, could not be opened, or is shown. It knows no window, and goes on when it is moved to
 * another one.
 *
 * Properties, all read-only: "title" (string): the name of the file; "path" (string): its path, for tooltips; "is-opening" (boolean);
 * "page" (LnsReportPage): NULL unless the report is shown.
 *
 * Signal: "changed" (): other things can be done with it. */
G_DECLARE_FINAL_TYPE (LnsReportTab, lns_report_tab, LNS, REPORT_TAB, AdwBin)

/* A tab in which nothing was opened yet. Keeps a reference on SETTINGS. */
GtkWidget *lns_report_tab_new (GSettings *settings) G_GNUC_WARN_UNUSED_RESULT;

/* Opens FILE in place of what the tab holds. Once it is open, shows OTHER, which may be NULL, on the same axis, and compares both if
 * COMPARES. Failures are shown on the tab. */
void lns_report_tab_open (LnsReportTab *self, GFile *file, GFile *other, gboolean compares);

/* Opens the file again, and beside it what it was shown with. There must be one, and no opening under way. */
void lns_report_tab_reload (LnsReportTab *self);

/* Sees to it that the tab shows what the file holds now: opens it again if it could not be opened, or if a worker finds that it was
 * replaced, removed or written to since. */
void lns_report_tab_renew (LnsReportTab *self);

/* Copies what can be read of a damaged report into a new one, and opens that (lns_report_tab_can_recover ()). */
void lns_report_tab_recover (LnsReportTab *self);

/* The rest is for tabs that show a report. */

/* Compares it with the report of FILE, and shows the pane that tells of it. */
void lns_report_tab_compare_with (LnsReportTab *self, GFile *file);

/* Compares the two times of it that are selected, and shows the pane that tells of it. */
void lns_report_tab_compare_spans (LnsReportTab *self);

/* Has the report that is B be A, and the other way round; nothing without B. */
void lns_report_tab_swap (LnsReportTab *self);

/* What is shown, being opened, or could not be opened; NULL before the first opening. Owned by SELF. */
GFile *lns_report_tab_get_file (LnsReportTab *self);

/* NULL unless the report is shown. Owned by SELF, until "page" changes. */
LnsReportPage *lns_report_tab_get_page (LnsReportTab *self);

/* Read-only properties, see above. The strings are owned by SELF, until they change. */
const char *lns_report_tab_get_title (LnsReportTab *self);
const char *lns_report_tab_get_path (LnsReportTab *self);

gboolean lns_report_tab_is_opening (LnsReportTab *self);

/* Whether the file could not be opened. */
gboolean lns_report_tab_has_failed (LnsReportTab *self);

/* Whether the file could not be opened, and recovery has a chance. */
gboolean lns_report_tab_can_recover (LnsReportTab *self);

/* Whether the report is being recorded, as far as the tab knows: it may be while it is not open. */
gboolean lns_report_tab_may_grow (LnsReportTab *self);

/* Gives the focus to what matters most on the tab, if it is seen and that is new to the person: the report was opened, or could not be. */
void lns_report_tab_focus (LnsReportTab *self);
