/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The names in a stream: each is told once, as long as the stream remembers it. */

#pragma once

#include "capture/inject/core/stream.h"

/* The id of TEXT (not null, N_BYTES, not terminated) in STREAM, which the caller has entered; tells
 * it first if need be. LNS_STRINGS_NO_ROOM when the pool has none. POINTER: where to find the text
 * again by address, or null. */
uint32_t lns_inject_stream_intern (LnsInjectStream *stream,
                                   const char *text,
                                   size_t n_bytes,
                                   const char *pointer);

/* The same for a wide text, terminated, told in UTF-8. */
uint32_t lns_inject_stream_intern_wide (LnsInjectStream *stream, const wchar_t *text);
