/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the events that are linked to an event: the call that launched it, the GPU work that it launched, the part of an NVTX
 * range on the GPU, or what the thread did that woke another. */

#pragma once

#include "src/analysis/projection/cuda-links.h"
#include "ui/model/view.h"

/* Finds the events that are linked to event ID of REPORT. The outermost call comes first, or the first kernel that a
 * call launched. Reads the report, so call it on a worker. */
LnsLinkedEvents *lns_linked_events_new (LnsReport *report,
                                        const LnsCudaLinks *links,
                                        LnsEventId id) G_GNUC_WARN_UNUSED_RESULT;
void lns_linked_events_free (LnsLinkedEvents *self); /* NULL is fine */

/* Puts LINKED, which may be among them, first. */
void lns_linked_events_put_first (LnsLinkedEvents *self, const LnsLinkedEvent *linked);

/* Whether events of LANE may have other ends. O(1). */
bool lns_linked_events_possible (LnsReport *report, uint32_t lane);

/* The range that EVENT of LANE, a projection, is of. */
LnsEventId lns_projected_range (LnsReport *report, uint32_t lane, const LnsEvent *event);
