/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/scope.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "src/base/saturate.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"

#define REST_MSEC 120

/* Of a view's data: the scope that others hold a reference on. */
#define KEY "lns-scope"

struct _LnsScope
{
  GObject parent_instance;

  LnsView *view; /* owned */
  gboolean is_of_view;
  guint resting; /* source that tells that it rests, or 0 */
};

G_DEFINE_FINAL_TYPE (LnsScope, lns_scope, G_TYPE_OBJECT)

static gboolean
rested_cb (gpointer data)
{
  LnsScope *self = data;

  self->resting = 0;
  g_signal_emit_by_name (self, "rested");
  return G_SOURCE_REMOVE;
}

static void
change (LnsScope *self)
{
  g_clear_handle_id (&self->resting, g_source_remove);
  self->resting = g_timeout_add (REST_MSEC, rested_cb, self);
  g_signal_emit_by_name (self, "changed");
}

/* Another time is in view, which counts unless one is selected. */
static void
span_changed_cb (LnsScope *self)
{
  if (lns_scope_get (self, NULL, NULL) == LNS_SCOPE_VIEW)
    change (self);
}

LnsScopeKind
lns_scope_get (LnsScope *self, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  int64_t start_ns, end_ns;
  LnsScopeKind kind = LNS_SCOPE_WHOLE;

  lns_view_get_whole (self->view, &start_ns, &end_ns);
  if (lns_view_get_time_selection (self->view, &start_ns, &end_ns))
    kind = LNS_SCOPE_SELECTION;
  else if (self->is_of_view)
    {
      kind = LNS_SCOPE_VIEW;
      start_ns = lns_view_get_start_ns (self->view);
      end_ns = lns_view_get_end_ns (self->view);
    }
  if (ret_start_ns != NULL)
    *ret_start_ns = start_ns;
  if (ret_end_ns != NULL)
    *ret_end_ns = end_ns;
  return kind;
}

gboolean
lns_scope_get_is_of_view (LnsScope *self)
{
  return self->is_of_view;
}

void
lns_scope_set_is_of_view (LnsScope *self, gboolean is_of_view)
{
  if (self->is_of_view == is_of_view)
    return;
  self->is_of_view = is_of_view;
  change (self);
}

/* Whether START_NS and END_NS, written with thousandths of their unit, would hardly differ. */
static gboolean
needs_all_digits (int64_t start_ns, int64_t end_ns)
{
  const int64_t most_ns = MAX (ABS (start_ns), ABS (end_ns));
  const int64_t digit_ns = most_ns >= 1000000000 ? 1000000 : most_ns >= 1000000 ? 1000 : 1;

  return lns_difference (end_ns, start_ns) < 10 * digit_ns;
}

static char *
time_text (int64_t ns, gboolean is_exact)
{
  char text[LNS_FORMAT_SIZE];

  if (is_exact)
    return lns_event_text_time (ns);
  return lns_display_signed (lns_format_duration (ns, text));
}

char *
lns_scope_text (LnsScope *self)
{
  int64_t start_ns, end_ns;
  const LnsScopeKind kind = lns_scope_get (self, &start_ns, &end_ns);

  if (kind == LNS_SCOPE_WHOLE)
    return g_strdup (_ ("for the whole run"));
  const gboolean is_exact = needs_all_digits (start_ns, end_ns);
  g_autofree char *from = time_text (start_ns, is_exact), *to = time_text (end_ns, is_exact);
  return g_strdup_printf (kind == LNS_SCOPE_VIEW
                              /* Translators: two times of the report */
                              ? _ ("for what is in view: %s – %s")
                              /* Translators: two times of the report */
                              : _ ("for the selection: %s – %s"),
                          from, to);
}

LnsScope *
lns_scope_of (LnsView *view)
{
  LnsScope *self = g_object_get_data (G_OBJECT (view), KEY);

  if (self != NULL)
    return g_object_ref (self);
  self = g_object_new (LNS_TYPE_SCOPE, NULL);
  self->view = g_object_ref (view);
  g_object_set_data (G_OBJECT (view), KEY, self);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (change), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "span-changed", G_CALLBACK (span_changed_cb), self,
                           G_CONNECT_SWAPPED);
  return self;
}

static void
lns_scope_dispose (GObject *object)
{
  LnsScope *self = LNS_SCOPE (object);

  g_clear_handle_id (&self->resting, g_source_remove);
  if (self->view != NULL)
    g_object_set_data (G_OBJECT (self->view), KEY, NULL);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_scope_parent_class)->dispose (object);
}

static void
lns_scope_class_init (LnsScopeClass *klass)
{
  static const char *const names[] = { "changed", "rested" };

  G_OBJECT_CLASS (klass)->dispose = lns_scope_dispose;
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    g_signal_new (names[i], LNS_TYPE_SCOPE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lns_scope_init (LnsScope *self)
{
}
