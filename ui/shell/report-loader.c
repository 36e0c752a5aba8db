/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/report-loader.h"

#include <glib/gi18n.h>

#include "src/import/open.h"
#include "src/store/recover/recover.h"

G_DEFINE_QUARK (lns - load - error - quark, lns_load_error)

typedef struct
{
  char *path; /* owned */
  gboolean recover;
  atomic_bool cancelled; /* set by any thread */
  atomic_uint permille;
} Load;

static void
load_free (Load *load)
{
  g_free (load->path);
  g_free (load);
}

/* On the worker. */
static void
progress_cb (double fraction, void *data)
{
  atomic_store (&((Load *)data)->permille, (unsigned)(1000 * CLAMP (fraction, 0, 1)));
}

static void
cancelled_cb (GCancellable *cancellable, gpointer data)
{
  Load *load = g_task_get_task_data (data);

  atomic_store (&load->cancelled, true);
}

/* What another program recorded comes through the cache of imported reports. */
static LnsReport *
open_any (Load *load, const LnsOpenOptions *options, LnsError *error)
{
  const LnsImportOptions importing = { .cancel = options->cancel,
                                       .progress = options->progress,
                                       .progress_data = options->progress_data };
  bool recovered;

  if (lns_import_kind (load->path) != LNS_INPUT_REPORT)
    return lns_import_open (load->path, &importing, error);
  return load->recover ? lns_report_open_or_recover (load->path, options, &recovered, error)
                       : lns_report_open (load->path, options, error);
}

static void
load_thread (GTask *task, gpointer source, gpointer task_data, GCancellable *cancellable)
{
  Load *load = task_data;
  LnsOpenOptions options = { .cancel = &load->cancelled,
                             .progress = progress_cb,
                             .progress_data = load };
  LnsError error = { 0 };
  gulong handler = g_cancellable_connect (cancellable, G_CALLBACK (cancelled_cb),
                                          g_object_ref (task), g_object_unref);
  LnsReport *report = open_any (load, &options, &error);

  g_cancellable_disconnect (cancellable, handler);
  if (report != NULL)
    g_task_return_pointer (task, report, (GDestroyNotify)lns_report_close);
  else
    g_task_return_new_error (task, LNS_LOAD_ERROR, error.domain, "%s", error.message);
}

const atomic_uint *
lns_report_load_async (GFile *file,
                       gboolean recover,
                       GCancellable *cancellable,
                       GAsyncReadyCallback callback,
                       gpointer data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, data);
  Load *load = g_new0 (Load, 1);

  load->path = g_file_get_path (file);
  load->recover = recover;
  g_task_set_task_data (task, load, (GDestroyNotify)load_free);
  g_task_set_return_on_cancel (task, TRUE);
  if (load->path != NULL)
    g_task_run_in_thread (task, load_thread);
  else
    g_task_return_new_error (task, LNS_LOAD_ERROR, LNS_ERROR_UNSUPPORTED,
                             _ ("The report is on another machine; copy it to this one first"));
  g_object_unref (task);
  return &load->permille;
}

LnsReport *
lns_report_load_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
