/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/functions/functions-pane.h"

#include <glib/gi18n.h>

#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "ui/functions/flame-graph.h"
#include "ui/functions/function-table.h"
#include "ui/model/theme.h"
#include "ui/model/shortcuts.h"
#include "ui/model/tooltip.h"

/* Modules in the legend of the flame graph. */
#define MAX_LEGEND  8
#define TITLE_CHARS 28 /* of the title, which are in view however little room there is */

struct _LnsFunctionsPane
{
  AdwBin parent_instance;

  GSettings *settings;     /* owned */
  LnsFunctions *functions; /* owned */

  GMenuModel *row_menu; /* owned */
  LnsFunctionTable *function_table;
  LnsFlameGraph *flame_graph;
  GtkLabel *crumbs; /* the way to what the flame graph shows */
  uint32_t crumb;   /* the branch of the link that was followed */
  guint showing;    /* source that shows it, or 0 */

  GtkWidget *header;
  GtkLabel *title;
  GtkWidget *all_threads;
  GtkLabel *count;
  GtkSpinner *spinner;
  GtkAdjustment *least;
  GtkDropDown *sources; /* hidden where there is nothing to choose */
  GArray *source_of;    /* owned: of LnsFunctionsSource, by place in it */
  GtkWidget *by_module; /* where samples are counted, as the next one */
  GtkWidget *by_thread;
  GtkWidget *strips_numbers; /* where GPU time is counted */
  GtkLabel *reading;
  GtkEditable *filter;
  GtkStack *
      stack; /* pages "none", "reading", "error", "empty", "no-chains", "no-match", "flame", "table" */
  AdwStatusPage *error_page;
  AdwStatusPage *empty_page;
  AdwStatusPage *no_match_page;
  GtkScrolledWindow *flame;
  GtkViewport *flame_port;
  GtkLabel *legend;
  AdwBin *table;
};

G_DEFINE_FINAL_TYPE (LnsFunctionsPane, lns_functions_pane, ADW_TYPE_BIN)

/* --- What is shown ------------------------------------------------------------------------------ */

static void
show_error (AdwStatusPage *page, const char *message)
{
  g_autofree char *markup = g_markup_escape_text (message, -1);

  adw_status_page_set_description (page, markup);
}

/* The page of the stack. */
static const char *
page_now (LnsFunctionsPane *self)
{
  const LnsFunctionSums *sums = lns_functions_get_sums (self->functions);
  g_autofree char *view = g_settings_get_string (self->settings, "functions-view");

  switch (lns_functions_get_state (self->functions))
    {
    case LNS_FUNCTIONS_NONE:
      return "none";
    case LNS_FUNCTIONS_READING:
      return "reading";
    case LNS_FUNCTIONS_FAILED:
      return "error";
    case LNS_FUNCTIONS_READY:
      break;
    }
  if (sums->n_samples == 0)
    return "empty";
  if (sums->n_samples == sums->n_without_chain)
    return "no-chains";
  if (sums->matches != NULL && sums->sums.n_samples == 0)
    return "no-match";
  return g_str_equal (view, "flame") ? "flame" : "table";
}

/* Whose samples they are. Of which time, the dock says. */
static const char *
title_now (LnsFunctionsPane *self)
{
  const char *threads = lns_functions_get_threads_title (self->functions);

  return threads != NULL ? threads : _ ("All threads");
}

/* How many samples there are. Free with g_free (). */
static char *
count_samples (LnsFunctionsPane *self, const LnsFunctionSums *sums)
{
  g_autofree char *all = lns_functions_amount (self->functions, sums->n_samples);
  g_autofree char *shown = lns_functions_amount (self->functions, sums->sums.n_samples);
  char without_chain[LNS_FORMAT_SIZE];

  if (sums->matches != NULL)
    return g_strdup_printf (ngettext ("%s of %s sample", "%s of %s samples", sums->n_samples),
                            shown, all);
  if (sums->n_without_chain > 0)
    return g_strdup_printf (ngettext ("%s sample, %s without a call chain",
                                      "%s samples, %s without a call chain", sums->n_samples),
                            all, lns_format_unsigned (sums->n_without_chain, without_chain));
  return lns_functions_amount_in_words (self->functions, sums->n_samples);
}

