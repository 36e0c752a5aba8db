/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/details-pane.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/analysis/facts/thread-states.h"
#include "src/base/format.h"
#include "ui/details/alike.h"
#include "ui/details/details-fields.h"
#include "ui/details/details-report.h"
#include "ui/details/span-beside.h"
#include "ui/details/span-box.h"
#include "ui/model/after-frame.h"
#include "ui/model/answer.h"
#include "ui/model/critical.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/row-tree.h"
#include "ui/model/shortcuts.h"
#include "ui/model/text-cell.h"
#include "ui/model/width-first.h"

/* Longer titles are broken, so that what they are of has room. */
#define MAX_TITLE_CHARS 12

struct _LnsDetailsPane
{
  AdwBin parent_instance;

  LnsView *view;              /* owned */
  LnsPayloadDecoder *decoder; /* owned */
  GArray *fields;             /* owned; of the selected event, or NULL */
  LnsEvent event;             /* the selected one */

  LnsAnswer *answer;     /* owned; of `view` */
  LnsCritical *critical; /* owned; of `view` */
  int slack_line;        /* of `grid`: behind all that is known at once */
  LnsAfterFrame showing;

  GtkWidget *report_box; /* while nothing is selected */
  GtkGrid *report_grid;
  GtkWidget *next_box;
  GtkLabel *next;
  GtkWidget *event_box;
  GtkLabel *name;
  GtkLabel *whole_name; /* of a kernel: with its parameters */
  GtkGrid *grid;
  AdwBin *span;   /* of the selected time */
  AdwBin *beside; /* of that and the time before */
  GtkLabel *keys;
};

G_DEFINE_FINAL_TYPE (LnsDetailsPane, lns_details_pane, ADW_TYPE_BIN)

/* Removes LINE and those below it. */
static void
cut_lines (GtkGrid *grid, int line)
{
  while (gtk_grid_get_child_at (grid, 0, line) != NULL)
    gtk_grid_remove_row (grid, line);
}

/* Writes LINE, in place if it exists: new labels take longer than a frame. Returns its text's label. */
static GtkLabel *
set_line (GtkGrid *grid, int line, const char *title, const char *whole_text)
{
  g_autofree char *text = lns_display_cut (whole_text);
  if (gtk_grid_get_child_at (grid, 0, line) != NULL)
    {
      gtk_label_set_text (GTK_LABEL (gtk_grid_get_child_at (grid, 0, line)), title);
      gtk_label_set_text (GTK_LABEL (gtk_grid_get_child_at (grid, 1, line)), text);
      return GTK_LABEL (gtk_grid_get_child_at (grid, 1, line));
    }
  GtkWidget *title_label =
      g_object_new (GTK_TYPE_LABEL, "label", title, "xalign", 0.0, "yalign", 0.0, "wrap", TRUE,
                    "max-width-chars", MAX_TITLE_CHARS, NULL);
  GtkWidget *label =
      g_object_new (GTK_TYPE_LABEL, "label", text, "xalign", 0.0, "wrap", TRUE, "wrap-mode",
                    PANGO_WRAP_WORD_CHAR, "selectable", TRUE, "hexpand", TRUE, NULL);

  /* A hyphen at the end of a line would be one more character of a name. */
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  pango_attr_list_insert (attributes, pango_attr_insert_hyphens_new (FALSE));
  gtk_label_set_attributes (GTK_LABEL (label), attributes);
  gtk_widget_add_css_class (title_label, "details-title");
  lns_text_set_numeric (label);
  gtk_grid_attach (grid, title_label, 0, line, 1, 1);
  gtk_grid_attach (grid, label, 1, line, 1, 1);
  return GTK_LABEL (label);
}

static void
update_state (LnsDetailsPane *self)
{
  gboolean any = gtk_widget_get_visible (self->event_box) ||
                 lns_view_get_time_selection (self->view, NULL, NULL);

  gtk_widget_set_visible (self->report_box, !any);
  gtk_widget_set_visible (GTK_WIDGET (self->keys), any);
  gtk_widget_set_focusable (GTK_WIDGET (self), !any); /* else what is in it takes the focus */
}

/* --- The event ----------------------------------------------------------------------------- */

static gboolean
follow_link_cb (GtkLabel *label, const char *uri, LnsDetailsPane *self)
{
  lns_view_reveal_linked (self->view, (LnsLinkKind)g_ascii_strtoull (uri, NULL, 10));
  return GDK_EVENT_STOP;
}

