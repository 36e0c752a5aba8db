/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/report-page.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/base/format.h"
#include "src/base/language.h"
#include "src/tables/omissions.h"
#include "ui/compare/pair-bar.h"
#include "ui/details/details-pane.h"
#include "ui/events/events-table.h"
#include "ui/functions/functions-pane.h"
#include "ui/model/after-frame.h"
#include "ui/model/answer.h"
#include "ui/model/display-text.h"
#include "ui/model/pair.h"
#include "ui/model/scope.h"
#include "ui/model/tooltip.h"
#include "ui/model/width-first.h"
#include "ui/shell/follower.h"
#include "ui/shell/pane-slot.h"
#include "ui/shell/panes.h"
#include "ui/shell/verdict-bar.h"
#include "ui/shell/view-keeper.h"
#include "ui/sql/sql-pane.h"

struct _LnsReportPage
{
  AdwBin parent_instance;

  LnsReportParts parts;  /* the view is owned */
  LnsAnswer *answer;     /* owned             */
  LnsScope *scope;       /* owned             */
  LnsViewKeeper *keeper; /* owned             */
  gboolean is_restored;  /* as the person left it */
  gint64 seen_usec; /* since when people see it, or 0: it is in a tab that was not selected yet */
  GSettings *settings;   /* owned             */
  LnsFollower *follower; /* owned           */

  LnsPair *pair; /* owned             */
  GtkWidget *verdict_bar;
  GtkWidget *pair_bar;  /* or NULL: there was no other report yet  */
  LnsFindBar *find_bar; /* or NULL: nothing was looked for yet */
  GtkWidget *blank_tab; /* keeps the place of tabs until they are there, then NULL */
  LnsAfterFrame opening;
  GtkStack *details;    /* pages "a", and "b" while there is another report */
  GtkLabel *details_of; /* says which, then  */

  gboolean is_narrow;     /* there is no room for details that nobody asked for */
  gboolean places_bottom; /* the panes below the timeline came or went          */
  gboolean places_side;   /* the details came                                   */

  GtkBox *notices;
  GtkPaned *side_paned; /* the timeline with what is below it, and details */
  GtkPaned *main_paned;
  GtkWidget *bottom_box;
  GtkWidget *bottom_strip; /* tabs, and the button */
  GtkWidget *bottom_switcher;
  GtkButton *bottom_toggle;
  GtkWidget *scope_button; /* says what the pane that shows speaks of */
  GtkLabel *scope_text;
  GtkStack *bottom_stack; /* an LnsPaneSlot for each pane of panes.h, called as that is */
};

G_DEFINE_FINAL_TYPE (LnsReportPage, lns_report_page, ADW_TYPE_BIN)

const LnsReportParts *
lns_report_page_get_parts (LnsReportPage *self)
{
  return &self->parts;
}

static void
notice_response_cb (GtkInfoBar *bar, int response, gpointer data)
{
  if (response == GTK_RESPONSE_CLOSE)
    gtk_info_bar_set_revealed (bar, FALSE);
}

/* Adds a line above the timeline, with a button for ACTION if BUTTON is not NULL. */
static void
add_notice (LnsReportPage *self,
            GtkMessageType type,
            const char *text,
            const char *button,
            const char *action)
{
  g_autoptr (GtkBuilder) builder =
      gtk_builder_new_from_resource ("/io/github/lanescope/Lanescope/notice.ui");
  GObject *bar = gtk_builder_get_object (builder, "bar");

  g_object_set (bar, "message-type", type, NULL);
  g_object_set (gtk_builder_get_object (builder, "label"), "label", text, NULL);
  g_object_set (gtk_builder_get_object (builder, "button"), "label", button, "action-name", action,
                "visible", button != NULL, NULL);
  g_signal_connect (bar, "response", G_CALLBACK (notice_response_cb), NULL);
  gtk_box_append (self->notices, GTK_WIDGET (bar));
}

