/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The menus of a right click, and of buttons. Main thread only. */

#pragma once

#include <gtk/gtk.h>

/* Opens MENU at (X, Y) of PARENT, whose last child it is until some time after it has closed. Its actions are those of PARENT
 * and what that is in. While it is open, nothing else in the window has tooltips. FOCUS, which has the focus afterwards, is PARENT or inside it. Who draws PARENT calls
 * lns_context_menu_present () when it is allocated, and lns_context_menu_close () when it is unmapped. */
void lns_context_menu_open (GtkWidget *parent, GtkWidget *focus, GMenuModel *menu, int x, int y);

/* Moves the menu of PARENT with it, if it has one. */
void lns_context_menu_present (GtkWidget *parent);

/* Closes the menu of PARENT at once, if it has one, while the window still has a surface: GTK asks the surface for the
 * pointer when a popover goes. */
void lns_context_menu_close (GtkWidget *parent);

/* Calls BUTTON by NAME: the button inside, which has the focus, does not take the name of the one around it (GTK 4.8). */
void lns_menu_button_set_name (GtkMenuButton *button, const char *name);
