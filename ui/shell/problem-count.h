/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The number of warnings and errors on the button of a window's header. Main thread only. */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

/* Has BUTTON, whose child is CONTENT, tell how many problems the report of VIEW has, also once the doctor has looked and as the report
 * grows, until the next call. It is hidden while there are none; NULL: there is no report. */
void lns_problem_count_follow (GtkWidget *button, AdwButtonContent *content, LnsView *view);
