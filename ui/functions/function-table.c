/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/functions/function-table.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/model/share-cell.h"
#include "ui/model/column-view.h"
#include "ui/model/context-menu.h"
#include "ui/model/display-text.h"
#include "ui/model/shortcuts.h"
#include "ui/model/text-cell.h"
#include "ui/model/text-size.h"

#define INDENT_PX  10 /* of a row below another one */
#define MAX_INDENT 32 /* rows; deeper ones are indented no further */
#define MIN_CHARS  24 /* of the column with names */

struct _LnsFunctionTable
{
  AdwBin parent_instance;

  LnsFunctions *functions;       /* owned */
  GMenuModel *menu;              /* owned */
  LnsFunctionRows *rows;         /* owned */
  GtkSingleSelection *selection; /* owned */
  GHashTable *cells;             /* owned: the columns of the GtkListItems that are bound */
  GtkColumnView *view;           /* the child */
  GtkColumnViewColumn *column_of[LNS_N_FUNCTION_COLUMNS]; /* owned by the view */
};

G_DEFINE_FINAL_TYPE (LnsFunctionTable, lns_function_table, ADW_TYPE_BIN)

typedef struct
{
  const char *title;
  int width_px; /* 0: what is left */
  gboolean is_number;
  gboolean is_share;
} Column;

static const Column columns[LNS_N_FUNCTION_COLUMNS] = {
  [LNS_FUNCTION_COLUMN_NAME] = { N_ ("Function"), 0, FALSE, FALSE },
  [LNS_FUNCTION_COLUMN_TOTAL] = { N_ ("Total"), 90, TRUE, TRUE },
  [LNS_FUNCTION_COLUMN_SELF] = { N_ ("Self"), 90, TRUE, TRUE },
  [LNS_FUNCTION_COLUMN_SAMPLES] = { N_ ("Samples"), 110, TRUE, FALSE },
  [LNS_FUNCTION_COLUMN_MODULE] = { N_ ("Module"), 180, FALSE, FALSE },
};

static const char *const column_key = "lns-function-column";
static const char *const table_key = "lns-function-table";

static LnsFunctionColumn
column_of (gpointer object)
{
  return GPOINTER_TO_UINT (g_object_get_data (object, column_key));
}

/* --- Cells ------------------------------------------------------------------------------------ */

/* The row of ITEM, or NULL if there is none any more. */
static const LnsFunctionRow *
row_of (LnsFunctionTable *self, GtkListItem *item)
{
  LnsPlace *place = gtk_list_item_get_item (item);

  return place != NULL ? lns_function_rows_get (self->rows, lns_place_get_index (place)) : NULL;
}

/* The text of a cell. Free with g_free (). */
static char *
cell_text (LnsFunctionTable *self, const LnsFunctionRow *row, LnsFunctionColumn column)
{
  const gboolean is_rest = row->function == LNS_ID_NONE;
  const gboolean has_total = !is_rest || row->branch == LNS_ID_NONE;
  char number[LNS_FORMAT_SIZE];
  g_autofree char *path = NULL;

  switch (column)
    {
    case LNS_FUNCTION_COLUMN_NAME:
      if (!is_rest)
        return lns_functions_name (self->functions, row->function);
      return g_strdup_printf (ngettext ("(%s smaller one)", "(%s smaller ones)", row->n_left_out),
                              lns_format_unsigned (row->n_left_out, number));
    case LNS_FUNCTION_COLUMN_TOTAL:
      return has_total && row->count.total > 0
                 ? lns_functions_share (self->functions, row->count.total)
                 : g_strdup ("");
    case LNS_FUNCTION_COLUMN_SELF:
      return row->count.self > 0 ? lns_functions_share (self->functions, row->count.self)
                                 : g_strdup ("");
    case LNS_FUNCTION_COLUMN_SAMPLES:
      return has_total && row->count.total > 0
                 ? lns_functions_amount (self->functions, row->count.total)
                 : g_strdup ("");
    case LNS_FUNCTION_COLUMN_MODULE:
      if (is_rest)
        return g_strdup ("");
      path = lns_functions_module (self->functions, row->function);
      return *path != '\0' ? lns_functions_module_name (self->functions, row->function)
                           : g_strdup ("");
    case LNS_N_FUNCTION_COLUMNS:
      break;
    }
  return NULL;
}

