/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-table-private.h"

#include <glib/gi18n.h>

#include "src/analysis/condition.h"
#include "src/base/format.h"
#include "ui/events/events-copy.h"
#include "ui/events/events-load.h"
#include "ui/events/events-query.h"
#include "ui/model/column-view.h"
#include "ui/model/context-menu.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/shortcuts.h"
#include "ui/model/text-cell.h"
#include "ui/model/tooltip.h"

/* So many rows stay while those of another time are loaded, and are loaded without being asked for. */
#define FEW_ROWS (1u << 20)

G_DEFINE_FINAL_TYPE (LnsEventsTable, lns_events_table, ADW_TYPE_BIN)

/* --- Scrolling ----------------------------------------------------------------------------- */

/* Gives the focus to the first or last row of the page, after the row with the focus went with the old page. The list
 * does not tell a row's widget, but it is at the edge of the visible part. */
static void
focus_wanted (LnsEventsTable *self)
{
  GtkWidget *columns = GTK_WIDGET (self->columns);
  double y = self->wanted == 0 ? gtk_widget_get_height (gtk_widget_get_first_child (columns)) + 2
                               : gtk_widget_get_height (columns) - 2;
  GtkWidget *row = gtk_widget_pick (columns, 2, y, GTK_PICK_DEFAULT);

  while (row != NULL && row != columns && !gtk_widget_get_focusable (row))
    row = gtk_widget_get_parent (row);
  if (row != NULL)
    gtk_widget_grab_focus (row);
  self->refocus = FALSE;
}

static gboolean
scroll_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (data);
  if (--self->wait_frames > 0)
    return G_SOURCE_CONTINUE;
  if (self->wait_frames == 0)
    {
      lns_column_view_scroll_to (self->columns, self->wanted);
      if (self->refocus)
        return G_SOURCE_CONTINUE;
    }
  else
    focus_wanted (self);
  self->tick = 0;
  return G_SOURCE_REMOVE;
}

/* Waits until the list has laid out its rows, since it cannot scroll to them before. */
static void
scroll_later (LnsEventsTable *self, uint32_t position)
{
  self->wanted = position;
  self->wait_frames = 2;
  if (self->tick == 0)
    self->tick = gtk_widget_add_tick_callback (GTK_WIDGET (self->columns), scroll_cb, self, NULL);
}

/* --- States -------------------------------------------------------------------------------- */

void
_lns_events_table_show_error (LnsEventsTable *self, const char *message)
{
  g_autofree char *markup = g_markup_escape_text (message, -1);
  adw_status_page_set_description (self->error_page, markup);
  gtk_stack_set_visible_child_name (self->stack, "error");
}

/* Says below the filter, and by its colour, what is wrong with it; NULL: nothing. */
static void
show_filter_error (LnsEventsTable *self, const char *message)
{
  void (*change) (GtkWidget *, const char *) =
      message != NULL ? gtk_widget_add_css_class : gtk_widget_remove_css_class;

  change (GTK_WIDGET (self->filter), "error");
  gtk_label_set_text (self->wrong, message != NULL ? message : "");
  gtk_widget_set_visible (GTK_WIDGET (self->wrong), message != NULL);
}

static void
update_count (LnsEventsTable *self, const LnsEventOrder *order)
{
  char shown[LNS_FORMAT_SIZE], all[LNS_FORMAT_SIZE];
  g_autofree char *text = NULL;

  lns_format_unsigned (self->set->n, all);
  if (order->n == self->set->n)
    text = g_strdup_printf (ngettext ("%s event", "%s events", self->set->n), all);
  else
    text = g_strdup_printf (ngettext ("%s of %s event", "%s of %s events", self->set->n),
                            lns_format_unsigned (order->n, shown), all);
  gtk_label_set_text (self->count, text);
  g_autofree char *held = g_strdup_printf (
      _ ("They take %s of memory"), lns_format_bytes (lns_event_set_bytes (self->set), shown));
  lns_tooltip_set (GTK_WIDGET (self->count), held);
}

static void
update_damage (LnsEventsTable *self)
{
  char count[LNS_FORMAT_SIZE];

  gtk_widget_set_visible (self->damage, self->set->n_damaged > 0);
  if (self->set->n_damaged == 0)
    return;
  g_autofree char *text = g_strdup_printf (
      ngettext ("%s event could not be read: %s", "%s events could not be read: %s",
                self->set->n_damaged),
      lns_format_unsigned (self->set->n_damaged, count),
      self->set->damage != NULL ? self->set->damage : _ ("the file does not hold them"));
  lns_tooltip_set (self->damage, text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->damage), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  text, -1);
}

