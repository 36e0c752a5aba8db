/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Capture ranges: what the program itself does to begin and end recording. While none is open, the
 * pool's flag is down and every event takes the slow path, which is where the names of ranges are
 * looked at; while one is open, nothing but its own end is. No locks: who changes the one word wins. */

#pragma once

#include "capture/inject/core/nvtx-abi.h"
#include "capture/inject/core/stream.h"

/* The start/end range whose end ends recording; 0: none. */
extern uint64_t lns_range_started;

/* Begins a range, if ranges are of KIND, none is open and not all that were asked for are done. It is
 * told in this thread's stream, which must not be entered. True if it began. */
bool lns_range_begin (LnsWireRangeKind kind);

/* Ends the open range, if there is one of KIND and ranges that end were asked for. */
bool lns_range_end (LnsWireRangeKind kind);

/* Whether a range of NVTX in DOMAIN begins recording, if it has the name in ATTRIBUTES (may be null):
 * then it does. To be asked where an event is not recorded, or only for others' ranges. */
bool lns_range_offer (uint32_t domain, const LnsNvtxEventAttributes *attributes);

/* The range is one that this thread is about to push in DOMAIN: its pop ends recording. */
void lns_range_follow_push (uint32_t domain);

/* DEPTH of DOMAIN was popped by this thread, whose stream is STREAM and not entered. */
void lns_range_popped (LnsInjectStream *stream, uint32_t domain, uint32_t depth);

/* RANGE, the one in lns_range_started, has ended. */
void lns_range_finish_started (void);
