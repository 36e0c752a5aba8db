/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sizes that follow the size of text, which people set for all programs. */

#pragma once

#include <gtk/gtk.h>

/* What PX pixels, which suit text of the usual size, are for the size of text in WIDGET, if that is larger. */
int lns_text_scaled_px (GtkWidget *widget, int px);