static void
update_pager (LnsEventsTable *self, const LnsEventOrder *order)
{
  char from[LNS_FORMAT_SIZE], to[LNS_FORMAT_SIZE];
  unsigned n_pages = lns_events_model_n_pages (self->model);
  unsigned page = lns_events_model_get_page (self->model);
  uint64_t first = lns_events_model_get_first (self->model);
  uint64_t n = lns_place_list_get_n (LNS_PLACE_LIST (self->model));
  g_autofree char *text =
      g_strdup_printf (_ ("Rows %s – %s"), lns_format_unsigned (MIN (first + 1, order->n), from),
                       lns_format_unsigned (first + n, to));

  gtk_widget_set_visible (self->pager, n_pages > 1);
  gtk_label_set_text (self->page_label, text);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "events.previous-page", page > 0);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "events.next-page", page + 1 < n_pages);
}

/* Says that no event is what the filter looks for. */
static void
update_no_match (LnsEventsTable *self)
{
  const char *filter = gtk_editable_get_text (self->filter);
  g_autofree char *text = NULL;

  if (self->set->n == 0)
    text = g_strdup (_ ("This row has no event in this time."));
  else if (gtk_toggle_button_get_active (self->regex))
    text = g_markup_printf_escaped (_ ("No event name matches “%s”."), filter);
  else if (lns_condition_is_meant (filter))
    text = g_markup_printf_escaped (_ ("No event meets the condition “%s”."), filter);
  else
    text = g_markup_printf_escaped (_ ("No event name contains “%s”."), filter);
  adw_status_page_set_description (self->no_match_page, text);
}

/* The rows that are selected, or all that are shown if fewer than LEAST are. NULL: none are known. The caller owns them. */
static LnsEventRows *
rows_of (LnsEventsTable *self, guint64 least)
{
  g_autoptr (GtkBitset) selected =
      gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));
  LnsEventOrder *order = lns_events_model_get_order (self->model);

  if (self->set == NULL || order == NULL || order->n_known < order->n || order->n == 0)
    return NULL;
  return lns_event_rows_new (self->set, order, lns_events_model_get_first (self->model),
                             gtk_bitset_get_size (selected) >= least ? selected : NULL);
}

/* Sums up the rows that are selected, or all if no more than one is. */
static void
update_total (LnsEventsTable *self)
{
  lns_events_total_show (self->total, rows_of (self, 2));
}

/* Shows the events one by one, or by name, if there are any. */
static void
show_rows (LnsEventsTable *self)
{
  LnsEventOrder *order = lns_events_model_get_order (self->model);

  if (self->set == NULL || order == NULL || order->n == 0)
    return;
  gtk_stack_set_visible_child_name (self->stack, self->grouped ? "groups" : "table");
  g_autoptr (LnsEventRows) rows = self->grouped ? rows_of (self, G_MAXUINT64) : NULL;
  if (rows != NULL)
    lns_events_groups_show (self->groups, g_steal_pointer (&rows));
}

/* The state after a load, a query or a change of page. */
static void
update (LnsEventsTable *self)
{
  LnsEventOrder *order = lns_events_model_get_order (self->model);

  if (self->set == NULL || order == NULL)
    return;
  update_count (self, order);
  update_damage (self);
  update_pager (self, order);
  if (order->n == 0)
    {
      update_no_match (self);
      gtk_stack_set_visible_child_name (self->stack, "no-match");
    }
  gtk_widget_set_visible (self->footer, order->n > 0);
  show_rows (self);
  update_total (self);
}

/* --- What follows the view ----------------------------------------------------------------- */

/* Selects the event that is selected in the view, if it is here, and (SCROLL) scrolls to it. */
static void
follow (LnsEventsTable *self, gboolean scroll)
{
  LnsEvent event;
  LnsEventId id = lns_view_get_selected_event (self->view, &event);
  LnsEventOrder *order = lns_events_model_get_order (self->model);
  uint32_t row, position;

  self->follows_later = !lns_place_list_is_told (LNS_PLACE_LIST (self->model));
  self->scrolls_later = scroll;
  if (self->follows_later || self->set == NULL || order == NULL || id.lane == LNS_ID_NONE ||
      !lns_event_set_find (self->set, id.lane, id.ordinal, event.start_ns, &row) ||
      !lns_event_order_find (order, row, &position))
    return;
  self->following = TRUE;
  uint32_t first = lns_events_model_get_first (self->model);
  if (position < first || position - first >= lns_place_list_get_n (LNS_PLACE_LIST (self->model)))
    {
      lns_events_model_set_page (self->model, lns_events_model_page_of (self->model, position));
      update (self);
      self->follows_later = !lns_place_list_is_told (LNS_PLACE_LIST (self->model));
    }
  position -= lns_events_model_get_first (self->model);
  if (!self->follows_later &&
      !gtk_selection_model_is_selected (GTK_SELECTION_MODEL (self->selection), position))
    {
      gtk_selection_model_select_item (GTK_SELECTION_MODEL (self->selection), position, TRUE);
      if (scroll)
        scroll_later (self, position);
    }
  self->following = FALSE;
}

