/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Follows the long tokens of a JSON file past its parser. The parser looks at an unfinished token from its beginning
 * again whenever more bytes come, and holds all of it; so the reader must know how long the token at the end of what
 * was read is, and where an endless one ends. Zero it before first use. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  size_t n_bytes;       /* of the token that has not ended yet                                    */
  bool in_text;         /* that token is a text: a quote ends it                                  */
  bool after_backslash; /* the next byte is escaped                                               */
  unsigned n_hex;       /* digits that an escape still needs                                      */
} LnsTraceText;

/* Follows the N BYTES that come next. */
void _lns_trace_text_follow (LnsTraceText *text, const uint8_t *bytes, size_t n);

/* The bytes that end the escape in which the text stands, for a parser that gets no more of the text. */
const char *_lns_trace_text_escape_end (const LnsTraceText *text);

/* How many of the N BYTES belong to the text before the quote that ends it. The quote is the parser's again. */
size_t _lns_trace_text_rest (LnsTraceText *text, const uint8_t *bytes, size_t n);
