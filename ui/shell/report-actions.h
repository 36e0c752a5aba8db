/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The actions of a window that act on the report of one of its tabs, or choose what is shown beside the timeline. Each is enabled exactly
 * while it can do something. */

#pragma once

#include <adwaita.h>

#include "ui/shell/report-tab.h"

typedef struct LnsReportActions LnsReportActions;

/* Adds the actions to WINDOW, which must keep them until its own actions have gone. None is enabled until there is a tab. Keeps a reference
 * on SETTINGS. */
LnsReportActions *lns_report_actions_new (AdwApplicationWindow *window,
                                          GSettings *settings) G_GNUC_WARN_UNUSED_RESULT;
void lns_report_actions_free (LnsReportActions *self); /* NULL is fine */

/* Has them act on TAB, which may be NULL and must be given back before it goes. */
void lns_report_actions_set_tab (LnsReportActions *self, LnsReportTab *tab);
