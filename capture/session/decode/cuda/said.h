/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a process says of its GPUs and of what keeps them from being recorded. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"

/* Takes in what RECORD says of devices, contexts, streams and problems. */
void
_lns_cuda_define (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);

/* Writes which CUPTI and driver PROCESS has into the report's meta data, if there is a report. */
void _lns_cuda_write_info (LnsDecoder *decoder, LnsDecodedProcess *process);

/* Takes in what RECORD, which is played, says of the capture; and what it defines, once more: by now the
 * strings that it names are known, whichever stream told them. */
void _lns_cuda_said (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);

/* Tells the report that CUPTI dropped N records of PROCESS, the last by LAST_NS. */
void _lns_cuda_add_dropped (LnsDecoder *decoder,
                            LnsDecodedProcess *process,
                            uint64_t n,
                            int64_t last_ns);
