/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which events of a set the user wants to see: those whose name contains a text or matches a regular expression, or those that
 * a condition holds for (src/analysis/condition.h). Immutable; any thread. */

#pragma once

#include "ui/events/event-set.h"

typedef struct _LnsEventFilter LnsEventFilter;

/* TEXT is what the user typed, UTF-8 and not empty: a condition if it begins as one, else a part of a name, whatever the case. If
 * REGEX, it is a Perl-compatible regular expression for names, whatever it begins with. Returns NULL and sets ERROR, whose message
 * tells the user what is wrong, if there is no such condition or expression. */
LnsEventFilter *
lns_event_filter_new (const char *text, bool regex, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void lns_event_filter_free (LnsEventFilter *self); /* NULL is fine */

/* Finds the rows of SET that the filter takes. Blocks, so call it on a worker. Returns a bit a row, to be freed with g_free (),
 * and sets *RET_N to how many are set; or NULL and sets ERROR if it was cancelled or memory ran out. O(rows × tests, names × length). */
uint8_t *lns_event_filter_find (const LnsEventFilter *self,
                                const LnsEventSet *set,
                                uint32_t *ret_n,
                                GCancellable *cancellable,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsEventFilter, lns_event_filter_free)
