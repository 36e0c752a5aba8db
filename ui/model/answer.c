/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/answer.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/dense-span.h"
#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/tables/lanes.h"
#include "ui/model/display-text.h"
#include "ui/model/job.h"

/* Of larger reports the answer takes long, and much memory. */
#define MOST_EVENTS 20000000

/* Of larger ones, where a GPU was idle is not kept: 40 bytes for each part of it while the answer is found, 24 later. */
#define MOST_EVENTS_WITH_IDLE 5000000

/* Of larger ones, how long the run would take without a finding is looked for only if somebody asks: that takes twice as long as the
 * answer, and up to 140 bytes for each event meanwhile. */
#define MOST_EVENTS_FORETOLD 5000000

/* What takes more of a report is not worth to leave out the rest at first. */
#define MOST_OF_REPORT 0.6

/* Of a view's data: the answer that others hold a reference on. */
#define KEY "lns-answer"

struct _LnsAnswer
{
  GObject parent_instance;

  LnsView *view;         /* owned */
  GCancellable *running; /* the job's, or NULL */
  LnsAnswerState state;
  LnsWhy *why;       /* owned, or NULL */
  char **subjects;   /* owned, or NULL: of each ledger */
  char **labels;     /* owned, or NULL: of each finding */
  GPtrArray *idle;   /* owned, or NULL: of each ledger a GArray of LnsIdle */
  GPtrArray *places; /* owned, or NULL: of each finding a GArray of LnsSpan */
  guint chosen;      /* finding, or LNS_ANSWER_NOTHING */
  char *step_name;   /* owned, or NULL */
  LnsSpan dense;     /* empty: none */
  LnsError error;    /* why there is no answer */

  GCancellable *foretelling; /* the job's, or NULL */
  gboolean is_foretold;
  LnsWhyGain gains[LNS_WHY_GAINS]; /* of the first findings, where it is foretold */
};

G_DEFINE_FINAL_TYPE (LnsAnswer, lns_answer, G_TYPE_OBJECT)

enum
{
  PROPERTY_COUNT = 1,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];

static void
tell_changed (LnsAnswer *self)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROPERTY_COUNT]);
  g_signal_emit_by_name (self, "changed");
}

/* --- The job ---------------------------------------------------------------------------------- */

typedef struct
{
  LnsWhy *why; /* owned, or NULL, as the next five */
  char **subjects;
  char **labels;
  GPtrArray *idle;
  GPtrArray *places;
  char *step_name;
  LnsSpan dense;
  LnsError error;
} Search;

static void
search_free (gpointer data)
{
  Search *search = data;

  lns_why_free (search->why);
  g_strfreev (search->subjects);
  g_strfreev (search->labels);
  g_clear_pointer (&search->idle, g_ptr_array_unref);
  g_clear_pointer (&search->places, g_ptr_array_unref);
  g_free (search->step_name);
  g_free (search);
}

/* TEXT, which is freed, as it can be shown. */
static char *
shown (char *text)
{
  char *result = lns_display_text (text, strlen (text), TRUE);

  free (text);
  return result;
}

/* What WHY, which kept them, has of idle parts, as stretches of one finding and cause; WHY keeps them no longer. On a worker. */
static GPtrArray *
take_idle (LnsWhy *why)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);

  for (size_t l = 0; l < why->ledgers.n; l++)
    g_ptr_array_add (all, g_array_new (FALSE, FALSE, sizeof (LnsIdle)));
  for (size_t i = 0; i < why->gaps.n; i++)
    {
      const LnsWhyGap *gap = &why->gaps.items[i];
      GArray *of_ledger = g_ptr_array_index (all, gap->ledger);
      LnsIdle *last =
          of_ledger->len > 0 ? &g_array_index (of_ledger, LnsIdle, of_ledger->len - 1) : NULL;
      const LnsIdle it = { gap->start_ns, gap->end_ns, gap->cause, gap->finding };
      /* A thread always does something; what of it was lost are its waits. */
      if (!why->ledgers.items[gap->ledger].is_device && gap->cause == LNS_CAUSE_CPU_WORK)
        continue;
      if (last != NULL && last->end_ns == it.start_ns && last->cause == it.cause &&
          last->finding == it.finding)
        last->end_ns = it.end_ns;
      else
        g_array_append_val (of_ledger, it);
    }
  lns_array_clear (&why->gaps);
  return all;
}

