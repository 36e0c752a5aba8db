/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/bookmarks.h"

#include "src/base/compare.h"

struct _LnsBookmarks
{
  GObject parent_instance;

  GArray *marks; /* owned; of LnsMark */
};

G_DEFINE_FINAL_TYPE (LnsBookmarks, lns_bookmarks, G_TYPE_OBJECT)

static guint changed_signal;

static int
compare (const LnsMark *a, const LnsMark *b)
{
  return LNS_COMPARE (a->start_ns, b->start_ns) ?: LNS_COMPARE (a->end_ns, b->end_ns);
}

const LnsMark *
lns_bookmarks_get (LnsBookmarks *self, guint *ret_n)
{
  *ret_n = self->marks->len;
  return (const LnsMark *)(void *)self->marks->data;
}

void
lns_bookmarks_add (LnsBookmarks *self, int64_t start_ns, int64_t end_ns, const char *name)
{
  LnsMark mark = { start_ns, end_ns, NULL };
  guint i = 0;

  g_return_if_fail (start_ns <= end_ns && g_utf8_validate (name, -1, NULL));
  while (i < self->marks->len && compare (&g_array_index (self->marks, LnsMark, i), &mark) < 0)
    i++;
  const gboolean is_there =
      i < self->marks->len && compare (&g_array_index (self->marks, LnsMark, i), &mark) == 0;
  if (!is_there && self->marks->len >= LNS_BOOKMARKS_MAX)
    return;
  mark.name = g_utf8_substring (name, 0, MIN (g_utf8_strlen (name, -1), LNS_BOOKMARK_MAX_CHARS));
  if (is_there)
    {
      g_free (g_array_index (self->marks, LnsMark, i).name);
      g_array_index (self->marks, LnsMark, i) = mark;
    }
  else
    g_array_insert_val (self->marks, i, mark);
  g_signal_emit (self, changed_signal, 0);
}

void
lns_bookmarks_remove (LnsBookmarks *self, guint i)
{
  g_return_if_fail (i < self->marks->len);
  g_array_remove_index (self->marks, i);
  g_signal_emit (self, changed_signal, 0);
}

int
lns_bookmarks_next (LnsBookmarks *self, int64_t time_ns, int direction)
{
  int found = -1;

  for (guint i = 0; i < self->marks->len; i++)
    {
      const int64_t start_ns = g_array_index (self->marks, LnsMark, i).start_ns;
      if (direction < 0 && start_ns < time_ns)
        found = (int)i;
      else if (direction > 0 && start_ns > time_ns)
        return (int)i;
    }
  return found;
}

LnsBookmarks *
lns_bookmarks_of (LnsView *view)
{
  LnsBookmarks *self = g_object_get_data (G_OBJECT (view), "lns-bookmarks");

  if (self != NULL)
    return g_object_ref (self);
  self = g_object_new (LNS_TYPE_BOOKMARKS, NULL);
  g_object_set_data_full (G_OBJECT (view), "lns-bookmarks", g_object_ref (self), g_object_unref);
  return self;
}

static void
lns_bookmarks_finalize (GObject *object)
{
  g_array_unref (LNS_BOOKMARKS (object)->marks);
  G_OBJECT_CLASS (lns_bookmarks_parent_class)->finalize (object);
}

static void
lns_bookmarks_class_init (LnsBookmarksClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_bookmarks_finalize;
  changed_signal = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

static void
free_name (gpointer mark)
{
  g_free (((LnsMark *)mark)->name);
}

static void
lns_bookmarks_init (LnsBookmarks *self)
{
  self->marks = g_array_new (FALSE, FALSE, sizeof (LnsMark));
  g_array_set_clear_func (self->marks, free_name);
}
