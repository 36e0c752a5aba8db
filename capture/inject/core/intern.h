/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes the names of a stream: each one once, as long as the stream remembers it. */

#pragma once

#include "capture/inject/core/stream.h"

/* The id of TEXT (not null, N_BYTES, not terminated) in STREAM, which the caller has entered. Writes the text first if
 * need be. Returns LNS_STRINGS_NO_ROOM if the pool has no room. POINTER is the address by which the text is found
 * again, or null. */
uint32_t lns_inject_stream_intern (LnsInjectStream *stream,
                                   const char *text,
                                   size_t n_bytes,
                                   const char *pointer);

/* The same for a terminated wide text, which is written in UTF-8. */
uint32_t lns_inject_stream_intern_wide (LnsInjectStream *stream, const wchar_t *text);
