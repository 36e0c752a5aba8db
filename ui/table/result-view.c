/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/table/result-view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/model/column-view.h"
#include "ui/model/display-text.h"
#include "ui/model/share-cell.h"

#define NUMBER_PX  100
#define TEXT_CHARS 28

struct _LnsResultView
{
  AdwBin parent_instance;

  LnsView *view;     /* owned */
  LnsResult *result; /* owned, or NULL */
  LnsColumn *
      columns; /* owned: those of the table, whose ids are the result's; for as long as `table` has them */
  int *widths;         /* owned: of each column of the result, in characters, or -1 */
  uint32_t *order;     /* owned: of the result's rows */
  GtkStringList *list; /* borrowed from the table; an item for each row */
  GtkColumnView *table;
  gboolean keeps_columns;
  int wait_frames; /* before it scrolls */
};

enum
{
  ROW_ACTIVATED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LnsResultView, lns_result_view, ADW_TYPE_BIN)

/* --- Cells ------------------------------------------------------------------------------------ */

static const LnsResultColumn *
column_of (LnsResultView *self, unsigned column)
{
  unsigned n;
  return &lns_result_columns (self->result, &n)[column];
}

static LnsResultCell
cell_at (LnsResultView *self, guint position, unsigned column)
{
  return lns_result_cell (self->result, self->order[position], column);
}

static double
value_of (const LnsResultColumn *column, const LnsResultCell *cell)
{
  return (double)cell->number / pow (10, column->decimals);
}

/* The text of CELL: valid UTF-8. Free with g_free (). */
static char *
text_of (const LnsResultColumn *column, const LnsResultCell *cell)
{
  char text[LNS_FORMAT_SIZE];

  if (cell->is_empty)
    return g_strdup ("—");
  switch (column->type)
    {
    case LNS_RESULT_TEXT:
      return lns_display_text (cell->bytes, cell->size_bytes, TRUE);
    case LNS_RESULT_TIME:
      return g_strdup (lns_format_duration (llround (value_of (column, cell)), text));
    case LNS_RESULT_CHANGE:
      return g_strdup_printf ("%s%s", cell->number > 0 ? "+" : "",
                              lns_format_duration (cell->number, text));
    case LNS_RESULT_BYTES:
      return g_strdup (
          lns_format_bytes ((uint64_t)llround (fmax (value_of (column, cell), 0)), text));
    case LNS_RESULT_MEGABYTES:
      return g_strdup_printf (
          "%s MB", lns_format_fixed (value_of (column, cell), (int)column->decimals, text));
    case LNS_RESULT_SHARE:
      return g_strdup_printf ("%s %%", lns_format_fixed (value_of (column, cell), 1, text));
    case LNS_RESULT_ID:
      return g_strdup_printf ("%" G_GINT64_FORMAT, cell->number);
    case LNS_RESULT_COUNT:
    case LNS_RESULT_NUMBER:
      break;
    }
  return column->decimals == 0 && cell->number >= 0
             ? g_strdup (lns_format_unsigned ((uint64_t)cell->number, text))
             : g_strdup (lns_format_fixed (value_of (column, cell), (int)column->decimals, text));
}

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  LnsResultView *self = lns_column_owner (factory);
  const LnsResultType type = column_of (self, (unsigned)column->id)->type;
  GtkWidget *cell = type == LNS_RESULT_SHARE ? lns_share_cell_new () : gtk_label_new (NULL);

  if (type != LNS_RESULT_SHARE)
    g_object_set (cell, "xalign", type == LNS_RESULT_TEXT ? 0.0 : 1.0, "ellipsize",
                  PANGO_ELLIPSIZE_END, "width-chars", self->widths[column->id], NULL);
  if (type != LNS_RESULT_TEXT && type != LNS_RESULT_SHARE)
    gtk_widget_add_css_class (cell, "numeric");
  gtk_list_item_set_child (item, cell);
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  LnsResultView *self = lns_column_owner (factory);
  const LnsResultColumn *of = column_of (self, (unsigned)column->id);
  const LnsResultCell cell =
      cell_at (self, gtk_list_item_get_position (item), (unsigned)column->id);
  g_autofree char *text = text_of (of, &cell);
  GtkWidget *widget = gtk_list_item_get_child (item);

  if (of->type == LNS_RESULT_SHARE)
    {
      const double share = cell.is_empty ? 0 : value_of (of, &cell) / 100;
      lns_share_cell_set (LNS_SHARE_CELL (widget), CLAMP (share, 0, 1), text);
      return;
    }
  gtk_label_set_text (GTK_LABEL (widget), text);
  gtk_widget_set_tooltip_text (widget, of->type == LNS_RESULT_TEXT ? text : NULL);
}

