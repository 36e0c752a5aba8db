/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/pair.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/model/display-text.h"
#include "ui/model/job.h"
#include "ui/model/report-loader.h"

/* Of a view's data: the pair that others hold a reference on. */
#define KEY "lns-pair"

struct _LnsPair
{
  GObject parent_instance;

  LnsView *views[2]; /* owned; that of B may be NULL */
  LnsPairState state;
  GFile *file;                 /* owned, or NULL: of B */
  GCancellable *opening;       /* owned, or NULL */
  const LnsLoadProgress *load; /* of the opening */
  GCancellable *comparing;     /* of the job under way, or NULL */
  LnsPairFacts *facts;         /* owned, or NULL */
  gboolean compares;           /* that was asked for */
  gboolean is_of_spans;        /* two times of one report are a pair … */
  LnsSpan spans[2];            /* … these */
  LnsAlign align;
  gboolean is_aligned;   /* by the person */
  size_t step;           /* that was aligned last */
  gboolean is_selecting; /* what is selected in one is being selected in the other */
  char *problem;         /* owned, or NULL: why there is no B, or no comparison */
};

G_DEFINE_FINAL_TYPE (LnsPair, lns_pair, G_TYPE_OBJECT)

static void
set_state (LnsPair *self, LnsPairState state)
{
  self->state = state;
  g_signal_emit_by_name (self, "changed");
}

/* --- Where B lies ----------------------------------------------------------------------------- */

static int64_t
shift_of_starts (LnsPair *self)
{
  int64_t a_ns, b_ns, unused;

  lns_view_get_whole (self->views[0], &a_ns, &unused);
  lns_view_get_whole (self->views[1], &b_ns, &unused);
  return lns_difference (a_ns, b_ns);
}

/* The shift by which what happened at one time of day is at one time; FALSE if that is not known, or nothing did. */
static gboolean
shift_of_clocks (LnsPair *self, int64_t *ret_shift_ns)
{
  int64_t zero_ns[2], first_ns[2], last_ns[2];

  for (int side = 0; side < 2; side++)
    {
      zero_ns[side] = lns_report_info (lns_view_get_report (self->views[side]))->t0_realtime_ns;
      lns_view_get_whole (self->views[side], &first_ns[side], &last_ns[side]);
    }
  *ret_shift_ns = lns_difference (zero_ns[1], zero_ns[0]);
  return zero_ns[0] != 0 && zero_ns[1] != 0 && lns_sum (first_ns[1], *ret_shift_ns) <= last_ns[0] &&
         first_ns[0] <= lns_sum (last_ns[1], *ret_shift_ns);
}

/* The shift by which the selected events of both begin at one time; FALSE if none is selected in one of them. */
static gboolean
shift_of_events (LnsPair *self, int64_t *ret_shift_ns)
{
  int64_t start_ns[2], unused;

  for (int side = 0; side < 2; side++)
    {
      if (lns_view_get_selected_event (self->views[side], NULL).lane == LNS_ID_NONE)
        return FALSE;
      lns_view_get_selected_times (self->views[side], &start_ns[side], &unused);
    }
  *ret_shift_ns = lns_difference (start_ns[0], start_ns[1]);
  return TRUE;
}

static const LnsSpan *
step_of (LnsPair *self, int side, size_t n)
{
  return &g_array_index (self->facts->step_spans[side], LnsSpan, n);
}

size_t
lns_pair_get_step (LnsPair *self, size_t *ret_n_steps)
{
  *ret_n_steps = self->facts == NULL
                     ? 0
                     : MIN (self->facts->step_spans[0]->len, self->facts->step_spans[1]->len);
  return self->step;
}

static gboolean
shift_of_steps (LnsPair *self, int64_t *ret_shift_ns)
{
  size_t n_steps;
  const size_t step = lns_pair_get_step (self, &n_steps);

  if (n_steps == 0)
    return FALSE;
  *ret_shift_ns = lns_difference (step_of (self, 0, MIN (step, n_steps - 1))->start_ns,
                                  step_of (self, 1, MIN (step, n_steps - 1))->start_ns);
  return TRUE;
}

/* The shift by which BY aligns; FALSE if it cannot. */
static gboolean
shift_of (LnsPair *self, LnsAlign by, int64_t *ret_shift_ns)
{
  if (self->views[1] == NULL)
    return FALSE;
  switch (by)
    {
    case LNS_ALIGN_START:
      *ret_shift_ns = shift_of_starts (self);
      return TRUE;
    case LNS_ALIGN_STEP:
      return shift_of_steps (self, ret_shift_ns);
    case LNS_ALIGN_EVENTS:
      return shift_of_events (self, ret_shift_ns);
    case LNS_ALIGN_SPANS:
      *ret_shift_ns = lns_difference (self->spans[0].start_ns, self->spans[1].start_ns);
      return self->is_of_spans;
    case LNS_ALIGN_CLOCK:
      return shift_of_clocks (self, ret_shift_ns);
    case LNS_ALIGN_HAND:
      *ret_shift_ns = lns_view_get_shift_ns (self->views[1]);
      return TRUE;
    case LNS_N_ALIGNS:
      break;
    }
  return FALSE;
}

