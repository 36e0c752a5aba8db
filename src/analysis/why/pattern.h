/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Regular expressions that people and strangers write: extended ones of POSIX, at most 500 bytes, without back-references, which take time without bounds, and
 * with one {N,M} at most, as nested ones take memory without bounds. They find a match anywhere in a text. */

#pragma once

#include <regex.h>
#include <sqlite3.h>

#include "src/base/error.h"

/* Why a text is no pattern: a clause, in English. */
typedef char LnsPatternReason[200];

/* Compiles PATTERN with FLAGS of regcomp(3) into RET_REGEX, to be freed with regfree(3). False and RET_REASON if it is none. Any thread. */
bool lns_pattern_compile (const char *pattern,
                          int flags,
                          regex_t *ret_regex,
                          LnsPatternReason ret_reason);

/* Adds regexp (PATTERN, TEXT) to DB, which is also TEXT REGEXP PATTERN, and regexpi (PATTERN, TEXT), which ignores the case of letters:
 * 1, 0, or NULL where one of the two is. A pattern that is not one ends the statement with an error. False and ERROR where SQLite
 * refuses. */
bool lns_pattern_attach (sqlite3 *db, LnsError *error);
