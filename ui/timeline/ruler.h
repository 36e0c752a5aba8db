/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shows the times above the rows: ticks at round times, and the time under the pointer. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/view.h"

#define LNS_TYPE_RULER (lns_ruler_get_type ())
G_DECLARE_FINAL_TYPE (LnsRuler, lns_ruler, LNS, RULER, GtkWidget)

void lns_ruler_set_view (LnsRuler *self, LnsView *view);

/* Shows the time at X_PX, where the pointer is; < 0 hides it. */
void lns_ruler_set_pointer (LnsRuler *self, double x_px);