/* The parts of a cell with a name. */
static GtkWidget *
arrow_of (GtkWidget *name_cell)
{
  return gtk_widget_get_first_child (name_cell);
}

static void
fill_name (GtkWidget *cell, const LnsFunctionRow *row, const char *text)
{
  GtkWidget *arrow = arrow_of (cell);
  const gboolean is_expanded = row != NULL && row->is_expanded;
  const uint32_t depth = row != NULL ? MIN (row->depth, MAX_INDENT) : 0;

  gtk_widget_set_margin_start (cell, (int)depth * INDENT_PX);
  gtk_widget_set_opacity (arrow, row != NULL && row->can_fold ? 1 : 0);
  gtk_widget_set_can_target (arrow, row != NULL && row->can_fold);
  gtk_button_set_icon_name (GTK_BUTTON (arrow),
                            is_expanded ? "pan-down-symbolic" : "pan-end-symbolic");
  gtk_accessible_update_state (GTK_ACCESSIBLE (arrow), GTK_ACCESSIBLE_STATE_EXPANDED, is_expanded,
                               -1);
  lns_text_cell_set (LNS_TEXT_CELL (gtk_widget_get_next_sibling (arrow)), text);
}

static void
fill_cell (LnsFunctionTable *self, GtkListItem *item, LnsFunctionColumn column)
{
  const LnsFunctionRow *row = row_of (self, item);
  GtkWidget *cell = gtk_list_item_get_child (item);
  g_autofree char *text = row != NULL ? cell_text (self, row, column) : g_strdup ("");

  if (column == LNS_FUNCTION_COLUMN_NAME)
    fill_name (cell, row, text);
  else if (columns[column].is_share)
    {
      const uint64_t n = row == NULL                          ? 0
                         : column == LNS_FUNCTION_COLUMN_SELF ? row->count.self
                                                              : row->count.total;
      const uint64_t n_all = row != NULL ? lns_functions_get_sums (self->functions)->n_samples : 1;
      lns_share_cell_set (LNS_SHARE_CELL (cell), (double)n / (double)MAX (n_all, 1), text);
    }
  else
    lns_text_cell_set (LNS_TEXT_CELL (cell), text);
}

static gboolean
tooltip_cb (
    GtkWidget *cell, int x, int y, gboolean keyboard, GtkTooltip *tooltip, GtkListItem *item)
{
  LnsFunctionTable *self = g_object_get_data (G_OBJECT (cell), table_key);
  const LnsFunctionRow *row = row_of (self, item);
  if (row == NULL || row->function == LNS_ID_NONE)
    return FALSE;
  g_autofree char *text = lns_functions_describe (self->functions, row->function, row->count);
  g_autofree char *cut = lns_display_cut (text);
  gtk_tooltip_set_text (tooltip, cut);
  return TRUE;
}

static void
arrow_cb (GtkWidget *arrow, GtkListItem *item)
{
  LnsFunctionTable *self = g_object_get_data (G_OBJECT (gtk_widget_get_parent (arrow)), table_key);
  const guint position = gtk_list_item_get_position (item);
  const LnsFunctionRow *row = lns_function_rows_get (self->rows, position);

  if (row == NULL)
    return;
  /* The list keeps widgets for the selected row, which must not be one that goes. */
  gtk_single_selection_set_selected (self->selection, position);
  lns_function_rows_set_expanded (self->rows, position, !row->is_expanded);
}

static void
menu_cb (GtkGestureClick *gesture, int n_presses, double x, double y, GtkListItem *item)
{
  GtkWidget *cell = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (gesture));
  LnsFunctionTable *self = g_object_get_data (G_OBJECT (cell), table_key);
  const guint position = gtk_list_item_get_position (item);
  const LnsFunctionRow *row = lns_function_rows_get (self->rows, position);

  if (row == NULL || row->function == LNS_ID_NONE)
    return;
  gtk_single_selection_set_selected (self->selection, position);
  graphene_point_t point;
  if (!gtk_widget_compute_point (cell, GTK_WIDGET (self), &GRAPHENE_POINT_INIT ((float)x, (float)y),
                                 &point))
    return;
  GtkWidget *focus = cell;
  while (!gtk_widget_get_focusable (focus))
    focus = gtk_widget_get_parent (focus);
  lns_context_menu_open (GTK_WIDGET (self), focus, self->menu, (int)point.x, (int)point.y);
}

