/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names that are kept between runs: a file for each module, in a folder of the user's. It says of spans of addresses which
 * frames each address in them has, or that it has none. Nothing is guessed: an address that no span covers is not known.
 *
 * A file has a head, the key, and three parts:
 *
 *   spans    sorted, 16 bytes each: start, end (both less the head's base), where its record is, a check
 *   records  the number of frames, and for each its function, file, line and source, as LEB128
 *   texts    a check of four bytes, the text and a NUL
 *
 * Every span, record and text that is used is checked against its check, so that damage costs a name and makes no wrong
 * one. Files are replaced as a whole. Only what is asked for is read. Not thread-safe. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/symbols/symbol-frame.h"

/* --- Reading ------------------------------------------------------------------------------------- */

typedef struct LnsNameCache LnsNameCache;

/* Opens the file NAME in FOLDER, which ends with a slash, if it was written for KEY. NULL if there is none, if it is
 * damaged, or if another user may have written it. */
LnsNameCache *lns_name_cache_open (const char *folder, const char *name, const char *key)
    __attribute__ ((warn_unused_result));
void lns_name_cache_free (LnsNameCache *cache); /* NULL is fine */

/* The range of addresses that the spans lie in. */
void lns_name_cache_range (const LnsNameCache *cache, uint64_t *ret_start, uint64_t *ret_end);

/* Whether the frames of ADDRESS are known; if so, gives their number, which may be 0. Their texts are valid until CACHE is
 * freed. O(log spans). */
bool lns_name_cache_find (LnsNameCache *cache,
                          uint64_t address,
                          LnsSymbolFrame ret_frames[LNS_NAME_MOST_FRAMES],
                          size_t *ret_n_frames);

/* --- Writing ------------------------------------------------------------------------------------- */

typedef struct LnsNameSpans LnsNameSpans;

LnsNameSpans *lns_name_spans_new (void) __attribute__ ((warn_unused_result));
void lns_name_spans_free (LnsNameSpans *spans); /* NULL is fine */

/* Adds that each address from START to before END has the N_FRAMES frames. Spans that
 * overlap must say the same. ARE_NEW says that no span before had these texts, which is faster. */
void lns_name_spans_add (LnsNameSpans *spans,
                         uint64_t start,
                         uint64_t end,
                         const LnsSymbolFrame *frames,
                         size_t n_frames,
                         bool are_new);

/* Adds all that CACHE has. */
void lns_name_spans_add_cache (LnsNameSpans *spans, LnsNameCache *cache);

/* Writes SPANS, which it sorts, to the file NAME in FOLDER, and removes the oldest files where the folder has more than
 * MOST_FOLDER_BYTES. A file that cannot be written is no fault. False then. */
bool lns_name_spans_write (LnsNameSpans *spans,
                           const char *folder,
                           const char *name,
                           const char *key,
                           uint64_t most_folder_bytes);