static int
compare_spans (gconstpointer a, gconstpointer b)
{
  const LnsSpan *x = a, *y = b;

  return LNS_COMPARE (x->start_ns, y->start_ns);
}

/* What the gap at hand has of a finding: where it began, and its last stretch without a part of anything else. */
typedef struct
{
  int64_t gap_start_ns;
  LnsSpan stretch;
} Lost;

/* Adds SPAN, of the gap that began at GAP_START_NS, to the places of a finding, of which IT is known: one place a gap, its longest
 * stretch. What lies between two of them was lost to something else, however long it is. */
static void
add_lost (GArray *of_finding, Lost *it, LnsSpan span, int64_t gap_start_ns)
{
  const gboolean is_in_gap = of_finding->len > 0 && it->gap_start_ns == gap_start_ns;

  if (is_in_gap && it->stretch.end_ns == span.start_ns)
    it->stretch.end_ns = span.end_ns;
  else
    it->stretch = span;
  it->gap_start_ns = gap_start_ns;
  if (!is_in_gap)
    {
      g_array_append_val (of_finding, span);
      return;
    }
  LnsSpan *last = &g_array_index (of_finding, LnsSpan, of_finding->len - 1);
  if (it->stretch.end_ns - it->stretch.start_ns > last->end_ns - last->start_ns)
    *last = it->stretch;
}

/* Adds the idle parts of WHY. A GPU's gap is one place; a thread always does something, so each of its stretches is one. */
static void
add_gaps (GPtrArray *all, const LnsWhy *why)
{
  g_autofree Lost *lost = g_new0 (Lost, why->findings.n);
  int64_t gap_start_ns = 0;

  for (size_t i = 0; i < why->gaps.n; i++)
    {
      const LnsWhyGap *gap = &why->gaps.items[i];
      const bool is_device = why->ledgers.items[gap->ledger].is_device;
      if (i == 0 || gap->ledger != gap[-1].ledger || gap->start_ns != gap[-1].end_ns ||
          (!is_device && gap->finding != gap[-1].finding))
        gap_start_ns = gap->start_ns;
      if (gap->finding > 0 && gap->finding <= all->len && gap->end_ns > gap->start_ns)
        add_lost (g_ptr_array_index (all, gap->finding - 1), &lost[gap->finding - 1],
                  (LnsSpan){ gap->start_ns, gap->end_ns }, gap_start_ns);
    }
}

/* Adds SPAN to finding 1 + N of ALL. */
static void
add_place (GPtrArray *all, uint32_t n, LnsSpan span)
{
  if (n > 0 && n <= all->len && span.end_ns > span.start_ns)
    g_array_append_val ((GArray *)g_ptr_array_index (all, n - 1), span);
}

/* The places of each finding of WHY. On a worker. */
static GPtrArray *
list_places (const LnsWhy *why)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);

  for (size_t f = 0; f < why->findings.n; f++)
    g_ptr_array_add (all, g_array_new (FALSE, FALSE, sizeof (LnsSpan)));
  add_gaps (all, why);
  for (size_t i = 0; i < why->costs.n; i++)
    {
      const LnsWhyCost *cost = &why->costs.items[i];
      add_place (all, cost->finding, (LnsSpan){ cost->start_ns, cost->end_ns });
    }
  for (size_t f = 0; f < why->findings.n; f++)
    {
      const LnsWhyFinding *finding = &why->findings.items[f];
      GArray *of_finding = g_ptr_array_index (all, f);
      const bool is_empty = of_finding->len == 0;
      for (unsigned e = 0; is_empty && e < finding->n_evidence; e++)
        add_place (all, (uint32_t)f + 1,
                   (LnsSpan){ finding->evidence[e].start_ns, finding->evidence[e].end_ns });
      g_array_sort (of_finding, compare_spans);
    }
  return all;
}

