/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A window that says what the colours of the timeline mean. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/palette.h"

/* A new window, which is its own, for a timeline whose events are coloured by MODE. */
GtkWidget *lns_legend_new (LnsColorMode mode);
