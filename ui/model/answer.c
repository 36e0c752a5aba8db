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
  LnsError error;  /* why there is no answer */
};

G_DEFINE_FINAL_TYPE (LnsAnswer, lns_answer, G_TYPE_OBJECT)

/* --- The job ---------------------------------------------------------------------------------- */

typedef struct
{
  LnsWhy *why;     /* owned, or NULL */
  char **subjects; /* owned, or NULL */
  LnsError error;
} Search;

static void
search_free (gpointer data)
{
  Search *search = data;

  lns_why_free (search->why);
  g_strfreev (search->subjects);
  g_free (search);
}

/* On a worker. */
static void
search_work (LnsWorker *worker, gpointer data)
{
  Search *search = data;
  LnsTables *tables = lns_tables_new (worker->report, &search->error);
  const LnsWhyOptions options = { .span = lns_filter_span (worker->report), .in_language = true };

  if (tables != NULL)
    search->why = lns_why_run (tables, &options, &worker->cancelled, &search->error);
  if (search->why != NULL)
    {
      search->subjects = g_new0 (char *, search->why->ledgers.n + 1);
      for (size_t i = 0; i < search->why->ledgers.n; i++)
        {
          char *subject = lns_why_subject (tables, &search->why->ledgers.items[i]);
          search->subjects[i] = lns_display_text (subject, strlen (subject), TRUE);
          free (subject);
        }
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