static void
event_selected_cb (LnsView *view, gboolean reveal, LnsEventsTable *self)
{
  if (lns_view_get_selected_event (view, NULL).lane == LNS_ID_NONE)
    {
      self->following = TRUE;
      gtk_selection_model_unselect_all (GTK_SELECTION_MODEL (self->selection));
      self->following = FALSE;
    }
  follow (self, TRUE);
}

/* The places keep their widgets, but the selection and the scroll position are reset. */
static void
rows_changed_cb (LnsEventsModel *model, gboolean completes, LnsEventsTable *self)
{
  /* An empty list is on a page that is not visible. */
  if (lns_events_model_get_order (model) != NULL)
    lns_events_columns_update_cells (self->event_columns);
  if (completes || g_list_model_get_n_items (G_LIST_MODEL (model)) == 0)
    return;
  self->following = TRUE;
  lns_column_view_go_to_top (self->columns);
  self->following = FALSE;
}

static void
items_changed_cb (
    LnsEventsModel *model, guint position, guint removed, guint added, LnsEventsTable *self)
{
  if (self->follows_later && lns_place_list_is_told (LNS_PLACE_LIST (model)))
    follow (self, self->scrolls_later);
}

/* Has the view select the event that is selected here. */
static void
tell_view (GtkWidget *widget)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  g_autoptr (GtkBitset) selected =
      gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));
  LnsEventSet *set;
  uint32_t row;

  if (gtk_bitset_get_size (selected) != 1)
    return;
  g_autoptr (LnsPlace) item =
      g_list_model_get_item (G_LIST_MODEL (self->model), gtk_bitset_get_minimum (selected));
  if (item == NULL || !lns_events_model_get_row (item, &set, &row))
    return;
  LnsEventId id = lns_view_event (self->view, 0, 0);
  lns_event_set_id (set, row, &id.lane, &id.ordinal);
  if (lns_event_id_equal (id, lns_view_get_selected_event (self->view, NULL)))
    return;
  /* What is in view must not be moved: that would be other events. */
  if (lns_scope_get (self->scope, NULL, NULL) == LNS_SCOPE_VIEW)
    lns_view_select_event (self->view, id);
  else
    lns_view_reveal_event (self->view, id);
}

static void
selection_changed_cb (GtkSelectionModel *selection, guint first, guint n, LnsEventsTable *self)
{
  g_autoptr (GtkBitset) selected = gtk_selection_model_get_selection (selection);

  update_total (self);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "events.only-name",
                                 !gtk_bitset_is_empty (selected));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "events.zoom", !gtk_bitset_is_empty (selected));
  if (!self->following && gtk_bitset_get_size (selected) == 1)
    lns_after_frame (&self->telling, GTK_WIDGET (self), tell_view);
}

/* --- By name ------------------------------------------------------------------------------- */

/* Filters by the name of LABEL, and by what is filtered already if that is of more than names. */
static void
show_name (LnsEventsTable *self, uint32_t label)
{
  size_t size_bytes;
  const char *bytes = lns_event_set_label_text (self->set, label, &size_bytes);
  g_autofree char *valid = g_utf8_make_valid (bytes, (gssize)size_bytes);
  char *quoted = lns_condition_quote (valid);
  const char *filter = gtk_editable_get_text (self->filter);
  g_autofree char *text =
      !gtk_toggle_button_get_active (self->regex) && lns_condition_is_meant (filter)
          ? g_strdup_printf ("(%s) and name = %s", filter, quoted)
          : g_strdup_printf ("name = %s", quoted);

  free (quoted);
  g_object_set (self, "grouped", FALSE, NULL);
  gtk_toggle_button_set_active (self->regex, FALSE);
  gtk_editable_set_text (self->filter, text);
}

/* --- Sorting and filtering ------------------------------------------------------------------- */

