/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/span-box.h"

#include <glib/gi18n.h>

#include "src/analysis/facts/span-sums.h"
#include "src/base/format.h"
#include "src/tables/lanes.h"
#include "ui/details/name-bar.h"
#include "ui/model/answer.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/lane-look.h"
#include "ui/model/text-cell.h"

/* Names of threads and of GPUs that have bars. */
#define MAX_NAMES 6

/* Threads whose share of the time is told: the one that launches work, and those that ran longest. */
#define MAX_THREADS 3

struct _LnsSpanBox
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  LnsAnswer *answer;     /* owned; knows which thread launches work */
  LnsHues *hues;         /* owned, or NULL until a worker has read the names */
  GCancellable *running; /* or NULL */

  GtkLabel *duration;
  GtkGrid *grid;
  GtkLabel *threads_title, *gpus_title;
  GtkBox *threads, *gpus;
};

G_DEFINE_FINAL_TYPE (LnsSpanBox, lns_span_box, ADW_TYPE_BIN)

/* --- The job: first the sums, then, from these, the percentiles ---------------------------------- */

typedef struct
{
  LnsSpan span;
  bool is_second; /* the sums are there */
  LnsSpanSums sums;
  LnsHues *hues; /* owned, or NULL */
  bool has_hues; /* they were read before */
  bool is_good;
  LnsError error;
} Summing;

static void
summing_free (gpointer data)
{
  Summing *it = data;

  lns_span_sums_clear (&it->sums);
  g_clear_pointer (&it->hues, g_hash_table_unref);
  g_free (it);
}

static void
sum_work (LnsWorker *worker, gpointer data)
{
  Summing *it = data;

  if (!it->has_hues)
    it->hues = lns_hues_new (worker->report);
  it->is_good = it->is_second ? lns_span_sums_measure (worker->report, &it->span,
                                                       &worker->cancelled, &it->sums, &it->error)
                              : lns_span_sums_make (worker->report, &it->span, MAX_NAMES,
                                                    &worker->cancelled, &it->sums, &it->error);
}

/* --- What is shown ---------------------------------------------------------------------------- */

/* Writes LINE of the grid, in place, so that nothing flickers while time is being selected. */
static void
set_line (LnsSpanBox *self, int line, const char *title, const char *text)
{
  GtkWidget *label = gtk_grid_get_child_at (self->grid, 0, line);

  if (label == NULL)
    {
      label = g_object_new (GTK_TYPE_LABEL, "xalign", 0.0, "ellipsize", PANGO_ELLIPSIZE_MIDDLE,
                            "hexpand", TRUE, NULL);
      GtkWidget *value = g_object_new (GTK_TYPE_LABEL, "xalign", 1.0, "selectable", TRUE, NULL);
      gtk_widget_add_css_class (label, "details-title");
      lns_text_set_numeric (value);
      gtk_grid_attach (self->grid, label, 0, line, 1, 1);
      gtk_grid_attach (self->grid, value, 1, line, 1, 1);
    }
  gtk_label_set_text (GTK_LABEL (label), title);
  gtk_label_set_text (GTK_LABEL (gtk_grid_get_child_at (self->grid, 1, line)), text);
}

static void
cut_lines (LnsSpanBox *self, int line)
{
  while (gtk_grid_get_child_at (self->grid, 0, line) != NULL)
    gtk_grid_remove_row (self->grid, line);
}

/* "12.3 %" of SPAN. Free with g_free (). */
static char *
share_text (int64_t ns, const LnsSpan *span)
{
  const double span_ns = (double)span->end_ns - (double)span->start_ns;
  char number[LNS_FORMAT_SIZE];

  lns_format_fixed (span_ns > 0 ? 100 * (double)ns / span_ns : 0, 1, number);
  return g_strdup_printf (_ ("%s %%"), number);
}

/* The line of THREAD, which ran for NS. Returns the next line. */
static int
show_thread (LnsSpanBox *self, int line, uint32_t thread, int64_t ns, const LnsSpan *span)
{
  g_autofree char *name =
      lns_event_text_thread_or (lns_view_get_report (self->view), thread, _ ("Thread"));
  /* Translators: the name of a thread: "main (4711) on CPU" */
  g_autofree char *title = g_strdup_printf (_ ("%s on CPU"), name);
  g_autofree char *share = share_text (ns, span);

  set_line (self, line, title, share);
  return line + 1;
}

