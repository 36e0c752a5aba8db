/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/problems.h"

#include <stdlib.h>

#include "src/analysis/rules/doctor.h"
#include "ui/model/job.h"

#define KEY "lns-problems"

struct _LnsProblems
{
  GObject parent_instance;

  LnsView *view;           /* owned */
  GArray *problems;        /* owned; of LnsProblem */
  GCancellable *examining; /* or NULL */
  LnsFinding *findings;    /* owned; whose texts problems have; or NULL */
};

G_DEFINE_FINAL_TYPE (LnsProblems, lns_problems, G_TYPE_OBJECT)

enum
{
  PROPERTY_COUNT = 1,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];
static guint changed_signal;

static void
tell_changed (LnsProblems *self, guint from)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROPERTY_COUNT]);
  g_signal_emit (self, changed_signal, 0, from);
}

/* Appends the diagnostics of the report, the most severe first, otherwise in the report's order. */
static void
append_diagnostics (LnsProblems *self)
{
  LnsReport *report = lns_view_get_report (self->view);
  uint32_t n;
  const LnsDiagnostic *all = lns_report_diagnostics (report, &n);

  /* A diagnostic of unknown severity is not shown. */
  for (int severity = LNS_SEVERITY_ERROR; severity >= LNS_SEVERITY_INFO; severity--)
    for (uint32_t i = 0; i < n; i++)
      if ((int)all[i].severity == severity)
        {
          const LnsProblem problem = { lns_report_string (report, all[i].code, NULL),
                                       lns_report_string (report, all[i].text, NULL),
                                       all[i].severity, all[i].time_ns, all[i].process };
          g_array_append_val (self->problems, problem);
        }
}

/* --- The doctor ----------------------------------------------------------------------------- */

typedef struct
{
  LnsFinding *findings; /* owned */
  size_t n;
} Examining;

static void
examining_free (gpointer data)
{
  Examining *examining = data;

  free (examining->findings);
  g_free (examining);
}

static void
examine (LnsWorker *worker, gpointer job)
{
  Examining *examining = job;

  /* What cannot be read is told where it is needed. */
  lns_doctor_examine (worker->report, &examining->findings, &examining->n, NULL);
}

static void
examined_cb (gpointer job, gpointer owner)
{
  Examining *examining = job;
  LnsProblems *self = owner;
  const guint from = self->problems->len;

  if (examining->n == 0)
    return;
  self->findings = g_steal_pointer (&examining->findings);
  for (size_t i = 0; i < examining->n; i++)
    {
      const LnsFinding *finding = &self->findings[i];
      const LnsProblem problem = { finding->code, finding->text, finding->severity,
                                   LNS_TIME_UNKNOWN, finding->process };
      g_array_append_val (self->problems, problem);
    }
  tell_changed (self, from);
}

static const LnsJobFuncs examine_funcs = { examine, examined_cb, examining_free, NULL };

/* --- Life ----------------------------------------------------------------------------------- */

/* Looks for the problems. What the doctor finds comes when the report is whole. */
static void
look (LnsProblems *self)
{
  append_diagnostics (self);
  if (!lns_view_is_live (self->view))
    lns_job_start (&self->examining, self->view, &examine_funcs, g_new0 (Examining, 1), self);
}

/* Looks anew if there are other diagnostics, and when the recording has ended. */
static void
grown_cb (LnsView *view, LnsReport *before, LnsProblems *self)
{
  uint32_t n, n_before;

  lns_report_diagnostics (before, &n_before);
  lns_report_diagnostics (lns_view_get_report (view), &n);
  if (n == n_before && lns_view_is_live (view))
    return;
  g_array_set_size (self->problems, 0);
  g_clear_pointer (&self->findings, free);
  look (self);
  tell_changed (self, 0);
}

LnsProblems *
lns_problems_of (LnsView *view)
{
  LnsProblems *self = g_object_get_data (G_OBJECT (view), KEY);

  if (self != NULL)
    return g_object_ref (self);
  self = g_object_new (LNS_TYPE_PROBLEMS, NULL);
  self->view = g_object_ref (view);
  g_object_set_data (G_OBJECT (view), KEY, self);
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, 0);
  look (self);
  return self;
}

const LnsProblem *
lns_problems_get (LnsProblems *self, guint *ret_n)
{
  *ret_n = self->problems->len;
  return (const LnsProblem *)(void *)self->problems->data;
}

/* How many warnings and errors there are. */
static void
lns_problems_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const GArray *problems = LNS_PROBLEMS (object)->problems;
  guint n = 0;

  for (guint i = 0; i < problems->len; i++)
    n += g_array_index (problems, LnsProblem, i).severity != LNS_SEVERITY_INFO;
  g_value_set_uint (value, n);
}

static void
lns_problems_dispose (GObject *object)
{
  LnsProblems *self = LNS_PROBLEMS (object);

  lns_job_cancel (&self->examining);
  if (self->view != NULL)
    g_object_set_data (G_OBJECT (self->view), KEY, NULL);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_problems_parent_class)->dispose (object);
}

static void
lns_problems_finalize (GObject *object)
{
  LnsProblems *self = LNS_PROBLEMS (object);

  g_array_unref (self->problems);
  free (self->findings);
  G_OBJECT_CLASS (lns_problems_parent_class)->finalize (object);
}

static void
lns_problems_class_init (LnsProblemsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_problems_dispose;
  G_OBJECT_CLASS (klass)->finalize = lns_problems_finalize;
  G_OBJECT_CLASS (klass)->get_property = lns_problems_get_property;
  properties[PROPERTY_COUNT] = g_param_spec_uint ("count", NULL, NULL, 0, G_MAXUINT, 0,
                                                  G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (G_OBJECT_CLASS (klass), N_PROPERTIES, properties);
  changed_signal = g_signal_new ("changed", LNS_TYPE_PROBLEMS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
lns_problems_init (LnsProblems *self)
{
  self->problems = g_array_new (FALSE, FALSE, sizeof (LnsProblem));
}
