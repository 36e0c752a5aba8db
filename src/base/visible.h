/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes text of programs and files safe to show. Names come from strangers, and a terminal acts on control characters: it
 * sets its title, moves its cursor, or answers as if somebody typed. They are shown as \n, \x1B, \u202E instead. So are
 * bytes that are not UTF-8, characters that reverse the order in which others are read (UAX #9, 2.2 and 2.4), and
 * characters that have no glyph, such as U+200B: they hide what a name says, or make two names look the same. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LNS_VISIBLE_SIZE 12 /* of an escape, terminated */

/* Returns how many bytes the first character of SIZE > 0 BYTES has. RET_ESCAPE gets what to show in its place, or "" if
 * the character itself can be shown. O(1). */
size_t lns_visible_next (const char *bytes, size_t size, char ret_escape[LNS_VISIBLE_SIZE]);

/* Whether SIZE > 0 BYTES are the beginning of a character of UTF-8 whose end is missing. O(1). */
bool lns_visible_is_begun (const char *bytes, size_t size);

/* Writes SIZE BYTES to STREAM as one line of what can be shown: newlines and tabs come as \n and \t. O(size). */
void lns_visible_write (FILE *stream, const char *bytes, size_t size);

/* The same as a new text, which the caller frees. */
char *lns_visible_text (const char *bytes, size_t size) __attribute__ ((returns_nonnull));

/* The same in the ROOM > 0 bytes at RET_TEXT, terminated, and cut between characters where it does not fit.
 * Returns how long the whole is. BYTES may not overlap it. O(size). */
size_t lns_visible_copy (char *ret_text, size_t room, const char *bytes, size_t size);
