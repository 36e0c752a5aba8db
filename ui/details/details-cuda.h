/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Describes CUDA events in words for the details pane. */

#pragma once

#include "ui/details/details-fields.h"

G_BEGIN_DECLS

/* Appends the fields that EVENT of LANE has beyond start, duration and name; nothing for events that
 * are not CUDA's, cuBLAS's or cuDNN's. FIELDS is an array of LnsDetailsField. */
void lns_details_cuda_add (GArray *fields, LnsReport *report, uint32_t lane, const LnsEvent *event);

G_END_DECLS
