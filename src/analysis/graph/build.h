/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Builds the graph of a report in one pass over all that its threads and GPUs did. */

#pragma once

#include <stdatomic.h>

#include "src/analysis/graph/graph.h"

/* The graph of REPORT (borrowed). MARKS, N of them by thread and start, or NULL, are times of threads that edits are about. CANCEL may be
 * NULL. To be freed. NULL and ERROR where a chunk is damaged, or cancelled. O(events × log (threads + streams)), 29 bytes a point
 * while it is built; an event has two points at most, without those that join edges. */
LnsGraph *lns_graph_build (LnsReport *report,
                           const LnsGraphMark *marks,
                           size_t n,
                           const atomic_bool *cancel,
                           LnsError *error);
