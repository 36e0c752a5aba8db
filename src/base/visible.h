/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes untrusted text safe to show. A terminal acts on control characters: it sets its title, moves its cursor, or answers
 * as if the user had typed. They are shown as \n, \x1B, \u202E instead. So are bytes that are not UTF-8, characters that
 * change the order of others (UAX #9, 2.2 and 2.4), and characters without a glyph, such as U+200B, which hide parts of a
 * name or make two names look the same. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LNS_VISIBLE_SIZE 12 /* of an escape, terminated */

/* Returns how many bytes the first character of SIZE > 0 BYTES has. RET_ESCAPE gets what to show in its place, or "" if
 * the character itself can be shown. O(1). */
size_t lns_visible_next (const char *bytes, size_t size, char ret_escape[LNS_VISIBLE_SIZE]);

/* Whether SIZE > 0 BYTES are the beginning of an incomplete UTF-8 character. O(1). */
bool lns_visible_is_begun (const char *bytes, size_t size);

/* The columns that SIZE BYTES of UTF-8 take: each character that we print is one wide. O(size). */
size_t lns_visible_width (const char *bytes, size_t size);

/* Writes SIZE BYTES to STREAM as one visible line: newlines and tabs become \n and \t. O(size). */
void lns_visible_write (FILE *stream, const char *bytes, size_t size);

/* The same as a new text, which the caller frees. */
char *lns_visible_text (const char *bytes, size_t size) __attribute__ ((returns_nonnull));

/* The same in the ROOM > 0 bytes at RET_TEXT, terminated, and cut after a character if it does not fit. Returns the length of
 * the whole text. BYTES must not overlap it. O(size). */
size_t lns_visible_copy (char *ret_text, size_t room, const char *bytes, size_t size);
