/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/timeline/find-bar.h"
#include "ui/timeline/timeline.h"
#include "ui/model/view-store.h"
#include "ui/model/view.h"

#define LNS_TYPE_REPORT_PAGE (lns_report_page_get_type ())

/* Shows an open report: banners at the top, then the timeline, and below it the panes that the settings
 * "bottom-page" and "show-details" choose. */
G_DECLARE_FINAL_TYPE (LnsReportPage, lns_report_page, LNS, REPORT_PAGE, AdwBin)

/* Holds references on VIEW and SETTINGS. Puts VIEW, which shows all of the report, as STORED says, and takes that over; it may be empty. */
GtkWidget *lns_report_page_new (LnsView *view,
                                GSettings *settings,
                                LnsStoredView *stored) G_GNUC_WARN_UNUSED_RESULT;

typedef struct
{
  LnsView *view;
  LnsTimeline *timeline;
  GtkWidget *details; /* or, before it was drawn first, a widget in its place */
} LnsReportParts;

/* Shows the pane that is called PAGE (panes.h) or "details", and gives it the focus;
 * hides it if it has the focus, which then goes to the timeline. */
void lns_report_page_focus_pane (LnsReportPage *self, const char *page);

/* Shows the pane of SQL, with STATEMENT (UTF-8) in place of the one at hand, and runs that. */
void lns_report_page_run_sql (LnsReportPage *self, const char *statement);

/* Made when it is first asked for; it belongs to the page. */
LnsFindBar *lns_report_page_get_find_bar (LnsReportPage *self);

/* The parts belong to the page. */
const LnsReportParts *lns_report_page_get_parts (LnsReportPage *self);
