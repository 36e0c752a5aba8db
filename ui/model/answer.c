/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/answer.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "ui/model/display-text.h"
#include "ui/model/job.h"

/* Of larger reports the answer takes long, and much memory. */
#define MOST_EVENTS 20000000

/* Of larger ones, where a GPU was idle is not kept: 40 bytes for each part of it while the answer is found, 24 later. */
#define MOST_EVENTS_WITH_IDLE 5000000

/* Of a view's data: the answer that others hold a reference on. */
#define KEY "lns-answer"

struct _LnsAnswer
{
  GObject parent_instance;

  LnsView *view;         /* owned */
  GCancellable *running; /* the job's, or NULL */
  LnsAnswerState state;
  LnsWhy *why;     /* owned, or NULL */
  char **subjects; /* owned, or NULL: of each ledger */
  char **labels;   /* owned, or NULL: of each finding */
  GPtrArray *idle; /* owned, or NULL: of each ledger a GArray of LnsIdle */
  char *step_name; /* owned, or NULL */
  LnsError error;  /* why there is no answer */
};

G_DEFINE_FINAL_TYPE (LnsAnswer, lns_answer, G_TYPE_OBJECT)

/* --- The job ---------------------------------------------------------------------------------- */

typedef struct
{
  LnsWhy *why; /* owned, or NULL, as the next four */
  char **subjects;
  char **labels;
  GPtrArray *idle;
  char *step_name;
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

/* What WHY, which kept them, has of idle parts, as stretches; WHY keeps them no longer. On a worker. */
static GPtrArray *
take_idle (LnsWhy *why)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  int64_t most_ns = 0; /* of the stretch at hand, that one cause has */

  for (size_t l = 0; l < why->ledgers.n; l++)
    g_ptr_array_add (all, g_array_new (FALSE, FALSE, sizeof (LnsIdle)));
  for (size_t i = 0; i < why->gaps.n; i++)
    {
      const LnsWhyGap *gap = &why->gaps.items[i];
      GArray *of_ledger = g_ptr_array_index (all, gap->ledger);
      LnsIdle *last =
          of_ledger->len > 0 ? &g_array_index (of_ledger, LnsIdle, of_ledger->len - 1) : NULL;
      const LnsIdle it = { gap->start_ns, gap->end_ns, gap->cause, gap->finding };
      /* How a program starts and ends is one stretch each, whatever follows or came before. */
      const bool is_end = gap->cause == LNS_CAUSE_START_UP || gap->cause == LNS_CAUSE_TEAR_DOWN;
      /* A thread always does something; what of it was lost are its waits. */
      const bool is_device = why->ledgers.items[gap->ledger].is_device;
      if (!is_device && gap->cause == LNS_CAUSE_CPU_WORK)
        continue;
      const bool follows = last != NULL && last->end_ns == it.start_ns && !is_end &&
                           last->cause != LNS_CAUSE_START_UP &&
                           (is_device || last->finding == it.finding);
      if (!follows)
        {
          g_array_append_val (of_ledger, it);
          most_ns = it.end_ns - it.start_ns;
          continue;
        }
      last->end_ns = it.end_ns;
      if (it.end_ns - it.start_ns <= most_ns)
        continue;
      most_ns = it.end_ns - it.start_ns;
      last->cause = it.cause;
      last->finding = it.finding;
    }
  lns_array_clear (&why->gaps);
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

  self->why = g_steal_pointer (&search->why);
  self->subjects = g_steal_pointer (&search->subjects);
  self->labels = g_steal_pointer (&search->labels);
  self->idle = g_steal_pointer (&search->idle);
  self->step_name = g_steal_pointer (&search->step_name);
  self->error = search->error;
  self->state = self->why != NULL ? LNS_ANSWER_THERE : LNS_ANSWER_NONE;
  g_signal_emit_by_name (self, "changed");
}

static const LnsJobFuncs search_funcs = { search_work, search_done, search_free, NULL };

static void
look (LnsAnswer *self)
{
  self->state = LNS_ANSWER_LOOKING;
  lns_job_start (&self->running, self->view, &search_funcs, g_new0 (Search, 1), self);
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

const char *
lns_answer_get_step_name (LnsAnswer *self)
{
  return self->step_name;
}

char *
lns_answer_get_excuse (LnsAnswer *self)
{
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (self->view));

  switch (self->state)
    {
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
  g_signal_emit_by_name (self, "changed");
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
  if (lns_report_info (lns_view_get_report (view))->n_events <= MOST_EVENTS)
    look (self);
  return self;
}

static void
lns_answer_dispose (GObject *object)
{
  LnsAnswer *self = LNS_ANSWER (object);

  lns_job_cancel (&self->running);
  g_clear_pointer (&self->why, lns_why_free);
  g_clear_pointer (&self->subjects, g_strfreev);
  g_clear_pointer (&self->labels, g_strfreev);
  g_clear_pointer (&self->idle, g_ptr_array_unref);
  g_free (self->step_name);
  if (self->view != NULL)
    g_object_set_data (G_OBJECT (self->view), KEY, NULL);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_answer_parent_class)->dispose (object);
}

static void
lns_answer_class_init (LnsAnswerClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_answer_dispose;
  g_signal_new ("changed", LNS_TYPE_ANSWER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lns_answer_init (LnsAnswer *self)
{
}
