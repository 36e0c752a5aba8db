/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tooltip is a box among the timeline's children, so that it takes neither focus nor grab. It shows at once what
 * the tile knows of an event; a worker adds what only the report knows. */

#include "ui/timeline/timeline-tooltip.h"

#include <glib/gi18n.h>
#include <math.h>

#include "src/analysis/facts/thread-states.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "ui/details/details-fields.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/lane-look.h"
#include "ui/model/linked-events.h"
#include "ui/model/palette.h"

#define TOOLTIP_DELAY_MSEC 60

struct LnsTimelineTooltip
{
  const LnsRowContext *context;
  GtkWidget *box;
  GtkLabel *label;
  char *about;           /* owned; the text without what the worker adds, or NULL */
  int64_t time_ns;       /* of the state that it is about */
  guint delay;           /* source that shows it once the pointer rests, or 0 */
  GCancellable *reading; /* of the read of the hovered event, or NULL */
};

/* --- Words --------------------------------------------------------------------------------- */

/* Names of kernels are not shortened: there is room. */
static char *
text_of (LnsTimelineTooltip *self, uint32_t string, LnsNames names)
{
  size_t size_bytes;
  const char *bytes =
      lns_report_string (lns_view_get_report (self->context->view), string, &size_bytes);
  if (names == LNS_NAMES_CALLS)
    bytes = lns_event_short_name (names, bytes, &size_bytes);
  g_autofree char *text = lns_display_text (bytes, size_bytes, FALSE);
  return lns_display_cut (text);
}

/* Appends "LABEL  VALUE" as a line of markup. */
static void
append_line (GString *markup, const char *label, const char *value)
{
  g_autofree char *escaped = g_markup_escape_text (value, -1);
  g_string_append_printf (markup, "\n<span alpha=\"65%%\">%s</span>  %s", label, escaped);
}

static void
append_name (LnsTimelineTooltip *self, GString *markup, uint32_t row, uint32_t name)
{
  LnsNames names = lns_row_names (lns_row_tree_row (self->context->tree, row));
  g_autofree char *text = text_of (self, name, names);
  g_autofree char *escaped = g_markup_escape_text (*text != '\0' ? text : _ ("(no name)"), -1);
  g_string_append_printf (markup, "<b>%s</b>", escaped);
}

/* Appends the name of what the thread does, or that of all states in its place. */
static void
append_state (LnsTimelineTooltip *self, GString *markup, LnsThreadState state)
{
  const LnsPalette *palette = lns_palette_get (self->context->theme);
  g_string_append_printf (markup, "<span foreground=\"#%06x\">%s</span> <b>%s</b>",
                          lns_palette_state_mark (palette, state),
                          state == LNS_STATE_UNKNOWN ? "▨" : "■", lns_thread_state_name (state));
  if (state == LNS_STATE_UNKNOWN)
    g_string_append_printf (markup, "\n%s", _ ("The report does not record it."));
  if (state == LNS_STATE_RUNNABLE)
    g_string_append_printf (markup, "\n%s", _ ("It could run, but other threads have the CPUs."));
  if (state == LNS_STATE_UNINTERRUPTIBLE)
    g_string_append_printf (
        markup, "\n%s",
        _ ("It waits for a disk, a page of memory or a driver; no signal ends that."));
}

/* Appends a legend of states as the last line. */
static void
append_states (LnsTimelineTooltip *self, GString *markup)
{
  const LnsPalette *palette = lns_palette_get (self->context->theme);
  g_string_append (markup, "\n");
  for (int state = LNS_STATE_RUNNING; state <= LNS_STATE_UNINTERRUPTIBLE; state++)
    g_string_append_printf (markup, "%s<span foreground=\"#%06x\">■</span> %s",
                            state > LNS_STATE_RUNNING ? "  " : "",
                            lns_palette_state_mark (palette, (LnsThreadState)state),
                            lns_thread_state_name ((LnsThreadState)state));
  g_string_append_printf (markup, "  <span foreground=\"#%06x\">▨</span> %s",
                          lns_palette_state_mark (palette, LNS_STATE_UNKNOWN),
                          lns_thread_state_name (LNS_STATE_UNKNOWN));
}

