/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What of a report is given to others, from the File menu. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/view.h"

/* Asks over PARENT which time of VIEW's report is wanted, what is in view, what is selected or all, and whether as a smaller report or as a
 * page for browsers, called NAME and an ending at first; then where. Writes it on a worker, shows how far that is, and says what failed.
 * Both may go meanwhile, which ends it. Main thread. */
void lns_export_ask (GtkWindow *parent, LnsView *view, const char *name);