static void
first_page_cb (LnsEventOrder *first, gpointer owner)
{
  LnsEventsTable *self = owner;

  self->has_first_page = TRUE;
  lns_events_model_set (self->model, self->set, first, FALSE);
  update (self);
}

static void
answered_cb (const LnsEventsAnswer *it, gpointer owner)
{
  LnsEventsTable *self = owner;

  gtk_spinner_stop (self->spinner);
  if (it->order == NULL)
    {
      _lns_events_table_show_error (self, it->error->message);
      return;
    }
  g_clear_pointer (&self->sorted, lns_event_order_unref);
  self->sorted = lns_event_order_ref (it->sorted);
  self->sorted_column = it->query.column;
  self->sorted_descending = it->query.descending;
  lns_events_model_set (self->model, self->set, it->order, self->has_first_page);
  update (self);
  /* After sorting or filtering, users want to see the first rows. */
  follow (self, self->is_new);
  self->is_new = FALSE;
}

static const LnsEventsQueryFuncs query_funcs = { first_page_cb, answered_cb };

/* Asks for the events of the set that the filter takes, by the column that the user chose, in place of the query
 * under way. A filter that changes is answered without sorting again. While the filter is wrong, what is shown stays; all is, if nothing
 * was. */
static void
start_query (LnsEventsTable *self)
{
  LnsEventColumn column = self->event_columns->sorted;
  gboolean descending = self->event_columns->descending;
  const char *text = gtk_editable_get_text (self->filter);
  LnsEventFilter *filter = NULL;
  g_autoptr (GError) error = NULL;

  if (self->set == NULL)
    return;
  if (*text != '\0')
    filter = lns_event_filter_new (text, gtk_toggle_button_get_active (self->regex), &error);
  show_filter_error (self, error != NULL ? error->message : NULL);
  /* On the way to a condition, what is typed may have had no match. */
  LnsEventOrder *order = lns_events_model_get_order (self->model);
  if (error != NULL && order != NULL && order->n > 0)
    return;
  gtk_spinner_start (self->spinner);
  self->has_first_page = FALSE;
  if (self->sorted_column != column || self->sorted_descending != descending)
    g_clear_pointer (&self->sorted, lns_event_order_unref);
  lns_events_query_start (&self->querying, self->view, self->set,
                          &(LnsEventQuery){ column, descending, filter, self->sorted },
                          &query_funcs, self);
}

static void
sorting_changed_cb (gpointer data)
{
  start_query (data);
}

/* --- Loading --------------------------------------------------------------------------------- */

/* Shows no rows, and forgets them. */
static void
clear_rows (LnsEventsTable *self)
{
  lns_job_cancel (&self->querying);
  gtk_spinner_stop (self->spinner);
  lns_events_model_set (self->model, NULL, NULL, FALSE);
  lns_events_total_show (self->total, NULL);
  lns_events_groups_show (self->groups, NULL);
  g_clear_pointer (&self->sorted, lns_event_order_unref);
  g_clear_pointer (&self->set, lns_event_set_unref);
}

/* Cancels all jobs and shows nothing. */
static void
clear (LnsEventsTable *self)
{
  lns_job_cancel (&self->loading);
  clear_rows (self);
}

static void
show_progress (unsigned permille, gpointer owner)
{
  gtk_progress_bar_set_fraction (((LnsEventsTable *)owner)->progress, permille / 1000.0);
}

static void
loaded_cb (gpointer job, gpointer owner)
{
  LnsEventsLoad *it = job;
  LnsEventsTable *self = owner;

  /* What is there of another time. */
  clear_rows (self);
  if (it->set == NULL)
    {
      _lns_events_table_show_error (self, it->error->message);
      return;
    }
  self->set = g_steal_pointer (&it->set);
  self->is_new = TRUE;
  lns_events_columns_show_used (self->event_columns, self->set);
  start_query (self);
}

static const LnsJobFuncs load_funcs = { lns_events_load_work, loaded_cb, lns_events_load_free,
                                        show_progress };

/* Notes the time whose events are wanted. Returns whether they are there or being loaded already. */
static gboolean
note_time (LnsEventsTable *self)
{
  int64_t from_ns, to_ns;

  if (lns_scope_get (self->scope, &from_ns, &to_ns) == LNS_SCOPE_WHOLE)
    {
      from_ns = INT64_MIN;
      to_ns = INT64_MAX;
    }
  const gboolean is_known = from_ns == self->from_ns && to_ns == self->to_ns;
  self->from_ns = from_ns;
  self->to_ns = to_ns;
  return is_known;
}

