/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Ranges and marks. The state of a thread is one stack of push/pop ranges per domain. */

#pragma once

#include "capture/session/decode/nvtx/definitions.h"

/* Plays PUSH, POP or MARK of DOMAIN, made at TICKS. */
void _lns_nvtx_play_event (LnsDecoder *decoder,
                           LnsStream *stream,
                           LnsWireType type,
                           uint64_t ticks,
                           uint32_t domain,
                           const LnsWireEvent *event);

/* Adds START_END, whose detail is taken over, to those of its process's batch. */
void
_lns_nvtx_add_start_end (LnsDecoder *decoder, LnsDecodedProcess *process, LnsStartEnd *start_end);
/* Plays the starts and ends of the batch in order of time. */
void _lns_nvtx_settle (LnsDecoder *decoder, LnsDecodedProcess *process);

/* Notes that a report begins, in which the open ranges of PROCESS are not shown yet. */
void _lns_nvtx_begin_ranges (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_nvtx_show_ranges (LnsDecoder *decoder, LnsDecodedProcess *process);
/* Writes the open ranges as open and keeps them. */
void _lns_nvtx_stop_ranges (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
/* Closes the push/pop ranges, as THREAD or its process ended at END_NS. */
void _lns_nvtx_end_stacks (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t end_ns);
/* Closes the start/end ranges, as PROCESS ended at END_NS. */
void _lns_nvtx_end_started (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