/* How much GPU time there is, and of how much of it nothing is known. Free with g_free (). */
static char *
count_gpu_time (LnsFunctionsPane *self, const LnsFunctionSums *sums)
{
  g_autofree char *all = lns_functions_amount (self->functions, sums->n_samples);
  uint64_t without_launch = 0;

  if (sums->matches != NULL)
    {
      g_autofree char *shown = lns_functions_amount (self->functions, sums->sums.n_samples);
      /* Translators: two durations: "1.2 ms of 3.4 ms of GPU time" */
      return g_strdup_printf (_ ("%s of %s of GPU time"), shown, all);
    }
  for (uint32_t i = 0; i < sums->tree->n_functions; i++)
    if (sums->tree->functions[i].sort == LNS_CALL_NO_LAUNCH)
      without_launch += sums->functions[i].total;
  if (without_launch == 0)
    return g_strdup_printf (_ ("%s of GPU time"), all);
  g_autofree char *share = lns_functions_share (self->functions, without_launch);
  /* Translators: a duration and a share: "3.4 ms of GPU time, launch not recorded: 1.2 %" */
  return g_strdup_printf (_ ("%s of GPU time, launch not recorded: %s"), all, share);
}

/* How much is counted; of samples also how many of all have all callers. Free with g_free (). */
static char *
count_now (LnsFunctionsPane *self, const LnsFunctionSums *sums)
{
  if (sums->source == LNS_FUNCTIONS_OF_GPU)
    {
      g_autofree char *time = count_gpu_time (self, sums);
      if (!sums->strips_numbers ||
          g_settings_get_boolean (self->settings, "functions-strip-numbers"))
        return g_steal_pointer (&time);
      /* Translators: "8.000 s of GPU time"; ranges whose names differ by numbers alone are shown as one, unasked */
      return g_strdup_printf (_ ("%s, layers as one: too many to tell apart"), time);
    }
  g_autofree char *samples = count_samples (self, sums);
  if (*sums->share_whole == '\0')
    return g_steal_pointer (&samples);
  /* Translators: how many samples there are, and a share: "1,500 samples, call chains complete: 97.3 %" */
  return g_strdup_printf (_ ("%s, call chains complete: %s"), samples, sums->share_whole);
}

/* A module, by one of its functions, and what is counted in it. */
typedef struct
{
  uint32_t function;
  uint64_t n;
  gboolean is_around; /* … in others alone: they count it, too */
} Module;

static int
compare_modules (gconstpointer pa, gconstpointer pb)
{
  const Module *a = pa, *b = pb;

  return LNS_COMPARE (a->is_around, b->is_around)
             ?: LNS_COMPARE (b->n, a->n)
             ?: LNS_COMPARE (a->function, b->function);
}

/* The modules of SUMS in which samples were taken, that with most of them first; of GPU time, behind them, also those of the ranges around it.
 * Owned; of Module. */
static GArray *
list_modules (const LnsFunctionSums *sums)
{
  const LnsCallTree *tree = sums->tree;
  GArray *modules = g_array_new (FALSE, FALSE, sizeof (Module));
  g_autofree LnsCallCount *counts = g_new0 (LnsCallCount, tree->n_functions);

  lns_call_tree_functions (tree, &sums->sums, true, counts);
  for (uint32_t i = 0; i < tree->n_functions; i++)
    {
      const uint64_t n = sums->source == LNS_FUNCTIONS_OF_GPU ? counts[i].total : counts[i].self;
      if (n > 0)
        g_array_append_val (modules, ((Module){ i, n, counts[i].self == 0 }));
    }
  g_array_sort (modules, compare_modules);
  return modules;
}

/* Says which colours the modules with most samples have. */
static void
update_legend (LnsFunctionsPane *self, const LnsFunctionSums *sums)
{
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  g_autoptr (GArray) modules = list_modules (sums);
  g_autoptr (GString) markup = g_string_new (NULL);

  for (guint i = 0; i < MIN (modules->len, MAX_LEGEND); i++)
    {
      const Module *module = &g_array_index (modules, Module, i);
      g_autofree char *name = lns_functions_module_name (self->functions, module->function);
      g_autofree char *escaped = g_markup_escape_text (name, -1);
      g_autofree char *share = lns_functions_share (self->functions, module->n);
      const uint32_t rgb = lns_palette_color (
          palette, 0, lns_functions_module_hue (self->functions, module->function));
      /* Each group adds up to all of the time. */
      const gboolean begins_group =
          i > 0 && module->is_around && !g_array_index (modules, Module, i - 1).is_around;
      g_string_append_printf (markup, "%s<span foreground=\"#%06x\">■</span> %s %s",
                              begins_group ? "   |   "
                              : i > 0      ? "   "
                                           : "",
                              rgb, escaped, share);
    }
  gtk_label_set_markup (self->legend, markup->str);
  lns_tooltip_set (
      GTK_WIDGET (self->legend),
      sums->source == LNS_FUNCTIONS_OF_GPU
          ? _ ("Kinds of operations, and behind the line the ranges around them, with their share "
               "of the GPU time and their colours")
          : _ ("Modules by the samples that were taken in them, and their colours"));
}

