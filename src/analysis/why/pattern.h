/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Regular expressions for SQL: extended ones of POSIX, at most 500 bytes, without back-references, which take time without bounds, and
 * with one {N,M} at most, as nested ones take memory without bounds. They find a match anywhere in a text. */

#pragma once

#include <sqlite3.h>

#include "src/base/error.h"

/* Adds regexp (PATTERN, TEXT) to DB, which is also TEXT REGEXP PATTERN, and regexpi (PATTERN, TEXT), which ignores the case of letters:
 * 1, 0, or NULL where one of the two is. A pattern that is not one ends the statement with an error. False and ERROR where SQLite
 * refuses. */
bool lns_pattern_attach (sqlite3 *db, LnsError *error);
