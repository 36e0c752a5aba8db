/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Computes how busy a process or a thread is, for each pixel. */

#pragma once

#include "src/store/read/pixels.h"
#include "ui/model/row-tree.h"

/* The share (0–1) of each pixel of QUERY in which the threads at or below ROW (LNS_ID_NONE: of the
 * whole report) are inside a range: one thread's is the largest of its domains', several threads'
 * the mean over those that have begun and not ended. Processes without push/pop ranges are judged
 * by their start/end ranges. SCRATCH is zeroed before first use and reused; it tells whether the shares are coarse. RET_SHARES holds n_px.
 * Any thread. O(lanes that overlap the query × their pixel query). */
bool lns_summary_query (LnsReport *report,
                        const LnsRowTree *tree,
                        uint32_t row,
                        const LnsPixelQuery *query,
                        LnsPixelResult *scratch,
                        float *ret_shares,
                        LnsError *error);

/* What of QUERY the GPU works on for ROW, which merges lanes: its facet's pixels, exact. Where that is
 * not read yet, the sum over its lanes, which counts time twice in which several of them are busy;
 * no event is listed then. Any thread. */
bool lns_work_query (LnsReport *report,
                     const LnsRowTree *tree,
                     uint32_t row,
                     const LnsPixelQuery *query,
                     LnsPixelResult *result,
                     LnsError *error);
