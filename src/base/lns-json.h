/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writing JSON: the two pieces that are easy to get wrong. */

#pragma once

#include <stddef.h>
#include <stdio.h>

/* Writes SIZE_BYTES of BYTES as a JSON string, quotes included. The result is valid JSON whatever
 * the bytes: each byte that is not part of valid UTF-8 becomes U+FFFD. O(size). */
void lns_json_write_string (FILE *stream, const void *bytes, size_t size_bytes);

/* Writes VALUE so that it reads back as the same double; `null` where JSON has no number for it. */
void lns_json_write_double (FILE *stream, double value);
