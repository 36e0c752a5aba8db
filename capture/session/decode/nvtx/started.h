/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Start/end ranges, of any thread of a process. */

#pragma once

#include "capture/session/decode/nvtx/definitions.h"
#include "capture/session/decode/nvtx/event.h"

/* Adds START_END, whose detail is taken over, to those of its process's batch. */
void
_lns_nvtx_add_start_end (LnsDecoder *decoder, LnsDecodedProcess *process, LnsStartEnd *start_end);
/* Plays the starts and ends of the batch in order of time. */
void _lns_nvtx_settle (LnsDecoder *decoder, LnsDecodedProcess *process);
/* The same as for stacks (ranges.h). */
void _lns_nvtx_begin_started (LnsDecodedProcess *process);
void _lns_nvtx_show_started (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_nvtx_stop_started (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
void _lns_nvtx_end_started (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
