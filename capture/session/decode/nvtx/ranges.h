/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Push/pop ranges and marks. The state of a thread is one stack per domain. */

#pragma once

#include "capture/session/decode/nvtx/event.h"

/* Plays PUSH, POP or MARK of DOMAIN, made at TICKS. */
void _lns_nvtx_play_event (LnsDecoder *decoder,
                           LnsStream *stream,
                           LnsWireType type,
                           uint64_t ticks,
                           uint32_t domain,
                           const LnsWireEvent *event);

/* Notes that a report begins, in which the open ranges of PROCESS are not shown yet. */
void _lns_nvtx_begin_stacks (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_nvtx_show_stacks (LnsDecoder *decoder, LnsDecodedProcess *process);
/* Writes the open ranges as open and keeps them. */
void _lns_nvtx_stop_stacks (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
/* Closes all ranges, as THREAD or its process ended at END_NS. */
void _lns_nvtx_end_stacks (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t end_ns);
