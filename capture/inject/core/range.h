/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Capture ranges, by which the program itself begins and ends recording. While no range is open, the pool's flag is
 * down and every event takes the slow path, which compares the names of ranges. While a range is open, only its own
 * end matters. There are no locks: the thread that changes the one word wins. */

#pragma once

#include "capture/inject/core/nvtx-abi.h"
#include "capture/inject/core/stream.h"

/* Begins a range if ranges are of KIND, none is open and fewer than asked for were recorded. Writes that into this
 * thread's stream, which must not be entered. Returns whether it began. */
bool lns_range_begin (LnsWireRangeKind kind);

/* Ends the open range if it is of KIND and ranges that end were asked for. */
bool lns_range_end (LnsWireRangeKind kind);

/* Begins recording if the NVTX range in DOMAIN with the name in ATTRIBUTES (may be null) is the capture range, and
 * returns whether it did. Called for events that are not recorded, or recorded only for other processes' ranges. */
bool lns_range_offer (uint32_t domain, const LnsNvtxEventAttributes *attributes);

/* Notes that this thread is about to push the range in DOMAIN; its pop ends recording. */
void lns_range_follow_push (uint32_t domain);

/* Notes that this thread popped DEPTH of DOMAIN. STREAM is its stream, which is not entered. */
void lns_range_popped (LnsInjectStream *stream, uint32_t domain, uint32_t depth);
