/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tracks which launches of a report have run. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"

/* Whether RECORD, an event of PROCESS, belongs in the present report. If it belongs in one that has ended, it is
 * counted, once. O(1) on average. */
bool
_lns_flight_admits (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsCudaRecord *record);

/* Follows CALL, a callback id | 1 << 32 for the runtime's, that thread TID made and that was just written: the calls of a
 * thread are written in order. A launch that went into a graph does not run, so its kernel is not waited for. CUPTI gives the
 * calls back in any order, so this is known only here. */
void _lns_flight_written_call (LnsDecoder *decoder,
                               LnsDecodedProcess *process,
                               uint32_t tid,
                               uint64_t call,
                               uint32_t correlation,
                               bool has_failed);

/* Counts N operations that had not ended when their process ended. */
void _lns_flight_unfinished (LnsDecoder *decoder, uint64_t n);

/* Counts the launches whose kernels did not come, as the report ends or PROCESS has ended. May be called again. */
void _lns_flight_settle (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_flight_free (LnsCudaProcess *cuda);

/* Writes to the report that it lacks N_DROPPED records of PROCESS that CUPTI dropped and N_MISTIMED that it gave wrong
 * times, the last one before LAST_NS. */
void _lns_cuda_add_dropped (LnsDecoder *decoder,
                            LnsDecodedProcess *process,
                            uint64_t n_dropped,
                            uint64_t n_mistimed,
                            int64_t last_ns);