/* Loads what was asked for. Few rows stay until the new ones are there, so that the table does not flicker. */
static void
start_load (LnsEventsTable *self)
{
  char count[LNS_FORMAT_SIZE];
  const uint64_t n = lns_events_request_n_events (self->request, lns_view_get_report (self->view));

  gtk_spinner_start (self->spinner);
  if (self->set == NULL || self->set->n > FEW_ROWS)
    {
      g_autofree char *text = g_strdup_printf (
          ngettext ("Reading %s event…", "Reading %s events…", n), lns_format_unsigned (n, count));
      clear (self);
      gtk_label_set_text (self->loading_label, text);
      gtk_label_set_text (self->count, "");
      gtk_widget_set_visible (self->pager, FALSE);
      gtk_widget_set_visible (self->damage, FALSE);
      gtk_widget_set_visible (self->header, TRUE);
      gtk_widget_set_visible (self->footer, FALSE);
      gtk_progress_bar_set_fraction (self->progress, 0);
      gtk_stack_set_visible_child_name (self->stack, "loading");
    }
  lns_job_start (&self->loading, self->view, &load_funcs,
                 lns_events_load_new (self->request, self->from_ns, self->to_ns), self);
}

/* Loads other events, once the table is seen. */
static void
load_when_seen (LnsEventsTable *self)
{
  self->is_stale = !gtk_widget_get_mapped (GTK_WIDGET (self));
  if (!self->is_stale)
    start_load (self);
}

static void
rested_cb (LnsScope *scope, LnsEventsTable *self)
{
  if (self->request != NULL && !note_time (self))
    load_when_seen (self);
}

/* There may be no events to show. */
static void
allow_all (LnsEventsTable *self)
{
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "events.show-all",
                                 lns_report_info (lns_view_get_report (self->view))->n_events > 0);
}

/* While a report is being recorded, the events are those that there were when they were asked for; all of them come when it has ended. */
static void
grown_cb (LnsView *view, LnsReport *before, LnsEventsTable *self)
{
  allow_all (self);
  if (self->request != NULL && lns_report_info (before)->state == LNS_STATE_RECORDING &&
      !lns_view_is_live (view))
    load_when_seen (self);
}

/* --- What is shown ------------------------------------------------------------------------- */

/* Loads the events of REQUEST, which is taken over. */
static void
show_request (LnsEventsTable *self, LnsEventsRequest *request)
{
  clear (self);
  g_clear_pointer (&self->request, lns_events_request_unref);
  self->request = request;
  self->is_stale = FALSE;
  gtk_label_set_text (self->title, request->title);
  lns_tooltip_set (GTK_WIDGET (self->title), request->title);
  /* The filter was meant for other events. */
  gtk_editable_set_text (self->filter, "");
  show_filter_error (self, NULL);
  note_time (self);
  start_load (self);
}

void
lns_events_table_show_lanes (LnsEventsTable *self,
                             const char *title,
                             const uint32_t *lanes,
                             unsigned n_lanes,
                             const LnsFacetSet *set,
                             uint32_t facet)
{
  show_request (self, lns_events_request_new (title, lanes, n_lanes, set, facet));
}

static void
show_all_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);

  show_request (self, lns_events_request_new_whole (lns_view_get_report (self->view)));
}

/* A table that is seen for the first time before anybody asked for events has all, if they are few. */
static void
map_cb (GtkWidget *widget, gpointer data)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  const uint64_t n = lns_report_info (lns_view_get_report (self->view))->n_events;

  if (self->is_stale)
    start_load (self);
  else if (self->request == NULL && !self->was_seen && n > 0 && n <= FEW_ROWS)
    show_all_cb (widget, NULL, NULL);
  self->was_seen = TRUE;
  self->is_stale = FALSE;
}

/* --- Actions ------------------------------------------------------------------------------- */

/* Zooms the timeline to the event at POSITION of the page. */
static void
activate_cb (GtkColumnView *columns, guint position, LnsEventsTable *self)
{
  g_autoptr (LnsPlace) item = g_list_model_get_item (G_LIST_MODEL (self->model), position);
  LnsEventSet *set;
  uint32_t row;

  if (item == NULL || !lns_events_model_get_row (item, &set, &row))
    return;
  LnsEventId id = lns_view_event (self->view, 0, 0);
  lns_event_set_id (set, row, &id.lane, &id.ordinal);
  lns_view_select_event (self->view, id);
  /* Shows a tenth of its length on each side, to see its neighbours. */
  int64_t margin_ns = MAX (lns_event_set_duration (set, row) / 10, 5);
  lns_view_show_span (self->view, lns_event_set_start (set, row) - margin_ns,
                      lns_event_set_start (set, row) + lns_event_set_duration (set, row) +
                          margin_ns);
}

