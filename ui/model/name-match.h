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

/* TEXT is UTF-8: to be found as it is, or (REGEX) a Perl-compatible regular expression. NULL and
 * ERROR where that does not compile. */
LnsNameMatch *lns_name_match_new (const char *text, bool regex, bool match_case, GError **error)
    G_GNUC_WARN_UNUSED_RESULT;
void lns_name_match_free (LnsNameMatch *self); /* NULL is fine */

/* Bytes of the name that are not UTF-8 match no character but a regular expression's dot. O(size)
 * for text. */
bool lns_name_match_test (const LnsNameMatch *self, const char *bytes, size_t size_bytes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsNameMatch, lns_name_match_free)
