/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which context each GPU works for. CUPTI tells when it begins and when it ends to, in any order; these records are sorted
 * by their times, and then make the time between two of them an event. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"

void
_lns_switches_play (LnsDecoder *decoder, LnsStream *stream, const LnsWireCudaSwitchBytes *said);

/* Writes for which contexts the GPUs of PROCESS still work at END_NS, when the report or the process ends. */
void _lns_switches_finish (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