/* --- Order ------------------------------------------------------------------------------------ */

typedef struct
{
  LnsResultView *view;
  unsigned column;
  gboolean is_descending;
} Sorting;

static int
compare_bytes (const LnsResultCell *x, const LnsResultCell *y)
{
  const int order = memcmp (x->bytes, y->bytes, MIN (x->size_bytes, y->size_bytes));

  return order != 0 ? order : (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

/* Empty cells stand last in either order; rows that are alike, in that of the result. */
static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const Sorting *sorting = data;
  const uint32_t row_a = *(const uint32_t *)a, row_b = *(const uint32_t *)b;
  const LnsResultCell x = lns_result_cell (sorting->view->result, row_a, sorting->column),
                      y = lns_result_cell (sorting->view->result, row_b, sorting->column);
  int order = 0;

  if (x.is_empty || y.is_empty)
    order = x.is_empty - y.is_empty;
  else
    {
      order = column_of (sorting->view, sorting->column)->type == LNS_RESULT_TEXT
                  ? compare_bytes (&x, &y)
                  : (x.number > y.number) - (x.number < y.number);
      order = sorting->is_descending ? -order : order;
    }
  return order != 0 ? order : (row_a > row_b) - (row_a < row_b);
}

/* Makes all rows' widgets show what stands at their places now. */
static void
show_rows (LnsResultView *self, guint n)
{
  g_autofree const char **items = g_new0 (const char *, n + 1);

  for (guint i = 0; i < n; i++)
    items[i] = "";
  gtk_string_list_splice (self->list, 0, g_list_model_get_n_items (G_LIST_MODEL (self->list)),
                          items);
}

static void
sort_cb (GtkSorter *sorter, GtkSorterChange change, LnsResultView *self)
{
  Sorting sorting = { .view = self };
  const GtkColumnViewColumn *sorted =
      lns_column_view_get_sorted (self->table, &sorting.is_descending);
  GListModel *columns = gtk_column_view_get_columns (self->table);
  const guint n = g_list_model_get_n_items (G_LIST_MODEL (self->list));

  if (self->result == NULL)
    return;
  for (guint i = 0; i < n; i++)
    self->order[i] = i;
  for (guint i = 0; sorted != NULL && i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);
      if (column != sorted)
        continue;
      sorting.column = (unsigned)self->columns[i].id;
      g_qsort_with_data (self->order, (int)n, sizeof *self->order, compare_rows, &sorting);
    }
  show_rows (self, n);
}

/* --- Where rows lead -------------------------------------------------------------------------- */

static void
activate_cb (GtkColumnView *table, guint position, LnsResultView *self)
{
  const LnsPlace *place = lns_result_place (self->result, self->order[position]);

  if (place == NULL)
    {
      g_signal_emit (self, signals[ROW_ACTIVATED], 0, (guint)self->order[position]);
      return;
    }
  if (place->lane != LNS_ID_NONE)
    lns_view_reveal_event (self->view, lns_view_event (self->view, place->lane, place->ordinal));
  else
    {
      lns_view_show_span (self->view, place->start_ns, place->end_ns);
      lns_view_set_time_selection (self->view, place->start_ns, place->end_ns);
    }
}

/* --- The table -------------------------------------------------------------------------------- */

