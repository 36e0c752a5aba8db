/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/table/result-view.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/model/column-view.h"
#include "ui/model/display-text.h"
#include "ui/model/share-cell.h"
#include "ui/model/text-cell.h"

#define CELL_PADDING_PX 24 /* of a cell                               */
#define ARROW_PX        14 /* of a title, beside what a cell has      */
#define TEXT_CHARS      24

/* The same of a narrow table, and to how many characters texts are cut where there is no room: those of the first column, and others. */
#define NARROW_PADDING_PX 14
#define NARROW_CHARS      14
#define OTHER_CHARS       5

/* GTK 4.8 makes widgets for up to 200 rows at once, also where the table is as high as ten: 100 ms; and to free them takes half of that.
 * So a table begins with SLICE_ROWS rows, gets as many more in each frame, and loses up to FREED_ROWS in each; those after SLICED_ROWS have
 * no widgets, come and go at once. */
#define SLICE_ROWS  12
#define FREED_ROWS  40
#define SLICED_ROWS 225

struct _LnsResultView
{
  AdwBin parent_instance;

  LnsView *view;     /* owned */
  LnsResult *result; /* owned, or NULL */
  LnsColumn *
      columns; /* owned: those of the table, whose ids are the result's; for as long as `table` has them */
  guint *widths;       /* owned: of each column of the result, in characters; 0: of numbers */
  uint32_t *order;     /* owned: of the result's rows */
  GtkStringList *list; /* borrowed from the table; an item for each row */
  GHashTable *cells; /* list items that show something, of all columns, to the id of their column */
  GtkColumnView *table;
  gboolean keeps_columns;
  gboolean is_narrow;
  guint fitting;   /* tick callback that adds or removes rows, or 0 */
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

/* The text of CELL, with a hyphen for a minus sign. Free with g_free (). */
static char *
plain_text_of (const LnsResultColumn *column, const LnsResultCell *cell)
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
      return g_strdup_printf ("%s%s",
                              cell->number > 0   ? "+"
                              : cell->number < 0 ? "−"
                                                 : "",
                              lns_format_duration (cell->number, text) + (cell->number < 0));
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

/* The text of CELL: valid UTF-8. Free with g_free (). */
static char *
text_of (const LnsResultColumn *column, const LnsResultCell *cell)
{
  g_autofree char *text = plain_text_of (column, cell);

  return column->type == LNS_RESULT_TEXT ? g_steal_pointer (&text) : lns_display_signed (text);
}

/* How many characters of texts in COLUMN are in view however little room there is. */
static guint
least_chars (LnsResultView *self, int column)
{
  return self->is_narrow
             ? MIN (self->widths[column], column == 0 ? NARROW_CHARS : (guint)OTHER_CHARS)
             : self->widths[column];
}

static GtkWidget *
text_cell_new (LnsResultView *self, int column, gboolean is_text)
{
  GtkWidget *cell = lns_text_cell_new (!is_text, least_chars (self, column));

  if (is_text)
    {
      /* Where characters are wide, texts need more than as many of usual width. */
      const guint n_chars = self->widths[column];
      lns_text_cell_set_natural_chars (LNS_TEXT_CELL (cell), n_chars + n_chars / 3);
    }
  return cell;
}

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  LnsResultView *self = lns_column_owner (factory);
  const LnsResultType type = column_of (self, (unsigned)column->id)->type;
  const gboolean is_text = type == LNS_RESULT_TEXT;

  gtk_list_item_set_child (item, type == LNS_RESULT_SHARE
                                     ? lns_share_cell_new ()
                                     : text_cell_new (self, column->id, is_text));
}

static guint
n_rows (LnsResultView *self)
{
  return self->result != NULL ? (guint)lns_result_n_rows (self->result) : 0;
}

/* A row that is about to go is empty. */
static void
fill_cell (LnsResultView *self, GtkListItem *item, unsigned column)
{
  const guint position = gtk_list_item_get_position (item);
  const gboolean is_there = position < n_rows (self);
  const LnsResultColumn *of = column_of (self, column);
  const LnsResultCell cell =
      is_there ? cell_at (self, position, column) : (LnsResultCell){ .is_empty = true };
  g_autofree char *text = is_there ? text_of (of, &cell) : g_strdup ("");
  GtkWidget *widget = gtk_list_item_get_child (item);

  if (of->type == LNS_RESULT_SHARE)
    {
      const double share = cell.is_empty ? 0 : value_of (of, &cell) / 100;
      lns_share_cell_set (LNS_SHARE_CELL (widget), CLAMP (share, 0, 1), text);
      return;
    }
  lns_text_cell_set (LNS_TEXT_CELL (widget), text);
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  LnsResultView *self = lns_column_owner (factory);

  g_hash_table_insert (self->cells, item, GINT_TO_POINTER (column->id));
  fill_cell (self, item, (unsigned)column->id);
}