/* Aligns the step that is selected in VIEW, if one is and steps are what is aligned. */
static void
follow_step (LnsPair *self, LnsView *view, int64_t start_ns, int64_t end_ns)
{
  size_t n_steps;
  int64_t shift_ns;

  lns_pair_get_step (self, &n_steps);
  for (size_t n = 0; self->align == LNS_ALIGN_STEP && n < n_steps; n++)
    {
      const LnsSpan *step = step_of (self, view == self->views[0] ? 0 : 1, n);
      if (step->start_ns != start_ns || step->end_ns != end_ns || n == self->step)
        continue;
      self->step = n;
      shift_of_steps (self, &shift_ns);
      lns_view_share_axis (self->views[1], self->views[0], shift_ns);
      g_signal_emit_by_name (self, "aligned");
    }
}

/* Has the time that is selected in A selected in B, or the other way round, where VIEW is the one to follow. */
static void
follow_selection_cb (LnsView *view, LnsPair *self)
{
  LnsView *other = self->views[view == self->views[0] ? 1 : 0];
  int64_t start_ns, end_ns;

  if (self->is_selecting || other == NULL)
    return;
  self->is_selecting = TRUE;
  const gboolean has_band = lns_view_get_time_selection (view, &start_ns, &end_ns);
  if (has_band)
    follow_step (self, view, start_ns, end_ns);
  const int64_t shift_ns =
      lns_difference (lns_view_get_shift_ns (view), lns_view_get_shift_ns (other));
  if (has_band)
    lns_view_set_time_selection (other, lns_sum (start_ns, shift_ns), lns_sum (end_ns, shift_ns));
  else
    lns_view_clear_time_selection (other);
  self->is_selecting = FALSE;
}

/* Aligns by BY, which gives SHIFT_NS. */
static void
set_align (LnsPair *self, LnsAlign by, int64_t shift_ns)
{
  self->align = by;
  lns_view_share_axis (self->views[1], self->views[0], shift_ns);
  follow_selection_cb (self->views[0], self);
  g_signal_emit_by_name (self, "aligned");
}

LnsAlign
lns_pair_get_align (LnsPair *self)
{
  return self->align;
}

gboolean
lns_pair_can_align (LnsPair *self, LnsAlign by)
{
  int64_t shift_ns;

  return shift_of (self, by, &shift_ns);
}

void
lns_pair_align (LnsPair *self, LnsAlign by)
{
  int64_t shift_ns;

  if (!shift_of (self, by, &shift_ns))
    return;
  self->is_aligned = TRUE;
  set_align (self, by, shift_ns);
}

void
lns_pair_align_step (LnsPair *self, size_t n)
{
  size_t n_steps;

  lns_pair_get_step (self, &n_steps);
  if (n_steps == 0)
    return;
  self->step = MIN (n, n_steps - 1);
  lns_pair_align (self, LNS_ALIGN_STEP);
}

void
lns_pair_align_events (LnsPair *self, int64_t a_ns, int64_t b_ns)
{
  if (self->views[1] == NULL)
    return;
  self->is_aligned = TRUE;
  set_align (self, LNS_ALIGN_EVENTS, lns_difference (a_ns, b_ns));
}

void
lns_pair_align_by_hand (LnsPair *self, int64_t shift_ns)
{
  if (self->views[1] == NULL)
    return;
  self->is_aligned = TRUE;
  set_align (self, LNS_ALIGN_HAND, shift_ns);
}

int64_t
lns_pair_get_offset_ns (LnsPair *self)
{
  return self->views[1] == NULL
             ? 0
             : lns_difference (lns_view_get_shift_ns (self->views[1]), shift_of_starts (self));
}

void
lns_pair_set_offset_ns (LnsPair *self, int64_t offset_ns)
{
  if (self->views[1] != NULL)
    lns_pair_align_by_hand (self, lns_sum (shift_of_starts (self), offset_ns));
}

/* --- Comparing -------------------------------------------------------------------------------- */

typedef struct
{
  LnsReport *other;     /* a reference */
  gboolean is_of_spans; /* of the report of the job, SPANS are compared */
  LnsSpan spans[2];
  LnsPairFacts *facts; /* owned, or NULL and ERROR */
  LnsError error;
} Comparing;

static void
comparing_free (gpointer data)
{
  Comparing *it = data;

  lns_pair_facts_free (it->facts);
  lns_report_close (it->other);
  g_free (it);
}