/* The event that is tied to the selected one by KIND, or NULL. */
static const LnsLinkedEvent *
find_linked (LnsDetailsPane *self, LnsLinkKind kind)
{
  guint n;
  const LnsLinkedEvent *linked = lns_view_get_linked_events (self->view, &n);
  for (guint i = 0; i < n; i++)
    if (linked[i].kind == kind)
      return &linked[i];
  return NULL;
}

/* Writes LINE as a link to the event that is tied to the selected one by KIND; as a plain text if that was not recorded. */
static void
set_link_line (
    LnsDetailsPane *self, int line, const char *title, const char *whole_text, LnsLinkKind kind)
{
  GtkLabel *label = set_line (self->grid, line, title, whole_text);
  if (find_linked (self, kind) == NULL)
    return;
  g_autofree char *text = g_markup_escape_text (gtk_label_get_text (label), -1);
  g_autofree char *markup =
      g_strdup_printf ("<a href=\"%d\" title=\"%s\">%s</a>", kind, _ ("Go to the Other End"), text);
  gtk_label_set_markup (label, markup);
  g_signal_handlers_disconnect_by_func (label, follow_link_cb,
                                        self); /* the line may be used again */
  g_signal_connect_object (label, "activate-link", G_CALLBACK (follow_link_cb), self, 0);
}

/* Shows the events that this event began, or the one that began it; or whose wait it ended. Returns the next line. */
static int
show_linked (LnsDetailsPane *self, int line)
{
  LnsReport *report = lns_view_get_report (self->view);
  const LnsLinkedEvents *linked = lns_view_get_linked (self->view);
  const LnsLinkedEvent *woken = find_linked (self, LNS_LINK_WOKEN);
  if (woken != NULL)
    {
      g_autofree char *thread = lns_event_text_thread_or (
          report, lns_event_thread (report, woken->id.lane, &woken->event), _ ("Thread"));
      set_link_line (self, line++, _ ("Woke"), thread, LNS_LINK_WOKEN);
    }
  if (linked == NULL || linked->words == NULL)
    return line;
  const char *words = linked->words;
  g_autofree char *text =
      linked->is_call && linked->n_all > 1
          ? g_strdup_printf (_ ("%s\n“Go to the Other End” goes to the first."), words)
          : g_strdup (words);
  set_link_line (self, line++, linked->is_call ? _ ("Began") : _ ("Begun by"), text,
                 LNS_LINK_LAUNCH);
  return line;
}

/* Says what the event has to spare, once that is known. */
static void
show_slack (LnsDetailsPane *self)
{
  const LnsSlack slack = lns_critical_get_slack (self->critical);
  char duration[LNS_FORMAT_SIZE];
  g_autofree char *text = NULL;

  cut_lines (self->grid, self->slack_line);
  lns_format_duration (slack.ns, duration);
  switch (slack.kind)
    {
    case LNS_SLACK_ON_PATH:
      text = g_strdup_printf (_ ("none: on the critical path for %s"), duration);
      break;
    case LNS_SLACK_SPARE:
      text = slack.ns > 0
                 ? g_strdup_printf (_ ("may take %s longer, and the run would not"), duration)
                 : g_strdup (_ ("none"));
      break;
    case LNS_SLACK_FREE:
      text = g_strdup (_ ("the end of the run does not depend on it"));
      break;
    case LNS_SLACK_UNKNOWN:
      return;
    }
  set_line (self->grid, self->slack_line, _ ("Slack"), text);
}