/* What is missing in a report whose writer was killed. Free with g_free (). */
static char *
cut_off_text (LnsReport *report, const LnsReportInfo *info)
{
  char count[LNS_FORMAT_SIZE], reached[LNS_FORMAT_SIZE], seen[LNS_FORMAT_SIZE];

  lns_format_duration (info->seen_ns, seen);
  if (lns_report_meta (report, "keep_ns") != NULL && info->n_events == 0)
    return g_strdup (_ ("The recording was cut off: what --keep held in memory is missing."));
  if (info->n_waiting == 0)
    return g_strdup_printf (_ ("The recording was cut off: everything after %s is missing."),
                            info->is_least ? lns_format_duration (info->reached_ns, reached)
                                           : seen);
  if (info->is_least)
    /* Translators: the number of events, and two times of the report */
    return g_strdup_printf (
        ngettext ("The recording was cut off: at least %s event recorded between %s and "
                  "%s is missing, and everything after that.",
                  "The recording was cut off: at least %s events recorded between %s and "
                  "%s are missing, and everything after that.",
                  info->n_waiting),
        lns_format_unsigned (info->n_waiting, count),
        lns_format_duration (info->reached_ns, reached), seen);
  /* Translators: the number of events, and two times of the report */
  return g_strdup_printf (ngettext ("The recording was cut off: %s event recorded between %s and "
                                    "%s is missing, and everything after that.",
                                    "The recording was cut off: %s events recorded between %s and "
                                    "%s are missing, and everything after that.",
                                    info->n_waiting),
                          lns_format_unsigned (info->n_waiting, count),
                          lns_format_duration (info->reached_ns, reached), seen);
}

static void
add_state_notice (LnsReportPage *self, LnsReport *report)
{
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  const LnsReportInfo *info = lns_report_info (report);
  const char *imported, *whole;

  switch (info->state)
    {
    case LNS_STATE_COMPLETE:
    case LNS_STATE_RECORDING: /* the line with the verdict tells of it */
      break;
    case LNS_STATE_INCOMPLETE:
      add_notice (self, GTK_MESSAGE_WARNING,
                  _ ("Parts of this report could not be written. See Diagnostics for the reason."),
                  NULL, NULL);
      break;
    case LNS_STATE_CUT_OFF:
      text = cut_off_text (report, info);
      add_notice (self, GTK_MESSAGE_WARNING, text, NULL, NULL);
      break;
    case LNS_STATE_RECOVERED:
      imported = lns_report_meta (report, "imported_from");
      whole = imported != NULL ? imported : info->path;
      path = lns_display_text (whole, strlen (whole), TRUE);
      text = g_strdup_printf (
          imported != NULL
              ? _ ("%s could not be read to its end. This report holds what came before.")
              : _ ("The report is damaged. Its readable part is now in %s."),
          path);
      add_notice (self, GTK_MESSAGE_WARNING, text, NULL, NULL);
      break;
    }
}

static bool
has_cuda (LnsReport *report)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  for (uint32_t lane = 0; lane < n; lane++)
    if (lanes[lane].kind >= LNS_LANE_CUDA_API && lanes[lane].kind <= LNS_LANE_CUDA_GRAPH &&
        lns_report_lane_info (report, lane)->n_events > 0)
      return true;
  return false;
}

/* Explains why a report has no CUDA events although they were asked for. */
static void
add_cuda_notice (LnsReportPage *self, LnsReport *report)
{
  uint32_t n;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n), *reason = NULL;
  for (uint32_t i = 0; i < n && !has_cuda (report); i++)
    {
      const char *code = lns_report_string (report, diagnostics[i].code, NULL);
      bool is_reason =
          g_str_has_prefix (code, "LNS-CUDA-") && diagnostics[i].severity >= LNS_SEVERITY_WARNING;
      /* LNS-CUDA-011 says only that there are no events. */
      if (is_reason && (reason == NULL || !g_str_equal (code, "LNS-CUDA-011")))
        reason = &diagnostics[i];
    }
  if (reason == NULL)
    return;
  g_autofree char *told = lns_text_of_sentence (lns_report_string (report, reason->text, NULL));
  g_autofree char *text = lns_display_text (told, strlen (told), TRUE);
  if (*text != '\0')
    *text = g_ascii_toupper (*text);
  g_autofree char *sentence =
      g_strdup_printf ("%s%s", text, g_str_has_suffix (text, ".") ? "" : ".");
  add_notice (self, GTK_MESSAGE_WARNING, sentence, NULL, NULL);
}

