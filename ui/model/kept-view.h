/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How a person left a report: which rows are pinned, folded or hidden, what is in view, what is selected, and what was marked. As JSON it
 * lies in a file that people may have changed: nothing of it is taken unseen. Any thread, one at a time. */

#pragma once

#include <glib.h>

#include "ui/model/bookmarks.h"

#define LNS_KEPT_MAX_BYTES (4 << 20) /* of a file */
#define LNS_KEPT_MAX_ROWS  4096

/* What is unlike the defaults of one row. */
typedef struct
{
  guint pin;     /* 1 + its place among the pinned rows, or 0          */
  gint8 folding; /* 1: unfolded, -1: folded, 0: as rows are at first   */
  gboolean is_hidden;
  guint lanes; /* how many times as high as at first its lanes are, 2 … 4; 0: as high as at first */
  guint place; /* 1 + its place among its siblings, or 0: where it is at first                    */
} LnsKeptRow;

typedef struct
{
  GHashTable *rows;  /* char *: identity (row-identity.h) → LnsKeptRow *      */
  gboolean has_span; /* not all of the report is in view, but this:           */
  int64_t start_ns, end_ns;
  GArray *selected;  /* of LnsMark: the selected times, the band last         */
  GArray *bookmarks; /* of LnsMark, whose names it owns                       */
} LnsKeptView;

LnsKeptView *lns_kept_view_new (void) G_GNUC_WARN_UNUSED_RESULT;
void lns_kept_view_free (LnsKeptView *self); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsKeptView, lns_kept_view_free)

/* The row of IDENTITY, which is added if there is room; else NULL. */
LnsKeptRow *lns_kept_view_row (LnsKeptView *self, const char *identity);

/* JSON, the same of the same view; only of the rows if ONLY_ROWS. Free with g_free (). */
char *lns_kept_view_to_json (const LnsKeptView *self, gboolean only_rows) G_GNUC_WARN_UNUSED_RESULT;

/* The view that JSON, SIZE_BYTES of it, tells. NULL: RET_PROBLEM says in a few translated words why not. */
LnsKeptView *lns_kept_view_from_json (const char *json,
                                      gsize size_bytes,
                                      char **ret_problem) G_GNUC_WARN_UNUSED_RESULT;