static void
clear (LnsResultView *self)
{
  GListModel *columns = gtk_column_view_get_columns (self->table);

  show_rows (self, 0);
  while (g_list_model_get_n_items (columns) > 0)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, 0);
      gtk_column_view_remove_column (self->table, column);
    }
  lns_result_free (self->result);
  self->result = NULL;
  g_clear_pointer (&self->columns, g_free);
  g_clear_pointer (&self->widths, g_free);
  g_clear_pointer (&self->order, g_free);
}

/* How many characters COLUMN needs, if its cells are texts, TEXT_CHARS at most; else -1. O(rows). */
static int
width_of (LnsResultView *self, unsigned column)
{
  size_t n_chars = 0;

  if (column_of (self, column)->type != LNS_RESULT_TEXT)
    return -1;
  for (size_t i = 0; i < lns_result_n_rows (self->result) && n_chars < TEXT_CHARS; i++)
    {
      const LnsResultCell cell = lns_result_cell (self->result, i, column);
      n_chars = MAX (n_chars, cell.is_empty ? 1 : cell.size_bytes);
    }
  return (int)MIN (n_chars, TEXT_CHARS);
}

void
lns_result_view_keep_columns (LnsResultView *self)
{
  self->keeps_columns = TRUE;
}

void
lns_result_view_set (LnsResultView *self, LnsResult *result)
{
  unsigned n_columns;

  clear (self);
  if (result == NULL)
    return;
  self->result = result;
  const LnsResultColumn *columns = lns_result_columns (result, &n_columns);
  const guint n_rows = (guint)lns_result_n_rows (result);
  self->order = g_new (uint32_t, MAX (n_rows, 1));
  for (guint i = 0; i < n_rows; i++)
    self->order[i] = i;
  self->columns = g_new0 (LnsColumn, n_columns);
  self->widths = g_new (int, n_columns);
  for (unsigned i = 0; i < n_columns; i++)
    self->widths[i] = width_of (self, i);
  /* What a row is about stands last in files, where lines are of any length, and first here. */
  const gboolean is_turned = !self->keeps_columns && columns[n_columns - 1].type == LNS_RESULT_TEXT;
  for (unsigned i = 0; i < n_columns; i++)
    {
      const unsigned id = is_turned ? (i + n_columns - 1) % n_columns : i;
      const gboolean is_text = columns[id].type == LNS_RESULT_TEXT;
      self->columns[i] = (LnsColumn){ (int)id, columns[id].title, is_text ? 0 : NUMBER_PX };
      GtkColumnViewColumn *column = lns_column_view_add (
          self->table, &self->columns[i], G_CALLBACK (setup_cb), G_CALLBACK (bind_cb), self);
      lns_column_view_make_sortable (column);
      if (!is_text)
        lns_column_view_align_title (column);
    }
  show_rows (self, n_rows);
}

/* The list cannot scroll to rows that it has not laid out. */
static gboolean
scroll_cb (GtkWidget *table, GdkFrameClock *clock, gpointer data)
{
  LnsResultView *self = data;
  const guint row = gtk_single_selection_get_selected (
      GTK_SINGLE_SELECTION (gtk_column_view_get_model (self->table)));

  if (self->wait_frames-- > 0)
    return G_SOURCE_CONTINUE;
  if (row != GTK_INVALID_LIST_POSITION)
    lns_column_view_scroll_to (self->table, row);
  return G_SOURCE_REMOVE;
}

void
lns_result_view_go_to (LnsResultView *self, guint row)
{
  if (row >= g_list_model_get_n_items (G_LIST_MODEL (self->list)))
    return;
  gtk_single_selection_set_selected (GTK_SINGLE_SELECTION (gtk_column_view_get_model (self->table)),
                                     row);
  self->wait_frames = 2;
  gtk_widget_add_tick_callback (GTK_WIDGET (self->table), scroll_cb, self, NULL);
}

