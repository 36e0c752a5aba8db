/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes JSON strings and real numbers. */

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The length of the valid UTF-8 sequence at BYTES, SIZE > 0 of them, or 0. Refuses overlong forms,
 * surrogates and what is above U+10FFFF (RFC 3629). O(1). */
size_t lns_utf8_sequence_length (const uint8_t *bytes, size_t size);

/* How many of the first SIZE BYTES a JSON string can contain unescaped. O(size). */
size_t lns_json_plain_length (const uint8_t *bytes, size_t size);

#define LNS_JSON_ESCAPE_SIZE 7

/* Writes the escape of BYTE, which a JSON string cannot hold itself: U+FFFD if it is not part of valid UTF-8. Returns
 * RET_ESCAPE. O(1). */
const char *lns_json_escape (uint8_t byte, char ret_escape[LNS_JSON_ESCAPE_SIZE]);

/* Writes SIZE_BYTES of BYTES as a JSON string, quotes included. The result is valid JSON whatever
 * the bytes: each byte that is not part of valid UTF-8 becomes U+FFFD. O(size). */
void lns_json_write_string (FILE *stream, const void *bytes, size_t size_bytes);

/* Writes VALUE so that it reads back as the same double; `null` where JSON has no number for it. */
void lns_json_write_double (FILE *stream, double value);
