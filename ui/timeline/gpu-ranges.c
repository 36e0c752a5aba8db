/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/gpu-ranges.h"

#include <glib/gi18n.h>
#include <utime.h>

#include "src/analysis/projection/projection-file.h"
#include "src/store/read/report-cache.h"
#include "ui/model/job.h"

#define KEPT_FILES 32 /* of ranges on the GPU: the most recently used ones, of at most: */
#define KEPT_BYTES (INT64_C (1) << 30)

typedef struct
{
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

static void
project (LnsWorker *worker, gpointer job)
{
  Projecting *it = job;
  /* Where the cache folder cannot be used, the runtime folder keeps the ranges for this session. */
  const char *folders[] = { g_get_user_cache_dir (), g_get_user_runtime_dir () };
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      LnsError error = { 0 };
      g_autofree char *folder = g_build_filename (folders[i], "lanescope", "derived", NULL);
      it->derived = lns_projection_open (worker->report, folder, &worker->cancelled,
                                         &worker->permille, &error);
      /* If neither folder can be used, people can mend the first one. */
      if (i == 0 || error.domain != LNS_ERROR_IO)
        it->error = error;
      if (error.domain != LNS_ERROR_IO)
        break;
    }
  if (it->derived == NULL)
    return;
  const char *path = lns_report_info (it->derived)->path;
  utime (path, NULL);
  lns_report_cache_prune (path, KEPT_FILES, KEPT_BYTES);
}

static void
show_progress (unsigned permille, gpointer owner)
{
  LnsGpuRanges *self = owner;
  self->funcs->tell (g_strdup_printf (_ ("Finding ranges on the GPU: %u %%"), permille / 10),
                     self->owner);
}

static void
projected_cb (gpointer job, gpointer owner)
{
  Projecting *it = job;
  LnsGpuRanges *self = owner;
  LnsReport *report = lns_view_get_report (self->view);
  self->has_failed = it->derived == NULL || !lns_report_attach (report, it->derived, &it->error);
  if (self->has_failed)
    {
      self->funcs->tell (g_strdup_printf (_ ("Not found: %s"), it->error.message), self->owner);
      return;
    }
  it->derived = NULL;
  self->funcs->found (self->owner);
}

static const LnsJobFuncs project_funcs = { project, projected_cb, projecting_free, show_progress };

void
lns_gpu_ranges_find (LnsGpuRanges *self,
                     LnsView *view,
                     const LnsGpuRangesFuncs *funcs,
                     gpointer owner)
{
  if (self->finding != NULL || self->has_failed)
    return;
  self->view = view;
  self->funcs = funcs;
  self->owner = owner;
  lns_job_start (&self->finding, view, &project_funcs, g_new0 (Projecting, 1), self);
}
