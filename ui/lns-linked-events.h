/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The other ends of an event: which call began it, or what it began; of a range, where it was on the GPU. */

#pragma once

#include "src/analysis/lns-cuda-links.h"
#include "ui/lns-view.h"

G_BEGIN_DECLS

/* The events tied to event ID of REPORT: an array of LnsLinkedEvent, the one that a person looks for
 * first (the outermost call; kernels before waits); empty where there is none. Reads: for a worker. Free
 * with g_array_unref (). */
GArray *lns_linked_events_new (LnsReport *report,
                               const LnsCudaLinks *links,
                               LnsEventId id) G_GNUC_WARN_UNUSED_RESULT;

/* Whether events of LANE may have other ends. O(1). */
bool lns_linked_events_possible (LnsReport *report, uint32_t lane);

/* The range that EVENT of LANE, a projection, is of. */
LnsEventId lns_projected_range (LnsReport *report, uint32_t lane, const LnsEvent *event);

G_END_DECLS
