/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/compare/compare-pane.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/model/pair.h"
#include "ui/table/result-view.h"

/* How often the progress of opening the other run is shown. */
#define PROGRESS_MS 150

enum
{
  TABLE_CHANGES,
  TABLE_FINDINGS,
  TABLE_DIFFERS,
  N_TABLES
};

struct _LnsComparePane
{
  AdwBin parent_instance;

  LnsView *view;            /* owned */
  LnsPair *pair;            /* owned */
  guint progress_timer;     /* or 0 */
  GArray *places[N_TABLES]; /* owned, or NULL: of LnsPairPlaces, by row */

  GtkStack *stack; /* pages "text", "told" */
  GtkLabel *text;
  GtkProgressBar *progress;
  GtkWidget *compare, *ask, *cancel;
  GtkLabel *verdict, *steps;
  GtkStack *tables; /* a page for each table, and "notes" */
  LnsResultView *views[N_TABLES];
  GtkLabel *notes;
};

G_DEFINE_FINAL_TYPE (LnsComparePane, lns_compare_pane, ADW_TYPE_BIN)

static const struct
{
  const char *name, *title;
} tables[] = {
  [TABLE_CHANGES] = { "changes", N_ ("Changes") },
  [TABLE_FINDINGS] = { "findings", N_ ("Findings") },
  [TABLE_DIFFERS] = { "differs", N_ ("What Differs") },
};

/* --- Where rows lead -------------------------------------------------------------------------- */

/* Goes to PLACE of VIEW, or only selects it unless MOVES: what it lies beside is in view. */
static void
show_place (LnsView *view, const LnsPlace *place, gboolean moves)
{
  const LnsEventId id = lns_view_event (view, place->lane, place->ordinal);

  if (place->lane != LNS_ID_NONE && moves)
    lns_view_reveal_event (view, id);
  else if (place->lane != LNS_ID_NONE)
    lns_view_select_event (view, id);
  else if (moves && place->end_ns > place->start_ns)
    {
      lns_view_show_span (view, place->start_ns, place->end_ns);
      lns_view_set_time_selection (view, place->start_ns, place->end_ns);
    }
}

static void
row_activated_cb (LnsResultView *view, guint row, LnsComparePane *self)
{
  for (int t = 0; t < N_TABLES; t++)
    if (self->views[t] == view && self->places[t] != NULL)
      {
        const LnsPairPlaces *places = &g_array_index (self->places[t], LnsPairPlaces, row);
        if (places->has[0] && places->has[1])
          lns_pair_align_events (self->pair, places->in[0].start_ns, places->in[1].start_ns);
        for (int side = 0; side < 2; side++)
          if (places->has[side] && lns_pair_get_view (self->pair, side) != NULL)
            show_place (lns_pair_get_view (self->pair, side), &places->in[side],
                        side == 0 || !places->has[0]);
      }
}

/* --- What the comparison says ----------------------------------------------------------------- */

static void
set_title (LnsComparePane *self, const char *name, const char *title, size_t n)
{
  g_autofree char *text = n > 0 ? g_strdup_printf ("%s  %zu", title, n) : g_strdup (title);

  gtk_stack_page_set_title (
      gtk_stack_get_page (self->tables, gtk_stack_get_child_by_name (self->tables, name)), text);
}

/* Shows TABLE, which is taken out of the facts, or nothing. */
static void
show_table (LnsComparePane *self, int t, LnsPairTable *table)
{
  LnsResult *result = table != NULL ? g_steal_pointer (&table->result) : NULL;
  const size_t n_rows = result != NULL ? lns_result_n_rows (result) : 0;

  set_title (self, tables[t].name, _ (tables[t].title), n_rows);
  /* Two times of one report have one table alone, and what cannot be compared has no changes: the verdict says why. */
  gtk_stack_page_set_visible (gtk_stack_get_page (self->tables, GTK_WIDGET (self->views[t])),
                              n_rows > 0);
  lns_result_view_set (self->views[t], result);
  g_clear_pointer (&self->places[t], g_array_unref);
  if (table != NULL && table->places != NULL)
    self->places[t] = g_array_ref (table->places);
}

/* Shows the first page that has something. */
static void
show_first_page (LnsComparePane *self)
{
  for (GtkWidget *page = gtk_widget_get_first_child (GTK_WIDGET (self->tables)); page != NULL;
       page = gtk_widget_get_next_sibling (page))
    if (gtk_stack_page_get_visible (gtk_stack_get_page (self->tables, page)))
      {
        gtk_stack_set_visible_child (self->tables, page);
        return;
      }
}

static void
show_facts (LnsComparePane *self, LnsPairFacts *facts)
{
  LnsPairTable *all[N_TABLES] = { &facts->changes, &facts->findings, &facts->differs };
  g_autofree char *notes = g_strjoinv ("\n", facts->notes);

  gtk_label_set_text (self->verdict, facts->verdict);
  gtk_label_set_text (self->steps, facts->steps != NULL ? facts->steps : "");
  gtk_widget_set_visible (GTK_WIDGET (self->steps), facts->steps != NULL);
  for (int t = 0; t < N_TABLES; t++)
    show_table (self, t, all[t]);
  gtk_label_set_text (self->notes, notes);
  set_title (self, "notes", _ ("Notes"), g_strv_length (facts->notes));
  gtk_stack_page_set_visible (
      gtk_stack_get_page (self->tables, gtk_stack_get_child_by_name (self->tables, "notes")),
      *facts->notes != NULL);
  show_first_page (self);
}

