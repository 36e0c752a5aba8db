/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/report-loader.h"

#include <fcntl.h>
#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/import/open.h"
#include "src/store/format/chunk-format.h"
#include "src/store/recover/recover.h"

G_DEFINE_QUARK (lns - load - error - quark, lns_load_error)

#define SEARCH_BYTES     (1 << 20)
#define SEARCH_MAX_BYTES ((off_t)1 << 30) /* that a file is searched for a chunk */

typedef struct
{
  char *path; /* owned; the worker's */
  gboolean recover;
  gboolean may_recover;  /* written by the worker */
  atomic_bool cancelled; /* set by any thread */
  LnsLoadProgress progress;
  LnsStoredView stored; /* owned; written by the worker */
} Load;

static void
load_free (Load *load)
{
  lns_stored_view_clear (&load->stored);
  g_free (load->path);
  g_free (load);
}

/* On the worker. */
static void
progress_cb (double fraction, void *data)
{
  atomic_store (&((Load *)data)->progress.permille, (unsigned)(1000 * CLAMP (fraction, 0, 1)));
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
  char *stand_in = lns_import_stand_in (load->path);

  if (stand_in != NULL)
    {
      g_free (load->path);
      load->path = g_strdup (stand_in);
      free (stand_in);
    }
  atomic_store (&load->progress.imports, lns_import_kind (load->path) != LNS_INPUT_REPORT);
  if (atomic_load (&load->progress.imports))
    return lns_import_open (load->path, &importing, error);
  return load->recover ? lns_report_open_or_recover (load->path, options, &recovered, error)
                       : lns_report_open (load->path, options, error);
}

/* Whether a chunk of a report begins in BYTES. */
static gboolean
has_chunk (const guint8 *bytes, gsize size_bytes)
{
  const guint8 *at = bytes;
  LnsChunkHeader header;

  while ((at = memmem (at, size_bytes - (gsize)(at - bytes), LNS_CHUNK_MAGIC, 8)) != NULL)
    if (lns_chunk_parse_header (at, size_bytes - (gsize)(at - bytes), &header))
      return TRUE;
    else
      at++;
  return FALSE;
}

/* Whether recovery has a chance with the file of LOAD, which could not be opened: it recovers chunks. */
static gboolean
may_be_recovered (const Load *load)
{
  const int fd = open (load->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  g_autofree guint8 *bytes = g_malloc (SEARCH_BYTES);
  gboolean found = FALSE;
  off_t at = 0;
  ssize_t n;

  while (!found && fd >= 0 && at < SEARCH_MAX_BYTES && !atomic_load (&load->cancelled) &&
         (n = pread (fd, bytes, SEARCH_BYTES, at)) > 0)
    {
      found = has_chunk (bytes, (gsize)n);
      /* A header may lie across two reads. */
      at += n > LNS_CHUNK_HEADER_BYTES ? n - LNS_CHUNK_HEADER_BYTES : n;
    }
  if (fd >= 0)
    close (fd);
  return found;
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
  load->may_recover = report == NULL && error.domain == LNS_ERROR_FORMAT && !load->recover &&
                      may_be_recovered (load);
  if (report != NULL)
    lns_view_store_read (report, &load->stored);
  if (report != NULL)
    g_task_return_pointer (task, report, (GDestroyNotify)lns_report_close);
  else
    g_task_return_new_error (task, LNS_LOAD_ERROR, error.domain, "%s", error.message);
}

const LnsLoadProgress *
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
  return &load->progress;
}

LnsReport *
lns_report_load_finish (GAsyncResult *result,
                        GFile **ret_file,
                        gboolean *ret_may_recover,
                        LnsStoredView *ret_stored,
                        GError **error)
{
  Load *load = g_task_get_task_data (G_TASK (result));
  LnsReport *report = g_task_propagate_pointer (G_TASK (result), error);

  /* Of a load that was cancelled the worker may be at work still. */
  if (!g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    {
      *ret_file = load->path != NULL ? g_file_new_for_path (load->path) : NULL;
      *ret_may_recover = load->may_recover;
      *ret_stored = load->stored;
      load->stored = (LnsStoredView){ 0 };
    }
  return report;
}
