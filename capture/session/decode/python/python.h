/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Python as a source of records. */

#pragma once

#include "capture/session/decode/core/source.h"

extern const LnsDecoderOps _lns_python_ops;

/* Whether any Python program has begun to trace functions. */
bool _lns_python_has_begun (const LnsDecoder *decoder);