static void
append_event (LnsTimelineTooltip *self, GString *markup, const LnsTimelineHit *hit)
{
  char text[LNS_FORMAT_SIZE];
  if (hit->has_state)
    {
      append_state (self, markup, hit->state);
      if (hit->function != 0)
        {
          g_autofree char *function = text_of (self, hit->function, LNS_NAMES_OWN);
          append_line (markup, _ ("Mostly in"), function);
        }
    }
  else if (hit->event.name == 0)
    g_string_append_printf (
        markup, "<b>%s</b>",
        lns_event_text_nameless (lns_view_get_report (self->context->view), hit->event.lane));
  else
    append_name (self, markup, lns_strip_row_of (self->context->tree, &hit->strip, hit->event.lane),
                 hit->event.name);
  g_autofree char *start = lns_event_text_time (hit->event.start_ns);
  append_line (markup, _ ("Start"), start);
  if (hit->strip.kind != LNS_STRIP_MARKS && !(hit->event.flags & LNS_EVENT_END_UNKNOWN))
    append_line (markup, _ ("Duration"), lns_format_duration_exact (hit->event.duration_ns, text));

  const uint32_t row = lns_strip_row_of (self->context->tree, &hit->strip, hit->event.lane);
  uint32_t n_domains, domain = lns_row_tree_row (self->context->tree, row)->domain;
  const LnsDomain *domains =
      lns_report_domains (lns_view_get_report (self->context->view), &n_domains);
  if (domain < n_domains && domains[domain].name != 0)
    {
      g_autofree char *name = text_of (self, domains[domain].name, LNS_NAMES_OWN);
      append_line (markup, _ ("Domain"), name);
    }
}

/* Appends what PIXEL of STRIP has: events that are too narrow, and which share of it they or the row take. */
static void
append_narrow (LnsTimelineTooltip *self,
               GString *markup,
               const LnsStrip *strip,
               const LnsPixel *pixel)
{
  char count[LNS_FORMAT_SIZE];
  const LnsActivity activity =
      lns_strip_activity (lns_view_get_report (self->context->view), self->context->tree, strip);
  if (pixel->name != 0)
    append_name (self, markup, strip->row, pixel->name);
  g_autofree char *busy = lns_summary_text (activity, pixel->busy);
  if (markup->len > 0 && pixel->count > 1)
    append_line (markup, _ ("and"), _ ("others, too narrow to be told apart"));
  if (pixel->count > 0)
    append_line (markup, _ ("Events"), lns_format_unsigned (pixel->count, count));
  append_line (markup, _ ("Activity"), busy);
}

/* Appends the counter's name and its values in its unit. */
static void
append_sample (LnsTimelineTooltip *self,
               GString *markup,
               const LnsStrip *strip,
               const LnsCounterPixel *sample)
{
  const LnsTrack *track = lns_event_track (lns_view_get_report (self->context->view), strip->lane);
  if (!isfinite (sample->last))
    return;
  g_autofree char *unit =
      track != NULL && track->unit != 0 ? text_of (self, track->unit, LNS_NAMES_OWN) : NULL;
  const char *space = unit != NULL ? " " : "", *words = unit != NULL ? unit : "";
  g_autofree char *name =
      g_markup_escape_text (lns_row_tree_row (self->context->tree, strip->row)->label, -1);
  g_string_append_printf (markup, "<b>%s</b>", name);
  char number[LNS_FORMAT_SIZE], most[LNS_FORMAT_SIZE];
  g_autofree char *last =
      g_strdup_printf ("%s%s%s", lns_format_real (sample->last, 10, number), space, words);
  append_line (markup, _ ("Value"), last);
  if (sample->min == sample->max)
    return;
  g_autofree char *between =
      g_strdup_printf ("%s – %s%s%s", lns_format_real (sample->min, 10, number),
                       lns_format_real (sample->max, 10, most), space, words);
  append_line (markup, _ ("Between"), between);
}

/* --- What only the report knows ------------------------------------------------------------ */