/* On a worker. */
static void
search_work (LnsWorker *worker, gpointer data)
{
  Search *search = data;
  LnsTables *tables = lns_tables_new (worker->report, &search->error);
  const LnsWhyOptions options = { .span = lns_filter_span (worker->report),
                                  .keeps_gaps = lns_report_info (worker->report)->n_events <=
                                                MOST_EVENTS_WITH_IDLE,
                                  .in_language = true };

  lns_dense_span (worker->report, &search->dense);
  if (tables != NULL)
    search->why = lns_why_run (tables, &options, &worker->cancelled, &search->error);
  if (search->why != NULL)
    {
      search->subjects = g_new0 (char *, search->why->ledgers.n + 1);
      search->labels = g_new0 (char *, search->why->findings.n + 1);
      for (size_t i = 0; i < search->why->ledgers.n; i++)
        search->subjects[i] = shown (lns_why_subject (tables, &search->why->ledgers.items[i]));
      for (size_t i = 0; i < search->why->findings.n; i++)
        search->labels[i] = shown (lns_why_label (tables, &search->why->findings.items[i]));
      search->places = list_places (search->why);
      search->idle = take_idle (search->why);
      search->step_name = shown (lns_why_step_name (tables, search->why));
    }
  lns_tables_free (tables);
}

static void
search_done (gpointer data, gpointer owner)
{
  Search *search = data;
  LnsAnswer *self = owner;

  /* What was there before, where names were added to the report, is freed with the search: others may look at it until they know of
   * the change. */
#define EXCHANGE(field)                                                                            \
 do                                                                                                \
  {                                                                                                \
   __typeof__ (self->field) before_ = self->field;                                                 \
   self->field = search->field;                                                                    \
   search->field = before_;                                                                        \
  }                                                                                                \
 while (0)
  EXCHANGE (why);
  EXCHANGE (subjects);
  EXCHANGE (labels);
  EXCHANGE (idle);
  EXCHANGE (places);
  EXCHANGE (step_name);
#undef EXCHANGE
  self->chosen = LNS_ANSWER_NOTHING;
  self->dense = search->dense;
  self->error = search->error;
  self->state = self->why != NULL ? LNS_ANSWER_THERE : LNS_ANSWER_NONE;
  tell_changed (self);
}

static const LnsJobFuncs search_funcs = { search_work, search_done, search_free, NULL };

/* --- What findings are worth ------------------------------------------------------------------ */

typedef struct
{
  LnsWhyGain gains[LNS_WHY_GAINS];
} Foresight;

/* On a worker. The answer is made again, as it has not kept its gaps; where that fails, nothing is known. */
static void
foresee (LnsWorker *worker, gpointer data)
{
  Foresight *foresight = data;
  LnsError error = { 0 };
  LnsTables *tables = lns_tables_new (worker->report, &error);
  const LnsWhyOptions options = { .span = lns_filter_span (worker->report), .keeps_gaps = true };
  LnsWhy *why = tables != NULL ? lns_why_run (tables, &options, &worker->cancelled, &error) : NULL;

  if (why != NULL && lns_why_foretell (tables, why, &worker->cancelled, &error))
    for (size_t i = 0; i < why->findings.n && i < LNS_WHY_GAINS; i++)
      foresight->gains[i] = why->findings.items[i].gain;
  lns_why_free (why);
  lns_tables_free (tables);
}

static void
foresee_done (gpointer data, gpointer owner)
{
  Foresight *foresight = data;
  LnsAnswer *self = owner;

  memcpy (self->gains, foresight->gains, sizeof self->gains);
  self->is_foretold = TRUE;
  g_signal_emit_by_name (self, "foretold");
}

static const LnsJobFuncs foresight_funcs = { foresee, foresee_done, g_free, NULL };

void
lns_answer_foretell (LnsAnswer *self)
{
  /* Another answer may come, whose findings are others. */
  if (self->state != LNS_ANSWER_THERE || self->running != NULL || self->foretelling != NULL ||
      self->is_foretold)
    return;
  lns_job_start (&self->foretelling, self->view, &foresight_funcs, g_new0 (Foresight, 1), self);
  g_signal_emit_by_name (self, "foretold");
}

