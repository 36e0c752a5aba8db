/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Describes OS runtime calls, MPI calls, scheduling and CPU samples in words for the details pane. */

#pragma once

#include "ui/details/details-fields.h"

G_BEGIN_DECLS

/* Appends the fields (LnsDetailsField) that only such events have, and the call chain of any event. */
void
lns_details_system_add (GArray *fields, LnsReport *report, uint32_t lane, const LnsEvent *event);

G_END_DECLS