static void
unbind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, LnsResultView *self)
{
  g_hash_table_remove (self->cells, item);
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

/* Has the table hold END rows, of which the first KEPT are those that it has. */
static void
splice (LnsResultView *self, guint kept, guint end)
{
  g_autofree const char **items = g_new0 (const char *, end - kept + 1);

  for (guint i = 0; i < end - kept; i++)
    items[i] = "";
  gtk_string_list_splice (self->list, kept,
                          g_list_model_get_n_items (G_LIST_MODEL (self->list)) - kept, items);
}

static guint
n_listed (LnsResultView *self)
{
  return g_list_model_get_n_items (G_LIST_MODEL (self->list));
}

static void
stop_fitting (LnsResultView *self)
{
  if (self->fitting != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->fitting);
  self->fitting = 0;
}

/* Has the table hold all rows, and no others. */
static void
fit_all (LnsResultView *self)
{
  const guint n = n_rows (self);

  stop_fitting (self);
  splice (self, MIN (n_listed (self), n), n);
}

/* Has the table hold more of the rows, or fewer that are none. Returns whether others remain. */
static gboolean
fit_some (LnsResultView *self)
{
  const guint listed = n_listed (self), n = n_rows (self);

  if (listed < n)
    splice (self, listed, listed < SLICED_ROWS ? MIN (listed + SLICE_ROWS, n) : n);
  else if (listed > n)
    {
      const guint sliced = MIN (listed, SLICED_ROWS),
                  kept = MAX (sliced > FREED_ROWS ? sliced - FREED_ROWS : 0, n);
      splice (self, kept, kept);
    }
  return n_listed (self) != n;
}

static gboolean
fit_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  LnsResultView *self = LNS_RESULT_VIEW (widget);

  if (fit_some (self))
    return G_SOURCE_CONTINUE;
  self->fitting = 0;
  return G_SOURCE_REMOVE;
}

/* Has rows come or go while somebody sees them: else GTK would make them, and lay all of them out at once when they are seen. */
static void
start_fitting (LnsResultView *self)
{
  if (self->fitting == 0 && n_listed (self) != n_rows (self) &&
      gtk_widget_get_mapped (GTK_WIDGET (self)))
    self->fitting = gtk_widget_add_tick_callback (GTK_WIDGET (self), fit_cb, NULL, NULL);
}

/* Makes the table show what stands at its rows' places now, from the top. Widgets that are there are filled again: to make others
 * takes much longer. */
static void
show_rows (LnsResultView *self)
{
  GHashTableIter iter;
  gpointer item, column;

  stop_fitting (self);
  if (n_listed (self) > 0)
    lns_column_view_go_to_top (self->table);
  else
    fit_some (self);
  g_hash_table_iter_init (&iter, self->cells);
  while (g_hash_table_iter_next (&iter, &item, &column))
    fill_cell (self, item, GPOINTER_TO_UINT (column));
  start_fitting (self);
}

/* Puts the rows in the order that the user chose. */
static void
sort (LnsResultView *self)
{
  Sorting sorting = { .view = self };
  const GtkColumnViewColumn *sorted =
      lns_column_view_get_sorted (self->table, &sorting.is_descending);
  GListModel *columns = gtk_column_view_get_columns (self->table);
  const guint n = n_rows (self);

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
}

static void
sort_cb (GtkSorter *sorter, GtkSorterChange change, LnsResultView *self)
{
  if (self->result == NULL)
    return;
  sort (self);
  show_rows (self);
}

/* --- Where rows lead -------------------------------------------------------------------------- */

static void
activate_cb (GtkColumnView *table, guint position, LnsResultView *self)
{
  if (position >= n_rows (self)) /* it is about to go */
    return;
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

  stop_fitting (self);
  splice (self, 0, 0);
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

static int
measure (LnsResultView *self, const char *text)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  int width_px;

  pango_layout_get_pixel_size (layout, &width_px, NULL);
  return width_px;
}

static int
padding_px (LnsResultView *self)
{
  return self->is_narrow ? NARROW_PADDING_PX : CELL_PADDING_PX;
}

