/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a program names besides its threads: CUDA streams, locks, … */

#pragma once

#include "capture/session/decode/nvtx/definitions.h"

/* Takes in RESOURCE or RESOURCE_END. */
void _lns_nvtx_resource (LnsDecoder *decoder,
                         LnsDecodedProcess *process,
                         LnsDecodedDomain *domain,
                         const LnsWireRecord *record);

/* Gives the writer all of them. */
void _lns_nvtx_replay_resources (LnsDecoder *decoder);
void _lns_nvtx_free_resources (LnsNvtxSession *session);