static gboolean
progress_cb (gpointer data)
{
  LnsComparePane *self = data;

  /* How far a comparison is cannot be told. */
  if (lns_pair_get_state (self->pair) == LNS_PAIR_OPENING)
    gtk_progress_bar_set_fraction (self->progress, lns_pair_get_permille (self->pair) / 1000.0);
  else
    gtk_progress_bar_pulse (self->progress);
  return G_SOURCE_CONTINUE;
}

static void
changed_cb (LnsPair *pair, LnsComparePane *self)
{
  const LnsPairState state = lns_pair_get_state (pair);
  const gboolean is_under_way = state == LNS_PAIR_OPENING || state == LNS_PAIR_LOOKING;
  LnsPairFacts *facts = lns_pair_get_facts (pair);
  g_autofree char *excuse = lns_pair_get_excuse (pair);

  g_clear_handle_id (&self->progress_timer, g_source_remove);
  if (is_under_way)
    self->progress_timer = g_timeout_add (PROGRESS_MS, progress_cb, self);
  gtk_widget_set_visible (GTK_WIDGET (self->progress), is_under_way);
  gtk_widget_set_visible (self->cancel, is_under_way || state == LNS_PAIR_WAITING);
  gtk_widget_set_visible (self->ask, !gtk_widget_get_visible (self->cancel));
  gtk_widget_set_visible (self->compare, state == LNS_PAIR_BESIDE);
  gtk_stack_set_visible_child_name (self->stack, facts != NULL ? "told" : "text");
  gtk_label_set_text (self->text, excuse != NULL ? excuse : "");
  if (facts != NULL)
    show_facts (self, facts);
  else
    for (int t = 0; t < N_TABLES; t++)
      show_table (self, t, NULL);
}

static void
compare_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_pair_compare (LNS_COMPARE_PANE (widget)->pair);
}

/* Copies the table that shows, or the notes. */
static void
copy_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsComparePane *self = LNS_COMPARE_PANE (widget);
  GtkWidget *shown = gtk_stack_get_visible_child (self->tables);

  if (LNS_IS_RESULT_VIEW (shown))
    lns_result_view_copy (LNS_RESULT_VIEW (shown));
  else
    gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), gtk_label_get_text (self->notes));
}

static void
close_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_pair_close (LNS_COMPARE_PANE (widget)->pair);
}

/* --- Life ------------------------------------------------------------------------------------- */

static void
add_tables (LnsComparePane *self)
{
  for (int t = 0; t < N_TABLES; t++)
    {
      const char *title = _ (tables[t].title);
      self->views[t] = LNS_RESULT_VIEW (lns_result_view_new (self->view, title));
      lns_result_view_keep_columns (self->views[t]);
      g_signal_connect_object (self->views[t], "row-activated", G_CALLBACK (row_activated_cb), self,
                               0);
      gtk_stack_add_titled (self->tables, GTK_WIDGET (self->views[t]), tables[t].name, title);
    }
  GtkWidget *notes = g_object_new (GTK_TYPE_LABEL, "wrap", TRUE, "xalign", 0.0, "yalign", 0.0,
                                   "selectable", TRUE, "margin-start", 12, "margin-end", 12,
                                   "margin-top", 8, "margin-bottom", 8, NULL);
  GtkWidget *scrolled = g_object_new (GTK_TYPE_SCROLLED_WINDOW, "hscrollbar-policy",
                                      GTK_POLICY_NEVER, "child", notes, NULL);
  self->notes = GTK_LABEL (notes);
  gtk_stack_add_titled (self->tables, scrolled, "notes", _ ("Notes"));
}

GtkWidget *
lns_compare_pane_new (LnsView *view)
{
  LnsComparePane *self = g_object_new (LNS_TYPE_COMPARE_PANE, NULL);

  self->view = g_object_ref (view);
  self->pair = lns_pair_of (view);
  add_tables (self);
  g_signal_connect_object (self->pair, "changed", G_CALLBACK (changed_cb), self, 0);
  changed_cb (self->pair, self);
  return GTK_WIDGET (self);
}

static void
lns_compare_pane_dispose (GObject *object)
{
  LnsComparePane *self = LNS_COMPARE_PANE (object);

  g_clear_handle_id (&self->progress_timer, g_source_remove);
  for (int t = 0; t < N_TABLES; t++)
    g_clear_pointer (&self->places[t], g_array_unref);
  g_clear_object (&self->pair);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_compare_pane_parent_class)->dispose (object);
}

static void
lns_compare_pane_class_init (LnsComparePaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_compare_pane_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/compare-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsComparePane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsComparePane, text);
  gtk_widget_class_bind_template_child (widget_class, LnsComparePane, progress);
  gtk_widget_class_bind_template_child (widget_class, LnsComparePane, ask);
  gtk_widget_class_bind_template_child (widget_class, LnsComparePane, compare);
  gtk_widget_class_bind_template_child (widget_class, LnsComparePane, cancel);
  gtk_widget_class_bind_template_child (widget_class, LnsComparePane, verdict);
  gtk_widget_class_bind_template_child (widget_class, LnsComparePane, steps);
  gtk_widget_class_bind_template_child (widget_class, LnsComparePane, tables);
  gtk_widget_class_install_action (widget_class, "compare.run", NULL, compare_cb);
  gtk_widget_class_install_action (widget_class, "compare.copy", NULL, copy_cb);
  gtk_widget_class_install_action (widget_class, "compare.close", NULL, close_cb);
}

static void
lns_compare_pane_init (LnsComparePane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
