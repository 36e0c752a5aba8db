/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What some write into traces and JSON does not know: numbers that are none (NaN, inf, Infinity, of either sign),
 * which become null, and control characters in texts, which become spaces. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buffer.h"

/* Zero it before first use. */
typedef struct
{
  bool in_text, is_escaped;
  char word[16]; /* outside texts, as far as it has come                                         */
  size_t n_word;
} LnsTraceMend;

/* Appends the N BYTES, mended, to OUT. The next call goes on where this one ends, within a word too. */
void _lns_trace_mend (LnsTraceMend *mend, const uint8_t *bytes, size_t n, LnsBuffer *out);