/* While a report is being recorded, what is wrong with it is not known yet. */
static void
add_notices (LnsReportPage *self)
{
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (self->parts.view));
  char count[LNS_FORMAT_SIZE];

  if (info->state == LNS_STATE_RECORDING)
    return;
  add_state_notice (self, lns_view_get_report (self->parts.view));
  add_cuda_notice (self, lns_view_get_report (self->parts.view));
  if (info->n_lost > 0)
    {
      g_autofree char *text = g_strdup_printf (
          ngettext ("%s event was lost. See Diagnostics for the reason.",
                    "%s events were lost. See Diagnostics for the reason.", info->n_lost),
          lns_format_unsigned (info->n_lost, count));
      add_notice (self, GTK_MESSAGE_WARNING, text, NULL, NULL);
    }
  int64_t kept_ns, all_ns;
  if (lns_keeps_part (lns_view_get_report (self->parts.view), &kept_ns, &all_ns))
    {
      char kept[LNS_FORMAT_SIZE], all[LNS_FORMAT_SIZE];
      g_autofree char *text = g_strdup_printf (
          _ ("The report keeps %s of %s and counts the rest: times and sums are of what it keeps."),
          lns_format_duration (kept_ns, kept), lns_format_duration (all_ns, all));
      add_notice (self, GTK_MESSAGE_INFO, text, NULL, NULL);
    }
  if (info->unknown_compatible != 0)
    add_notice (self, GTK_MESSAGE_INFO,
                _ ("A newer Lanescope wrote this report. Parts that this version does not know are "
                   "not shown."),
                NULL, NULL);
}

/* The recording has ended: what there is to say of a report is said now. */
static void
grown_cb (LnsReportPage *self, LnsReport *before)
{
  if (lns_report_info (before)->state == LNS_STATE_RECORDING)
    add_notices (self);
}

/* The report can no longer be followed. */
static void
lost_cb (const char *message, gpointer data)
{
  add_notice (data, GTK_MESSAGE_WARNING, message, _ ("Reload"), "win.reload");
}

/* In narrower windows, details are shown once something is selected. */
#define NARROW_PX 1000

static gboolean
has_selection (LnsReportPage *self)
{
  int64_t start_ns, end_ns;
  LnsView *other = lns_pair_get_view (self->pair, 1);

  return lns_view_get_selected_event (self->parts.view, NULL).lane != LNS_ID_NONE ||
         (other != NULL && lns_view_get_selected_event (other, NULL).lane != LNS_ID_NONE) ||
         lns_view_get_time_selection (self->parts.view, &start_ns, &end_ns);
}

/* The pane below the timeline, or "none". Free with g_free (). */
static char *
bottom_page (LnsReportPage *self)
{
  return g_settings_get_string (self->settings, "bottom-page");
}

static gboolean
is_bottom_open (LnsReportPage *self)
{
  g_autofree char *page = bottom_page (self);
  return strcmp (page, "none") != 0;
}

/* The setting with the size of the end child of PANED. */
static const char *
end_size_key (LnsReportPage *self, GtkPaned *paned)
{
  return paned == self->main_paned ? "bottom-height" : "details-width";
}

/* Gives the end child of PANED its last size when it has come, and PANED knows its own size; of panes below the timeline that are
 * closed, their tabs stay. */
static void
place_end (LnsReportPage *self, GtkPaned *paned)
{
  gboolean *places = paned == self->main_paned ? &self->places_bottom : &self->places_side;
  int max_px, strip_px;

  g_object_get (paned, "max-position", &max_px, NULL);
  if (max_px == G_MAXINT || !*places)
    return;
  *places = FALSE;
  const int end_px = g_settings_get_int (self->settings, end_size_key (self, paned));
  gtk_widget_measure (self->bottom_strip, GTK_ORIENTATION_VERTICAL, -1, &strip_px, NULL, NULL,
                      NULL);
  if (paned == self->main_paned && !is_bottom_open (self))
    gtk_paned_set_position (paned, max_px - strip_px);
  else
    gtk_paned_set_position (paned, MAX (max_px - end_px, max_px * 6 / 10));
}