static void
zoom_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  g_autoptr (GtkBitset) selected =
      gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));

  if (!gtk_bitset_is_empty (selected))
    activate_cb (self->columns, gtk_bitset_get_minimum (selected), self);
}

static void
copy_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  LnsEventColumnList columns;

  if (self->grouped)
    {
      lns_events_groups_copy (self->groups);
      return;
    }
  LnsEventRows *rows = rows_of (self, 1);
  if (rows == NULL)
    return;
  lns_events_columns_list (self->event_columns, &columns);
  g_autoptr (GdkContentProvider) copy = lns_events_copy_new (self->view, rows, &columns);
  gdk_clipboard_set_content (gtk_widget_get_clipboard (widget), copy);
}

static void
save_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  LnsEventRows *rows = rows_of (self, 2);
  LnsEventColumnList columns;

  if (rows == NULL)
    return;
  lns_events_columns_list (self->event_columns, &columns);
  lns_events_save_ask (self->save, rows, &columns);
}

/* Filters by the name of the row that is selected. */
static void
only_name_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  LnsEventRowsWalk walk = { 0 };
  g_autoptr (LnsEventRows) rows = rows_of (self, 1);
  uint32_t row;

  if (rows != NULL && rows->positions != NULL && lns_event_rows_next (rows, &walk, &row))
    show_name (self, lns_event_set_label (self->set, row));
}

static void
filter_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_widget_grab_focus (GTK_WIDGET (LNS_EVENTS_TABLE (widget)->filter));
}

static void
sort_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);

  if (g_str_equal (name, "events.sort-next"))
    lns_column_view_sort_next (self->columns);
  else
    lns_column_view_sort_reverse (self->columns);
}

static void
move_column_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  lns_events_columns_move (LNS_EVENTS_TABLE (widget)->event_columns,
                           g_str_equal (name, "events.move-column-right") ? 1 : -1);
}

static void
cancel_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);

  clear (self);
  g_clear_pointer (&self->request, lns_events_request_unref);
  gtk_widget_set_visible (self->header, FALSE);
  gtk_widget_set_visible (self->footer, FALSE);
  show_filter_error (self, NULL);
  gtk_stack_set_visible_child_name (self->stack, "empty");
}

static void
turn_page_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  unsigned page = lns_events_model_get_page (self->model);

  lns_events_model_set_page (self->model,
                             g_str_equal (name, "events.next-page") ? page + 1 : page - 1);
  update (self);
}

/* Home and End go to the first and the last row of all pages. Within a page the list handles them. */
static gboolean
key_cb (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType state,
        LnsEventsTable *self)
{
  gboolean home = key == GDK_KEY_Home || key == GDK_KEY_KP_Home;
  gboolean end = key == GDK_KEY_End || key == GDK_KEY_KP_End;
  unsigned page = home ? 0 : lns_events_model_n_pages (self->model) - 1;

  if (!(home || end) || (state & gtk_accelerator_get_default_mod_mask ()) != 0)
    return GDK_EVENT_PROPAGATE;
  /* The list must know of the last row. */
  lns_place_list_tell_all (LNS_PLACE_LIST (self->model));
  if (page == lns_events_model_get_page (self->model))
    return GDK_EVENT_PROPAGATE;
  lns_events_model_set_page (self->model, page);
  lns_place_list_tell_all (LNS_PLACE_LIST (self->model));
  update (self);
  guint position = home ? 0 : lns_place_list_get_n (LNS_PLACE_LIST (self->model)) - 1;
  gtk_selection_model_select_item (GTK_SELECTION_MODEL (self->selection), position, TRUE);
  self->refocus = TRUE;
  scroll_later (self, position);
  return GDK_EVENT_STOP;
}

/* --- The menu ------------------------------------------------------------------------------ */

static void
open_menu (LnsEventsTable *self, double x, double y)
{
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (GTK_WIDGET (self)));

  if (focus == NULL || !gtk_widget_is_ancestor (focus, GTK_WIDGET (self)))
    focus = GTK_WIDGET (self->columns);
  lns_context_menu_open (GTK_WIDGET (self), focus, G_MENU_MODEL (self->menu), (int)x, (int)y);
}