static GtkWidget *
name_cell_new (GtkListItem *item)
{
  GtkWidget *cell = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *arrow = gtk_button_new ();
  GtkWidget *text = lns_text_cell_new (FALSE, MIN_CHARS);

  gtk_widget_add_css_class (arrow, "flat");
  gtk_widget_add_css_class (arrow, "timeline-expander");
  gtk_widget_set_focusable (arrow, FALSE);
  gtk_widget_set_valign (arrow, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (arrow), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Fold or unfold"), -1);
  g_signal_connect (arrow, "clicked", G_CALLBACK (arrow_cb), item);
  gtk_widget_set_has_tooltip (text, FALSE); /* the whole cell has one */
  gtk_widget_set_hexpand (text, TRUE);
  gtk_box_append (GTK_BOX (cell), arrow);
  gtk_box_append (GTK_BOX (cell), text);
  return cell;
}

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, LnsFunctionTable *self)
{
  const LnsFunctionColumn column = column_of (factory);
  GtkGesture *click = gtk_gesture_click_new ();
  GtkWidget *cell = column == LNS_FUNCTION_COLUMN_NAME ? name_cell_new (item)
                    : columns[column].is_share         ? lns_share_cell_new ()
                                               : lns_text_cell_new (columns[column].is_number, 0);

  g_object_set_data (G_OBJECT (cell), table_key, self);
  gtk_widget_set_has_tooltip (cell, TRUE);
  g_signal_connect (cell, "query-tooltip", G_CALLBACK (tooltip_cb), item);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), GDK_BUTTON_SECONDARY);
  g_signal_connect (click, "pressed", G_CALLBACK (menu_cb), item);
  gtk_widget_add_controller (cell, GTK_EVENT_CONTROLLER (click));
  gtk_list_item_set_child (item, cell);
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, LnsFunctionTable *self)
{
  g_hash_table_insert (self->cells, item, GUINT_TO_POINTER (column_of (factory)));
  fill_cell (self, item, column_of (factory));
}

static void
unbind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, LnsFunctionTable *self)
{
  g_hash_table_remove (self->cells, item);
}

static void
rows_changed_cb (LnsPlaceList *rows, gboolean completes, LnsFunctionTable *self)
{
  GHashTableIter iter;
  gpointer item, column;

  g_hash_table_iter_init (&iter, self->cells);
  while (g_hash_table_iter_next (&iter, &item, &column))
    fill_cell (self, item, GPOINTER_TO_UINT (column));
}

/* --- Sorting ---------------------------------------------------------------------------------- */

static void
sorter_changed_cb (GtkSorter *sorter, GtkSorterChange change, LnsFunctionTable *self)
{
  gboolean is_descending;
  GtkColumnViewColumn *column = lns_column_view_get_sorted (self->view, &is_descending);

  lns_function_rows_sort (self->rows, column != NULL ? column_of (column) : LNS_N_FUNCTION_COLUMNS,
                          is_descending);
}

static void
add_column (LnsFunctionTable *self, LnsFunctionColumn id)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *column = gtk_column_view_column_new (_ (columns[id].title), factory);

  g_object_set_data (G_OBJECT (factory), column_key, GUINT_TO_POINTER (id));
  g_object_set_data (G_OBJECT (column), column_key, GUINT_TO_POINTER (id));
  g_signal_connect_object (factory, "setup", G_CALLBACK (setup_cb), self, 0);
  g_signal_connect_object (factory, "bind", G_CALLBACK (bind_cb), self, 0);
  g_signal_connect_object (factory, "unbind", G_CALLBACK (unbind_cb), self, 0);
  lns_column_view_make_sortable (column);
  gtk_column_view_column_set_resizable (column, TRUE);
  if (columns[id].width_px > 0)
    gtk_column_view_column_set_fixed_width (
        column, lns_text_scaled_px (GTK_WIDGET (self->view), columns[id].width_px));
  else
    gtk_column_view_column_set_expand (column, TRUE);
  gtk_column_view_append_column (self->view, column);
  if (columns[id].is_number)
    lns_column_view_align_title (column);
  self->column_of[id] = column;
  g_object_unref (column);
}

