/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Drives the viewer's window by program, prints what that cost as one JSON object, and exits.
 *
 * usage: viewer-bench MODE REPORT
 *
 *   first-frame   time until the first full frame was painted
 *   frame         time of a frame: of a window in one colour, while panning, while zooming, and while the pointer
 *                 moves; and the time from a jump to its exact picture */

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ui/shell/application.h"
#include "ui/timeline/timeline-private.h"

#define N_FRAMES    600
#define N_JUMPS     60
#define PAN_PX      13
#define ZOOM_STEP   1.04
#define SETTLE_USEC (3 * G_USEC_PER_SEC)
#define PAN_DEPTH   200   /* while panning, the view shows this part of the report              */
#define ZOOM_DEPTH  20000 /* the deepest zoom                                                   */
#define JUMP_DEPTH  20    /* the depth at which a jump reads most, as measured                  */

typedef enum
{
  PHASE_BLANK,
  PHASE_PAN,
  PHASE_ZOOM,
  PHASE_HOVER,
  PHASE_JUMP,
  N_PHASES
} Phase;

static const char *const phase_names[] = { "blank", "pan", "zoom", "hover", "jump" };

typedef struct
{
  LnsTimeline *timeline;
  GtkWidget *window;
  GtkWidget *blank; /* a window in one colour, above the other one; or NULL */
  Phase phase;
  gboolean settling; /* before a phase, until everything is painted */
  gint64 settle_usec;
  guint step;
  int direction;
  gint64 jumped_usec;
  gboolean moved; /* this frame paints something new */
  double begun_ms, begun_cpu_ms;
  GArray *msec[N_PHASES];     /* of double: times of frames or of jumps                       */
  GArray *cpu_msec[N_PHASES]; /* of double: processor time that this thread spent on a frame  */
  GRand *random;
} Bench;

static const char *mode;

/* --- The window in one colour -------------------------------------------------------------- */

#define LNS_TYPE_BLANK (lns_blank_get_type ())
G_DECLARE_FINAL_TYPE (LnsBlank, lns_blank, LNS, BLANK, GtkWidget)

struct _LnsBlank
{
  GtkWidget parent_instance;

  guint n_frames;
};

G_DEFINE_FINAL_TYPE (LnsBlank, lns_blank, GTK_TYPE_WIDGET)

static void
lns_blank_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsBlank *self = LNS_BLANK (widget);
  GdkRGBA color = { 0.2f, 0.2f, self->n_frames++ % 2 == 0 ? 0.2f : 0.3f, 1 };
  gtk_snapshot_append_color (snapshot, &color,
                             &GRAPHENE_RECT_INIT (0, 0, (float)gtk_widget_get_width (widget),
                                                  (float)gtk_widget_get_height (widget)));
}

static void
lns_blank_class_init (LnsBlankClass *klass)
{
  GTK_WIDGET_CLASS (klass)->snapshot = lns_blank_snapshot;
}

static void
lns_blank_init (LnsBlank *self)
{
}

/* --- Figures ------------------------------------------------------------------------------- */

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double
percentile (GArray *values, int percent)
{
  if (values->len == 0)
    return NAN;
  guint at = MIN (values->len * (guint)percent / 100, values->len - 1);
  return g_array_index (values, double, at);
}

static void
print_percentiles (const char *phase, const char *clock, GArray *values)
{
  qsort (values->data, values->len, sizeof (double), compare_doubles);
  for (int i = 0; i < 3; i++)
    g_print (", \"%s%s_p%d_ms\": %.3f", phase, clock, (int[]){ 50, 95, 99 }[i],
             percentile (values, (int[]){ 50, 95, 99 }[i]));
}

static void
print_and_quit (Bench *self)
{
  guint n_strips = 0;
  for (guint i = 0; i < self->timeline->spans->len; i++)
    n_strips += g_array_index (self->timeline->spans, LnsStripSpan, i).n;
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (self->timeline->context.view));
  g_print ("{\"rows\": %u, \"width\": %d, \"events\": %" G_GUINT64_FORMAT ", \"frames\": %u",
           n_strips, gtk_widget_get_width (self->window), (guint64)info->n_events,
           self->msec[PHASE_PAN]->len);
  for (int phase = 0; phase < N_PHASES; phase++)
    {
      print_percentiles (phase_names[phase], "", self->msec[phase]);
      if (phase != PHASE_JUMP)
        print_percentiles (phase_names[phase], "_cpu", self->cpu_msec[phase]);
    }
  g_print ("}\n");
  exit (0);
}

/* Returns the milliseconds since this process started, in the kernel's ticks of 10 ms; 0 if they are not known. */
static double
age_ms (void)
{
  g_autofree char *stat = NULL;
  if (!g_file_get_contents ("/proc/self/stat", &stat, NULL, NULL))
    return 0;
  /* The second field may hold any character and ends with the last parenthesis; the start time is field 22. */
  const char *field = strrchr (stat, ')');
  for (int i = 0; field != NULL && i < 20; i++)
    field = strchr (field + 1, ' ');
  struct timespec now;
  clock_gettime (CLOCK_BOOTTIME, &now);
  double start_s = field != NULL ? g_ascii_strtod (field, NULL) / (double)sysconf (_SC_CLK_TCK) : 0;
  return 1000 * ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 - start_s);
}

