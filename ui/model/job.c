/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/job.h"

#define TELL_MSEC 100

typedef struct
{
  LnsWorker worker;
  LnsView *view; /* owned */
  const LnsJobFuncs *funcs;
  gpointer job; /* owned */
  gpointer owner;
  GCancellable **running; /* of OWNER */
  guint telling;          /* source that tells the progress, or 0 */
} Run;

static void
work_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Run *run = data;
  run->funcs->work (&run->worker, run->job);
  g_task_return_boolean (task, TRUE);
}

/* Frees all here: the task's own data may go with a reference that the worker's thread holds, and the last reference on
 * the view belongs to the main thread. */
static void
done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Run *run = data;
  g_clear_handle_id (&run->telling, g_source_remove);
  if (g_task_propagate_boolean (G_TASK (result), NULL))
    {
      g_clear_object (run->running);
      run->funcs->done (run->job, run->owner);
    }
  run->funcs->free (run->job);
  lns_report_close (run->worker.report);
  g_object_unref (run->view);
  g_free (run);
}

static void
cancelled_cb (GCancellable *cancellable, gpointer data)
{
  Run *run = data;
  g_clear_handle_id (&run->telling, g_source_remove); /* the owner may go */
  atomic_store (&run->worker.cancelled, true);
}

static gboolean
tell_cb (gpointer data)
{
  Run *run = data;
  run->funcs->tell (atomic_load (&run->worker.permille), run->owner);
  return G_SOURCE_CONTINUE;
}

void
lns_job_start (
    GCancellable **running, LnsView *view, const LnsJobFuncs *funcs, gpointer job, gpointer owner)
{
  Run *run = g_new0 (Run, 1);
  g_autoptr (GTask) task = NULL;
  lns_job_cancel (running);
  *running = g_cancellable_new ();
  run->worker.report = lns_report_ref (lns_view_get_report (view));
  run->worker.cancellable = *running;
  run->view = g_object_ref (view);
  run->funcs = funcs;
  run->job = job;
  run->owner = owner;
  run->running = running;
  if (funcs->tell != NULL)
    run->telling = g_timeout_add (TELL_MSEC, tell_cb, run);
  g_cancellable_connect (*running, G_CALLBACK (cancelled_cb), run, NULL);
  task = g_task_new (NULL, *running, done_cb, run);
  g_task_set_task_data (task, run, NULL);
  g_task_run_in_thread (task, work_thread);
}

void
lns_job_cancel (GCancellable **running)
{
  g_cancellable_cancel (*running);
  g_clear_object (running);
}