/* Says what the pane that shows speaks of. */
static void
update_scope (LnsReportPage *self)
{
  const char *name = gtk_stack_get_visible_child_name (self->bottom_stack);
  size_t n;
  const LnsPaneType *panes = lns_panes (&n), *pane = NULL;

  for (size_t i = 0; i < n && name != NULL; i++)
    if (strcmp (panes[i].name, name) == 0)
      pane = &panes[i];
  gtk_widget_set_visible (self->scope_button, is_bottom_open (self) && pane != NULL &&
                                                  pane->subject != LNS_PANE_OF_OWN);
  if (pane == NULL || pane->subject == LNS_PANE_OF_OWN)
    return;
  const gboolean is_of_scope = pane->subject == LNS_PANE_OF_SCOPE;
  g_autofree char *text =
      is_of_scope ? lns_scope_text (self->scope) : g_strdup (_ ("for the whole run"));
  gtk_label_set_text (self->scope_text, text);
  gtk_widget_set_sensitive (self->scope_button, is_of_scope);
  gtk_menu_button_set_always_show_arrow (GTK_MENU_BUTTON (self->scope_button), is_of_scope);
}

/* What stands beside the timeline. */
static GtkWidget *
details_box (LnsReportPage *self)
{
  return gtk_paned_get_end_child (self->side_paned);
}

/* Shows what the settings ask for. */
static void
update_panes (LnsReportPage *self)
{
  g_autofree char *page = bottom_page (self);
  const gboolean bottom = is_bottom_open (self),
                 was_open = gtk_widget_get_visible (GTK_WIDGET (self->bottom_stack));
  const gboolean details = g_settings_get_boolean (self->settings, "show-details") &&
                           (!self->is_narrow || has_selection (self));
  const char *words = bottom ? _ ("Close the Panes") : _ ("Open the Panes");

  /* A newer version may know more panes. */
  if (bottom && gtk_stack_get_child_by_name (self->bottom_stack, page) != NULL)
    gtk_stack_set_visible_child_name (self->bottom_stack, page);
  self->places_bottom |= bottom != was_open;
  self->places_side |= details && !gtk_widget_get_visible (details_box (self));
  gtk_widget_set_visible (GTK_WIDGET (self->bottom_stack), bottom);
  gtk_widget_set_visible (details_box (self), details);
  gtk_button_set_icon_name (self->bottom_toggle, bottom ? "pan-down-symbolic" : "pan-up-symbolic");
  lns_tooltip_set (GTK_WIDGET (self->bottom_toggle), words);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->bottom_toggle),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, words, -1);
  if (bottom)
    gtk_widget_remove_css_class (self->bottom_switcher, "closed");
  else
    gtk_widget_add_css_class (self->bottom_switcher, "closed");
  update_scope (self);
  place_end (self, self->main_paned);
  place_end (self, self->side_paned);
}

static gboolean
became_narrow_cb (gpointer data)
{
  update_panes (data);
  return G_SOURCE_REMOVE;
}

/* PANED has another size. */
static void
max_position_cb (GtkPaned *paned, GParamSpec *pspec, LnsReportPage *self)
{
  int max_px;

  g_object_get (paned, "max-position", &max_px, NULL);
  place_end (self, paned);
  if (paned == self->main_paned || max_px == G_MAXINT || (max_px < NARROW_PX) == self->is_narrow)
    return;
  self->is_narrow = max_px < NARROW_PX;
  g_idle_add_full (G_PRIORITY_DEFAULT, became_narrow_cb, g_object_ref (self), g_object_unref);
}

/* The user chose another tab. */
static void
bottom_page_cb (GtkStack *stack, GParamSpec *pspec, LnsReportPage *self)
{
  const char *name = gtk_stack_get_visible_child_name (stack);
  g_autofree char *page = bottom_page (self);

  update_scope (self);
  if (name != NULL && strcmp (page, name) != 0 && gtk_widget_get_mapped (self->bottom_box))
    g_settings_set_string (self->settings, "bottom-page", name);
}

/* Opens the pane of the tab that is chosen, or closes it. */
static void
toggle_bottom_cb (LnsReportPage *self)
{
  g_settings_set_string (
      self->settings, "bottom-page",
      is_bottom_open (self) ? "none" : gtk_stack_get_visible_child_name (self->bottom_stack));
}

