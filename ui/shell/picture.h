/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0 */

/* Pictures of what the window shows, for documents and messages. */

#ifndef LNS_UI_SHELL_PICTURE_H
#define LNS_UI_SHELL_PICTURE_H

#include <gtk/gtk.h>

/* Asks in a file dialog over PARENT where a picture of WIDGET is to be, NAME without its ending being
 * what it offers, and writes it there, as it looks by then: as a PNG of two pixels a point, or, where
 * the file's name ends so, as an SVG or a PDF, whose letters stay sharp (rows are images in them, as on
 * the screen). What fails is said in a dialog. Both widgets are borrowed and may go before the dialog
 * does. Main thread. */
void lns_picture_save (GtkWindow *parent, GtkWidget *widget, const char *name);

#endif
