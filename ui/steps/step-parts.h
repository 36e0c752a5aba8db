/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A step beside the median one, part by part: what took longer, and by how much. A worker reads both. */

#pragma once

#include <adwaita.h>

#include "ui/model/answer.h"

#define LNS_TYPE_STEP_PARTS (lns_step_parts_get_type ())
G_DECLARE_FINAL_TYPE (LnsStepParts, lns_step_parts, LNS, STEP_PARTS, AdwBin)

/* Holds references on VIEW and ANSWER. */
GtkWidget *lns_step_parts_new (LnsView *view, LnsAnswer *answer) G_GNUC_WARN_UNUSED_RESULT;

/* Compares STEP, an index into the answer's, of which there are at least two. Another call gives up what is not done. */
void lns_step_parts_show (LnsStepParts *self, size_t step);