gboolean
lns_answer_foretells_unasked (LnsAnswer *self)
{
  return lns_report_info (lns_view_get_report (self->view))->n_events <= MOST_EVENTS_FORETOLD;
}

char *
lns_answer_get_worth (LnsAnswer *self, guint f, gboolean *ret_is_due)
{
  const double n_events = (double)lns_report_info (lns_view_get_report (self->view))->n_events;
  char *sentence;

  *ret_is_due = FALSE;
  if (f >= LNS_WHY_GAINS)
    return NULL;
  if (self->is_foretold)
    {
      sentence = lns_why_gain_sentence (&self->gains[f]);
      return sentence != NULL
                 ? shown (sentence)
                 : g_strdup (_ ("How long the run would take without it is not known."));
    }
  *ret_is_due = self->foretelling == NULL;
  if (*ret_is_due)
    return g_strdup_printf (_ ("How long the run would take without it takes a while to find: the "
                               "report has %.0f million events."),
                            n_events / 1e6);
  return g_strdup (_ ("Looking for how long the run would take without it…"));
}

/* --- Looking ---------------------------------------------------------------------------------- */

static void
look (LnsAnswer *self)
{
  lns_job_cancel (&self->foretelling);
  self->is_foretold = FALSE;
  if (self->state != LNS_ANSWER_THERE)
    self->state = LNS_ANSWER_LOOKING;
  lns_job_start (&self->running, self->view, &search_funcs, g_new0 (Search, 1), self);
}

/* Looks for the answer if that is due. */
static void
look_if_due (LnsAnswer *self)
{
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (self->view));

  if (info->state == LNS_STATE_RECORDING)
    self->state = LNS_ANSWER_WAITING;
  else if (self->state == LNS_ANSWER_WAITING && info->n_events > MOST_EVENTS)
    self->state = LNS_ANSWER_UNASKED;
  else if (self->state != LNS_ANSWER_UNASKED)
    look (self);
}

/* The report has grown: it goes on, has ended, or names were added to it. What was found before holds until it is found again. */
static void
grown_cb (LnsAnswer *self)
{
  look_if_due (self);
  if (self->state != LNS_ANSWER_THERE)
    tell_changed (self);
}

/* --- The answer ------------------------------------------------------------------------------- */

LnsAnswerState
lns_answer_get_state (LnsAnswer *self)
{
  return self->state;
}

const LnsWhy *
lns_answer_get_why (LnsAnswer *self)
{
  return self->why;
}

gboolean
lns_answer_get_opening (LnsAnswer *self, LnsSpan *ret_span)
{
  const gboolean is_about_work = self->why != NULL && self->why->is_about_work;
  int64_t first_ns, last_ns;

  *ret_span = self->dense;
  if (!is_about_work && self->dense.end_ns > self->dense.start_ns)
    return TRUE;
  if (self->why == NULL || self->why->ledgers.n == 0)
    return FALSE;
  const LnsSpan judged = lns_why_judged_span (self->why, &self->why->ledgers.items[0]);
  const int64_t ns = judged.end_ns - judged.start_ns, margin_ns = ns / 32;
  lns_view_get_whole (self->view, &first_ns, &last_ns);
  if (!is_about_work && (double)ns > MOST_OF_REPORT * ((double)last_ns - (double)first_ns))
    return FALSE;
  *ret_span = (LnsSpan){ judged.start_ns - margin_ns, judged.end_ns + margin_ns };
  return TRUE;
}

const char *
lns_answer_get_subject (LnsAnswer *self, size_t l)
{
  return self->subjects[l];
}

const LnsIdle *
lns_answer_get_idle (LnsAnswer *self, size_t l, size_t *ret_n)
{
  const GArray *of_ledger = self->idle != NULL ? g_ptr_array_index (self->idle, l) : NULL;

  *ret_n = of_ledger != NULL ? of_ledger->len : 0;
  return *ret_n > 0 ? (const LnsIdle *)(const void *)of_ledger->data : NULL;
}

