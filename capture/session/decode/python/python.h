/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What Python programs have said. */

#pragma once

#include "capture/session/decode/core/source.h"

/* Whether any Python program has begun to trace functions. */
bool lns_decoder_has_python (const LnsDecoder *decoder);