/* A click on the tab that is chosen anyhow opens its pane. */
static void
tab_clicked_cb (GtkGestureClick *gesture, int n_press, double x, double y, LnsReportPage *self)
{
  if (!is_bottom_open (self) &&
      gtk_widget_pick (self->bottom_switcher, x, y, GTK_PICK_DEFAULT) != self->bottom_switcher)
    g_settings_set_string (self->settings, "bottom-page",
                           gtk_stack_get_visible_child_name (self->bottom_stack));
}

/* Saves the size of the end child of PANED if it is visible. */
static void
save_end_size (LnsReportPage *self, GtkPaned *paned)
{
  GtkWidget *end = gtk_paned_get_end_child (paned);

  if (end == NULL || !gtk_widget_get_mapped (end) ||
      (paned == self->main_paned && !is_bottom_open (self)))
    return;
  int size_px = gtk_orientable_get_orientation (GTK_ORIENTABLE (paned)) == GTK_ORIENTATION_VERTICAL
                    ? gtk_widget_get_height (end)
                    : gtk_widget_get_width (end);
  g_settings_set_int (self->settings, end_size_key (self, paned), CLAMP (size_px, 200, 8192));
}

/* Makes the tabs of the panes, for each of which GTK asks the display server some five times where the pointer is, and the details: once. */
static void
make_details (GtkWidget *page)
{
  LnsReportPage *self = LNS_REPORT_PAGE (page);

  if (gtk_stack_get_child_by_name (self->details, "a") != NULL)
    return;
  g_clear_pointer (&self->blank_tab, gtk_widget_unparent);
  gtk_stack_switcher_set_stack (GTK_STACK_SWITCHER (self->bottom_switcher), self->bottom_stack);
  gtk_stack_add_named (self->details, lns_details_pane_new (self->parts.view), "a");
  self->parts.details = gtk_stack_get_visible_child (self->details);
}

/* The first frame is drawn without rows and details, and the next one without details: all at once would be one long frame. */
static void
wait_for_rows (GtkWidget *page)
{
  lns_after_frame (&LNS_REPORT_PAGE (page)->opening, page, make_details);
}

static void
lns_report_page_map (GtkWidget *widget)
{
  LnsReportPage *self = LNS_REPORT_PAGE (widget);

  GTK_WIDGET_CLASS (lns_report_page_parent_class)->map (widget);
  if (self->seen_usec == 0)
    self->seen_usec = g_get_monotonic_time ();
  if (self->parts.details == GTK_WIDGET (self->details))
    lns_after_frame (&self->opening, widget, wait_for_rows);
}

static void
lns_report_page_unmap (GtkWidget *widget)
{
  LnsReportPage *self = LNS_REPORT_PAGE (widget);

  save_end_size (self, self->main_paned);
  save_end_size (self, self->side_paned);
  GTK_WIDGET_CLASS (lns_report_page_parent_class)->unmap (widget);
}

/* The pane that is called NAME. */
static GtkWidget *
pane_of (LnsReportPage *self, const char *name)
{
  return lns_pane_slot_get_pane (
      LNS_PANE_SLOT (gtk_stack_get_child_by_name (self->bottom_stack, name)));
}

/* Shows the events of a row when they are wanted. */
static void
show_events_cb (LnsView *view,
                const char *title,
                GArray *lanes,
                const LnsFacetSet *set,
                guint facet,
                LnsReportPage *self)
{
  lns_events_table_show_lanes (LNS_EVENTS_TABLE (pane_of (self, "events")), title,
                               (const uint32_t *)(void *)lanes->data, lanes->len, set, facet);
  g_settings_set_string (self->settings, "bottom-page", "events");
}

/* The same for functions. */
static void
show_functions_cb (LnsView *view, const char *title, const bool *threads, LnsReportPage *self)
{
  lns_functions_pane_show_threads (LNS_FUNCTIONS_PANE (pane_of (self, "functions")), title,
                                   threads);
  g_settings_set_string (self->settings, "bottom-page", "functions");
}

/* Whether the focus is in WIDGET. */
static gboolean
has_focus_in (GtkWidget *widget)
{
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (widget));

  return focus != NULL && gtk_widget_get_mapped (widget) &&
         (focus == widget || gtk_widget_is_ancestor (focus, widget));
}

/* Gives the focus to the tab of the page that shows. */
static void
focus_tab (LnsReportPage *self)
{
  for (GtkWidget *tab = gtk_widget_get_first_child (self->bottom_switcher); tab != NULL;
       tab = gtk_widget_get_next_sibling (tab))
    if (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (tab)))
      gtk_widget_grab_focus (tab);
}

