/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/tile-builder.h"

#include <sys/resource.h>

#include "ui/tiles/tile-painter.h"

#define MAX_WORKERS 4
/* Finished tiles are handed over in groups: each handover costs a frame. */
#define GROUP_USEC 6000
/* The main thread and the display server have priority. */
#define NICER 5

struct LnsTileBuilder
{
  LnsView *view;     /* owned */
  LnsReport *report; /* a reference: the view's may grow */
  const LnsRowTree *tree;
  PangoFontDescription *font; /* owned */
  void (*ready) (gpointer data);
  gpointer data;
  GPtrArray *threads; /* of GThread */
  atomic_uint generation;

  GMutex mutex;    /* guards what follows */
  GCond wake;      /* the queue has an item, or `quit` is set */
  GArray *queue;   /* of LnsTileRequest; the next one is the last */
  GArray *running; /* of LnsTileRequest */
  GPtrArray *done; /* of LnsTile */
  gint64 group_usec;
  guint source; /* of the pending call of `ready`, or 0 */
  guint64 n_painted;
  gboolean quit;
};

static gboolean
ready_cb (gpointer data)
{
  LnsTileBuilder *self = data;
  g_mutex_lock (&self->mutex);
  self->source = 0;
  self->group_usec = g_get_monotonic_time ();
  g_mutex_unlock (&self->mutex);
  self->ready (self->data);
  return G_SOURCE_REMOVE;
}

/* The place of REQUEST among those under way, or their number. The caller holds the mutex. */
static guint
find_running (LnsTileBuilder *self, const LnsTileRequest *request)
{
  guint i = 0;
  for (; i < self->running->len; i++)
    {
      const LnsTileRequest *it = &g_array_index (self->running, LnsTileRequest, i);
      if (lns_tile_key_equal (&it->key, &request->key) && it->exact == request->exact)
        break;
    }
  return i;
}

static gpointer
work (gpointer data)
{
  LnsTileBuilder *self = data;
  setpriority (PRIO_PROCESS, 0,
               getpriority (PRIO_PROCESS, 0) + NICER); /* this thread's, on Linux */
  LnsTilePainter *painter = lns_tile_painter_new (self->report, self->tree, self->font);
  g_mutex_lock (&self->mutex);
  while (!self->quit)
    {
      if (self->queue->len == 0)
        {
          g_cond_wait (&self->wake, &self->mutex);
          continue;
        }
      LnsTileRequest request = g_array_index (self->queue, LnsTileRequest, self->queue->len - 1);
      g_array_set_size (self->queue, self->queue->len - 1);
      g_array_append_val (self->running, request);
      unsigned expected = atomic_load (&self->generation);
      g_mutex_unlock (&self->mutex);

      LnsTile *tile = lns_tile_painter_paint (painter, &request.key, request.exact,
                                              &self->generation, expected);
      g_mutex_lock (&self->mutex);
      guint place = find_running (self, &request);
      if (place < self->running->len)
        g_array_remove_index_fast (self->running, place);
      if (tile != NULL)
        {
          g_ptr_array_add (self->done, tile);
          self->n_painted++;
        }
      gint64 waited_usec = g_get_monotonic_time () - self->group_usec;
      gboolean idle = self->queue->len == 0 && self->running->len == 0;
      if (self->done->len > 0 && self->source == 0 && !self->quit &&
          (idle || waited_usec >= GROUP_USEC))
        self->source = g_idle_add_full (G_PRIORITY_DEFAULT, ready_cb, self, NULL);
    }
  g_mutex_unlock (&self->mutex);
  lns_tile_painter_free (painter);
  return NULL;
}

