/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Resources that a program names besides its threads: CUDA streams, locks, … */

#pragma once

#include "capture/session/decode/nvtx/definitions.h"

/* Takes a RESOURCE or RESOURCE_END record. */
void _lns_nvtx_resource (LnsDecoder *decoder,
                         LnsDecodedProcess *process,
                         LnsDecodedDomain *domain,
                         const LnsWireRecord *record);

/* Writes all resources to the report. */
void _lns_nvtx_replay_resources (LnsDecoder *decoder);
void _lns_nvtx_free_resources (LnsNvtxSession *session);