static int
title_px (LnsResultView *self, const LnsResultColumn *column)
{
  g_autofree char *title = g_markup_printf_escaped ("<b>%s</b>", gettext (column->title));
  g_autoptr (PangoLayout) bold = gtk_widget_create_pango_layout (GTK_WIDGET (self), NULL);
  int width_px;

  pango_layout_set_markup (bold, title, -1);
  pango_layout_get_pixel_size (bold, &width_px, NULL);
  return width_px + ARROW_PX;
}

/* Whether LOW and HIGH are in one unit: then what is between them is no longer than they are. */
static gboolean
have_one_unit (const char *low, const char *high)
{
  const char *of_low = strrchr (low, ' '), *of_high = strrchr (high, ' ');

  return of_low != NULL && of_high != NULL && strcmp (of_low, of_high) == 0;
}

/* How wide COLUMN, of numbers, is: its title, and any number from its smallest to its largest, fit in. */
static int
number_width_px (LnsResultView *self, unsigned column)
{
  const LnsResultColumn *of = column_of (self, column);
  LnsResultCell least = { 0 }, most = { 0 };
  least.is_empty = most.is_empty =
      !lns_result_range (self->result, column, &least.number, &most.number);
  /* What may be written in another unit is as long as the longest text of any. */
  const char *longest = of->type == LNS_RESULT_TIME     ? "999.999 ms"
                        : of->type == LNS_RESULT_CHANGE ? "+999.999 ms"
                        : of->type == LNS_RESULT_SHARE  ? "100.0 %"
                        : of->type == LNS_RESULT_BYTES  ? "1023.9 MiB"
                                                        : "";

  g_autofree char *low = text_of (of, &least), *high = text_of (of, &most);
  const int own_px = MAX (measure (self, low), measure (self, high));
  /* A change may be less in either direction. */
  const int any_px =
      of->type != LNS_RESULT_CHANGE && have_one_unit (low, high) ? 0 : measure (self, longest);
  return MAX (MAX (title_px (self, of), any_px), own_px) + padding_px (self);
}

/* How many characters wide CELL is, about: those of Chinese are as wide as two. TEXT_CHARS or a little more at most. */
static size_t
chars_of (const LnsResultCell *cell)
{
  size_t n = 0;

  for (size_t i = 0; i < cell->size_bytes && n < TEXT_CHARS; i++)
    {
      const guchar byte = (guchar)cell->bytes[i];
      n += (byte & 0xc0) == 0x80 ? 0 : byte >= 0xe0 ? 2 : 1;
    }
  return n;
}

/* How many characters COLUMN needs, if its cells are texts, TEXT_CHARS at most; else 0. O(rows). */
static guint
width_of (LnsResultView *self, unsigned column)
{
  size_t n_chars = 0;

  if (column_of (self, column)->type != LNS_RESULT_TEXT)
    return 0;
  for (size_t i = 0; i < lns_result_n_rows (self->result) && n_chars < TEXT_CHARS; i++)
    {
      const LnsResultCell cell = lns_result_cell (self->result, i, column);
      n_chars = MAX (n_chars, cell.is_empty ? 1 : chars_of (&cell));
    }
  return (guint)MIN (n_chars, TEXT_CHARS);
}

/* How wide the longest text of COLUMN is, at least LEAST_PX: its letters may be wider than most are. O(rows). */
static int
text_px (LnsResultView *self, unsigned column, int least_px)
{
  for (size_t i = 0; i < lns_result_n_rows (self->result); i++)
    {
      const LnsResultCell cell = lns_result_cell (self->result, i, column);
      if (cell.is_empty || chars_of (&cell) < self->widths[column])
        continue;
      g_autofree char *text = text_of (column_of (self, column), &cell);
      return MAX (least_px, measure (self, text));
    }
  return least_px;
}

void
lns_result_view_make_narrow (LnsResultView *self)
{
  self->is_narrow = TRUE;
}

int
lns_result_view_whole_px (LnsResultView *self)
{
  GListModel *columns = gtk_column_view_get_columns (self->table);
  PangoContext *context = gtk_widget_get_pango_context (GTK_WIDGET (self));
  PangoFontMetrics *metrics = pango_context_get_metrics (context, NULL, NULL);
  const int char_px = PANGO_PIXELS_CEIL (pango_font_metrics_get_approximate_char_width (metrics));
  int width_px = 0;

  pango_font_metrics_unref (metrics);
  for (guint i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);
      const unsigned id = (unsigned)self->columns[i].id;
      width_px += self->widths[id] == 0 ? gtk_column_view_column_get_fixed_width (column)
                                        : MAX (text_px (self, id, (int)self->widths[id] * char_px),
                                               title_px (self, column_of (self, id))) +
                                              padding_px (self);
    }
  return width_px;
}

