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
#include "ui/details/details-band.h"
#include "ui/details/details-fields.h"
#include "ui/details/details-report.h"
#include "ui/model/answer.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/row-tree.h"
#include "ui/model/shortcuts.h"

/* Longer titles are broken, so that what they are of has room. */
#define MAX_TITLE_CHARS 12

struct _LnsDetailsPane
{
  AdwBin parent_instance;

  LnsView *view;              /* owned */
  LnsPayloadDecoder *decoder; /* owned */
  GArray *fields;             /* owned; of the selected event, or NULL */
  LnsEvent event;             /* the selected one */
  GCancellable *counting;     /* of the band's statistics under way, or NULL */

  LnsAnswer *answer; /* owned; of `view` */

  GtkWidget *report_box; /* while nothing is selected */
  GtkGrid *report_grid;
  GtkWidget *next_box;
  GtkLabel *next;
  GtkWidget *event_box;
  GtkLabel *name;
  GtkGrid *grid;
  GtkWidget *band_box;
  GtkGrid *band_grid;
};

G_DEFINE_FINAL_TYPE (LnsDetailsPane, lns_details_pane, ADW_TYPE_BIN)

/* Removes LINE and those below it. */
static void
cut_lines (GtkGrid *grid, int line)
{
  while (gtk_grid_get_child_at (grid, 0, line) != NULL)
    gtk_grid_remove_row (grid, line);
}

/* Writes LINE, in place if it exists, so that nothing flickers while time is being selected. Returns its text's label. */
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

  gtk_widget_add_css_class (title_label, "details-title");
  gtk_widget_add_css_class (label, "numeric");
  gtk_grid_attach (grid, title_label, 0, line, 1, 1);
  gtk_grid_attach (grid, label, 1, line, 1, 1);
  return GTK_LABEL (label);
}