/* --- Actions ---------------------------------------------------------------------------------- */

static const LnsFunctionRow *
selected_row (LnsFunctionTable *self)
{
  const LnsFunctionRow *row =
      lns_function_rows_get (self->rows, gtk_single_selection_get_selected (self->selection));

  return row != NULL && row->function != LNS_ID_NONE ? row : NULL;
}

static void
show_next_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsFunctionTable *self = LNS_FUNCTION_TABLE (widget);
  const LnsFunctionRow *row = selected_row (self);

  if (row != NULL && row->branch != LNS_ID_NONE)
    lns_functions_show_next (self->functions, lns_function_rows_get_branches (self->rows),
                             row->branch);
  else if (row != NULL)
    lns_functions_show_next_of (self->functions, row->function);
}

static void
expand_heaviest_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsFunctionTable *self = LNS_FUNCTION_TABLE (widget);

  lns_function_rows_expand_heaviest (self->rows,
                                     gtk_single_selection_get_selected (self->selection));
}

static void
sort_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsFunctionTable *self = LNS_FUNCTION_TABLE (widget);

  if (g_str_equal (name, "functions.sort-next"))
    lns_column_view_sort_next (self->view);
  else
    lns_column_view_sort_reverse (self->view);
}

static void
copy_name_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsFunctionTable *self = LNS_FUNCTION_TABLE (widget);
  const LnsFunctionRow *row = selected_row (self);

  if (row == NULL)
    return;
  g_autofree char *text = lns_functions_name (self->functions, row->function);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
}

static void
activate_cb (GtkColumnView *view, guint position, LnsFunctionTable *self)
{
  const LnsFunctionRow *row = lns_function_rows_get (self->rows, position);

  if (row != NULL)
    lns_function_rows_set_expanded (self->rows, position, !row->is_expanded);
}

/* Right unfolds, and left folds or goes to the row above. */
static gboolean
key_cb (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType state,
        LnsFunctionTable *self)
{
  const guint position = gtk_single_selection_get_selected (self->selection);
  const LnsFunctionRow *row = lns_function_rows_get (self->rows, position);
  const gboolean is_left = key == GDK_KEY_Left || key == GDK_KEY_KP_Left;
  const gboolean is_right = key == GDK_KEY_Right || key == GDK_KEY_KP_Right;
  guint above = position;

  if (row == NULL || !(is_left || is_right) ||
      (state & gtk_accelerator_get_default_mod_mask ()) != 0)
    return GDK_EVENT_PROPAGATE;
  if (row->can_fold && row->is_expanded != is_right)
    lns_function_rows_set_expanded (self->rows, position, is_right);
  else if (is_left && row->depth > 0)
    {
      while (above > 0 && lns_function_rows_get (self->rows, above)->depth >= row->depth)
        above--;
      gtk_single_selection_set_selected (self->selection, above);
      lns_column_view_scroll_to (self->view, above);
    }
  return GDK_EVENT_STOP;
}

/* --- Life ----------------------------------------------------------------------------------- */

static void
changed_cb (LnsFunctions *functions, LnsFunctionTable *self)
{
  LnsFunctionSums *sums = lns_functions_get_sums (functions);

  if (sums == NULL)
    return;
  const gboolean is_gpu = sums->source == LNS_FUNCTIONS_OF_GPU;
  gtk_column_view_column_set_title (self->column_of[LNS_FUNCTION_COLUMN_NAME],
                                    is_gpu ? _ ("Range or operation") : _ ("Function"));
  gtk_column_view_column_set_title (self->column_of[LNS_FUNCTION_COLUMN_SAMPLES],
                                    is_gpu ? _ ("GPU time") : _ ("Samples"));
  gtk_column_view_column_set_title (self->column_of[LNS_FUNCTION_COLUMN_MODULE],
                                    is_gpu ? _ ("Kind or domain") : _ ("Module"));
  lns_function_rows_set_sums (self->rows, sums);
}

LnsFunctionRows *
lns_function_table_get_rows (LnsFunctionTable *self)
{
  return self->rows;
}

