/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where a GPU did nothing, on its row: a tint, and what the time was lost to. Main thread only. */

#pragma once

#include "ui/model/answer.h"
#include "ui/timeline/timeline-row.h"

/* Draws the idle stretches of the GPU or process that ROW is of onto the area BODY, as far as they are wide enough to be seen. Nothing
 * while CONTEXT's answer is not there. */
void lns_idle_tints_snapshot (const LnsRowContext *context,
                              const LnsRow *row,
                              GtkWidget *widget,
                              GtkSnapshot *snapshot,
                              const graphene_rect_t *body);
