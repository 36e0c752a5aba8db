/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays the records that say what keeps CUDA, or a part of it, from being recorded. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"

/* Keeps a diagnostic about the problem that RECORD tells of, once for each problem of PROCESS. */
void
_lns_cuda_problem (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);

/* Writes to the report that the records are lost that RECORD counts, or keeps that for the next report. */
void
_lns_cuda_dropped (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);