LnsTileBuilder *
lns_tile_builder_new (LnsView *view,
                      const LnsRowTree *tree,
                      const PangoFontDescription *font,
                      void (*ready) (gpointer data),
                      gpointer data)
{
  LnsTileBuilder *self = g_new0 (LnsTileBuilder, 1);
  self->view = g_object_ref (view);
  self->report = lns_report_ref (lns_view_get_report (view));
  self->tree = tree;
  self->font = pango_font_description_copy (font);
  self->ready = ready;
  self->data = data;
  self->queue = g_array_new (FALSE, FALSE, sizeof (LnsTileRequest));
  self->running = g_array_new (FALSE, FALSE, sizeof (LnsTileRequest));
  self->done = g_ptr_array_new_with_free_func ((GDestroyNotify)lns_tile_free);
  g_mutex_init (&self->mutex);
  g_cond_init (&self->wake);
  self->threads = g_ptr_array_new ();
  /* Leaves one processor to the main thread. */
  guint n_workers = CLAMP (g_get_num_processors () - 1, 1, MAX_WORKERS);
  for (guint i = 0; i < n_workers; i++)
    g_ptr_array_add (self->threads, g_thread_new ("tiles", work, self));
  return self;
}

void
lns_tile_builder_free (LnsTileBuilder *self)
{
  if (self == NULL)
    return;
  g_mutex_lock (&self->mutex);
  self->quit = TRUE;
  atomic_fetch_add (&self->generation, 1);
  g_cond_broadcast (&self->wake);
  g_mutex_unlock (&self->mutex);
  for (guint i = 0; i < self->threads->len; i++)
    g_thread_join (g_ptr_array_index (self->threads, i));
  g_clear_handle_id (&self->source, g_source_remove);
  g_ptr_array_unref (self->threads);
  g_ptr_array_unref (self->done);
  g_array_unref (self->queue);
  g_array_unref (self->running);
  g_mutex_clear (&self->mutex);
  g_cond_clear (&self->wake);
  pango_font_description_free (self->font);
  lns_report_close (self->report);
  g_object_unref (self->view);
  g_free (self);
}

/* Whether the tile of REQUEST is under way or waits to be taken. The caller holds the mutex. */
static gboolean
in_hand (LnsTileBuilder *self, const LnsTileRequest *request)
{
  if (find_running (self, request) < self->running->len)
    return TRUE;
  for (guint i = 0; i < self->done->len; i++)
    {
      const LnsTile *tile = g_ptr_array_index (self->done, i);
      if (lns_tile_key_equal (&tile->key, &request->key) &&
          (!request->exact || tile->state != LNS_TILE_COARSE))
        return TRUE;
    }
  return FALSE;
}

void
lns_tile_builder_want (LnsTileBuilder *self, const LnsTileRequest *requests, guint n_requests)
{
  g_mutex_lock (&self->mutex);
  g_array_set_size (self->queue, 0);
  for (guint i = n_requests; i > 0; i--)
    if (!in_hand (self, &requests[i - 1]))
      g_array_append_val (self->queue, requests[i - 1]);
  if (self->queue->len > 0)
    g_cond_broadcast (&self->wake);
  g_mutex_unlock (&self->mutex);
}

void
lns_tile_builder_cancel (LnsTileBuilder *self)
{
  g_mutex_lock (&self->mutex);
  atomic_fetch_add (&self->generation, 1);
  g_array_set_size (self->queue, 0);
  g_array_set_size (self->running, 0); /* later requests for them are painted again */
  g_mutex_unlock (&self->mutex);
}

GPtrArray *
lns_tile_builder_take (LnsTileBuilder *self)
{
  GPtrArray *taken = NULL;
  g_mutex_lock (&self->mutex);
  if (self->done->len > 0)
    {
      taken = self->done;
      self->done = g_ptr_array_new_with_free_func ((GDestroyNotify)lns_tile_free);
    }
  g_mutex_unlock (&self->mutex);
  return taken;
}

guint64
lns_tile_builder_n_painted (LnsTileBuilder *self)
{
  g_mutex_lock (&self->mutex);
  guint64 n_painted = self->n_painted;
  g_mutex_unlock (&self->mutex);
  return n_painted;
}
