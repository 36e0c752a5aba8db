/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A dialog that asks to what time of a report to go. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/view.h"

/* Asks over PARENT for a time, and has that in the middle of VIEW, at the zoom at hand. Does nothing more once VIEW has gone. */
void lns_time_dialog_show (GtkWindow *parent, LnsView *view);
