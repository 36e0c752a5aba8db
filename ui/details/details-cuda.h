/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Describes CUDA events, and calls of cuBLAS and cuDNN, in words for the details pane: the fields beyond start, duration
 * and name. */

#pragma once

#include "ui/details/details-subject.h"

G_BEGIN_DECLS

void lns_details_add_call (const LnsDetailsSubject *self); /* of the CUDA API or a library */
void lns_details_add_kernel (const LnsDetailsSubject *self);
void lns_details_add_copy (const LnsDetailsSubject *self);
void lns_details_add_set (const LnsDetailsSubject *self);
void lns_details_add_sync (const LnsDetailsSubject *self);
void lns_details_add_memory_operation (const LnsDetailsSubject *self);
void lns_details_add_fault (const LnsDetailsSubject *self);
void lns_details_add_projection (const LnsDetailsSubject *self);

/* For all other events of CUDA; the functions above add these fields too. */
void lns_details_add_work (const LnsDetailsSubject *self);

G_END_DECLS
