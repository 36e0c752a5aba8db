/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/follower.h"

#include <errno.h>
#include <string.h>

#include "ui/model/display-text.h"
#include "ui/model/job.h"
#include "ui/model/row-tree.h"

#define PAUSE_MSEC 1000 /* the recorder commits as often */

/* How often it is looked after the end until nothing is added any more. */
#define LOOKS_AFTER_END 120

struct LnsFollower
{
  LnsView *view;         /* owned */
  GCancellable *looking; /* of the look under way, or NULL */
  guint pause;           /* source of the next one, or 0 */
  guint n_after_end;     /* looks since the report has ended or changed after that */
  void (*failed) (const char *message, gpointer data);
  gpointer data;
};

typedef struct
{
  LnsReport *newer; /* owned, or NULL */
  LnsError error;
} Look;

static void
look_free (gpointer data)
{
  lns_report_close (((Look *)data)->newer);
  g_free (data);
}

static void
look_work (LnsWorker *worker, gpointer job)
{
  Look *look = job;
  /* The error tells whether it failed. */
  if (!lns_report_refresh (worker->report, &look->newer, &look->error) || look->newer == NULL)
    return;
  /* The rows that the main thread will make need strings, which are read here. */
  lns_row_tree_unref (lns_row_tree_new (look->newer));
}

static gboolean look_again_cb (gpointer data);

static void
looked_cb (gpointer job, gpointer owner)
{
  Look *look = job;
  LnsFollower *self = owner;

  if (look->error.domain != LNS_ERROR_NONE && look->error.code != EBUSY)
    {
      g_autofree char *text =
          lns_display_text (look->error.message, strlen (look->error.message), FALSE);
      self->failed (text, self->data);
      return;
    }
  self->n_after_end =
      lns_view_is_live (self->view) || look->newer != NULL ? 0 : self->n_after_end + 1;
  if (look->newer != NULL)
    lns_view_grow (self->view, g_steal_pointer (&look->newer));
  if (self->n_after_end < LOOKS_AFTER_END)
    self->pause = g_timeout_add (PAUSE_MSEC, look_again_cb, self);
}

static const LnsJobFuncs look_funcs = { look_work, looked_cb, look_free, NULL };

static gboolean
look_again_cb (gpointer data)
{
  LnsFollower *self = data;

  self->pause = 0;
  lns_job_start (&self->looking, self->view, &look_funcs, g_new0 (Look, 1), self);
  return G_SOURCE_REMOVE;
}

LnsFollower *
lns_follower_new (LnsView *view, void (*failed) (const char *message, gpointer data), gpointer data)
{
  LnsFollower *self = g_new0 (LnsFollower, 1);

  self->view = g_object_ref (view);
  self->failed = failed;
  self->data = data;
  if (lns_view_is_live (view))
    self->pause = g_timeout_add (PAUSE_MSEC, look_again_cb, self);
  return self;
}

void
lns_follower_free (LnsFollower *self)
{
  if (self == NULL)
    return;
  lns_job_cancel (&self->looking);
  g_clear_handle_id (&self->pause, g_source_remove);
  g_object_unref (self->view);
  g_free (self);
}
