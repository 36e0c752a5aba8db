/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Describes OS runtime calls, MPI calls, scheduling and CPU samples in words for the details pane: the fields that only
 * such events have. */

#pragma once

#include "ui/details/details-subject.h"

G_BEGIN_DECLS

void lns_details_add_os_call (const LnsDetailsSubject *self);
void lns_details_add_scheduling (const LnsDetailsSubject *self);
void lns_details_add_cpu_sample (const LnsDetailsSubject *self);
void lns_details_add_mpi_call (const LnsDetailsSubject *self);

/* The call chain of any event that has one. */
void lns_details_add_call_chain (const LnsDetailsSubject *self);

G_END_DECLS