typedef struct
{
  LnsEventId id;
  int64_t time_ns; /* of the state of a thread */
  LnsEvent event;
  gboolean found; /* FALSE: the report is damaged there */
  char *markup;   /* owned; the text so far */
} Details;

static void
details_free (gpointer data)
{
  Details *details = data;
  g_free (details->markup);
  g_free (details);
}

static void
read_details (LnsWorker *worker, gpointer job)
{
  Details *details = job;
  LnsReport *report = worker->report;
  LnsEvent range;
  LnsThreadSpan span;
  details->found =
      lns_report_event (report, details->id.lane, details->id.ordinal, &details->event, NULL);
  if (details->found &&
      lns_event_track (report, details->id.lane)->kind == LNS_TRACK_NVTX_PROJECTED)
    {
      /* Reads it into memory, so that the main thread can show its fields. */
      LnsEventId id = lns_projected_range (report, details->id.lane, &details->event);
      lns_report_event (report, id.lane, id.ordinal, &range, NULL);
    }
  if (details->found) /* the same for what lies around it */
    lns_thread_span_described (report, details->id.lane, details->time_ns, &span);
}

/* Appends a legend of the colours of calls as the last line. */
static void
append_legend (LnsTimelineTooltip *self, GString *markup)
{
  const LnsPalette *palette = lns_palette_get (self->context->theme);
  g_string_append (markup, "\n");
  for (int kind = LNS_CUDA_CALL_LAUNCH; kind <= LNS_CUDA_CALL_OTHER; kind++)
    g_string_append_printf (
        markup, "%s<span foreground=\"#%06x\">■</span> %s", kind > 0 ? "  " : "",
        lns_palette_color (palette, 0, lns_lane_call_hue ((LnsCudaCallKind)kind)),
        lns_cuda_call_kind_name ((LnsCudaCallKind)kind));
}

static void
append_fields (LnsTimelineTooltip *self, GString *markup, const Details *details)
{
  LnsReport *report = lns_view_get_report (self->context->view);
  g_autoptr (GArray) fields =
      lns_details_brief_fields_new (report, details->id.lane, &details->event, details->time_ns);
  for (guint i = 0; i < fields->len; i++)
    {
      const LnsDetailsField *field = &g_array_index (fields, LnsDetailsField, i);
      g_autofree char *text = lns_display_cut (field->text);
      append_line (markup, field->title, text);
    }
  const LnsLaneKind kind = lns_report_lanes (report, NULL)[details->id.lane].kind;
  if (kind == LNS_LANE_CUDA_API)
    append_legend (self, markup);
  else if (kind == LNS_LANE_SCHED)
    append_states (self, markup);
}

static void
details_read_cb (gpointer job, gpointer owner)
{
  const Details *details = job;
  LnsTimelineTooltip *self = owner;
  if (!details->found ||
      !lns_event_id_equal (details->id, lns_view_get_hovered_event (self->context->view)))
    return;
  g_autoptr (GString) markup = g_string_new (details->markup);
  append_fields (self, markup, details);
  gtk_label_set_markup (self->label, markup->str);
}

static const LnsJobFuncs details_funcs = { read_details, details_read_cb, details_free };

static void
ask_details (LnsTimelineTooltip *self, LnsEventId id, const char *markup)
{
  Details *details = g_new0 (Details, 1);
  details->id = id;
  details->time_ns = self->time_ns;
  details->markup = g_strdup (markup);
  lns_job_start (&self->reading, self->context->view, &details_funcs, details, self);
}

/* What a CPU does where none of the recorded threads is on it. */
static const char *
cpu_words (LnsTimelineTooltip *self, const LnsTimelineHit *hit)
{
  const int64_t time_ns =
      lns_sum (lns_tile_origin_ns (&hit->tile->key),
               (int64_t)(hit->tile_x_px * (double)hit->tile->key.ns_per_tile / LNS_TILE_PX));
  return time_ns >= lns_report_info (lns_view_get_report (self->context->view))->known_ns
             ? _ ("The report does not record it.")
             : _ ("No thread that was recorded: the CPU is idle, or runs another program.");
}