void
lns_result_view_keep_columns (LnsResultView *self)
{
  self->keeps_columns = TRUE;
}

static gboolean
has_columns_of (LnsResultView *self, const LnsResult *result)
{
  unsigned n, n_before = 0;
  const LnsResultColumn *columns = lns_result_columns (result, &n);
  const LnsResultColumn *before =
      self->result != NULL ? lns_result_columns (self->result, &n_before) : NULL;

  if (n != n_before)
    return FALSE;
  for (unsigned i = 0; i < n; i++)
    if (columns[i].type != before[i].type || strcmp (columns[i].title, before[i].title) != 0)
      return FALSE;
  return TRUE;
}

/* Adds the columns of the result. */
static void
add_columns (LnsResultView *self)
{
  unsigned n_columns;
  const LnsResultColumn *columns = lns_result_columns (self->result, &n_columns);

  self->columns = g_new0 (LnsColumn, n_columns);
  self->widths = g_new (guint, n_columns);
  for (unsigned i = 0; i < n_columns; i++)
    self->widths[i] = width_of (self, i);
  /* What a row is about stands last in files, where lines are of any length, and first here. */
  const gboolean is_turned = !self->keeps_columns && columns[n_columns - 1].type == LNS_RESULT_TEXT;
  for (unsigned i = 0; i < n_columns; i++)
    {
      const unsigned id = is_turned ? (i + n_columns - 1) % n_columns : i;
      const gboolean is_text = columns[id].type == LNS_RESULT_TEXT;
      self->columns[i] = (LnsColumn){ (int)id, columns[id].title, 0 };
      GtkColumnViewColumn *column = lns_column_view_add (
          self->table, &self->columns[i], G_CALLBACK (setup_cb), G_CALLBACK (bind_cb), self);
      g_signal_connect (gtk_column_view_column_get_factory (column), "unbind",
                        G_CALLBACK (unbind_cb), self);
      lns_column_view_make_sortable (column);
      if (!is_text)
        {
          gtk_column_view_column_set_expand (column, FALSE);
          lns_column_view_align_title (column);
        }
    }
}

/* Makes columns of numbers as wide as those of the result need. What is wider, as the user wants it to be, stays. The room that is left is
 * for the longest texts: half of it beside short ones would cut them off. */
static void
widen_columns (LnsResultView *self)
{
  GListModel *columns = gtk_column_view_get_columns (self->table);
  guint most_chars = 0;

  for (guint i = 0; i < g_list_model_get_n_items (columns); i++)
    most_chars = MAX (most_chars, width_of (self, (unsigned)self->columns[i].id));

  for (guint i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);
      const unsigned id = (unsigned)self->columns[i].id;
      if (column_of (self, id)->type == LNS_RESULT_TEXT)
        {
          gtk_column_view_column_set_expand (column, width_of (self, id) == most_chars);
          continue;
        }
      gtk_column_view_column_set_fixed_width (
          column,
          MAX (gtk_column_view_column_get_fixed_width (column), number_width_px (self, id)));
    }
}

void
lns_result_view_set (LnsResultView *self, LnsResult *result)
{
  const gboolean is_alike = result != NULL && has_columns_of (self, result);

  if (!is_alike)
    clear (self);
  if (result == NULL)
    return;
  lns_result_free (self->result);
  self->result = result;
  if (!is_alike)
    add_columns (self);
  widen_columns (self);
  g_free (self->order);
  self->order = g_new (uint32_t, MAX (n_rows (self), 1));
  sort (self);
  show_rows (self);
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
  guint position = 0;

  if (row >= n_rows (self))
    return;
  while (self->order[position] != row)
    position++;
  fit_all (self);
  gtk_single_selection_set_selected (GTK_SINGLE_SELECTION (gtk_column_view_get_model (self->table)),
                                     position);
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
  g_clear_pointer (&self->cells, g_hash_table_unref);
  G_OBJECT_CLASS (lns_result_view_parent_class)->dispose (object);
}

static void
lns_result_view_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lns_result_view_parent_class)->map (widget);
  start_fitting (LNS_RESULT_VIEW (widget));
}

static void
lns_result_view_unmap (GtkWidget *widget)
{
  stop_fitting (LNS_RESULT_VIEW (widget));
  GTK_WIDGET_CLASS (lns_result_view_parent_class)->unmap (widget);
}

static void
lns_result_view_class_init (LnsResultViewClass *klass)
{
  GTK_WIDGET_CLASS (klass)->map = lns_result_view_map;
  GTK_WIDGET_CLASS (klass)->unmap = lns_result_view_unmap;
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

  self->cells = g_hash_table_new (NULL, NULL);
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