static void
update_state (LnsDetailsPane *self)
{
  gboolean any =
      gtk_widget_get_visible (self->event_box) || gtk_widget_get_visible (self->band_box);

  gtk_widget_set_visible (self->report_box, !any);
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
      g_autofree char *thread =
          lns_event_text_thread (report, lns_event_thread (report, woken->id.lane, &woken->event));
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

static void
update_event (LnsDetailsPane *self)
{
  LnsReport *report = lns_view_get_report (self->view);
  LnsEventId id = lns_view_get_selected_event (self->view, &self->event);

  g_clear_pointer (&self->fields, g_array_unref);
  gtk_widget_set_visible (self->event_box, id.lane != LNS_ID_NONE);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "details.copy", id.lane != LNS_ID_NONE);
  cut_lines (self->grid, 0);
  if (id.lane == LNS_ID_NONE)
    return;
  g_autofree char *whole_name = lns_event_text_string (report, self->event.name, false);
  g_autofree char *name = lns_display_cut (whole_name);
  int64_t start_ns, end_ns;
  lns_view_get_selected_times (self->view, &start_ns, &end_ns);
  const bool is_state = lns_report_lanes (report, NULL)[id.lane].kind == LNS_LANE_SCHED;
  gtk_label_set_text (self->name, *name != '\0' ? name
                                  : is_state    ? lns_thread_state_name (lns_thread_state_told (
                                                      report, id.lane, &self->event, start_ns))
                                                : lns_event_text_nameless (report, id.lane));
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
  show_linked (self, (int)self->fields->len);
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

/* --- The selected time --------------------------------------------------------------------- */

typedef struct
{
  GArray *lanes; /* of uint32_t */
  int64_t start_ns, end_ns;
  gboolean is_one_row; /* whose events overlap only at different depths */
  LnsDetailsBand band;
  GError *error; /* or NULL */
} Counting;

static void
counting_free (gpointer data)
{
  Counting *counting = data;
  g_array_unref (counting->lanes);
  g_clear_error (&counting->error);
  g_free (counting);
}

static void
count (LnsWorker *worker, gpointer data)
{
  Counting *counting = data;
  lns_details_band (worker->report, (const uint32_t *)(void *)counting->lanes->data,
                    counting->lanes->len, counting->start_ns, counting->end_ns, &counting->band,
                    worker->cancellable, &counting->error);
}

static void
show_band (LnsDetailsPane *self, const Counting *counting)
{
  const LnsDetailsBand *band = &counting->band;
  char text[LNS_FORMAT_SIZE], more[LNS_FORMAT_SIZE];
  int line = 4; /* below from, to, duration and row */

  set_line (self->band_grid, line++, _ ("Events"), lns_format_unsigned (band->n_events, text));
  set_line (self->band_grid, line++, _ ("Start within it"),
            lns_format_unsigned (band->n_started, text));
  if (band->n_events == 0)
    {
      cut_lines (self->band_grid, line);
      return;
    }
  if (counting->is_one_row && counting->end_ns > counting->start_ns)
    {
      double span_ns = (double)(counting->end_ns - counting->start_ns);
      g_autofree char *busy =
          g_strdup_printf ("%s (%s %%)", lns_format_duration (band->busy_ns, text),
                           lns_format_fixed (100 * (double)band->busy_ns / span_ns, 1, more));
      set_line (self->band_grid, line++, _ ("Covered"), busy);
    }
  g_autofree char *name =
      lns_event_text_string (lns_view_get_report (self->view), band->longest_name, true);
  g_autofree char *longest = g_strconcat (lns_format_duration_exact (band->longest_ns, more),
                                          *name != '\0' ? ", " : "", name, NULL);
  set_line (self->band_grid, line++, _ ("Longest event"), longest);
  cut_lines (self->band_grid, line);
}

static void
counted_cb (gpointer job, gpointer owner)
{
  const Counting *counting = job;
  LnsDetailsPane *self = owner;
  if (counting->error == NULL)
    show_band (self, counting);
  else
    {
      set_line (self->band_grid, 4, _ ("Events"), counting->error->message);
      cut_lines (self->band_grid, 5);
    }
}

static const LnsJobFuncs count_funcs = { count, counted_cb, counting_free };

/* The row whose events are counted: that of the selected event, or else of the hovered one. */
static const LnsTrack *
counted_track (LnsDetailsPane *self)
{
  LnsReport *report = lns_view_get_report (self->view);
  LnsEventId id = lns_view_get_selected_event (self->view, NULL);
  if (id.lane == LNS_ID_NONE)
    id = lns_view_get_hovered_event (self->view);
  return id.lane != LNS_ID_NONE ? lns_event_track (report, id.lane) : NULL;
}

/* The lanes of TRACK, or all. */
static GArray *
lanes_of (LnsReport *report, const LnsTrack *track)
{
  uint32_t n_lanes, n_tracks;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  GArray *chosen = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    if (track == NULL ? lanes[lane].kind != LNS_LANE_NVTX_PROJECTED
                      : lanes[lane].track < n_tracks && &tracks[lanes[lane].track] == track)
      g_array_append_val (chosen, lane);
  return chosen;
}

/* The name of the row whose events are counted. */
static char *
counted_text (LnsReport *report, const LnsTrack *track)
{
  if (track == NULL)
    return g_strdup (_ ("all rows"));
  g_autofree char *domain = track->domain != LNS_ID_NONE
                                ? lns_event_text_domain (report, track->domain)
                                : g_strdup (lns_track_label (track->kind));
  g_autofree char *owner = track->thread != LNS_ID_NONE
                               ? lns_event_text_thread (report, track->thread)
                               : lns_event_text_process (report, track->process);
  return g_strdup_printf ("%s, %s", domain, owner);
}

static void
update_band (LnsDetailsPane *self)
{
  LnsReport *report = lns_view_get_report (self->view);
  int64_t start_ns, end_ns;
  char duration[LNS_FORMAT_SIZE];
  gboolean has_band = lns_view_get_time_selection (self->view, &start_ns, &end_ns);

  lns_job_cancel (&self->counting);
  gtk_widget_set_visible (self->band_box, has_band);
  if (!has_band)
    return;
  const LnsTrack *track = counted_track (self);
  g_autofree char *counted = counted_text (report, track);
  g_autofree char *start = lns_event_text_time (start_ns);
  g_autofree char *end = lns_event_text_time (end_ns);
  set_line (self->band_grid, 0, _ ("From"), start);
  set_line (self->band_grid, 1, _ ("To"), end);
  set_line (self->band_grid, 2, _ ("Duration"),
            lns_format_duration_exact (end_ns - start_ns, duration));
  set_line (self->band_grid, 3, _ ("Row"), counted);

  Counting *counting = g_new0 (Counting, 1);
  counting->lanes = lanes_of (report, track);
  counting->start_ns = start_ns;
  counting->end_ns = end_ns;
  counting->is_one_row = track != NULL && track->kind != LNS_TRACK_NVTX_START_END;
  lns_job_start (&self->counting, self->view, &count_funcs, counting, self);
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
event_selected_cb (LnsView *view, gboolean reveal, LnsDetailsPane *self)
{
  update_event (self);
  update_band (self);
  update_state (self);
}

static void
time_selection_cb (LnsView *view, LnsDetailsPane *self)
{
  update_band (self);
  update_state (self);
}

GtkWidget *
lns_details_pane_new (LnsView *view)
{
  LnsDetailsPane *self = g_object_new (LNS_TYPE_DETAILS_PANE, NULL);

  self->view = g_object_ref (view);
  self->decoder = lns_payload_decoder_new (lns_view_get_report (view));
  gtk_box_append (GTK_BOX (self->event_box), lns_alike_new (view));
  g_signal_connect_object (view, "event-selected", G_CALLBACK (event_selected_cb), self, 0);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (time_selection_cb), self, 0);
  self->answer = lns_answer_of (view);
  g_signal_connect_object (self->answer, "changed", G_CALLBACK (answer_changed_cb), self, 0);
  answer_changed_cb (self->answer, self);
  show_report (self);
  event_selected_cb (view, FALSE, self);
  return GTK_WIDGET (self);
}

static void
lns_details_pane_dispose (GObject *object)
{
  LnsDetailsPane *self = LNS_DETAILS_PANE (object);

  lns_job_cancel (&self->counting);
  g_clear_pointer (&self->fields, g_array_unref);
  g_clear_pointer (&self->decoder, lns_payload_decoder_free);
  g_clear_object (&self->answer);
  G_OBJECT_CLASS (lns_details_pane_parent_class)->dispose (object);
  g_clear_object (&self->view);
}

static void
lns_details_pane_class_init (LnsDetailsPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_details_pane_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/details-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, report_box);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, report_grid);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, next_box);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, next);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, event_box);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, name);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, grid);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, band_box);
  gtk_widget_class_bind_template_child (widget_class, LnsDetailsPane, band_grid);
  gtk_widget_class_install_action (widget_class, "details.copy", NULL, copy_cb);
  lns_shortcuts_add_to_class (widget_class, "details.");
}

static void
lns_details_pane_init (LnsDetailsPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