void
lns_function_table_set_mode (LnsFunctionTable *self, LnsFunctionRowsMode mode)
{
  if (lns_function_rows_get_mode (self->rows) == mode)
    return;
  if (g_list_model_get_n_items (G_LIST_MODEL (self->rows)) > 0)
    lns_column_view_go_to_top (self->view);
  gtk_single_selection_set_selected (self->selection, GTK_INVALID_LIST_POSITION);
  lns_function_rows_set_mode (self->rows, mode);
}

GtkWidget *
lns_function_table_new (LnsFunctions *functions, GMenuModel *menu)
{
  LnsFunctionTable *self = g_object_new (LNS_TYPE_FUNCTION_TABLE, NULL);

  self->functions = g_object_ref (functions);
  self->menu = g_object_ref (menu);
  g_signal_connect_object (functions, "changed", G_CALLBACK (changed_cb), self, 0);
  changed_cb (functions, self);
  return GTK_WIDGET (self);
}

static void
lns_function_table_unmap (GtkWidget *widget)
{
  lns_context_menu_close (widget);
  GTK_WIDGET_CLASS (lns_function_table_parent_class)->unmap (widget);
}

static void
lns_function_table_dispose (GObject *object)
{
  LnsFunctionTable *self = LNS_FUNCTION_TABLE (object);

  if (self->view != NULL)
    gtk_column_view_set_model (self->view, NULL);
  self->view = NULL;
  G_OBJECT_CLASS (lns_function_table_parent_class)->dispose (object);
  g_clear_object (&self->selection);
  g_clear_object (&self->rows);
  g_clear_object (&self->menu);
  g_clear_object (&self->functions);
  g_clear_pointer (&self->cells, g_hash_table_unref);
}

static void
lns_function_table_class_init (LnsFunctionTableClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_function_table_dispose;
  widget_class->unmap = lns_function_table_unmap;
  gtk_widget_class_install_action (widget_class, "functions.show-next", NULL, show_next_cb);
  gtk_widget_class_install_action (widget_class, "functions.expand-heaviest", NULL,
                                   expand_heaviest_cb);
  gtk_widget_class_install_action (widget_class, "functions.copy-name", NULL, copy_name_cb);
  gtk_widget_class_install_action (widget_class, "functions.sort-next", NULL, sort_cb);
  gtk_widget_class_install_action (widget_class, "functions.sort-reverse", NULL, sort_cb);
  lns_shortcuts_add_to_class (widget_class, "functions.");
}

static void
seen_cb (LnsFunctionTable *self)
{
  lns_place_list_set_seen (LNS_PLACE_LIST (self->rows), TRUE);
}

static void
unseen_cb (LnsFunctionTable *self)
{
  lns_place_list_set_seen (LNS_PLACE_LIST (self->rows), FALSE);
}

static void
lns_function_table_init (LnsFunctionTable *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  self->rows = lns_function_rows_new ();
  self->cells = g_hash_table_new (NULL, NULL);
  self->selection = gtk_single_selection_new (g_object_ref (G_LIST_MODEL (self->rows)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  g_signal_connect_object (self->rows, "rows-changed", G_CALLBACK (rows_changed_cb), self, 0);
  self->view =
      GTK_COLUMN_VIEW (gtk_column_view_new (GTK_SELECTION_MODEL (g_object_ref (self->selection))));
  gtk_column_view_set_show_column_separators (self->view, TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->view), "data-table");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Functions"), -1);
  for (LnsFunctionColumn id = 0; id < LNS_N_FUNCTION_COLUMNS; id++)
    add_column (self, id);
  g_signal_connect_object (gtk_column_view_get_sorter (self->view), "changed",
                           G_CALLBACK (sorter_changed_cb), self, 0);
  g_signal_connect (self->view, "activate", G_CALLBACK (activate_cb), self);
  lns_place_list_set_seen (LNS_PLACE_LIST (self->rows), FALSE);
  g_signal_connect_object (self->view, "map", G_CALLBACK (seen_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->view, "unmap", G_CALLBACK (unseen_cb), self, G_CONNECT_SWAPPED);
  /* The list must not get the keys first. */
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self->view), keys);
  gtk_scrolled_window_set_overlay_scrolling (GTK_SCROLLED_WINDOW (scrolled), FALSE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), GTK_WIDGET (self->view));
  adw_bin_set_child (ADW_BIN (self), scrolled);
}