const LnsSpan *
lns_answer_get_places (LnsAnswer *self, size_t f, size_t *ret_n)
{
  const GArray *of_finding = g_ptr_array_index (self->places, f);

  *ret_n = of_finding->len;
  return (const LnsSpan *)(const void *)of_finding->data;
}

guint
lns_answer_get_chosen (LnsAnswer *self)
{
  return self->chosen;
}

void
lns_answer_choose (LnsAnswer *self, guint f)
{
  if (self->chosen == f)
    return;
  self->chosen = f;
  g_signal_emit_by_name (self, "chosen");
}

const char *
lns_answer_cause_class (LnsCause cause)
{
  switch (cause)
    {
    case LNS_CAUSE_LOCK_WAIT:
    case LNS_CAUSE_IO_WAIT:
    case LNS_CAUSE_SLEEP:
    case LNS_CAUSE_COLLECTIVE_WAIT:
    case LNS_CAUSE_DEPENDENCY:
    case LNS_CAUSE_SLOW_STEP:
      return "cause-wait";
    case LNS_CAUSE_CPU_WORK:
    case LNS_CAUSE_CPU_CONTENTION:
    case LNS_CAUSE_LAUNCH_RATE:
      return "cause-cpu";
    case LNS_CAUSE_GPU_SYNC:
    case LNS_CAUSE_DRIVER:
    case LNS_CAUSE_UNDER_FILLED:
    case LNS_CAUSE_SLOW_CLOCKS:
      return "cause-gpu";
    case LNS_CAUSE_ALLOCATION:
    case LNS_CAUSE_PAGEABLE_COPY:
    case LNS_CAUSE_COPY_BOUND:
      return "cause-memory";
    case LNS_CAUSE_MODULE_LOAD:
      return "cause-code";
    case LNS_CAUSE_START_UP:
    case LNS_CAUSE_TEAR_DOWN:
    case LNS_CAUSE_PROFILER:
    case LNS_CAUSE_NOT_RECORDED:
    case LNS_CAUSE_UNKNOWN:
    case LNS_N_CAUSES:
      break;
    }
  return "cause-none";
}

gboolean
lns_answer_is_warm (LnsCause cause)
{
  return cause != LNS_CAUSE_START_UP && cause != LNS_CAUSE_TEAR_DOWN &&
         cause != LNS_CAUSE_NOT_RECORDED && cause != LNS_CAUSE_UNKNOWN &&
         cause != LNS_CAUSE_PROFILER;
}

const char *
lns_answer_get_label (LnsAnswer *self, const LnsIdle *idle)
{
  return idle->finding != 0 ? self->labels[idle->finding - 1]
                            : _ (lns_why_cause_label (idle->cause));
}

char *
lns_answer_get_steps_text (LnsAnswer *self)
{
  const LnsWhySteps *steps = self->why != NULL ? &self->why->steps : NULL;
  char number[LNS_FORMAT_SIZE], counted[LNS_FORMAT_SIZE];

  if (steps == NULL || steps->n == 0)
    return NULL;
  lns_format_unsigned (steps->n, number);
  /* Translators: of 5,000 steps that there were, the report keeps so many */
  return steps->n_counted > 0 ? g_strdup_printf (_ ("%s of %s steps"), number,
                                                 lns_format_unsigned (steps->n_counted, counted))
         : steps->is_cut      ? g_strdup_printf (_ ("first %s steps"), number)
                         : g_strdup_printf (ngettext ("%s step", "%s steps", steps->n), number);
}

const char *
lns_answer_get_step_name (LnsAnswer *self)
{
  return self->step_name;
}

/* How far a recording is. Free with g_free (). */
static char *
waiting_text (LnsAnswer *self)
{
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (self->view));
  char count[LNS_FORMAT_SIZE], duration[LNS_FORMAT_SIZE];

  lns_format_fixed ((double)lns_recorded_ns (lns_view_get_report (self->view)) / 1e9, 0, duration);
  if (info->n_lost > 0)
    return g_strdup_printf (
        ngettext ("Recording: %s s so far, %s event lost. What the time was lost to is told when "
                  "it ends.",
                  "Recording: %s s so far, %s events lost. What the time was lost to is told when "
                  "it ends.",
                  info->n_lost),
        duration, lns_format_unsigned (info->n_lost, count));
  return g_strdup_printf (
      _ ("Recording: %s s so far, nothing lost. What the time was lost to is told when it ends."),
      duration);
}

