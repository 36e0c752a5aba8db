/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/compare/pair-bar.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/analysis/filter.h"
#include "src/base/format.h"
#include "ui/model/pair.h"

struct _LnsPairBar
{
  AdwBin parent_instance;

  LnsPair *pair;                 /* owned */
  LnsAlign listed[LNS_N_ALIGNS]; /* what `ways` has, in order … */
  guint n_listed;
  gboolean is_telling; /* … which is being changed */

  GtkLabel *names;
  GtkDropDown *ways;
  GtkWidget *step_box;
  GtkLabel *step;
  GtkWidget *swap;
  GtkEditable *offset;
};

G_DEFINE_FINAL_TYPE (LnsPairBar, lns_pair_bar, ADW_TYPE_BIN)

static const char *
way_text (LnsAlign by)
{
  static const char *const texts[] = {
    [LNS_ALIGN_START] = N_ ("Start"),
    [LNS_ALIGN_STEP] = N_ ("Step"),
    [LNS_ALIGN_EVENTS] = N_ ("Selected Events"),
    [LNS_ALIGN_CLOCK] = N_ ("Time of Day"),
    [LNS_ALIGN_SPANS] = N_ ("Selected Times"),
    [LNS_ALIGN_HAND] = N_ ("Hand"),
  };

  return _ (texts[by]);
}

/* --- What it tells ---------------------------------------------------------------------------- */

/* Lists the ways in which the reports can be aligned now. */
static void
list_ways (LnsPairBar *self)
{
  g_autoptr (GtkStringList) list = gtk_string_list_new (NULL);
  guint chosen = 0;

  self->n_listed = 0;
  for (int by = 0; by < LNS_N_ALIGNS; by++)
    if (lns_pair_can_align (self->pair, (LnsAlign)by) ||
        lns_pair_get_align (self->pair) == (LnsAlign)by)
      {
        if (lns_pair_get_align (self->pair) == (LnsAlign)by)
          chosen = self->n_listed;
        self->listed[self->n_listed++] = (LnsAlign)by;
        gtk_string_list_append (list, way_text ((LnsAlign)by));
      }
  self->is_telling = TRUE;
  gtk_drop_down_set_model (self->ways, G_LIST_MODEL (list));
  gtk_drop_down_set_selected (self->ways, chosen);
  self->is_telling = FALSE;
}

static void
tell_step (LnsPairBar *self)
{
  size_t n_steps;
  const size_t step = lns_pair_get_step (self->pair, &n_steps);
  g_autofree char *text = g_strdup_printf (_ ("%zu of %zu"), step + 1, n_steps);

  gtk_widget_set_visible (self->step_box, lns_pair_get_align (self->pair) == LNS_ALIGN_STEP);
  gtk_label_set_text (self->step, text);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "pair.previous-step", step > 0);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "pair.next-step", step + 1 < n_steps);
}

static void
tell_offset (LnsPairBar *self)
{
  const int64_t offset_ns = lns_pair_get_offset_ns (self->pair);
  char text[LNS_FORMAT_SIZE];
  g_autofree char *whole = g_strdup_printf ("%s%s", offset_ns > 0 ? "+" : "",
                                            lns_format_duration_exact (offset_ns, text));

  gtk_editable_set_text (self->offset, whole);
}

static void
tell (LnsPairBar *self)
{
  const gboolean is_open = lns_pair_get_view (self->pair, 1) != NULL;

  gtk_widget_set_visible (GTK_WIDGET (self), is_open);
  if (!is_open)
    return;
  g_autofree char *a = lns_pair_get_name (self->pair, 0), *b = lns_pair_get_name (self->pair, 1);
  /* Translators: the names of two files */
  g_autofree char *names = g_strdup_printf (_ ("A: %s · B: %s"), a, b);
  gtk_label_set_text (self->names, names);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->names), names);
  gtk_widget_set_visible (self->swap, lns_pair_get_file (self->pair) != NULL);
  list_ways (self);
  tell_step (self);
  tell_offset (self);
}

/* --- What people do --------------------------------------------------------------------------- */