static void
update_event (LnsDetailsPane *self)
{
  LnsReport *report = lns_view_get_report (self->view);
  LnsEventId id = lns_view_get_selected_event (self->view, &self->event);

  g_clear_pointer (&self->fields, g_array_unref);
  gtk_widget_set_visible (self->event_box, id.lane != LNS_ID_NONE);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "details.copy", id.lane != LNS_ID_NONE);
  if (id.lane == LNS_ID_NONE)
    return;
  const LnsLaneKind kind = lns_report_lanes (report, NULL)[id.lane].kind;
  const LnsNames names = lns_event_names (kind);
  g_autofree char *whole_name = lns_event_text_string (report, self->event.name, false);
  g_autofree char *short_name = names != LNS_NAMES_OWN && *whole_name != '\0'
                                    ? lns_event_text_name (report, id.lane, self->event.name)
                                    : NULL;
  g_autofree char *name = lns_display_cut (short_name != NULL ? short_name : whole_name),
                  *below = lns_display_cut (whole_name);
  int64_t start_ns, end_ns;
  lns_view_get_selected_times (self->view, &start_ns, &end_ns);
  const bool is_state = kind == LNS_LANE_SCHED;
  gtk_label_set_text (self->name, *name != '\0' ? name
                                  : is_state    ? lns_thread_state_name (lns_thread_state_told (
                                                      report, id.lane, &self->event, start_ns))
                                                : lns_event_text_nameless (report, id.lane));
  gtk_label_set_text (self->whole_name, below);
  gtk_widget_set_visible (GTK_WIDGET (self->whole_name), names == LNS_NAMES_KERNELS &&
                                                             short_name != NULL &&
                                                             strcmp (short_name, whole_name) != 0);
  self->fields =
      lns_details_fields_new (report, self->decoder, id.lane, id.ordinal, &self->event, start_ns);
  for (guint i = 0; i < self->fields->len; i++)
    {
      const LnsDetailsField *field = &g_array_index (self->fields, LnsDetailsField, i);
      if (field->is_link)
        set_link_line (self, (int)i, field->title, field->text, field->link);
      else
        set_line (self->grid, (int)i, field->title, field->text);
    }
  self->slack_line = show_linked (self, (int)self->fields->len);
  show_slack (self);
}

static void
copy_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsDetailsPane *self = LNS_DETAILS_PANE (widget);

  if (self->fields == NULL)
    return;
  g_autoptr (GBytes) bytes =
      lns_details_fields_copy (lns_view_get_report (self->view), &self->event, self->fields);
  /* Bytes instead of a string, because names need not be UTF-8. */
  g_autoptr (GdkContentProvider) provider =
      gdk_content_provider_new_for_bytes ("text/plain;charset=utf-8", bytes);
  gdk_clipboard_set_content (gtk_widget_get_clipboard (widget), provider);
}

/* --- Keys ------------------------------------------------------------------------------------- */

/* Between a key and what it does. */
#define NO_BREAK "\302\240"

/* Which keys lead on from what is selected. */
static void
show_keys (LnsDetailsPane *self)
{
  static const struct
  {
    const char *actions[2]; /* the second one may be NULL */
    const char *words;
  } hints[] = {
    { { "timeline.go-to-other-end", NULL }, N_ ("other end") },
    { { "timeline.previous-event", "timeline.next-event" }, N_ ("in the row") },
    { { "timeline.previous-alike", "timeline.next-alike" }, N_ ("of this name") },
    { { "timeline.next-longest", NULL }, N_ ("longest") },
    { { "timeline.next-idle", NULL }, N_ ("idle time") },
    { { "timeline.next-step", NULL }, N_ ("step") },
    { { "timeline.zoom-to-selection", NULL }, N_ ("zoom") },
  };
  GString *markup = g_string_new (NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (hints); i++)
    {
      /* Lines of Chinese could break between any two characters else. */
      g_string_append (markup, i > 0 ? "   <span allow_breaks=\"false\">"
                                     : "<span allow_breaks=\"false\">");
      for (size_t a = 0; a < G_N_ELEMENTS (hints[i].actions); a++)
        {
          guint key = 0;
          GdkModifierType modifiers;
          if (hints[i].actions[a] == NULL)
            continue;
          g_auto (GStrv) keys = g_strsplit (lns_shortcuts_keys (hints[i].actions[a]), " ", 2);
          gtk_accelerator_parse (keys[0], &key, &modifiers);
          g_autofree char *label = gtk_accelerator_get_label (key, modifiers);
          g_autofree char *escaped = g_markup_escape_text (label, -1);
          g_string_append_printf (markup, "<b>%s</b>" NO_BREAK, escaped);
        }
      g_auto (GStrv) words = g_strsplit (_ (hints[i].words), " ", -1);
      g_autofree char *joined = g_strjoinv (NO_BREAK, words);
      g_autofree char *escaped = g_markup_escape_text (joined, -1);
      g_string_append_printf (markup, "%s</span>", escaped);
    }
  gtk_label_set_markup (self->keys, markup->str);
  g_string_free (markup, TRUE);
}