static void
print_first_frame (void)
{
  struct rusage usage;
  double msec = age_ms ();
  getrusage (RUSAGE_SELF, &usage);
  g_print ("{\"first_frame_ms\": %.1f, \"rss_mb\": %.1f}\n", msec, (double)usage.ru_maxrss / 1024);
  exit (0);
}

/* --- Driving ------------------------------------------------------------------------------- */

static LnsView *
view_of (Bench *self)
{
  return self->timeline->context.view;
}

/* Shows the DEPTH-th part of the report around SHARE (0–1) of it. */
static void
go (Bench *self, double share, int depth)
{
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (view_of (self)));
  int64_t span_ns = info->end_ns - info->start_ns;
  int64_t middle_ns = info->start_ns + (int64_t)((double)span_ns * share);
  lns_view_show_span (view_of (self), middle_ns - span_ns / depth / 2,
                      middle_ns + span_ns / depth / 2);
}

static void
begin_phase (Bench *self, Phase phase)
{
  self->phase = phase;
  self->step = 0;
  self->direction = 1;
  self->settling = TRUE;
  self->settle_usec = g_get_monotonic_time ();
  if (self->blank != NULL)
    gtk_window_destroy (GTK_WINDOW (self->blank));
  self->blank = NULL;
  if (phase == PHASE_PAN)
    go (self, 0.3, PAN_DEPTH);
  else if (phase == PHASE_ZOOM || phase == PHASE_HOVER)
    go (self, 0.3, phase == PHASE_ZOOM ? 1 : PAN_DEPTH);
}

static void
step_pan (Bench *self)
{
  int64_t before = lns_view_get_start_ns (view_of (self));
  lns_view_pan (view_of (self), self->direction * PAN_PX);
  if (lns_view_get_start_ns (view_of (self)) == before)
    self->direction = -self->direction;
}

static void
step_zoom (Bench *self)
{
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (view_of (self)));
  int64_t seen_ns = lns_view_get_end_ns (view_of (self)) - lns_view_get_start_ns (view_of (self));
  int64_t span_ns = info->end_ns - info->start_ns;
  if (seen_ns >= span_ns)
    self->direction = 1;
  else if (seen_ns <= span_ns / ZOOM_DEPTH)
    self->direction = -1;
  lns_view_zoom_at (view_of (self), lns_view_get_width_px (view_of (self)) * 0.4,
                    self->direction > 0 ? ZOOM_STEP : 1 / ZOOM_STEP);
}

static void
step_hover (Bench *self)
{
  graphene_rect_t body = lns_timeline_layout_body (&self->timeline->layout);
  double x = body.origin.x + fmod (self->step * 7.0, body.size.width);
  double y = body.origin.y + fmod (self->step * 3.0, body.size.height);
  lns_timeline_pointer_point (&self->timeline->pointer, x, y);
}

/* Waits until everything is exact, which ends a jump, and makes the next one. */
static void
step_jump (Bench *self)
{
  gint64 now_usec = g_get_monotonic_time ();
  if (self->jumped_usec != 0)
    {
      if (!lns_timeline_is_complete (self->timeline) || !self->moved)
        {
          self->moved = TRUE;
          return;
        }
      double msec = (double)(now_usec - self->jumped_usec) / 1000;
      g_array_append_val (self->msec[PHASE_JUMP], msec);
    }
  if (self->msec[PHASE_JUMP]->len == N_JUMPS)
    print_and_quit (self);
  go (self, g_rand_double_range (self->random, 0.05, 0.95), JUMP_DEPTH);
  self->jumped_usec = now_usec;
  self->moved = FALSE;
}

static gboolean
tick_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Bench *self = data;
  if (self->settling)
    {
      gint64 waited_usec = g_get_monotonic_time () - self->settle_usec;
      if (waited_usec < SETTLE_USEC / 10 ||
          (!lns_timeline_is_complete (self->timeline) && waited_usec < SETTLE_USEC))
        return G_SOURCE_CONTINUE;
      self->settling = FALSE;
    }
  if (self->phase == PHASE_JUMP)
    {
      step_jump (self);
      return G_SOURCE_CONTINUE;
    }
  if (self->step++ == N_FRAMES)
    {
      begin_phase (self, self->phase + 1);
      return G_SOURCE_CONTINUE;
    }
  self->moved = TRUE;
  if (self->phase == PHASE_PAN)
    step_pan (self);
  else if (self->phase == PHASE_ZOOM)
    step_zoom (self);
  else
    step_hover (self);
  return G_SOURCE_CONTINUE;
}

