/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-copy.h"

#include "ui/events/event-write.h"

struct _LnsEventsCopy
{
  GdkContentProvider parent_instance;

  LnsView *view;      /* owned: keeps the report open */
  LnsEventRows *rows; /* owned */
  LnsEventColumnList columns;
};

G_DEFINE_FINAL_TYPE (LnsEventsCopy, lns_events_copy, GDK_TYPE_CONTENT_PROVIDER)

/* Both live while the worker writes; the main thread releases them. */
typedef struct
{
  const LnsEventsCopy *copy;
  GOutputStream *stream;
} Writing;

static void
write_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Writing *writing = data;
  GError *error = NULL;

  if (lns_event_rows_write (writing->copy->rows, &writing->copy->columns, '\t', writing->stream,
                            NULL, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
written_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) asked = data;
  GError *error = NULL;

  if (g_task_propagate_boolean (G_TASK (result), &error))
    g_task_return_boolean (asked, TRUE);
  else
    g_task_return_error (asked, error);
}

static void
write_mime_type_async (GdkContentProvider *provider,
                       const char *mime_type,
                       GOutputStream *stream,
                       int io_priority,
                       GCancellable *cancellable,
                       GAsyncReadyCallback callback,
                       gpointer data)
{
  /* Holds the provider and the stream. Used on the main thread only. */
  GTask *asked = g_task_new (provider, cancellable, callback, data);
  g_autoptr (GTask) worker = g_task_new (NULL, cancellable, written_cb, asked);
  Writing *writing = g_new (Writing, 1);

  g_task_set_task_data (asked, g_object_ref (stream), g_object_unref);
  *writing = (Writing){ LNS_EVENTS_COPY (provider), stream };
  g_task_set_task_data (worker, writing, g_free);
  g_task_run_in_thread (worker, write_thread);
}

static gboolean
write_mime_type_finish (GdkContentProvider *provider, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static GdkContentFormats *
ref_formats (GdkContentProvider *provider)
{
  /* The text is bytes, because names need not be UTF-8. */
  static const char *types[] = { "text/plain;charset=utf-8", "text/tab-separated-values" };

  return gdk_content_formats_new (types, G_N_ELEMENTS (types));
}

GdkContentProvider *
lns_events_copy_new (LnsView *view, LnsEventRows *rows, const LnsEventColumnList *columns)
{
  LnsEventsCopy *self = g_object_new (LNS_TYPE_EVENTS_COPY, NULL);

  self->view = g_object_ref (view);
  self->rows = rows;
  self->columns = *columns;
  return GDK_CONTENT_PROVIDER (self);
}

static void
lns_events_copy_finalize (GObject *object)
{
  LnsEventsCopy *self = LNS_EVENTS_COPY (object);

  lns_event_rows_free (self->rows);
  g_object_unref (self->view);
  G_OBJECT_CLASS (lns_events_copy_parent_class)->finalize (object);
}

static void
lns_events_copy_class_init (LnsEventsCopyClass *klass)
{
  GdkContentProviderClass *provider_class = GDK_CONTENT_PROVIDER_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = lns_events_copy_finalize;
  provider_class->ref_formats = ref_formats;
  provider_class->write_mime_type_async = write_mime_type_async;
  provider_class->write_mime_type_finish = write_mime_type_finish;
}

static void
lns_events_copy_init (LnsEventsCopy *self)
{
}