/* The threads whose share of the time is told: the one that launches work first. Returns the next line. */
static int
show_threads (LnsSpanBox *self, int line, const LnsSpanSums *sums, const LnsSpan *span)
{
  const LnsWhy *why = lns_answer_get_why (self->answer);
  const uint32_t own =
      why != NULL && why->ledgers.n > 0 ? why->ledgers.items[0].thread : LNS_ID_NONE;
  const size_t n = sums->running.n;
  int n_shown = 0;

  for (size_t i = 0; i < n; i++)
    if (sums->running.items[i].thread == own && n_shown == 0)
      {
        line = show_thread (self, line, own, sums->running.items[i].ns, span);
        n_shown++;
      }
  for (size_t i = 0; i < n && n_shown < MAX_THREADS; i++)
    if (sums->running.items[i].ns > 0 &&
        (sums->running.items[i].thread != own || own == LNS_ID_NONE))
      {
        line = show_thread (self, line, sums->running.items[i].thread, sums->running.items[i].ns,
                            span);
        n_shown++;
      }
  return line;
}

/* How long each GPU worked. Returns the next line. */
static int
show_devices (LnsSpanBox *self, int line, const LnsSpanSums *sums, const LnsSpan *span)
{
  uint32_t n_devices;
  const LnsCudaDevice *devices = lns_report_devices (lns_view_get_report (self->view), &n_devices);

  for (size_t i = 0; i < sums->devices.n; i++)
    {
      const LnsSpanShare *gpu = &sums->devices.items[i];
      g_autofree char *title =
          gpu->device < n_devices ? g_strdup_printf (_ ("GPU %u busy"), devices[gpu->device].number)
                                  : g_strdup (_ ("GPU busy"));
      g_autofree char *share = share_text (gpu->ns, span);
      set_line (self, line++, title, share);
    }
  return line;
}

static unsigned
hue_of (LnsSpanBox *self, const LnsSpanName *name)
{
  LnsReport *report = lns_view_get_report (self->view);
  size_t size_bytes;
  unsigned hue;
  const char *bytes = lns_report_string (report, name->name, &size_bytes);

  const LnsLaneKind kind = lns_report_lanes (report, NULL)[name->lane].kind;
  if (lns_lane_find_hue (kind, bytes, size_bytes, &hue))
    return hue;
  bytes = lns_event_short_name (lns_event_names (kind), bytes, &size_bytes);
  return self->hues != NULL ? lns_hues_get (self->hues, bytes, size_bytes) : 0;
}

/* DURATION_NS with three digits: three such times stand in one line. */
static const char *
format_rounded (int64_t duration_ns, char ret_text[LNS_FORMAT_SIZE])
{
  static const char *const units[] = { "ns", "µs", "ms", "s" };
  double value = (double)duration_ns;
  size_t unit = 0;

  while (unit + 1 < G_N_ELEMENTS (units) && value >= 999.5)
    {
      value /= 1000;
      unit++;
    }
  lns_format_fixed (value, unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, ret_text);
  const size_t length = strlen (ret_text);
  g_snprintf (ret_text + length, LNS_FORMAT_SIZE - length, " %s", units[unit]);
  return ret_text;
}

/* Replaces the bars of BOX, which TITLE stands above, by those of NAMES. The longest has all the room. */
static void
show_names (LnsSpanBox *self, GtkLabel *title, GtkBox *box, const LnsSpanNames *names)
{
  LnsReport *report = lns_view_get_report (self->view);
  GtkWidget *old;
  char time[LNS_FORMAT_SIZE], n[LNS_FORMAT_SIZE], p50[LNS_FORMAT_SIZE], p90[LNS_FORMAT_SIZE],
      p99[LNS_FORMAT_SIZE];

  while ((old = gtk_widget_get_first_child (GTK_WIDGET (box))) != NULL)
    gtk_box_remove (box, old);
  gtk_widget_set_visible (GTK_WIDGET (title), names->n > 0);
  for (size_t i = 0; i < names->n; i++)
    {
      const LnsSpanName *name = &names->items[i];
      g_autofree char *text = lns_event_text_name (report, name->lane, name->name);
      /* Translators: a name, and how many events have it */
      g_autofree char *count =
          g_strdup_printf (_ ("%s × %s"), text, lns_format_unsigned (name->n, n));
      GtkWidget *bar = lns_name_bar_new (count, (double)name->ns / (double)names->items[0].ns,
                                         lns_format_duration (name->ns, time), hue_of (self, name));
      if (name->n > 1 && name->p99_ns > 0)
        {
          /* Translators: percentiles of how long events take */
          g_autofree char *words = g_strdup_printf (
              _ ("p50 %s · p90 %s · p99 %s"), format_rounded (name->p50_ns, p50),
              format_rounded (name->p90_ns, p90), format_rounded (name->p99_ns, p99));
          lns_name_bar_set_words (
              LNS_NAME_BAR (bar), words,
              _ ("How long whole events take, also those of which a part lies outside"));
        }
      gtk_box_append (box, bar);
    }
}