static gboolean
blank_tick_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Bench *self = data;
  if (self->step++ == N_FRAMES)
    {
      begin_phase (self, PHASE_PAN);
      gtk_widget_add_tick_callback (GTK_WIDGET (self->timeline), tick_cb, self, NULL);
      return G_SOURCE_REMOVE;
    }
  self->moved = TRUE;
  gtk_widget_queue_draw (widget);
  return G_SOURCE_CONTINUE;
}

static double
now_ms (clockid_t clock)
{
  struct timespec now;
  clock_gettime (clock, &now);
  return 1000 * (double)now.tv_sec + (double)now.tv_nsec * 1e-6;
}

static void
before_paint_cb (GdkFrameClock *clock, Bench *self)
{
  self->begun_ms = now_ms (CLOCK_MONOTONIC);
  self->begun_cpu_ms = now_ms (CLOCK_THREAD_CPUTIME_ID);
  if (self->phase != PHASE_JUMP)
    self->moved = FALSE;
}

static void
after_paint_cb (GdkFrameClock *clock, Bench *self)
{
  if (!self->moved || self->phase == PHASE_JUMP)
    return;
  double msec = now_ms (CLOCK_MONOTONIC) - self->begun_ms;
  double cpu_msec = now_ms (CLOCK_THREAD_CPUTIME_ID) - self->begun_cpu_ms;
  g_array_append_val (self->msec[self->phase], msec);
  g_array_append_val (self->cpu_msec[self->phase], cpu_msec);
}

static void
watch (Bench *self, GtkWidget *widget)
{
  GdkFrameClock *clock = gtk_widget_get_frame_clock (widget);
  g_signal_connect (clock, "before-paint", G_CALLBACK (before_paint_cb), self);
  g_signal_connect_after (clock, "after-paint", G_CALLBACK (after_paint_cb), self);
}

/* The floor: what it costs to show a window of this size at all. */
static void
begin_blank (Bench *self)
{
  self->blank = gtk_window_new ();
  gtk_window_set_decorated (GTK_WINDOW (self->blank), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (self->blank), gtk_widget_get_width (self->window),
                               gtk_widget_get_height (self->window));
  GtkWidget *child = g_object_new (LNS_TYPE_BLANK, NULL);
  gtk_window_set_child (GTK_WINDOW (self->blank), child);
  gtk_window_present (GTK_WINDOW (self->blank));
  watch (self, child);
  gtk_widget_add_tick_callback (child, blank_tick_cb, self, NULL);
}

static void
first_frame_cb (GdkFrameClock *clock, LnsTimeline *timeline)
{
  if (lns_timeline_is_complete (timeline))
    print_first_frame ();
}

static gboolean
begin_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Bench *self = data;
  if (!lns_timeline_is_complete (self->timeline))
    return G_SOURCE_CONTINUE;
  watch (self, widget);
  begin_blank (self);
  return G_SOURCE_REMOVE;
}

static void
shown_cb (GtkWidget *widget)
{
  if (g_str_equal (mode, "first-frame"))
    {
      g_signal_connect_after (gtk_widget_get_frame_clock (widget), "after-paint",
                              G_CALLBACK (first_frame_cb), widget);
      return;
    }
  Bench *self = g_new0 (Bench, 1);
  self->timeline = LNS_TIMELINE (widget);
  self->window = GTK_WIDGET (gtk_widget_get_root (widget));
  self->random = g_rand_new_with_seed (1);
  for (int phase = 0; phase < N_PHASES; phase++)
    {
      self->msec[phase] = g_array_new (FALSE, FALSE, sizeof (double));
      self->cpu_msec[phase] = g_array_new (FALSE, FALSE, sizeof (double));
    }
  gtk_widget_add_tick_callback (widget, begin_cb, self, NULL);
}

/* The window shows the timeline as soon as the report is open. */
static gboolean
realized_cb (GSignalInvocationHint *hint, guint n_values, const GValue *values, gpointer data)
{
  GtkWidget *widget = g_value_get_object (&values[0]);

  if (LNS_IS_TIMELINE (widget))
    shown_cb (widget);
  return G_SOURCE_CONTINUE;
}

static void
startup_cb (GApplication *application, gpointer data)
{
  g_type_class_unref (g_type_class_ref (GTK_TYPE_WIDGET)); /* loads the class that has the signal */
  g_signal_add_emission_hook (g_signal_lookup ("realize", GTK_TYPE_WIDGET), 0, realized_cb, NULL,
                              NULL);
}

int
main (int argc, char **argv)
{
  if (argc != 3 || (!g_str_equal (argv[1], "first-frame") && !g_str_equal (argv[1], "frame")))
    {
      g_printerr ("usage: viewer-bench first-frame|frame REPORT\n");
      return 125;
    }
  /* As shell/main.c does, because the bench measures the viewer. */
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  gtk_disable_setlocale ();

  mode = argv[1];
  g_autoptr (LnsApplication) application = lns_application_new ();
  g_signal_connect_after (application, "startup", G_CALLBACK (startup_cb), NULL);
  return g_application_run (G_APPLICATION (application), 2, (char *[]){ argv[0], argv[2], NULL });
}
