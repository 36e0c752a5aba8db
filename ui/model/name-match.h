/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tells whether a name contains a text or matches a regular expression. Names are arbitrary bytes. Immutable; any
 * thread. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct _LnsNameMatch LnsNameMatch;

/* TEXT is UTF-8: a text to find or, if REGEX, a Perl-compatible regular expression. Returns NULL and sets ERROR if
 * the expression does not compile. */
LnsNameMatch *lns_name_match_new (const char *text, bool regex, bool match_case, GError **error)
    G_GNUC_WARN_UNUSED_RESULT;
void lns_name_match_free (LnsNameMatch *self); /* NULL is fine */

/* Whether the name matches. Bytes that are not UTF-8 match only the dot of a regular expression. O(size) for text. */
bool lns_name_match_test (const LnsNameMatch *self, const char *bytes, size_t size_bytes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsNameMatch, lns_name_match_free)