/* Writes BYTES so that they stay one cell. */
static void
append_bytes (GString *text, const char *bytes, size_t size_bytes)
{
  for (size_t i = 0; i < size_bytes; i++)
    g_string_append_c (text,
                       bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\0' ? ' ' : bytes[i]);
}

/* Free with g_free (). NULL while there is nothing. */
static char *
table_text (LnsResultView *self)
{
  unsigned n_columns;

  if (self->result == NULL)
    return NULL;
  const LnsResultColumn *columns = lns_result_columns (self->result, &n_columns);
  GString *text = g_string_new (NULL);
  for (unsigned c = 0; c < n_columns; c++)
    g_string_append_printf (text, "%s%s%s", c > 0 ? "\t" : "", columns[c].title,
                            lns_result_type_is_time (columns[c].type) ? " (ns)" : "");
  for (size_t i = 0; i < lns_result_n_rows (self->result); i++)
    for (unsigned c = 0; c < n_columns; c++)
      {
        const LnsResultCell cell = cell_at (self, (guint)i, c);
        char number[LNS_FORMAT_SIZE];
        g_string_append_c (text, c > 0 ? '\t' : '\n');
        if (cell.is_empty)
          continue;
        if (columns[c].type == LNS_RESULT_TEXT)
          append_bytes (text, cell.bytes, cell.size_bytes);
        else if (columns[c].decimals == 0)
          g_string_append_printf (text, "%" G_GINT64_FORMAT, cell.number);
        else
          g_string_append (
              text, g_ascii_formatd (number, sizeof number, "%.6f", value_of (&columns[c], &cell)));
      }
  g_string_append_c (text, '\n');
  return g_string_free (text, FALSE);
}

void
lns_result_view_copy (LnsResultView *self)
{
  g_autofree char *text = table_text (self);

  if (text == NULL)
    return;
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text)); /* names need not be UTF-8 */
  g_autoptr (GdkContentProvider) provider =
      gdk_content_provider_new_for_bytes ("text/plain;charset=utf-8", bytes);
  gdk_clipboard_set_content (gtk_widget_get_clipboard (GTK_WIDGET (self)), provider);
}

/* --- Life ------------------------------------------------------------------------------------- */

GtkWidget *
lns_result_view_new (LnsView *view, const char *label)
{
  LnsResultView *self = g_object_new (LNS_TYPE_RESULT_VIEW, NULL);

  self->view = g_object_ref (view);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->table), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  label, -1);
  return GTK_WIDGET (self);
}

static void
lns_result_view_dispose (GObject *object)
{
  LnsResultView *self = LNS_RESULT_VIEW (object);

  if (self->table != NULL)
    {
      clear (self);
      gtk_column_view_set_model (self->table, NULL);
      self->table = NULL;
    }
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_result_view_parent_class)->dispose (object);
}

static void
lns_result_view_class_init (LnsResultViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_result_view_dispose;
  signals[ROW_ACTIVATED] =
      g_signal_new ("row-activated", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                    NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
lns_result_view_init (LnsResultView *self)
{
  g_autoptr (GtkStringList) list = gtk_string_list_new (NULL);
  g_autoptr (GtkSingleSelection) rows = g_object_new (
      GTK_TYPE_SINGLE_SELECTION, "autoselect", FALSE, "can-unselect", TRUE, "model", list, NULL);
  GtkWidget *scrolled = gtk_scrolled_window_new (),
            *table = gtk_column_view_new (GTK_SELECTION_MODEL (g_steal_pointer (&rows)));

  self->list = list;
  self->table = GTK_COLUMN_VIEW (table);
  gtk_widget_add_css_class (table, "data-table");
  gtk_column_view_set_show_row_separators (self->table, TRUE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), table);
  gtk_widget_set_vexpand (scrolled, TRUE);
  adw_bin_set_child (ADW_BIN (self), scrolled);
  g_signal_connect (table, "activate", G_CALLBACK (activate_cb), self);
  g_signal_connect_object (gtk_column_view_get_sorter (self->table), "changed",
                           G_CALLBACK (sort_cb), self, 0);
}