/* Selects the row at the pointer, unless it is one of those that are selected, and opens the menu there. */
static void
row_menu_cb (GtkGestureClick *gesture, int n_presses, double x, double y, LnsEventsTable *self)
{
  GtkWidget *columns = GTK_WIDGET (self->columns);
  GtkWidget *cell = gtk_widget_pick (columns, x, y, GTK_PICK_DEFAULT);
  graphene_point_t point;
  guint position;

  while (cell != NULL && cell != columns && !LNS_IS_TEXT_CELL (cell))
    cell = gtk_widget_get_parent (cell);
  if (cell == NULL || !lns_events_columns_position (self->event_columns, cell, &position) ||
      !gtk_widget_compute_point (columns, GTK_WIDGET (self),
                                 &GRAPHENE_POINT_INIT ((float)x, (float)y), &point))
    return;
  if (!gtk_selection_model_is_selected (GTK_SELECTION_MODEL (self->selection), position))
    gtk_selection_model_select_item (GTK_SELECTION_MODEL (self->selection), position, TRUE);
  open_menu (self, point.x, point.y);
}

static void
show_menu_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  graphene_rect_t bounds;
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (widget));

  if (focus != NULL && gtk_widget_is_ancestor (focus, widget) &&
      gtk_widget_compute_bounds (focus, widget, &bounds))
    open_menu (self, bounds.origin.x + 24, bounds.origin.y + bounds.size.height);
}

static void
lns_events_table_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  GTK_WIDGET_CLASS (lns_events_table_parent_class)->size_allocate (widget, width, height, baseline);
  lns_context_menu_present (widget);
}

static void
lns_events_table_unmap (GtkWidget *widget)
{
  lns_context_menu_close (widget);
  GTK_WIDGET_CLASS (lns_events_table_parent_class)->unmap (widget);
}

static void
install_actions (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "events.copy", NULL, copy_cb);
  gtk_widget_class_install_action (widget_class, "events.save", NULL, save_cb);
  gtk_widget_class_install_action (widget_class, "events.only-name", NULL, only_name_cb);
  gtk_widget_class_install_property_action (widget_class, "events.group", "grouped");
  gtk_widget_class_install_action (widget_class, "events.show-menu", NULL, show_menu_cb);
  gtk_widget_class_install_action (widget_class, "events.zoom", NULL, zoom_cb);
  gtk_widget_class_install_action (widget_class, "events.filter", NULL, filter_cb);
  gtk_widget_class_install_action (widget_class, "events.sort-next", NULL, sort_cb);
  gtk_widget_class_install_action (widget_class, "events.sort-reverse", NULL, sort_cb);
  gtk_widget_class_install_action (widget_class, "events.move-column-left", NULL, move_column_cb);
  gtk_widget_class_install_action (widget_class, "events.move-column-right", NULL, move_column_cb);
  gtk_widget_class_install_action (widget_class, "events.show-all", NULL, show_all_cb);
  gtk_widget_class_install_action (widget_class, "events.cancel", NULL, cancel_cb);
  gtk_widget_class_install_action (widget_class, "events.previous-page", NULL, turn_page_cb);
  gtk_widget_class_install_action (widget_class, "events.next-page", NULL, turn_page_cb);
  lns_shortcuts_add_to_class (widget_class, "events.");
}

/* --- By name, or one by one ------------------------------------------------------------------ */

static void
name_chosen_cb (LnsEventsGroups *groups, guint label, LnsEventsTable *self)
{
  show_name (self, label);
}

static void
lns_events_table_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_boolean (value, LNS_EVENTS_TABLE (object)->grouped);
}

static void
lns_events_table_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (object);

  if (self->grouped == g_value_get_boolean (value))
    return;
  self->grouped = !self->grouped;
  show_rows (self);
  g_object_notify_by_pspec (object, pspec);
}

/* --- Life ---------------------------------------------------------------------------------- */

GtkWidget *
lns_events_table_new (LnsView *view, GSettings *settings)
{
  LnsEventsTable *self = g_object_new (LNS_TYPE_EVENTS_TABLE, NULL);

  self->view = g_object_ref (view);
  self->event_columns = lns_events_columns_new (self->columns, settings, sorting_changed_cb, self);
  gtk_column_view_set_model (self->columns, GTK_SELECTION_MODEL (self->selection));
  gtk_widget_insert_action_group (GTK_WIDGET (self), "column",
                                  G_ACTION_GROUP (self->event_columns->actions));
  g_menu_append_submenu (self->menu, _ ("Col_umns"), lns_events_columns_menu (self->event_columns));
  gtk_menu_button_set_menu_model (self->menu_button, G_MENU_MODEL (self->menu));
  lns_menu_button_set_name (self->menu_button, _ ("Columns, copy and save"));
  lns_events_total_set_view (self->total, view);
  lns_events_save_set_view (self->save, view);
  lns_events_groups_set_view (self->groups, view);
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, 0);
  g_signal_connect_object (view, "event-selected", G_CALLBACK (event_selected_cb), self, 0);
  allow_all (self);
  self->scope = lns_scope_of (view);
  g_signal_connect_object (self->scope, "rested", G_CALLBACK (rested_cb), self, 0);
  g_signal_connect (self, "map", G_CALLBACK (map_cb), NULL);
  return GTK_WIDGET (self);
}