/* --- The box ------------------------------------------------------------------------------- */

static gboolean
show_cb (gpointer data)
{
  LnsTimelineTooltip *self = data;
  self->delay = 0;
  gtk_label_set_markup (self->label, self->about);
  gtk_widget_set_child_visible (self->box, TRUE);
  gtk_widget_queue_allocate (gtk_widget_get_parent (self->box));
  LnsEventId id = lns_view_get_hovered_event (self->context->view);
  if (id.lane != LNS_ID_NONE)
    ask_details (self, id, self->about);
  return G_SOURCE_REMOVE;
}

void
lns_timeline_tooltip_hide (LnsTimelineTooltip *self)
{
  g_clear_handle_id (&self->delay, g_source_remove);
  g_clear_pointer (&self->about, g_free);
  lns_job_cancel (&self->reading);
  gtk_widget_set_child_visible (self->box, FALSE);
}

void
lns_timeline_tooltip_set_context (LnsTimelineTooltip *self, const LnsRowContext *context)
{
  if (self->context != context)
    lns_timeline_tooltip_hide (self);
  self->context = context;
}

void
lns_timeline_tooltip_update (LnsTimelineTooltip *self, const LnsTimelineHit *hit)
{
  if (hit->context != NULL)
    lns_timeline_tooltip_set_context (self, hit->context);
  g_autoptr (GString) markup = g_string_new (NULL);
  const LnsTile *tile = hit->tile;
  int p = tile != NULL ? (int)(hit->tile_x_px * tile->key.scale) : 0;
  if (hit->has_event)
    append_event (self, markup, hit);
  else if (tile != NULL && tile->state == LNS_TILE_DAMAGED)
    g_string_append (markup, _ ("The report is damaged here and cannot be read."));
  else if (tile != NULL && tile->samples != NULL)
    append_sample (self, markup, &hit->strip, &tile->samples[p]);
  else if (tile != NULL && tile->pixels != NULL &&
           (tile->pixels[p].busy > 0 || tile->pixels[p].count > 0))
    {
      append_narrow (self, markup, &hit->strip, &tile->pixels[p]);
      /* Without a lane, no state of the thread was recorded. */
      if (hit->strip.kind == LNS_STRIP_STATES ||
          (hit->strip.kind == LNS_STRIP_COMBINED && hit->strip.lane != LNS_ID_NONE))
        append_states (self, markup);
    }

  else if (hit->has_strip && hit->strip.kind == LNS_STRIP_RANGES && tile != NULL &&
           tile->pixels != NULL && hit->strip.lane != LNS_ID_NONE &&
           lns_report_lanes (lns_view_get_report (self->context->view), NULL)[hit->strip.lane]
                   .kind == LNS_LANE_CPU_RUN)
    g_string_append (markup, cpu_words (self, hit));

  const char *text = markup->str[0] == '\n' ? markup->str + 1 : markup->str;
  if (*text == '\0')
    lns_timeline_tooltip_hide (self);
  else if (g_strcmp0 (text, self->about) != 0)
    {
      /* To lay out text while the pointer moves on would be wasted work. */
      lns_timeline_tooltip_hide (self);
      self->about = g_strdup (text);
      self->time_ns = hit->event.start_ns;
      self->delay = g_timeout_add (TOOLTIP_DELAY_MSEC, show_cb, self);
    }
  else if (gtk_widget_get_child_visible (self->box))
    gtk_widget_queue_allocate (gtk_widget_get_parent (self->box)); /* moves it to the pointer */
}

LnsTimelineTooltip *
lns_timeline_tooltip_new (const LnsRowContext *context, GtkWidget *box, GtkLabel *label)
{
  LnsTimelineTooltip *self = g_new0 (LnsTimelineTooltip, 1);
  self->context = context;
  self->box = box;
  self->label = label;
  gtk_widget_set_child_visible (box, FALSE);
  return self;
}

void
lns_timeline_tooltip_free (LnsTimelineTooltip *self)
{
  if (self == NULL)
    return;
  lns_timeline_tooltip_hide (self);
  g_free (self);
}
