/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/bookmarks.h"
#include "ui/model/display-text.h"

#include <glib/gi18n.h>

#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/base/saturate.h"

struct _LnsBookmarks
{
  GObject parent_instance;

  LnsView *view; /* owns this; NULL once it has gone */
  GArray *marks; /* owned; of LnsMark                */
  int current;   /* that was gone to last, or -1     */
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
  self->current = (int)i;
  g_signal_emit (self, changed_signal, 0);
}

void
lns_bookmarks_remove (LnsBookmarks *self, guint i)
{
  g_return_if_fail (i < self->marks->len);
  g_array_remove_index (self->marks, i);
  self->current = -1;
  g_signal_emit (self, changed_signal, 0);
}

void
lns_bookmarks_go (LnsBookmarks *self, guint i)
{
  g_return_if_fail (i < self->marks->len && self->view != NULL);
  const LnsMark mark = g_array_index (self->marks, LnsMark, i);
  int64_t margin_ns = lns_difference (mark.end_ns, mark.start_ns) / 4;
  if (margin_ns > 0)
    lns_view_set_time_selection (self->view, mark.start_ns, mark.end_ns);
  else
    margin_ns =
        lns_difference (lns_view_get_end_ns (self->view), lns_view_get_start_ns (self->view)) / 2;
  lns_view_show_span (self->view, lns_difference (mark.start_ns, margin_ns),
                      lns_sum (mark.end_ns, margin_ns));
  self->current = (int)i;
}

int
lns_bookmarks_get_current (LnsBookmarks *self)
{
  if (self->current < 0 || self->view == NULL)
    return -1;
  const LnsMark *mark = &g_array_index (self->marks, LnsMark, self->current);
  return mark->end_ns >= lns_view_get_start_ns (self->view) &&
                 mark->start_ns <= lns_view_get_end_ns (self->view)
             ? self->current
             : -1;
}

void
lns_bookmarks_step (LnsBookmarks *self, int direction)
{
  const int current = lns_bookmarks_get_current (self), n = (int)self->marks->len;
  int next = direction > 0 ? 0 : n - 1;
  if (current >= 0)
    next = current + direction;
  else
    {
      const int64_t here_ns =
          lns_view_get_start_ns (self->view) / 2 + lns_view_get_end_ns (self->view) / 2;
      while (next >= 0 && next < n &&
             (direction > 0 ? g_array_index (self->marks, LnsMark, next).start_ns <= here_ns
                            : g_array_index (self->marks, LnsMark, next).start_ns >= here_ns))
        next += direction;
    }
  if (n > 0)
    lns_bookmarks_go (self, (guint)((next + n) % n));
}

char *
lns_bookmarks_time_text (LnsBookmarks *self, guint i)
{
  char text[LNS_FORMAT_SIZE], length[LNS_FORMAT_SIZE];
  const LnsMark *mark = &g_array_index (self->marks, LnsMark, i);
  g_autofree char *start = lns_display_signed (lns_format_duration_exact (mark->start_ns, text)),
                  *end = lns_display_signed (lns_format_duration_exact (mark->end_ns, text));
  if (mark->end_ns == mark->start_ns)
    return g_steal_pointer (&start);
  lns_format_duration (lns_difference (mark->end_ns, mark->start_ns), length);
  /* Translators: when a bookmark begins and ends, and its length */
  return g_strdup_printf (_ ("%s – %s (%s)"), start, end, length);
}

LnsBookmarks *
lns_bookmarks_of (LnsView *view)
{
  LnsBookmarks *self = g_object_get_data (G_OBJECT (view), "lns-bookmarks");

  if (self != NULL)
    return g_object_ref (self);
  self = g_object_new (LNS_TYPE_BOOKMARKS, NULL);
  g_set_weak_pointer (&self->view, view);
  g_object_set_data_full (G_OBJECT (view), "lns-bookmarks", g_object_ref (self), g_object_unref);
  return self;
}

static void
lns_bookmarks_finalize (GObject *object)
{
  g_clear_weak_pointer (&LNS_BOOKMARKS (object)->view);
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
  self->current = -1;
  self->marks = g_array_new (FALSE, FALSE, sizeof (LnsMark));
  g_array_set_clear_func (self->marks, free_name);
}
