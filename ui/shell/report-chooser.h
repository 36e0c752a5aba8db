/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gtk/gtk.h>

/* Asks over WINDOW, in a dialog called TITLE, for a file that the viewer opens, or for several if IS_MULTIPLE. Calls CHOSEN with the
 * window and the files, of GFile, of which there is one at least; never if the person cancels or the window goes. */
void lns_report_chooser_show (GtkWindow *window,
                              const char *title,
                              gboolean is_multiple,
                              void (*chosen) (GPtrArray *files, gpointer window));