void
lns_report_page_focus_pane (LnsReportPage *self, const char *page)
{
  const gboolean is_details = strcmp (page, "details") == 0;
  GtkWidget *pane = is_details ? self->parts.details : self->bottom_box;
  g_autofree char *shown = g_settings_get_string (self->settings, "bottom-page");
  const gboolean hide = has_focus_in (pane) && (is_details || strcmp (page, shown) == 0);

  if (is_details)
    g_settings_set_boolean (self->settings, "show-details", !hide);
  else
    g_settings_set_string (self->settings, "bottom-page", hide ? "none" : page);
  if (hide)
    gtk_widget_grab_focus (GTK_WIDGET (self->parts.timeline));
  /* A pane may have nothing to focus. */
  else if (is_details && !gtk_widget_child_focus (pane, GTK_DIR_TAB_FORWARD))
    gtk_root_set_focus (gtk_widget_get_root (pane), pane);
  else if (!is_details && !gtk_widget_grab_focus (pane_of (self, page)))
    focus_tab (self);
}

void
lns_report_page_run_sql (LnsReportPage *self, const char *statement)
{
  g_settings_set_string (self->settings, "bottom-page", "sql");
  lns_sql_pane_run (LNS_SQL_PANE (pane_of (self, "sql")), statement);
}

/* An answer that comes later does not move what the user looks at. */
#define SOON_USEC (3 * G_USEC_PER_SEC)

/* Shows what the answer is about, unless the user has been somewhere already. The way back is that of each zoom. */
static void
frame_work (LnsReportPage *self)
{
  LnsView *view = self->parts.view;
  LnsSpan opening;

  if (lns_answer_get_state (self->answer) != LNS_ANSWER_LOOKING && !self->is_restored &&
      lns_view_shows_all (view) && !lns_view_can_undo_zoom (view) && !has_selection (self) &&
      (self->seen_usec == 0 || g_get_monotonic_time () - self->seen_usec <= SOON_USEC) &&
      lns_answer_get_opening (self->answer, &opening))
    lns_view_open_at (view, opening.start_ns, opening.end_ns);
}

/* The tab of a pane says how many things it lists. */
static gboolean
title_of_count (GBinding *binding, const GValue *from, GValue *to, gpointer title)
{
  const guint n = g_value_get_uint (from);

  g_value_take_string (to, n > 0 ? g_strdup_printf ("%s  %u", (const char *)title, n)
                                 : g_strdup (title));
  return TRUE;
}

static void
add_pane (LnsReportPage *self, const LnsPaneType *type)
{
  const char *title = _ (type->title);
  GtkWidget *slot = lns_pane_slot_new (type, self->parts.view, self->settings);
  GtkStackPage *page = gtk_stack_add_titled (self->bottom_stack, slot, type->name, title);

  if (type->count_of == NULL)
    return;
  GObject *counted = type->count_of (self->parts.view);
  g_object_set_data_full (G_OBJECT (slot), "lns-counted", counted, g_object_unref);
  g_object_bind_property_full (counted, "count", page, "title", G_BINDING_SYNC_CREATE,
                               title_of_count, NULL, (gpointer)title, NULL);
}

static void
scope_cb (GSimpleAction *action, GVariant *state, LnsReportPage *self)
{
  g_simple_action_set_state (action, state);
  lns_scope_set_is_of_view (self->scope, g_str_equal (g_variant_get_string (state, NULL), "view"));
}

static void
add_actions (LnsReportPage *self)
{
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();
  g_autoptr (GSimpleAction) scope =
      g_simple_action_new_stateful ("scope", G_VARIANT_TYPE_STRING, g_variant_new_string ("whole"));

  g_signal_connect (scope, "change-state", G_CALLBACK (scope_cb), self);
  g_action_map_add_action (G_ACTION_MAP (group), G_ACTION (scope));
  gtk_widget_insert_action_group (GTK_WIDGET (self), "panes", G_ACTION_GROUP (group));
}

static void
view_not_kept_cb (const char *problem, GObject *page)
{
  add_notice (LNS_REPORT_PAGE (page), GTK_MESSAGE_WARNING, problem, NULL, NULL);
}

