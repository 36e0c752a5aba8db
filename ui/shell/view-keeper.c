/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/view-keeper.h"

#include <string.h>

#include "ui/model/bookmarks.h"
#include "ui/model/view-store.h"

#define AFTER_MSEC 1000

struct LnsViewKeeper
{
  LnsView *view;
  LnsTimeline *timeline;
  LnsBookmarks *bookmarks;                              /* owned */
  char *written;                                        /* owned; as it was last */
  LnsKeptView *kept;                                    /* owned; what is being written, or NULL */
  char *json;                                           /* owned; the same, or NULL */
  gboolean has_changed;                                 /* since it was looked */
  guint step;                                           /* the source of the next one, or 0 */
  void (*failed) (const char *problem, GObject *owner); /* NULL once it was called */
  GObject *owner;
};

/* The keeper that OWNER had when the write began may have gone. */
static void
failed_cb (const char *problem, GObject *owner)
{
  LnsViewKeeper *self = g_object_get_data (owner, "lns-view-keeper");
  if (self == NULL || self->failed == NULL)
    return;
  self->failed (problem, owner);
  self->failed = NULL;
}

static void
add_mark (GArray *marks, int64_t start_ns, int64_t end_ns, const char *name)
{
  const LnsMark mark = { start_ns, end_ns, g_strdup (name) };
  g_array_append_val (marks, mark);
}

/* How the view and the rows are now. */
static LnsKeptView *
look (LnsViewKeeper *self)
{
  guint n;
  LnsKeptView *kept = lns_kept_view_new ();
  const LnsMark *bookmarks = lns_bookmarks_get (self->bookmarks, &n);
  int64_t start_ns, end_ns;
  lns_timeline_tell_rows (self->timeline, kept);
  kept->has_span = !lns_view_shows_all (self->view);
  kept->start_ns = lns_view_get_start_ns (self->view);
  kept->end_ns = lns_view_get_end_ns (self->view);
  for (guint i = 0; lns_view_get_further_span (self->view, i, &start_ns, &end_ns); i++)
    add_mark (kept->selected, start_ns, end_ns, NULL);
  if (lns_view_get_time_selection (self->view, &start_ns, &end_ns))
    add_mark (kept->selected, start_ns, end_ns, NULL);
  for (guint i = 0; i < n; i++)
    add_mark (kept->bookmarks, bookmarks[i].start_ns, bookmarks[i].end_ns, bookmarks[i].name);
  return kept;
}

/* Sees how all is: the first step, once it is known what the rows are called. */
static void
take_look (LnsViewKeeper *self)
{
  g_clear_pointer (&self->kept, lns_kept_view_free);
  g_clear_pointer (&self->json, g_free);
  self->has_changed = FALSE;
  self->kept = look (self);
}

/* The step after that. */
static void
write_json (LnsViewKeeper *self)
{
  self->json = lns_kept_view_to_json (self->kept, FALSE);
}

/* The last one: has it written if it is not as it was last. */
static void
write_changes (LnsViewKeeper *self)
{
  g_autoptr (LnsKeptView) kept = g_steal_pointer (&self->kept);
  g_autofree char *json = g_steal_pointer (&self->json);
  if (strcmp (json, self->written) == 0)
    return;
  g_free (self->written);
  self->written = g_steal_pointer (&json);
  lns_view_store_write (lns_view_get_report (self->view), kept, self->written, failed_cb,
                        self->owner);
}

static gboolean step_cb (gpointer data);

static void
wait_for_more (LnsViewKeeper *self)
{
  self->step = g_timeout_add (AFTER_MSEC, step_cb, self);
}

/* Each step has a turn of the main loop, as with thousands of rows each takes longer than a frame. */
static gboolean
step_cb (gpointer data)
{
  LnsViewKeeper *self = data;
  const gboolean is_last = self->json != NULL;
  self->step = 0;
  if (is_last)
    write_changes (self);
  else if (self->kept != NULL)
    write_json (self);
  else if (!lns_timeline_identify_rows (self->timeline))
    take_look (self);
  if (!is_last)
    self->step = g_idle_add (step_cb, self);
  else if (self->has_changed)
    wait_for_more (self);
  return G_SOURCE_REMOVE;
}

static void
changed_cb (LnsViewKeeper *self)
{
  self->has_changed = TRUE;
  if (self->step == 0)
    wait_for_more (self);
}

/* Puts the view, which has shown all of the report so far, where it was left. */
static void
restore (LnsViewKeeper *self, const LnsKeptView *kept)
{
  for (guint i = 0; i < kept->bookmarks->len; i++)
    {
      const LnsMark *mark = &g_array_index (kept->bookmarks, LnsMark, i);
      lns_bookmarks_add (self->bookmarks, mark->start_ns, mark->end_ns, mark->name);
    }
  if (kept->has_span)
    lns_view_show_span (self->view, kept->start_ns, kept->end_ns);
  for (guint i = 0; i < kept->selected->len; i++)
    {
      const LnsMark *mark = &g_array_index (kept->selected, LnsMark, i);
      lns_view_add_time_selection (self->view, mark->start_ns, mark->end_ns);
    }
}

LnsViewKeeper *
lns_view_keeper_new (LnsView *view,
                     LnsTimeline *timeline,
                     LnsKeptView *kept,
                     gboolean is_of_report,
                     void (*failed) (const char *problem, GObject *owner),
                     GObject *owner)
{
  LnsViewKeeper *self = g_new0 (LnsViewKeeper, 1);
  self->view = view;
  self->timeline = timeline;
  self->bookmarks = lns_bookmarks_of (view);
  self->failed = failed;
  self->owner = owner;
  g_object_set_data (owner, "lns-view-keeper", self);
  if (kept != NULL && is_of_report)
    restore (self, kept);
  if (kept != NULL)
    lns_timeline_restore_rows (timeline, kept);
  g_autoptr (LnsKeptView) now = look (self);
  self->written = lns_kept_view_to_json (now, FALSE);
  g_signal_connect_swapped (view, "span-changed", G_CALLBACK (changed_cb), self);
  g_signal_connect_swapped (view, "time-selection-changed", G_CALLBACK (changed_cb), self);
  g_signal_connect_swapped (timeline, "rows-changed", G_CALLBACK (changed_cb), self);
  g_signal_connect_swapped (self->bookmarks, "changed", G_CALLBACK (changed_cb), self);
  return self;
}

void
lns_view_keeper_free (LnsViewKeeper *self)
{
  if (self == NULL)
    return;
  if (self->step != 0)
    {
      g_source_remove (self->step);
      take_look (self);
      write_json (self);
      write_changes (self);
    }
  g_signal_handlers_disconnect_by_data (self->view, self);
  g_signal_handlers_disconnect_by_data (self->timeline, self);
  g_signal_handlers_disconnect_by_data (self->bookmarks, self);
  g_object_set_data (self->owner, "lns-view-keeper", NULL);
  g_object_unref (self->bookmarks);
  g_free (self->written);
  g_free (self);
}