/* In place of the number of samples, so that no bar moves below the pointer, the way to what the flame graph shows. */
static void
update_crumbs (LnsFunctionsPane *self)
{
  g_autofree char *crumbs = lns_flame_graph_crumbs (self->flame_graph);
  const gboolean has_crumbs =
      crumbs != NULL && g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), "flame") == 0;

  gtk_widget_set_visible (GTK_WIDGET (self->crumbs), has_crumbs);
  gtk_widget_set_visible (GTK_WIDGET (self->count), !has_crumbs);
  gtk_label_set_markup (self->crumbs, crumbs != NULL ? crumbs : "");
}

/* Says of what is counted why there is nothing to see. */
static void
update_pages (LnsFunctionsPane *self, const LnsFunctionSums *sums)
{
  const gboolean is_gpu = lns_functions_get_source (self->functions) == LNS_FUNCTIONS_OF_GPU;

  gtk_label_set_text (self->reading, is_gpu ? _ ("Reading GPU work…") : _ ("Reading samples…"));
  adw_status_page_set_title (self->error_page, is_gpu ? _ ("The GPU Time Cannot Be Shown")
                                                      : _ ("The Samples Cannot Be Shown"));
  adw_status_page_set_title (self->empty_page,
                             is_gpu ? _ ("No GPU Time Here") : _ ("No Samples Here"));
  adw_status_page_set_description (
      self->empty_page, is_gpu ? _ ("No GPU worked for these threads in the selected time.")
                               : _ ("No sample was taken of these threads in the selected time."));
  if (sums != NULL && sums->matches != NULL)
    {
      g_autofree char *text = g_strdup_printf (
          is_gpu ? _ ("No range and no operation of a GPU has a name that contains “%s”.")
                 : _ ("No call chain has a function or module whose name contains “%s”."),
          gtk_editable_get_text (self->filter));
      show_error (self->no_match_page, text);
    }
  gtk_widget_set_visible (self->by_module, !is_gpu);
  gtk_widget_set_visible (self->by_thread, !is_gpu);
  gtk_widget_set_visible (self->strips_numbers, is_gpu);
}

static void
update (LnsFunctionsPane *self)
{
  const LnsFunctionSums *sums = lns_functions_get_sums (self->functions);
  const LnsFunctionsState state = lns_functions_get_state (self->functions);
  const char *title = title_now (self);
  g_autofree char *count = state == LNS_FUNCTIONS_READY ? count_now (self, sums) : g_strdup ("");

  gtk_widget_set_visible (self->header, state != LNS_FUNCTIONS_NONE);
  gtk_label_set_text (self->title, title);
  /* Where there is little room, the count is cut off first. Most letters are narrower than what GTK takes for one. */
  gtk_label_set_width_chars (self->title,
                             (int)MIN (4 * g_utf8_strlen (title, -1) / 5 + 1, TITLE_CHARS));
  gtk_label_set_text (self->count, count);
  lns_tooltip_set (GTK_WIDGET (self->count), count);
  gtk_widget_set_visible (self->all_threads,
                          lns_functions_get_threads_title (self->functions) != NULL);
  gtk_spinner_set_spinning (self->spinner, lns_functions_is_busy (self->functions));
  if (state == LNS_FUNCTIONS_FAILED)
    show_error (self->error_page, lns_functions_get_message (self->functions));
  update_pages (self, sums);
  if (sums != NULL)
    update_legend (self, sums);
  gtk_stack_set_visible_child_name (self->stack, page_now (self));
  update_crumbs (self);
}

static void
zoomed_cb (LnsFlameGraph *flame_graph, LnsFunctionsPane *self)
{
  update_crumbs (self);
}

