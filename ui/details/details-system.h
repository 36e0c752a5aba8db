/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the details pane says of calls of the OS runtime and MPI, of scheduling and of CPU samples. */

#pragma once

#include "ui/details/details-fields.h"

G_BEGIN_DECLS

/* Appends the fields (LnsDetailsField) that only such events have, and the call chain of any event. */
void
lns_details_system_add (GArray *fields, LnsReport *report, uint32_t lane, const LnsEvent *event);

G_END_DECLS