static void
compare_work (LnsWorker *worker, gpointer data)
{
  Comparing *it = data;

  it->facts =
      it->is_of_spans
          ? lns_pair_facts_of_spans (worker->report, it->spans, &worker->cancelled, &it->error)
          : lns_pair_facts_new ((LnsReport *const[]){ worker->report, it->other },
                                &worker->cancelled, &it->error);
}

static void
compare_done (gpointer data, gpointer owner)
{
  Comparing *it = data;
  LnsPair *self = owner;
  int64_t shift_ns;

  self->facts = g_steal_pointer (&it->facts);
  if (self->facts == NULL)
    self->problem = lns_display_text (it->error.message, strlen (it->error.message), TRUE);
  if (self->facts != NULL && !self->is_aligned && shift_of_steps (self, &shift_ns))
    set_align (self, LNS_ALIGN_STEP, shift_ns);
  set_state (self, self->facts != NULL ? LNS_PAIR_THERE : LNS_PAIR_NONE);
}

static const LnsJobFuncs compare_funcs = { compare_work, compare_done, comparing_free, NULL };

/* Compares the reports, if that was asked for, unless one of them is still being recorded. */
static void
compare (LnsPair *self)
{
  if (!self->compares)
    {
      set_state (self, LNS_PAIR_BESIDE);
      return;
    }
  if (lns_view_is_live (self->views[0]) || lns_view_is_live (self->views[1]))
    {
      set_state (self, LNS_PAIR_WAITING);
      return;
    }
  Comparing *it = g_new0 (Comparing, 1);
  it->other = lns_report_ref (lns_view_get_report (self->views[1]));
  it->is_of_spans = self->is_of_spans;
  memcpy (it->spans, self->spans, sizeof it->spans);
  lns_job_start (&self->comparing, self->views[0], &compare_funcs, it, self);
  set_state (self, LNS_PAIR_LOOKING);
}

static void
grown_cb (LnsPair *self)
{
  if (self->state == LNS_PAIR_WAITING)
    compare (self);
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* Cancels what is under way, and forgets what there was. */
static void
clear (LnsPair *self)
{
  g_cancellable_cancel (self->opening);
  g_clear_object (&self->opening);
  self->load = NULL;
  lns_job_cancel (&self->comparing);
  g_clear_pointer (&self->facts, lns_pair_facts_free);
  g_clear_pointer (&self->problem, g_free);
  if (self->views[1] != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->views[1], self);
      lns_view_leave_axis (self->views[1]);
    }
  g_clear_object (&self->views[1]);
  self->align = LNS_ALIGN_START;
  self->is_aligned = FALSE;
  self->step = 0;
  g_clear_object (&self->file);
}

/* Aligns what has just been opened: what was compared in one report by that, what is to be looked at together by the clock. */
static void
align_first (LnsPair *self)
{
  const LnsAlign by = self->is_of_spans ? LNS_ALIGN_SPANS
                      : self->compares  ? LNS_ALIGN_START
                                        : LNS_ALIGN_CLOCK;
  int64_t shift_ns;

  if (shift_of (self, by, &shift_ns))
    set_align (self, by, shift_ns);
  else
    set_align (self, LNS_ALIGN_START, shift_of_starts (self));
  if (self->is_of_spans)
    {
      lns_view_show_span (self->views[0], self->spans[0].start_ns, self->spans[0].end_ns);
      lns_view_set_time_selection (self->views[0], self->spans[0].start_ns, self->spans[0].end_ns);
    }
}

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree GWeakRef *weak = data;
  g_autoptr (LnsPair) self = g_weak_ref_get (weak);
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = NULL;
  gboolean may_recover;
  LnsStoredView stored = { 0 };
  LnsReport *report = lns_report_load_finish (result, &file, &may_recover, &stored, &error);

  g_weak_ref_clear (weak);
  lns_stored_view_clear (&stored);
  /* The pair is gone, or opens another file by now. */
  if (self == NULL || g_task_get_cancellable (G_TASK (result)) != self->opening)
    {
      lns_report_close (report);
      return;
    }
  g_clear_object (&self->opening);
  self->load = NULL;
  if (file != NULL)
    g_set_object (&self->file, file);
  if (report == NULL)
    {
      self->problem = lns_display_text (error->message, strlen (error->message), TRUE);
      set_state (self, LNS_PAIR_FAILED);
      return;
    }
  self->views[1] = lns_view_new (report);
  lns_view_set_source (self->views[1], 1);
  g_signal_connect_object (self->views[1], "time-selection-changed",
                           G_CALLBACK (follow_selection_cb), self, 0);
  align_first (self);
  compare (self);
}