/* Offers what the report has. It may get more while it is recorded. */
static void
update_sources (LnsFunctionsPane *self)
{
  static const char *const names[LNS_N_FUNCTIONS_SOURCES] = {
    [LNS_FUNCTIONS_OF_CPU] = N_ ("CPU Samples"),
    [LNS_FUNCTIONS_OF_PYTHON] = N_ ("Python Samples"),
    [LNS_FUNCTIONS_OF_GPU] = N_ ("GPU Time"),
  };
  g_autoptr (GArray) sources = g_array_new (FALSE, FALSE, sizeof (LnsFunctionsSource));
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  const LnsFunctionsSource now = lns_functions_get_source (self->functions);
  guint at = GTK_INVALID_LIST_POSITION;

  for (LnsFunctionsSource i = 0; i < LNS_N_FUNCTIONS_SOURCES; i++)
    if (lns_functions_has_source (self->functions, i))
      {
        at = i == now ? sources->len : at;
        g_array_append_val (sources, i);
        gtk_string_list_append (titles, _ (names[i]));
      }
  if (self->source_of != NULL && self->source_of->len == sources->len)
    return;
  g_clear_pointer (&self->source_of, g_array_unref);
  gtk_drop_down_set_model (self->sources, G_LIST_MODEL (titles));
  gtk_drop_down_set_selected (self->sources, at);
  self->source_of = g_steal_pointer (&sources);
  gtk_widget_set_visible (GTK_WIDGET (self->sources), self->source_of->len > 1);
}

static void
changed_cb (LnsFunctions *functions, LnsFunctionsPane *self)
{
  update_sources (self);
  update (self);
}

static gboolean
show_crumb_cb (gpointer data)
{
  LnsFunctionsPane *self = data;

  self->showing = 0;
  lns_flame_graph_show (self->flame_graph, self->crumb);
  return G_SOURCE_REMOVE;
}

/* Later, as GTK 4.8 is not done with the label of the link, which changes then. */
static gboolean
crumb_cb (GtkLabel *crumbs, const char *uri, LnsFunctionsPane *self)
{
  self->crumb = (uint32_t)g_ascii_strtoull (uri, NULL, 10);
  g_clear_handle_id (&self->showing, g_source_remove);
  self->showing = g_idle_add (show_crumb_cb, self);
  return GDK_EVENT_STOP;
}

/* Long chains to where the first functions fork would fill the pane of a flame graph that is higher than it. Scrolls behind
 * them as soon as the height is known. */
static void
height_cb (GtkAdjustment *adjustment, LnsFunctionsPane *self)
{
  const double page_px = gtk_adjustment_get_page_size (adjustment);
  const double fork_px = lns_flame_graph_get_fork_px (self->flame_graph);

  if (fork_px < 0 || page_px <= 0)
    return;
  g_signal_handlers_disconnect_by_func (adjustment, height_cb, self);
  gtk_adjustment_set_value (adjustment,
                            g_settings_get_boolean (self->settings, "functions-flame-upwards")
                                ? gtk_adjustment_get_upper (adjustment) - fork_px - page_px
                                : fork_px);
}

/* --- Settings ------------------------------------------------------------------------------------- */

static void
settings_cb (GSettings *settings, const char *key, LnsFunctionsPane *self)
{
  /* Other panes and the window have settings there, too. */
  if (key != NULL && !g_str_has_prefix (key, "functions-"))
    return;
  g_autofree char *view = g_settings_get_string (settings, "functions-view");

  lns_functions_set_by_module (self->functions,
                               g_settings_get_boolean (settings, "functions-by-module"));
  lns_functions_set_by_thread (self->functions,
                               g_settings_get_boolean (settings, "functions-by-thread"));
  lns_functions_set_strips_numbers (self->functions,
                                    g_settings_get_boolean (settings, "functions-strip-numbers"));
  lns_flame_graph_set_upwards (self->flame_graph,
                               g_settings_get_boolean (settings, "functions-flame-upwards"));
  lns_function_rows_set_least (lns_function_table_get_rows (self->function_table),
                               g_settings_get_double (settings, "functions-hide-below") / 100);
  if (!g_str_equal (view, "flame"))
    lns_function_table_set_mode (self->function_table,
                                 g_str_equal (view, "top-down")    ? LNS_FUNCTION_ROWS_TOP_DOWN
                                 : g_str_equal (view, "bottom-up") ? LNS_FUNCTION_ROWS_BOTTOM_UP
                                                                   : LNS_FUNCTION_ROWS_FLAT);
  update (self);
}

static void
add_actions (LnsFunctionsPane *self)
{
  static const char *const keys[] = { "functions-view", "functions-by-module",
                                      "functions-by-thread", "functions-strip-numbers",
                                      "functions-flame-upwards" };
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();

  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GAction) action = g_settings_create_action (self->settings, keys[i]);
      g_action_map_add_action (G_ACTION_MAP (group), action);
    }
  gtk_widget_insert_action_group (GTK_WIDGET (self), "pane", G_ACTION_GROUP (group));
  g_settings_bind (self->settings, "functions-hide-below", self->least, "value",
                   G_SETTINGS_BIND_DEFAULT);
}

/* --- What the user does ---------------------------------------------------------------------------- */