char *
lns_answer_get_excuse (LnsAnswer *self)
{
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (self->view));

  switch (self->state)
    {
    case LNS_ANSWER_WAITING:
      return waiting_text (self);
    case LNS_ANSWER_UNASKED:
      return g_strdup_printf (_ ("What the time was lost to takes a while to find: the report has "
                                 "%.0f million events."),
                              (double)info->n_events / 1e6);
    case LNS_ANSWER_LOOKING:
      return g_strdup (_ ("Looking for what the time was lost to…"));
    case LNS_ANSWER_NONE:
      return g_strdup_printf (_ ("What the time was lost to cannot be told: %s"),
                              self->error.message);
    case LNS_ANSWER_THERE:
      break;
    }
  return NULL;
}

void
lns_answer_ask (LnsAnswer *self)
{
  if (self->state != LNS_ANSWER_UNASKED)
    return;
  look (self);
  tell_changed (self);
}

char *
lns_answer_sentence (const char *clause)
{
  g_autofree char *text = lns_display_text (clause, strlen (clause), TRUE);
  g_autofree char *first = g_utf8_strup (text, g_utf8_next_char (text) - text);

  return g_strdup_printf (_ ("%s%s."), first, g_utf8_next_char (text));
}

void
lns_answer_show (LnsAnswer *self, const LnsEvidence *evidence)
{
  const int64_t length_ns = evidence->end_ns - evidence->start_ns;

  if (length_ns <= 0)
    return;
  lns_view_show_span (self->view, evidence->start_ns - length_ns, evidence->end_ns + length_ns);
  lns_view_set_time_selection (self->view, evidence->start_ns, evidence->end_ns);
}

/* --- Life ------------------------------------------------------------------------------------- */

LnsAnswer *
lns_answer_of (LnsView *view)
{
  LnsAnswer *self = g_object_get_data (G_OBJECT (view), KEY);

  if (self != NULL)
    return g_object_ref (self);
  self = g_object_new (LNS_TYPE_ANSWER, NULL);
  self->view = g_object_ref (view);
  g_object_set_data (G_OBJECT (view), KEY, self);
  self->state = LNS_ANSWER_WAITING;
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, G_CONNECT_SWAPPED);
  look_if_due (self);
  return self;
}

static void
lns_answer_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const LnsWhy *why = lns_answer_get_why (LNS_ANSWER (object));

  g_value_set_uint (value, why != NULL ? (guint)why->findings.n : 0);
}

static void
lns_answer_dispose (GObject *object)
{
  LnsAnswer *self = LNS_ANSWER (object);

  lns_job_cancel (&self->running);
  lns_job_cancel (&self->foretelling);
  g_clear_pointer (&self->why, lns_why_free);
  g_clear_pointer (&self->subjects, g_strfreev);
  g_clear_pointer (&self->labels, g_strfreev);
  g_clear_pointer (&self->idle, g_ptr_array_unref);
  g_clear_pointer (&self->places, g_ptr_array_unref);
  g_free (self->step_name);
  if (self->view != NULL)
    g_object_set_data (G_OBJECT (self->view), KEY, NULL);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_answer_parent_class)->dispose (object);
}

static void
lns_answer_class_init (LnsAnswerClass *klass)
{
  static const char *const names[] = { "changed", "chosen", "foretold" };

  G_OBJECT_CLASS (klass)->dispose = lns_answer_dispose;
  G_OBJECT_CLASS (klass)->get_property = lns_answer_get_property;
  properties[PROPERTY_COUNT] = g_param_spec_uint ("count", NULL, NULL, 0, G_MAXUINT, 0,
                                                  G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (G_OBJECT_CLASS (klass), N_PROPERTIES, properties);
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    g_signal_new (names[i], LNS_TYPE_ANSWER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                  0);
}

static void
lns_answer_init (LnsAnswer *self)
{
  self->chosen = LNS_ANSWER_NOTHING;
}
