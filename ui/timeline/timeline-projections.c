/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of ranges on the GPU: as soon as one is in view, a worker works out all of them, or opens what
 * was worked out before; then they have lanes like all others. */

#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <utime.h>

#include "src/analysis/projection/projection-file.h"
#include "ui/timeline/timeline-private.h"

#define TELL_MSEC  200
#define KEPT_FILES 32 /* the latest ones; in all at most: */
#define KEPT_BYTES (INT64_C (1) << 30)

typedef struct
{
  LnsView *view; /* owned: the report stays open */
  atomic_bool cancel;
  atomic_uint permille;
} Projecting;

static void
projecting_free (gpointer data)
{
  Projecting *projecting = data;
  g_object_unref (projecting->view);
  g_free (projecting);
}

static void
cancelled_cb (GCancellable *cancellable, gpointer data)
{
  atomic_store (&((Projecting *)data)->cancel, true);
}

/* --- The folder ---------------------------------------------------------------------------- */

typedef struct
{
  char *path; /* owned */
  GStatBuf status;
} Kept;

static void
clear_kept (gpointer data)
{
  g_free (((Kept *)data)->path);
}

static int
compare_kept (gconstpointer a, gconstpointer b)
{
  const Kept *x = a, *y = b;
  return (x->status.st_mtime < y->status.st_mtime) - (x->status.st_mtime > y->status.st_mtime);
}

/* Removes from FOLDER what was not looked at for the longest time. */
static void
trim (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Kept));
  int64_t sum_bytes = 0;
  const char *name;
  g_array_set_clear_func (all, clear_kept);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      Kept kept = { .path = g_build_filename (folder, name, NULL) };
      if (g_lstat (kept.path, &kept.status) == 0)
        g_array_append_val (all, kept);
      else
        g_free (kept.path);
    }
  g_array_sort (all, compare_kept);
  for (guint i = 0; i < all->len; i++)
    {
      const Kept *kept = &g_array_index (all, Kept, i);
      sum_bytes += kept->status.st_size;
      if (i > 0 && (i >= KEPT_FILES || sum_bytes > KEPT_BYTES))
        g_unlink (kept->path);
    }
}

/* --- The work ------------------------------------------------------------------------------ */

static void
project (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Projecting *projecting = data;
  LnsError error = { 0 };
  LnsReport *derived = NULL;
  /* Where nothing can be kept for the next time, it is kept for this session. */
  const char *folders[] = { g_get_user_cache_dir (), g_get_user_runtime_dir () };
  for (guint i = 0; i < G_N_ELEMENTS (folders) && derived == NULL; i++)
    {
      if (error.domain == LNS_ERROR_CANCELLED)
        break;
      g_autofree char *folder = g_build_filename (folders[i], "lanescope", "derived", NULL);
      derived = lns_projection_open (lns_view_get_report (projecting->view), folder,
                                     &projecting->cancel, &projecting->permille, &error);
      if (derived == NULL)
        continue;
      utime (lns_report_info (derived)->path, NULL);
      trim (folder);
    }
  if (derived != NULL)
    g_task_return_pointer (task, derived, (GDestroyNotify)lns_report_close);
  else
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", error.message);
}

/* What rows that wait say. */
static void
set_waiting_text (LnsTimeline *self, char *text)
{
  g_free (self->context.waiting_text);
  self->context.waiting_text = text;
  lns_timeline_rows_redraw (self->pinned);
  lns_timeline_rows_redraw (self->rows);
}

static gboolean
tell_cb (gpointer data)
{
  LnsTimeline *self = data;
  unsigned percent = atomic_load (self->projected_permille) / 10;
  set_waiting_text (self, g_strdup_printf (_ ("Finding ranges on the GPU: %u %%"), percent));
  return G_SOURCE_CONTINUE;
}

static void
projected_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  LnsError problem = { 0 };
  LnsReport *derived = g_task_propagate_pointer (G_TASK (result), &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the timeline may be gone */
  LnsTimeline *self = data;
  LnsReport *report = lns_view_get_report (self->context.view);
  g_clear_object (&self->projecting);
  g_clear_handle_id (&self->telling, g_source_remove);
  if (derived != NULL && !lns_report_attach (report, derived, &problem))
    {
      lns_report_close (derived);
      derived = NULL;
    }
  if (derived == NULL)
    {
      self->cannot_project = TRUE;
      set_waiting_text (self, g_strdup_printf (_ ("Not found: %s"),
                                               error != NULL ? error->message : problem.message));
      return;
    }
  _lns_timeline_replace_tree (self, lns_row_tree_with_projections (self->context.tree, report));
  _lns_timeline_rows_changed (self);
}

/* Whether a row that no fold hides waits for its ranges. */
static gboolean
any_waits (LnsTimeline *self)
{
  const LnsRowTree *tree = self->context.tree;
  for (uint32_t v = 0; v < lns_row_tree_n_visible (tree); v++)
    if (lns_row_is_waiting (lns_row_tree_row (tree, lns_row_tree_visible (tree, v))))
      return TRUE;
  return FALSE;
}

void
_lns_timeline_project_wanted (LnsTimeline *self)
{
  gboolean wanted = FALSE;
  if (self->projecting != NULL || self->reading != NULL || self->cannot_project)
    return;
  for (guint i = 0; i < self->spans->len && !wanted; i++)
    {
      uint32_t row = g_array_index (self->spans, LnsStripSpan, i).row;
      wanted = lns_row_is_waiting (lns_row_tree_row (self->context.tree, row));
    }
  if (!wanted)
    return;
  Projecting *projecting = g_new0 (Projecting, 1);
  projecting->view = g_object_ref (self->context.view);
  self->projecting = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (NULL, self->projecting, projected_cb, self);
  g_task_set_task_data (task, projecting, projecting_free);
  g_cancellable_connect (self->projecting, G_CALLBACK (cancelled_cb), projecting, NULL);
  self->projected_permille = &projecting->permille;
  self->telling = g_timeout_add (TELL_MSEC, tell_cb, self);
  g_task_run_in_thread (task, project);
}

void
_lns_timeline_stop_projecting (LnsTimeline *self)
{
  g_clear_handle_id (&self->telling, g_source_remove);
  if (self->projecting != NULL)
    g_cancellable_cancel (self->projecting);
  g_clear_object (&self->projecting);
}

void
_lns_timeline_stop_unwanted_projecting (LnsTimeline *self)
{
  if (self->projecting != NULL && !any_waits (self))
    _lns_timeline_stop_projecting (self);
}
