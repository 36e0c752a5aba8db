/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A window that says what the colours of the timeline mean. */

#pragma once

#include <gtk/gtk.h>

/* A new window, which is its own. */
GtkWidget *lns_legend_new (void);
