/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shows the critical path below the ruler, in two lanes: what it is in on GPUs, and in threads. At each pixel the longest of its links. While a time is selected, the path
 * there is that of this time, and the path of the run is faint beside it. A click goes to the event that a link is. It has no height unless it is shown, and looks for the
 * path only then. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/critical.h"
#include "ui/model/hues.h"

#define LNS_TYPE_CRITICAL_STRIP (lns_critical_strip_get_type ())
G_DECLARE_FINAL_TYPE (LnsCriticalStrip, lns_critical_strip, LNS, CRITICAL_STRIP, GtkWidget)

/* Holds references on VIEW and its path. */
void lns_critical_strip_set_view (LnsCriticalStrip *self, LnsView *view);

/* The hues of names from now on, as rows have them. Holds a reference. */
void lns_critical_strip_set_hues (LnsCriticalStrip *self, LnsHues *hues);

void lns_critical_strip_set_shown (LnsCriticalStrip *self, gboolean is_shown);

/* What stands beside it, a line for each lane: which share of the path it has. Free with g_free (). */
char *lns_critical_strip_get_text (LnsCriticalStrip *self) G_GNUC_WARN_UNUSED_RESULT;

/* The link that is drawn at X_PX, of which of the two paths RET_PATH gets; NULL: there is none. */
const LnsPathLink *
lns_critical_strip_at (LnsCriticalStrip *self, double x_px, const LnsCriticalPath **ret_path);
