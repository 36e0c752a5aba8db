/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Times and spans of a report that a person named, in their order. Main thread only.
 *
 * Signal "changed" (): one came, went, or has another name. */

#pragma once

#include "ui/model/view.h"

#define LNS_BOOKMARKS_MAX      1000
#define LNS_BOOKMARK_MAX_CHARS 2000

/* A time or, where END_NS is later, a span. */
typedef struct
{
  int64_t start_ns, end_ns;
  char *name; /* UTF-8, of one or more lines; NULL: it has none */
} LnsMark;

#define LNS_TYPE_BOOKMARKS (lns_bookmarks_get_type ())
G_DECLARE_FINAL_TYPE (LnsBookmarks, lns_bookmarks, LNS, BOOKMARKS, GObject)

/* A new reference on the bookmarks of VIEW's report. */
LnsBookmarks *lns_bookmarks_of (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

/* All of them, by their start: an array of RET_N. Owned by SELF, until they change. */
const LnsMark *lns_bookmarks_get (LnsBookmarks *self, guint *ret_n);

/* Adds one; that of the same span gets another name. START_NS ≤ END_NS; NAME is cut after LNS_BOOKMARK_MAX_CHARS. Does nothing where there
 * are LNS_BOOKMARKS_MAX of them. */
void lns_bookmarks_add (LnsBookmarks *self, int64_t start_ns, int64_t end_ns, const char *name);

/* Removes number I. */
void lns_bookmarks_remove (LnsBookmarks *self, guint i);

/* Goes to number I: selects a span and shows it; has a time in the middle of the view. It is the current one from now on. */
void lns_bookmarks_go (LnsBookmarks *self, guint i);

/* The bookmark that was gone to last, while a part of it is in view; or -1. */
int lns_bookmarks_get_current (LnsBookmarks *self);

/* Goes to the bookmark after the current one or, where there is none, after the middle of the view; if DIRECTION < 0, before. After
 * the last one comes the first. */
void lns_bookmarks_step (LnsBookmarks *self, int direction);

/* When number I is: "1.2 s", or "1.2 s – 1.4 s (200 ms)". Free with g_free (). */
char *lns_bookmarks_time_text (LnsBookmarks *self, guint i) G_GNUC_WARN_UNUSED_RESULT;
