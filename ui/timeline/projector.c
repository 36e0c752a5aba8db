/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/projector.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <utime.h>

#include "src/analysis/projection/projection-file.h"
#include "ui/model/job.h"

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
  atomic_uint permille;
  LnsReport *derived; /* owned; or NULL and ERROR */
  LnsError error;
} Projecting;

static void
projecting_free (gpointer data)
{
  Projecting *projecting = data;
  lns_report_close (projecting->derived);
  g_free (projecting);
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
project (LnsWorker *worker, gpointer job)
{
  Projecting *it = job;
  /* Where nothing can be kept for the next time, it is kept for this session. */
  const char *folders[] = { g_get_user_cache_dir (), g_get_user_runtime_dir () };
  for (guint i = 0; i < G_N_ELEMENTS (folders) && it->derived == NULL; i++)
    {
      if (it->error.domain == LNS_ERROR_CANCELLED)
        break;
      g_autofree char *folder = g_build_filename (folders[i], "lanescope", "derived", NULL);
      it->derived = lns_projection_open (worker->report, folder, &worker->cancelled, &it->permille,
                                         &it->error);
      if (it->derived == NULL)
        continue;
      utime (lns_report_info (it->derived)->path, NULL);
      trim (folder);
    }
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
projected_cb (gpointer job, gpointer owner)
{
  Projecting *it = job;
  LnsProjector *self = owner;
  g_clear_handle_id (&self->telling, g_source_remove);
  if (it->derived != NULL &&
      lns_report_attach (lns_view_get_report (self->view), it->derived, &it->error))
    {
      it->derived = NULL;
      self->funcs->projected (self->data);
      return;
    }
  g_autofree char *text = g_strdup_printf (_ ("Not found: %s"), it->error.message);
  self->failed = TRUE;
  self->funcs->told (text, self->data);
}

static const LnsJobFuncs project_funcs = { project, projected_cb, projecting_free };

/* --- Interface ----------------------------------------------------------------------------- */

void
lns_projector_start (LnsProjector *self)
{
  if (self->projecting != NULL || self->failed)
    return;
  Projecting *projecting = g_new0 (Projecting, 1);
  self->permille = &projecting->permille;
  self->telling = g_timeout_add (TELL_MSEC, tell_cb, self);
  lns_job_start (&self->projecting, self->view, &project_funcs, projecting, self);
}

void
lns_projector_stop (LnsProjector *self)
{
  g_clear_handle_id (&self->telling, g_source_remove);
  lns_job_cancel (&self->projecting);
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
