/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which launches of a report have run. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"

/* Whether RECORD, an event of PROCESS, has a place in the report there is; where it belongs to one that
 * has ended it is counted, unless it has been. O(1) on the average */
bool
_lns_flight_admits (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);

/* Counts N operations that had not ended when their process did. */
void _lns_flight_unfinished (LnsDecoder *decoder, uint64_t n);

/* The report ends, or PROCESS has: counts the launches whose kernels are not there. To be called again
 * without harm. */
void _lns_flight_settle (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_flight_free (LnsCudaProcess *cuda);
