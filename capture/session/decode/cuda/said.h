/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Decodes device, context and stream definitions, and CUDA problem records. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"

/* Takes the definitions of RECORD: devices, contexts, streams and problems. */
void
_lns_cuda_define (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);

/* Writes the versions of PROCESS's CUPTI and driver to the report's meta data, if there is a report. */
void _lns_cuda_write_info (LnsDecoder *decoder, LnsDecodedProcess *process);

/* Plays RECORD, and takes its definitions once more: by now the strings in it are known, whichever stream told
 * them. */
void _lns_cuda_said (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);

/* Writes to the report that CUPTI dropped N records of PROCESS, the last one before LAST_NS. */
void _lns_cuda_add_dropped (LnsDecoder *decoder,
                            LnsDecodedProcess *process,
                            uint64_t n,
                            int64_t last_ns);