/* Lines 0 and 1 are from and to. */
static void
show (LnsSpanBox *self, const Summing *it)
{
  char number[LNS_FORMAT_SIZE];
  int line = 2;

  if (!it->is_good)
    {
      set_line (self, line++, _ ("Events"), it->error.message);
      cut_lines (self, line);
      return;
    }
  line = show_devices (self, line, &it->sums, &it->span);
  line = show_threads (self, line, &it->sums, &it->span);
  set_line (self, line++, _ ("Events"), lns_format_unsigned (it->sums.n_events, number));
  cut_lines (self, line);
  show_names (self, self->threads_title, self->threads, &it->sums.threads);
  show_names (self, self->gpus_title, self->gpus, &it->sums.gpus);
}

static void sum_done (gpointer data, gpointer owner);

static const LnsJobFuncs sum_funcs = { sum_work, sum_done, summing_free, NULL };

static void
sum_done (gpointer data, gpointer owner)
{
  Summing *it = data;
  LnsSpanBox *self = owner;

  if (it->hues != NULL)
    {
      g_clear_pointer (&self->hues, g_hash_table_unref);
      self->hues = g_steal_pointer (&it->hues);
    }
  show (self, it);
  if (it->is_second || !it->is_good)
    return;
  Summing *next = g_new0 (Summing, 1);
  next->span = it->span;
  next->is_second = next->has_hues = true;
  next->sums = it->sums;
  it->sums = (LnsSpanSums){ 0 };
  lns_job_start (&self->running, self->view, &sum_funcs, next, self);
}

static void
update (LnsSpanBox *self)
{
  Summing *it;
  LnsSpan span;
  char duration[LNS_FORMAT_SIZE];
  const gboolean has_band = lns_view_get_time_selection (self->view, &span.start_ns, &span.end_ns);

  lns_job_cancel (&self->running);
  gtk_widget_set_visible (GTK_WIDGET (self), has_band);
  if (!has_band)
    return;
  g_autofree char *start = lns_event_text_time (span.start_ns);
  g_autofree char *end = lns_event_text_time (span.end_ns);
  gtk_label_set_text (self->duration,
                      lns_format_duration_exact (span.end_ns - span.start_ns, duration));
  set_line (self, 0, _ ("From"), start);
  set_line (self, 1, _ ("To"), end);
  it = g_new0 (Summing, 1);
  it->span = span;
  it->has_hues = self->hues != NULL;
  lns_job_start (&self->running, self->view, &sum_funcs, it, self);
}

/* --- Life ------------------------------------------------------------------------------------- */

GtkWidget *
lns_span_box_new (LnsView *view)
{
  LnsSpanBox *self = g_object_new (LNS_TYPE_SPAN_BOX, NULL);

  self->view = g_object_ref (view);
  self->answer = lns_answer_of (view);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (update), self,
                           G_CONNECT_SWAPPED);
  update (self);
  return GTK_WIDGET (self);
}

static void
lns_span_box_dispose (GObject *object)
{
  LnsSpanBox *self = LNS_SPAN_BOX (object);

  lns_job_cancel (&self->running);
  g_clear_pointer (&self->hues, g_hash_table_unref);
  g_clear_object (&self->answer);
  G_OBJECT_CLASS (lns_span_box_parent_class)->dispose (object);
  g_clear_object (&self->view);
}

static void
lns_span_box_class_init (LnsSpanBoxClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_span_box_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/span-box.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsSpanBox, duration);
  gtk_widget_class_bind_template_child (widget_class, LnsSpanBox, grid);
  gtk_widget_class_bind_template_child (widget_class, LnsSpanBox, threads_title);
  gtk_widget_class_bind_template_child (widget_class, LnsSpanBox, threads);
  gtk_widget_class_bind_template_child (widget_class, LnsSpanBox, gpus_title);
  gtk_widget_class_bind_template_child (widget_class, LnsSpanBox, gpus);
}

static void
lns_span_box_init (LnsSpanBox *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
