/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/projector.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <utime.h>

#include "src/analysis/projection/projection-file.h"

#define TELL_MSEC  200
#define KEPT_FILES 32 /* the latest ones; in all at most: */
#define KEPT_BYTES (INT64_C (1) << 30)

struct LnsProjector
{
  LnsView *view; /* owned */
  const LnsProjectorFuncs *funcs;
  gpointer data;
  GCancellable *projecting;    /* or NULL */
  const atomic_uint *permille; /* of that: how far it is */
  guint telling;               /* source that tells it */
  gboolean failed;
};

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

static gboolean
tell_cb (gpointer data)
{
  LnsProjector *self = data;
  unsigned percent = atomic_load (self->permille) / 10;
  g_autofree char *text = g_strdup_printf (_ ("Finding ranges on the GPU: %u %%"), percent);
  self->funcs->told (text, self->data);
  return G_SOURCE_CONTINUE;
}

static void
projected_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  LnsError problem = { 0 };
  LnsReport *derived = g_task_propagate_pointer (G_TASK (result), &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the projector may be gone */
  LnsProjector *self = data;
  g_clear_object (&self->projecting);
  g_clear_handle_id (&self->telling, g_source_remove);
  if (derived != NULL && !lns_report_attach (lns_view_get_report (self->view), derived, &problem))
    {
      lns_report_close (derived);
      derived = NULL;
    }
  if (derived == NULL)
    {
      g_autofree char *text =
          g_strdup_printf (_ ("Not found: %s"), error != NULL ? error->message : problem.message);
      self->failed = TRUE;
      self->funcs->told (text, self->data);
      return;
    }
  self->funcs->projected (self->data);
}

/* --- Interface ----------------------------------------------------------------------------- */

void
lns_projector_start (LnsProjector *self)
{
  if (self->projecting != NULL || self->failed)
    return;
  Projecting *projecting = g_new0 (Projecting, 1);
  projecting->view = g_object_ref (self->view);
  self->projecting = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (NULL, self->projecting, projected_cb, self);
  g_task_set_task_data (task, projecting, projecting_free);
  g_cancellable_connect (self->projecting, G_CALLBACK (cancelled_cb), projecting, NULL);
  self->permille = &projecting->permille;
  self->telling = g_timeout_add (TELL_MSEC, tell_cb, self);
  g_task_run_in_thread (task, project);
}

void
lns_projector_stop (LnsProjector *self)
{
  g_clear_handle_id (&self->telling, g_source_remove);
  g_cancellable_cancel (self->projecting);
  g_clear_object (&self->projecting);
}

gboolean
lns_projector_is_projecting (LnsProjector *self)
{
  return self->projecting != NULL;
}

LnsProjector *
lns_projector_new (LnsView *view, const LnsProjectorFuncs *funcs, gpointer data)
{
  LnsProjector *self = g_new0 (LnsProjector, 1);
  self->view = g_object_ref (view);
  self->funcs = funcs;
  self->data = data;
  return self;
}

void
lns_projector_free (LnsProjector *self)
{
  if (self == NULL)
    return;
  lns_projector_stop (self);
  g_object_unref (self->view);
  g_free (self);
}