/* Gives the focus to the events rather than to what is above them. */
static gboolean
lns_events_table_grab_focus (GtkWidget *widget)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);

  return (gtk_widget_get_mapped (GTK_WIDGET (self->columns)) &&
          gtk_widget_grab_focus (GTK_WIDGET (self->columns))) ||
         GTK_WIDGET_CLASS (lns_events_table_parent_class)->grab_focus (widget);
}

static void
lns_events_table_dispose (GObject *object)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (object);

  if (self->view != NULL)
    clear (self);
  g_clear_pointer (&self->request, lns_events_request_unref);
  if (self->tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self->columns), self->tick);
  self->tick = 0;
  G_OBJECT_CLASS (lns_events_table_parent_class)->dispose (object);
  g_clear_pointer (&self->event_columns, lns_events_columns_free);
  g_clear_object (&self->selection);
  g_clear_object (&self->model);
  g_clear_object (&self->scope);
  g_clear_object (&self->view);
}

static void
lns_events_table_class_init (LnsEventsTableClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_events_table_dispose;
  G_OBJECT_CLASS (klass)->get_property = lns_events_table_get_property;
  G_OBJECT_CLASS (klass)->set_property = lns_events_table_set_property;
  g_object_class_install_property (
      G_OBJECT_CLASS (klass), 1,
      g_param_spec_boolean ("grouped", NULL, NULL, FALSE,
                            G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS));
  widget_class->size_allocate = lns_events_table_size_allocate;
  widget_class->unmap = lns_events_table_unmap;
  g_type_ensure (LNS_TYPE_EVENTS_GROUPS);
  g_type_ensure (LNS_TYPE_EVENTS_SAVE);
  g_type_ensure (LNS_TYPE_EVENTS_TOTAL);
  widget_class->grab_focus = lns_events_table_grab_focus;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/events-table.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, header);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, title);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, count);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, spinner);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, damage);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, pager);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, page_label);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, filter);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, regex);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, wrong);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, loading_label);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, progress);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, error_page);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, no_match_page);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, columns);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, groups);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, footer);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, total);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, save);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, menu_button);
  gtk_widget_class_bind_template_child (widget_class, LnsEventsTable, menu);
  gtk_widget_class_bind_template_callback (widget_class, start_query);
  gtk_widget_class_bind_template_callback (widget_class, activate_cb);
  gtk_widget_class_bind_template_callback (widget_class, key_cb);
  gtk_widget_class_bind_template_callback (widget_class, row_menu_cb);
  gtk_widget_class_bind_template_callback (widget_class, name_chosen_cb);
  install_actions (widget_class);
}

static void
seen_cb (LnsEventsTable *self)
{
  lns_place_list_set_seen (LNS_PLACE_LIST (self->model), TRUE);
}

static void
unseen_cb (LnsEventsTable *self)
{
  lns_place_list_set_seen (LNS_PLACE_LIST (self->model), FALSE);
}

static void
lns_events_table_init (LnsEventsTable *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->model = lns_events_model_new ();
  lns_place_list_set_seen (LNS_PLACE_LIST (self->model), FALSE);
  g_signal_connect_object (self->columns, "map", G_CALLBACK (seen_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->columns, "unmap", G_CALLBACK (unseen_cb), self, G_CONNECT_SWAPPED);
  self->selection = lns_place_selection_new (LNS_PLACE_LIST (self->model));
  /* After the selection's own handler, so that it knows of the items. */
  g_signal_connect_object (self->model, "items-changed", G_CALLBACK (items_changed_cb), self,
                           G_CONNECT_AFTER);
  g_signal_connect_object (self->model, "rows-changed", G_CALLBACK (rows_changed_cb), self, 0);
  g_signal_connect_object (self->selection, "selection-changed", G_CALLBACK (selection_changed_cb),
                           self, 0);
}