static void
way_cb (LnsPairBar *self)
{
  const guint chosen = gtk_drop_down_get_selected (self->ways);

  if (!self->is_telling && chosen < self->n_listed)
    lns_pair_align (self->pair, self->listed[chosen]);
}

static void
step_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsPairBar *self = LNS_PAIR_BAR (widget);
  size_t n_steps;
  const size_t step = lns_pair_get_step (self->pair, &n_steps);

  lns_pair_align_step (self->pair, g_str_equal (action, "pair.next-step") ? step + 1 : step - 1);
}

/* Reads TEXT, "-2.5 ms". */
static gboolean
parse_offset (const char *text, int64_t *ret_ns)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_autofree char *plain = g_strjoinv ("", words);
  const gboolean is_minus = g_str_has_prefix (plain, "-") || g_str_has_prefix (plain, "−");
  const char *magnitude = g_str_has_prefix (plain, "−")    ? plain + strlen ("−")
                          : *plain == '-' || *plain == '+' ? plain + 1
                                                           : plain;
  g_autofree char *span_text = g_strdup_printf ("%s/", magnitude);
  LnsFilterSpan span;

  if (*magnitude == '\0' || strchr (magnitude, '/') != NULL ||
      !lns_filter_parse_time (span_text, &span, NULL))
    return FALSE;
  *ret_ns = is_minus ? -span.start_ns : span.start_ns;
  return TRUE;
}

static void
offset_cb (LnsPairBar *self)
{
  int64_t offset_ns;

  if (parse_offset (gtk_editable_get_text (self->offset), &offset_ns))
    lns_pair_set_offset_ns (self->pair, offset_ns);
  else
    tell_offset (self);
}

static void
close_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_pair_close (LNS_PAIR_BAR (widget)->pair);
}

/* --- Life ------------------------------------------------------------------------------------- */

/* Another B: whether events are selected in it counts, too. */
static void
changed_cb (LnsPair *pair, LnsPairBar *self)
{
  LnsView *other = lns_pair_get_view (pair, 1);

  if (other != NULL)
    {
      g_signal_handlers_disconnect_by_func (other, list_ways, self);
      g_signal_connect_object (other, "event-selected", G_CALLBACK (list_ways), self,
                               G_CONNECT_SWAPPED);
    }
  tell (self);
}

GtkWidget *
lns_pair_bar_new (LnsView *view)
{
  LnsPairBar *self = g_object_new (LNS_TYPE_PAIR_BAR, NULL);

  self->pair = lns_pair_of (view);
  g_signal_connect_object (self->pair, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (self->pair, "aligned", G_CALLBACK (tell), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "event-selected", G_CALLBACK (list_ways), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->ways, "notify::selected", G_CALLBACK (way_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->offset, "activate", G_CALLBACK (offset_cb), self,
                           G_CONNECT_SWAPPED);
  changed_cb (self->pair, self);
  return GTK_WIDGET (self);
}

static void
lns_pair_bar_dispose (GObject *object)
{
  g_clear_object (&LNS_PAIR_BAR (object)->pair);
  G_OBJECT_CLASS (lns_pair_bar_parent_class)->dispose (object);
}

static void
lns_pair_bar_class_init (LnsPairBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_pair_bar_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/pair-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsPairBar, names);
  gtk_widget_class_bind_template_child (widget_class, LnsPairBar, ways);
  gtk_widget_class_bind_template_child (widget_class, LnsPairBar, step_box);
  gtk_widget_class_bind_template_child (widget_class, LnsPairBar, step);
  gtk_widget_class_bind_template_child (widget_class, LnsPairBar, offset);
  gtk_widget_class_bind_template_child (widget_class, LnsPairBar, swap);
  gtk_widget_class_install_action (widget_class, "pair.previous-step", NULL, step_cb);
  gtk_widget_class_install_action (widget_class, "pair.next-step", NULL, step_cb);
  gtk_widget_class_install_action (widget_class, "pair.close", NULL, close_cb);
}

static void
lns_pair_bar_init (LnsPairBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
