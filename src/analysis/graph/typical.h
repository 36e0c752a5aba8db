/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Says of points with two edges which one bound them, and what the other takes at least. */

#pragma once

#include "src/analysis/graph/graph.h"

/* Settles the edges of GRAPH, whose NS and LAG are as long as both edges were. The edge that bound a point stays as it
 * is; the other gets what such an edge takes where it binds, the median over the report, if that is less: from the end of an
 * operation to the next of its stream, from a call to the operation that it launches, from the end of an operation to the return of the call that waited for it.
 * O(points). */
void lns_graph_settle (LnsGraph *graph);
