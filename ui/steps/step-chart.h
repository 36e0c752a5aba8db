/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The steps of an answer as bars: how long each took, how long the GPU worked in it, and the median. A click selects one. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/answer.h"

#define LNS_TYPE_STEP_CHART (lns_step_chart_get_type ())
G_DECLARE_FINAL_TYPE (LnsStepChart, lns_step_chart, LNS, STEP_CHART, GtkWidget)

/* Holds a reference on ANSWER, which shows the step that is clicked. */
GtkWidget *lns_step_chart_new (LnsAnswer *answer) G_GNUC_WARN_UNUSED_RESULT;

/* Marks STEP, an index, or none where there is no such step. */
void lns_step_chart_mark (LnsStepChart *self, size_t step);