static void
filter_cb (LnsFunctionsPane *self)
{
  lns_functions_set_filter (self->functions, gtk_editable_get_text (self->filter));
}

static void
all_threads_cb (LnsFunctionsPane *self)
{
  lns_functions_set_threads (self->functions, NULL, NULL);
}

static void
source_cb (LnsFunctionsPane *self)
{
  const guint at = gtk_drop_down_get_selected (self->sources);

  if (self->source_of != NULL && at < self->source_of->len)
    lns_functions_set_source (self->functions,
                              g_array_index (self->source_of, LnsFunctionsSource, at));
}

void
lns_functions_pane_show_threads (LnsFunctionsPane *self, const char *title, const bool *threads)
{
  lns_functions_set_threads (self->functions, title, threads);
}

static void
filter_action_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_widget_grab_focus (GTK_WIDGET (LNS_FUNCTIONS_PANE (widget)->filter));
}

/* --- Life ----------------------------------------------------------------------------------- */

static void
lns_functions_pane_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lns_functions_pane_parent_class)->map (widget);
  lns_functions_set_active (LNS_FUNCTIONS_PANE (widget)->functions, TRUE);
}

static void
lns_functions_pane_unmap (GtkWidget *widget)
{
  lns_functions_set_active (LNS_FUNCTIONS_PANE (widget)->functions, FALSE);
  GTK_WIDGET_CLASS (lns_functions_pane_parent_class)->unmap (widget);
}

GtkWidget *
lns_functions_pane_new (LnsView *view, GSettings *settings)
{
  LnsFunctionsPane *self = g_object_new (LNS_TYPE_FUNCTIONS_PANE, NULL);

  self->settings = g_object_ref (settings);
  self->functions = lns_functions_new (view);
  self->function_table =
      LNS_FUNCTION_TABLE (lns_function_table_new (self->functions, self->row_menu));
  adw_bin_set_child (self->table, GTK_WIDGET (self->function_table));
  self->flame_graph = LNS_FLAME_GRAPH (lns_flame_graph_new (self->functions, self->row_menu));
  gtk_viewport_set_child (self->flame_port, GTK_WIDGET (self->flame_graph));
  g_signal_connect_object (self->flame_graph, "zoomed", G_CALLBACK (zoomed_cb), self, 0);
  g_signal_connect_object (self->crumbs, "activate-link", G_CALLBACK (crumb_cb), self, 0);
  g_signal_connect_object (gtk_scrolled_window_get_vadjustment (self->flame), "changed",
                           G_CALLBACK (height_cb), self, 0);
  add_actions (self);
  g_signal_connect_object (settings, "changed", G_CALLBACK (settings_cb), self, 0);
  g_signal_connect_object (self->functions, "changed", G_CALLBACK (changed_cb), self, 0);
  lns_theme_connect (G_CALLBACK (update), self);
  update_sources (self);
  settings_cb (settings, NULL, self);
  return GTK_WIDGET (self);
}

static void
lns_functions_pane_dispose (GObject *object)
{
  LnsFunctionsPane *self = LNS_FUNCTIONS_PANE (object);

  g_clear_handle_id (&self->showing, g_source_remove);
  G_OBJECT_CLASS (lns_functions_pane_parent_class)->dispose (object);
  if (self->functions != NULL)
    g_object_run_dispose (G_OBJECT (self->functions));
  g_clear_object (&self->functions);
  g_clear_object (&self->settings);
  g_clear_pointer (&self->source_of, g_array_unref);
}

static void
lns_functions_pane_class_init (LnsFunctionsPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_functions_pane_dispose;
  widget_class->map = lns_functions_pane_map;
  widget_class->unmap = lns_functions_pane_unmap;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/functions-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, row_menu);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, header);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, title);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, all_threads);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, count);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, spinner);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, least);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, sources);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, by_module);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, by_thread);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, strips_numbers);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, reading);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, empty_page);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, filter);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, error_page);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, no_match_page);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, flame);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, flame_port);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, crumbs);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, legend);
  gtk_widget_class_bind_template_child (widget_class, LnsFunctionsPane, table);
  gtk_widget_class_bind_template_callback (widget_class, filter_cb);
  gtk_widget_class_bind_template_callback (widget_class, all_threads_cb);
  gtk_widget_class_bind_template_callback (widget_class, source_cb);
  gtk_widget_class_install_action (widget_class, "functions-pane.filter", NULL, filter_action_cb);
  lns_shortcuts_add_to_class (widget_class, "functions-pane.");
}

static void
lns_functions_pane_init (LnsFunctionsPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