/* Leaves the report as it was left. */
static void
keep_view (LnsReportPage *self, LnsStoredView *stored)
{
  if (stored->problem != NULL)
    add_notice (self, GTK_MESSAGE_WARNING, stored->problem, NULL, NULL);
  self->is_restored = stored->view != NULL && stored->is_of_report;
  self->keeper =
      lns_view_keeper_new (self->parts.view, self->parts.timeline, g_steal_pointer (&stored->view),
                           stored->is_of_report, view_not_kept_cb, G_OBJECT (self));
  lns_stored_view_clear (stored);
}

LnsFindBar *
lns_report_page_get_find_bar (LnsReportPage *self)
{
  if (self->find_bar == NULL)
    {
      self->find_bar = LNS_FIND_BAR (lns_find_bar_new (self->parts.view));
      gtk_box_append (self->notices, GTK_WIDGET (self->find_bar));
    }
  return self->find_bar;
}

/* Shows the details of the report number SOURCE. */
static void
show_details_of (LnsReportPage *self, guint source)
{
  LnsView *other = lns_pair_get_view (self->pair, 1);
  g_autofree char *name = lns_pair_get_name (self->pair, source == 1 ? 1 : 0);
  g_autofree char *text =
      other != NULL ? g_strdup_printf ("%s: %s", source == 1 ? "B" : "A", name) : NULL;

  make_details (GTK_WIDGET (self));
  gtk_stack_set_visible_child_name (self->details, source == 1 ? "b" : "a");
  self->parts.details = gtk_stack_get_visible_child (self->details);
  gtk_label_set_text (self->details_of, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->details_of), text != NULL);
}

/* Shows the details of the report in which an event was selected last. */
static void
event_selected_cb (LnsView *view, gboolean reveal, LnsReportPage *self)
{
  const LnsEventId id = lns_view_get_selected_event (view, NULL);

  if (id.lane != LNS_ID_NONE)
    show_details_of (self, id.source);
  update_panes (self);
}

/* The other report has come, or goes. */
static void
pair_changed_cb (LnsPair *pair, LnsReportPage *self)
{
  LnsView *other = lns_pair_get_view (pair, 1);
  GtkWidget *pane = gtk_stack_get_child_by_name (self->details, "b");

  if (pane != NULL && g_object_get_data (G_OBJECT (pane), "lns-view") == other)
    return;
  show_details_of (self, 0);
  if (pane != NULL)
    gtk_stack_remove (self->details, pane);
  if (other == NULL)
    return;
  if (self->pair_bar == NULL)
    {
      self->pair_bar = lns_pair_bar_new (self->parts.view);
      gtk_box_insert_child_after (self->notices, self->pair_bar, self->verdict_bar);
    }
  pane = lns_details_pane_new (other);
  g_object_set_data (G_OBJECT (pane), "lns-view", other);
  gtk_stack_add_named (self->details, pane, "b");
  g_signal_connect_object (other, "event-selected", G_CALLBACK (event_selected_cb), self, 0);
}

static void
add_details (LnsReportPage *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *stack = gtk_stack_new (),
            *label = g_object_new (GTK_TYPE_LABEL, "xalign", 0.0, "ellipsize",
                                   PANGO_ELLIPSIZE_MIDDLE, NULL);

  self->details = GTK_STACK (stack);
  self->details_of = GTK_LABEL (label);
  gtk_widget_add_css_class (label, "details-of");
  gtk_widget_set_visible (label, FALSE);
  gtk_widget_set_vexpand (stack, TRUE);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), stack);
  gtk_paned_set_end_child (self->side_paned, box);
  self->parts.details = stack;
}

/* Puts the report's widgets into their places. */
static void
fill (LnsReportPage *self)
{
  size_t n;
  const LnsPaneType *panes = lns_panes (&n);

  self->verdict_bar = lns_verdict_bar_new (self->parts.view);
  gtk_box_append (self->notices, self->verdict_bar);
  self->parts.timeline = LNS_TIMELINE (lns_timeline_new (self->parts.view));
  gtk_paned_set_start_child (self->main_paned, GTK_WIDGET (self->parts.timeline));
  for (size_t i = 0; i < n; i++)
    add_pane (self, &panes[i]);
  self->blank_tab = g_object_new (GTK_TYPE_TOGGLE_BUTTON, "label", " ", "opacity", 0.0, NULL);
  gtk_widget_set_parent (self->blank_tab, self->bottom_switcher);
  add_details (self);
}