/* --- The report ---------------------------------------------------------------------------- */

static void
show_report (LnsDetailsPane *self)
{
  g_autoptr (GArray) fields = lns_details_report_new (self->view);

  for (guint i = 0; i < fields->len; i++)
    {
      const LnsDetailsField *field = &g_array_index (fields, LnsDetailsField, i);
      set_line (self->report_grid, (int)i, field->title, field->text);
    }
}

/* What the event that is about to be shown has to spare, it says itself. */
static void
slack_cb (LnsCritical *critical, LnsDetailsPane *self)
{
  if (self->showing.tick == 0)
    show_slack (self);
}

/* Shows what is to be done about the program, once that is known. */
static void
answer_changed_cb (LnsAnswer *answer, LnsDetailsPane *self)
{
  const LnsWhy *why = lns_answer_get_why (answer);

  gtk_widget_set_visible (self->next_box, why != NULL && why->next != NULL);
  if (why == NULL || why->next == NULL)
    return;
  g_autofree char *sentence = lns_answer_sentence (why->next);
  gtk_label_set_text (self->next, sentence);
}

/* --- Life ---------------------------------------------------------------------------------- */

static void
show_event (GtkWidget *widget)
{
  LnsDetailsPane *self = LNS_DETAILS_PANE (widget);

  update_event (self);
  update_state (self);
}

static void
event_selected_cb (LnsView *view, gboolean reveal, LnsDetailsPane *self)
{
  lns_after_frame (&self->showing, GTK_WIDGET (self), show_event);
}

static void
time_selection_cb (LnsView *view, LnsDetailsPane *self)
{
  update_state (self);
}

/* The pane is as it was, but for what is told of the report. */
static void
grown_cb (LnsView *view, LnsReport *before, LnsDetailsPane *self)
{
  lns_payload_decoder_free (self->decoder);
  self->decoder = lns_payload_decoder_new (lns_view_get_report (view));
  show_report (self);
}

/* Puts CHILD into BIN, which takes no room while CHILD is hidden. */
static void
fill (AdwBin *bin, GtkWidget *child)
{
  adw_bin_set_child (bin, child);
  g_object_bind_property (child, "visible", bin, "visible", G_BINDING_SYNC_CREATE);
}

GtkWidget *
lns_details_pane_new (LnsView *view)
{
  LnsDetailsPane *self = g_object_new (LNS_TYPE_DETAILS_PANE, NULL);

  self->view = g_object_ref (view);
  self->decoder = lns_payload_decoder_new (lns_view_get_report (view));
  gtk_box_append (GTK_BOX (self->event_box), lns_alike_new (view));
  fill (self->span, lns_span_box_new (view));
  fill (self->beside, lns_span_beside_new (view));
  show_keys (self);
  g_signal_connect_object (view, "event-selected", G_CALLBACK (event_selected_cb), self, 0);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (time_selection_cb), self, 0);
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, 0);
  self->answer = lns_answer_of (view);
  g_signal_connect_object (self->answer, "changed", G_CALLBACK (answer_changed_cb), self, 0);
  self->critical = lns_critical_of (view);
  g_signal_connect_object (self->critical, "slack", G_CALLBACK (slack_cb), self, 0);
  answer_changed_cb (self->answer, self);
  show_report (self);
  show_event (GTK_WIDGET (self));
  return GTK_WIDGET (self);
}

static void
lns_details_pane_dispose (GObject *object)
{
  LnsDetailsPane *self = LNS_DETAILS_PANE (object);

  g_clear_pointer (&self->fields, g_array_unref);
  g_clear_pointer (&self->decoder, lns_payload_decoder_free);
  g_clear_object (&self->answer);
  g_clear_object (&self->critical);
  G_OBJECT_CLASS (lns_details_pane_parent_class)->dispose (object);
  g_clear_object (&self->view);
}

static void
lns_details_pane_class_init (LnsDetailsPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_details_pane_dispose;
  g_type_ensure (LNS_TYPE_WIDTH_FIRST);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/details-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, report_box);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, report_grid);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, next_box);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, next);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, event_box);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, name);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, whole_name);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, grid);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, span);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, beside);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, keys);
  gtk_widget_class_install_action (widget_class, "details.copy", NULL, copy_cb);
  lns_shortcuts_add_to_class (widget_class, "details.");
}

static void
lns_details_pane_init (LnsDetailsPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