static void
open_file (LnsPair *self, GFile *file, gboolean compares)
{
  g_autoptr (GFile) other = g_object_ref (file);
  GWeakRef *weak = g_new (GWeakRef, 1);

  clear (self);
  self->compares = compares;
  g_weak_ref_init (weak, self);
  self->file = g_steal_pointer (&other);
  self->opening = g_cancellable_new ();
  self->load = lns_report_load_async (self->file, FALSE, self->opening, loaded_cb, weak);
  set_state (self, LNS_PAIR_OPENING);
}

void
lns_pair_open (LnsPair *self, GFile *file, gboolean compares)
{
  self->is_of_spans = FALSE;
  open_file (self, file, compares);
}

void
lns_pair_open_spans (LnsPair *self)
{
  LnsView *view = self->views[0];
  g_autoptr (GFile) file = g_file_new_for_path (lns_report_info (lns_view_get_report (view))->path);
  LnsSpan before, now;
  guint n = 0;

  while (lns_view_get_further_span (view, n, &before.start_ns, &before.end_ns))
    n++;
  if (n == 0 || !lns_view_get_time_selection (view, &now.start_ns, &now.end_ns))
    return;
  self->is_of_spans = TRUE;
  self->spans[0] = before;
  self->spans[1] = now;
  open_file (self, file, TRUE);
}

void
lns_pair_compare (LnsPair *self)
{
  if (self->state != LNS_PAIR_BESIDE)
    return;
  self->compares = TRUE;
  compare (self);
}

void
lns_pair_close (LnsPair *self)
{
  if (self->state == LNS_PAIR_ALONE)
    return;
  clear (self);
  set_state (self, LNS_PAIR_ALONE);
}

/* --- What it tells ---------------------------------------------------------------------------- */

LnsPairState
lns_pair_get_state (LnsPair *self)
{
  return self->state;
}

GFile *
lns_pair_get_file (LnsPair *self)
{
  return self->is_of_spans ? NULL : self->file;
}

gboolean
lns_pair_compares (LnsPair *self)
{
  return self->compares;
}

unsigned
lns_pair_get_permille (LnsPair *self)
{
  return self->load != NULL ? atomic_load (&self->load->permille) : 0;
}

LnsView *
lns_pair_get_view (LnsPair *self, int side)
{
  return self->views[side];
}

char *
lns_pair_get_name (LnsPair *self, int side)
{
  if (side == 1 && !self->is_of_spans)
    return self->file != NULL ? lns_display_file (self->file, FALSE) : NULL;
  g_autoptr (GFile) file = lns_view_get_file (self->views[0]);
  return lns_display_file (file, FALSE);
}

LnsPairFacts *
lns_pair_get_facts (LnsPair *self)
{
  return self->facts;
}

char *
lns_pair_get_excuse (LnsPair *self)
{
  g_autofree char *name = lns_pair_get_name (self, 1);

  switch (self->state)
    {
    case LNS_PAIR_ALONE:
      return g_strdup (_ ("Compare this run, A, with another one, B: whether B is slower, by how "
                          "much, how sure that is, and because of what."));
    case LNS_PAIR_OPENING:
      return g_strdup_printf (_ ("Opening %s…"), name);
    case LNS_PAIR_FAILED:
      return g_strdup_printf (_ ("%s could not be opened: %s"), name, self->problem);
    case LNS_PAIR_BESIDE:
      return g_strdup_printf (_ ("A and B, %s, are on one axis. They have not been compared."),
                              name);
    case LNS_PAIR_WAITING:
      return g_strdup (_ ("The runs are compared when the recording has ended."));
    case LNS_PAIR_LOOKING:
      return g_strdup_printf (_ ("Comparing with %s…"), name);
    case LNS_PAIR_NONE:
      return g_strdup_printf (_ ("The runs cannot be compared: %s"), self->problem);
    case LNS_PAIR_THERE:
      break;
    }
  return NULL;
}

/* --- Life ------------------------------------------------------------------------------------- */

LnsPair *
lns_pair_of (LnsView *view)
{
  LnsPair *self = g_object_get_data (G_OBJECT (view), KEY);

  if (self != NULL)
    return g_object_ref (self);
  self = g_object_new (LNS_TYPE_PAIR, NULL);
  self->views[0] = g_object_ref (view);
  g_object_set_data (G_OBJECT (view), KEY, self);
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (follow_selection_cb), self,
                           0);
  return self;
}

static void
lns_pair_dispose (GObject *object)
{
  LnsPair *self = LNS_PAIR (object);

  clear (self);
  if (self->views[0] != NULL)
    g_object_set_data (G_OBJECT (self->views[0]), KEY, NULL);
  g_clear_object (&self->views[0]);
  G_OBJECT_CLASS (lns_pair_parent_class)->dispose (object);
}

static void
lns_pair_class_init (LnsPairClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_pair_dispose;
  g_signal_new ("changed", LNS_TYPE_PAIR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("aligned", LNS_TYPE_PAIR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lns_pair_init (LnsPair *self)
{
}