static void
update_colors (LnsReportPage *self)
{
  lns_timeline_set_color_mode (self->parts.timeline,
                               g_settings_get_enum (self->settings, "timeline-colors"));
}

static void
update_path (LnsReportPage *self)
{
  lns_timeline_set_shows_path (self->parts.timeline,
                               g_settings_get_boolean (self->settings, "show-path"));
}

GtkWidget *
lns_report_page_new (LnsView *view, GSettings *settings, LnsStoredView *stored)
{
  LnsReportPage *self = g_object_new (LNS_TYPE_REPORT_PAGE, NULL);

  self->parts.view = g_object_ref (view);
  self->settings = g_object_ref (settings);
  self->answer = lns_answer_of (view);
  self->scope = lns_scope_of (view);
  self->pair = lns_pair_of (view);
  add_actions (self);
  add_notices (self);
  fill (self);
  keep_view (self, stored);
  self->places_bottom = self->places_side = TRUE;
  update_panes (self);
  update_colors (self);
  update_path (self);
  g_signal_connect_object (settings, "changed::show-path", G_CALLBACK (update_path), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (settings, "changed::timeline-colors", G_CALLBACK (update_colors), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (settings, "changed::bottom-page", G_CALLBACK (update_panes), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (settings, "changed::show-details", G_CALLBACK (update_panes), self,
                           G_CONNECT_SWAPPED);
  self->follower = lns_follower_new (view, lost_cb, self);
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "event-selected", G_CALLBACK (event_selected_cb), self, 0);
  g_signal_connect_object (self->pair, "changed", G_CALLBACK (pair_changed_cb), self, 0);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (update_panes), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->answer, "changed", G_CALLBACK (frame_work), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->scope, "changed", G_CALLBACK (update_scope), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "show-in-events", G_CALLBACK (show_events_cb), self, 0);
  g_signal_connect_object (view, "show-in-functions", G_CALLBACK (show_functions_cb), self, 0);
  g_signal_connect (self->bottom_stack, "notify::visible-child", G_CALLBACK (bottom_page_cb), self);
  g_signal_connect (self->main_paned, "notify::max-position", G_CALLBACK (max_position_cb), self);
  g_signal_connect (self->side_paned, "notify::max-position", G_CALLBACK (max_position_cb), self);
  g_signal_connect_swapped (self->bottom_toggle, "clicked", G_CALLBACK (toggle_bottom_cb), self);
  GtkGesture *click = gtk_gesture_click_new ();
  g_signal_connect (click, "released", G_CALLBACK (tab_clicked_cb), self);
  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (click), GTK_PHASE_CAPTURE);
  gtk_widget_add_controller (self->bottom_switcher, GTK_EVENT_CONTROLLER (click));
  return GTK_WIDGET (self);
}

static void
lns_report_page_dispose (GObject *object)
{
  LnsReportPage *self = LNS_REPORT_PAGE (object);

  g_clear_pointer (&self->blank_tab, gtk_widget_unparent);
  g_clear_pointer (&self->keeper, lns_view_keeper_free);
  g_clear_pointer (&self->follower, lns_follower_free);
  /* The children first: they may be reading the report, which the view closes. */
  G_OBJECT_CLASS (lns_report_page_parent_class)->dispose (object);
  g_clear_object (&self->answer);
  g_clear_object (&self->scope);
  g_clear_object (&self->pair);
  g_clear_object (&self->parts.view);
  g_clear_object (&self->settings);
}

static void
lns_report_page_class_init (LnsReportPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_report_page_dispose;
  widget_class->map = lns_report_page_map;
  widget_class->unmap = lns_report_page_unmap;

  g_type_ensure (LNS_TYPE_WIDTH_FIRST); /* for notice.ui */
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/report-page.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, notices);
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, main_paned);
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, side_paned);
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, bottom_toggle);
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, scope_button);
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, scope_text);
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, bottom_strip);
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, bottom_box);
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, bottom_switcher);
  gtk_widget_class_bind_template_child (widget_class, LnsReportPage, bottom_stack);
}

static void
lns_report_page_init (LnsReportPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
