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

/* Counts N operations that had not ended when their process ended. */
void _lns_flight_unfinished (LnsDecoder *decoder, uint64_t n);

/* Counts the launches whose kernels did not come, as the report ends or PROCESS has ended. May be called again. */
void _lns_flight_settle (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_flight_free (LnsCudaProcess *cuda);
