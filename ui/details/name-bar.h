/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A name upon a bar that is as long as its share, its time, and a line about it. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/hues.h"

#define LNS_TYPE_NAME_BAR (lns_name_bar_get_type ())
G_DECLARE_FINAL_TYPE (LnsNameBar, lns_name_bar, LNS, NAME_BAR, GtkBox)

/* A bar of HUE (palette.h) that takes SHARE (0 – 1) of the room for NAME. TIME is how long that is, as it can be shown. */
GtkWidget *lns_name_bar_new (const char *name, double share, const char *time, unsigned hue)
    G_GNUC_WARN_UNUSED_RESULT;

/* Writes WORDS below the bar, with HELP about them at the pointer. */
void lns_name_bar_set_words (LnsNameBar *self, const char *words, const char *help);
