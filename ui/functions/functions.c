/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/functions/functions.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/base/format.h"
#include "src/base/memory.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/name-match.h"
#include "ui/model/palette.h"
#include "ui/model/scope.h"

/* The worker makes branches down to this share of all samples: what a wide flame graph shows at once. */
#define GROWN_SHARE 2000

/* What several sums use, each in a box that counts its references. */
typedef struct
{
  LnsReport *report; /* a reference; the tree's */
  LnsCallTree *tree;
  uint8_t *hues; /* by function: its module's */
} Tree;

typedef struct
{
  LnsCallSums sums; /* without the filter */
} Counted;

struct _LnsFunctions
{
  GObject parent_instance;

  LnsView *view;   /* owned */
  LnsScope *scope; /* owned */
  LnsFunctionsState state;
  char *message; /* owned; or NULL */

  gboolean is_active;
  gboolean is_stale; /* other sums are wanted than the last or those on their way */
  char *title;       /* of the threads: owned; NULL = all of them */
  bool *threads;     /* owned; NULL = all of them */
  LnsLaneKind kind;
  char *filter; /* owned */
  gboolean is_by_module;

  Tree *tree;            /* owned, or NULL: not made yet */
  Counted *counted;      /* owned, or NULL: samples have to be read */
  LnsFunctionSums *sums; /* owned; the last, or NULL */
  GCancellable *summing; /* owned; or NULL */
  GCancellable *finding; /* owned; or NULL */
};

enum
{
  CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LnsFunctions, lns_functions, G_TYPE_OBJECT)

/* --- Boxes ----------------------------------------------------------------------------------- */

/* Takes TREE over. Modules have hues by turns, in the order in which they come in the tree. */
static Tree *
tree_new (LnsCallTree *tree)
{
  Tree *self = g_atomic_rc_box_new0 (Tree);
  unsigned n_modules = 0;

  self->report = lns_report_ref (tree->report);
  self->tree = tree;
  self->hues = g_new0 (uint8_t, tree->n_functions);
  for (uint32_t i = 0; i < tree->n_functions; i++)
    self->hues[i] = tree->first_of_module[i] == i ? (uint8_t)(n_modules++ % LNS_N_HUES)
                                                  : self->hues[tree->first_of_module[i]];
  return self;
}

static void
tree_clear (gpointer box)
{
  lns_call_tree_free (((Tree *)box)->tree);
  lns_report_close (((Tree *)box)->report);
  g_free (((Tree *)box)->hues);
}

static void
tree_unref (Tree *tree)
{
  g_atomic_rc_box_release_full (tree, tree_clear);
}

static void
counted_clear (gpointer box)
{
  lns_call_sums_clear (&((Counted *)box)->sums);
}

static void
counted_unref (Counted *counted)
{
  g_atomic_rc_box_release_full (counted, counted_clear);
}

static void
sums_clear (gpointer box)
{
  LnsFunctionSums *self = box;

  lns_call_branches_free (self->down);
  lns_call_branches_free (self->up);
  lns_call_sums_clear (&self->sums);
  g_free (self->functions);
  g_free (self->matches);
  tree_unref (self->kept);
}

LnsFunctionSums *
lns_function_sums_ref (LnsFunctionSums *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
lns_function_sums_unref (LnsFunctionSums *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, sums_clear);
}

LnsCallBranches *
lns_function_sums_get_branches (LnsFunctionSums *self, gboolean is_bottom_up)
{
  if (!is_bottom_up)
    return self->down;
  if (self->up == NULL)
    self->up = lns_call_branches_new (self->tree, &self->sums, true, self->is_by_module);
  return self->up;
}

/* --- Sums ------------------------------------------------------------------------------------ */

typedef struct
{
  Tree *tree;       /* owned, or NULL: to be made */
  Counted *counted; /* owned, or NULL: to be made */
  LnsCallQuery query;
  bool *threads;        /* owned; of the query */
  LnsNameMatch *filter; /* owned, or NULL */
  gboolean is_by_module;
  LnsFunctionSums *sums; /* owned; or NULL and ERROR */
  LnsError error;
} Summing;

static void
summing_free (gpointer data)
{
  Summing *it = data;

  lns_function_sums_unref (it->sums);
  g_clear_pointer (&it->counted, counted_unref);
  g_clear_pointer (&it->tree, tree_unref);
  lns_name_match_free (it->filter);
  g_free (it->threads);
  g_free (it);
}

static bool
string_matches (LnsReport *report, const LnsNameMatch *filter, uint32_t id, bool is_path)
{
  size_t size_bytes;
  const char *text = lns_report_string (report, id, &size_bytes);
  const char *slash = is_path ? memrchr (text, '/', size_bytes) : NULL;

  if (slash != NULL)
    {
      size_bytes -= (size_t)(slash + 1 - text);
      text = slash + 1;
    }
  return lns_name_match_test (filter, text, size_bytes);
}

/* Leaves the chains alone in which the filter finds something. */
static void
apply_filter (const Summing *it, LnsFunctionSums *sums)
{
  const LnsCallTree *tree = sums->tree;
  g_autofree bool *nodes = g_new0 (bool, tree->n_nodes);

  sums->matches = g_new0 (bool, tree->n_functions);
  for (uint32_t i = 0; i < tree->n_functions; i++)
    {
      const LnsCallFunction *function = &tree->functions[i];
      sums->matches[i] = (!it->is_by_module &&
                          string_matches (tree->report, it->filter, function->symbol, false)) ||
                         (function->module != 0 &&
                          string_matches (tree->report, it->filter, function->module, true));
    }
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    nodes[i] = sums->matches[tree->nodes[i].function];
  lns_call_tree_mark_below (tree, nodes);
  lns_call_sums_keep (tree, nodes, &sums->sums);
}

static LnsFunctionSums *
make_sums (const Summing *it, const atomic_bool *cancel)
{
  LnsFunctionSums *sums = g_atomic_rc_box_new0 (LnsFunctionSums);
  const LnsCallSums *counted = &it->counted->sums;
  const LnsCallTree *tree = it->tree->tree;

  sums->kept = g_atomic_rc_box_acquire (it->tree);
  sums->tree = it->tree->tree;
  sums->is_by_module = it->is_by_module;
  sums->n_samples = counted->n_samples;
  sums->n_without_chain = counted->n_without_chain;
  if (it->filter == NULL)
    lns_call_sums_share_whole (tree, counted, it->query.kind, sums->share_whole);
  sums->sums = *counted;
  sums->sums.nodes = lns_memdup (counted->nodes, tree->n_nodes * sizeof *counted->nodes);
  if (it->filter != NULL)
    apply_filter (it, sums);
  sums->functions = g_new0 (LnsCallCount, tree->n_functions);
  lns_call_tree_functions (tree, &sums->sums, it->is_by_module, sums->functions);
  sums->down = lns_call_branches_new (tree, &sums->sums, false, it->is_by_module);
  lns_call_branches_grow_wide (sums->down, sums->sums.n_samples / GROWN_SHARE, cancel);
  return sums;
}

static void
sum (LnsWorker *worker, gpointer job)
{
  Summing *it = job;

  if (it->tree == NULL)
    {
      LnsCallTree *tree = lns_call_tree_new (worker->report, &worker->cancelled, &it->error);
      if (tree == NULL)
        return;
      it->tree = tree_new (tree);
    }
  if (it->counted == NULL)
    {
      LnsCallSums sums;
      if (!lns_call_tree_sum (it->tree->tree, &it->query, &worker->cancelled, &sums, &it->error))
        return;
      it->counted = g_atomic_rc_box_new0 (Counted);
      it->counted->sums = sums;
    }
  it->sums = make_sums (it, &worker->cancelled);
}

static void
set_state (LnsFunctions *self, LnsFunctionsState state, const char *message)
{
  self->state = state;
  g_free (self->message);
  self->message = g_strdup (message);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
summed_cb (gpointer job, gpointer owner)
{
  Summing *it = job;
  LnsFunctions *self = owner;
  const gboolean is_good = it->sums != NULL;

  if (is_good)
    {
      lns_function_sums_unref (self->sums);
      self->sums = g_steal_pointer (&it->sums);
    }
  if (self->tree == NULL && it->tree != NULL)
    self->tree = g_atomic_rc_box_acquire (it->tree);
  if (self->counted == NULL && it->counted != NULL)
    self->counted = g_atomic_rc_box_acquire (it->counted);
  set_state (self, is_good ? LNS_FUNCTIONS_READY : LNS_FUNCTIONS_FAILED,
             is_good ? NULL : it->error.message);
}

static const LnsJobFuncs sum_funcs = { sum, summed_cb, summing_free };

/* The samples that are asked for. Its threads belong to SELF. */
static LnsCallQuery
query_of (LnsFunctions *self)
{
  LnsCallQuery query = {
    .kind = self->kind, .start_ns = INT64_MIN, .end_ns = INT64_MAX, .threads = self->threads
  };

  int64_t start_ns, end_ns;

  if (lns_scope_get (self->scope, &start_ns, &end_ns) != LNS_SCOPE_WHOLE)
    {
      query.start_ns = start_ns;
      query.end_ns = end_ns;
    }
  return query;
}

static bool *
copy_threads (LnsFunctions *self, const bool *threads)
{
  uint32_t n_threads;

  lns_report_threads (lns_view_get_report (self->view), &n_threads);
  return g_memdup2 (threads, n_threads * sizeof *threads);
}

/* Asks for the sums that are wanted now, if somebody looks at them. */
static void
update (LnsFunctions *self)
{
  Summing *job;

  if (!self->is_active || !self->is_stale || self->state == LNS_FUNCTIONS_NONE)
    return;
  self->is_stale = FALSE;
  job = g_new0 (Summing, 1);
  job->query = query_of (self);
  job->threads = copy_threads (self, self->threads);
  job->query.threads = job->threads;
  job->is_by_module = self->is_by_module;
  job->filter =
      *self->filter != '\0' ? lns_name_match_new (self->filter, false, false, NULL) : NULL;
  if (self->tree != NULL)
    job->tree = g_atomic_rc_box_acquire (self->tree);
  if (self->counted != NULL)
    job->counted = g_atomic_rc_box_acquire (self->counted);
  lns_job_start (&self->summing, self->view, &sum_funcs, job, self);
  g_signal_emit (self, signals[CHANGED], 0);
}

/* Other sums are wanted; IS_COUNTED: of the same samples. */
static void
change (LnsFunctions *self, gboolean is_counted)
{
  if (!is_counted)
    g_clear_pointer (&self->counted, counted_unref);
  self->is_stale = TRUE;
  update (self);
}

static void
scope_changed_cb (LnsScope *scope, LnsFunctions *self)
{
  change (self, FALSE);
}

/* There are more threads, samples and functions, or functions have got names. What is shown stays until something else is asked for,
 * or the recording ends. */
static void
grown_cb (LnsView *view, LnsReport *before, LnsFunctions *self)
{
  uint32_t n_before, n_threads;

  lns_report_threads (before, &n_before);
  lns_report_threads (lns_view_get_report (view), &n_threads);
  if (self->threads != NULL)
    {
      self->threads = g_renew (bool, self->threads, n_threads);
      memset (self->threads + n_before, 0, (n_threads - n_before) * sizeof *self->threads);
    }
  g_clear_pointer (&self->tree, tree_unref);
  g_clear_pointer (&self->counted, counted_unref);
  if (self->state == LNS_FUNCTIONS_NONE)
    {
      self->kind = lns_call_sample_kind (lns_view_get_report (view));
      if (!lns_functions_has_kind (self, self->kind))
        return;
      self->state = LNS_FUNCTIONS_READING;
      g_signal_emit (self, signals[CHANGED], 0);
    }
  if (!lns_view_is_live (view))
    change (self, FALSE);
}

/* --- What is asked for ------------------------------------------------------------------------ */

void
lns_functions_set_active (LnsFunctions *self, gboolean is_active)
{
  self->is_active = is_active;
  update (self);
}

void
lns_functions_set_threads (LnsFunctions *self, const char *title, const bool *threads)
{
  g_free (self->title);
  self->title = g_strdup (title);
  g_free (self->threads);
  self->threads = copy_threads (self, threads);
  change (self, FALSE);
}

void
lns_functions_set_filter (LnsFunctions *self, const char *text)
{
  if (g_str_equal (self->filter, text))
    return;
  g_free (self->filter);
  self->filter = g_strdup (text);
  change (self, TRUE);
}

void
lns_functions_set_by_module (LnsFunctions *self, gboolean is_by_module)
{
  if (self->is_by_module == is_by_module)
    return;
  self->is_by_module = is_by_module;
  change (self, TRUE);
}

gboolean
lns_functions_has_kind (LnsFunctions *self, LnsLaneKind kind)
{
  return lns_call_has_samples (lns_view_get_report (self->view), kind);
}

void
lns_functions_set_kind (LnsFunctions *self, LnsLaneKind kind)
{
  if (self->kind == kind || !lns_functions_has_kind (self, kind))
    return;
  self->kind = kind;
  change (self, FALSE);
}

/* --- What is there ------------------------------------------------------------------------------ */

LnsView *
lns_functions_get_view (LnsFunctions *self)
{
  return self->view;
}

LnsFunctionsState
lns_functions_get_state (LnsFunctions *self)
{
  return self->state;
}

const char *
lns_functions_get_message (LnsFunctions *self)
{
  return self->message;
}

gboolean
lns_functions_is_busy (LnsFunctions *self)
{
  return self->summing != NULL;
}

LnsFunctionSums *
lns_functions_get_sums (LnsFunctions *self)
{
  return self->sums;
}

const char *
lns_functions_get_threads_title (LnsFunctions *self)
{
  return self->title;
}

LnsLaneKind
lns_functions_get_kind (LnsFunctions *self)
{
  return self->kind;
}

/* --- Samples ---------------------------------------------------------------------------------- */

typedef struct
{
  Tree *tree; /* owned */
  LnsCallQuery query;
  bool *threads;   /* owned; of the query */
  bool *nodes;     /* owned; those whose samples are wanted */
  int64_t from_ns; /* sample to begin with, then those before */
  LnsEventId found;
} Finding;

static void
finding_free (gpointer data)
{
  Finding *it = data;

  tree_unref (it->tree);
  g_free (it->threads);
  g_free (it->nodes);
  g_free (it);
}

/* What cannot be read cannot be shown. */
static void
find (LnsWorker *worker, gpointer job)
{
  Finding *it = job;
  const int64_t start_ns = it->query.start_ns;
  LnsError error = { 0 };

  it->found = LNS_EVENT_NONE;
  it->query.start_ns = MAX (start_ns, it->from_ns);
  if (!lns_call_tree_find_sample (it->tree->tree, &it->query, it->nodes, &worker->cancelled,
                                  &it->found.lane, &it->found.ordinal, &error) ||
      it->found.lane != LNS_ID_NONE)
    return;
  it->query.start_ns = start_ns;
  if (!lns_call_tree_find_sample (it->tree->tree, &it->query, it->nodes, &worker->cancelled,
                                  &it->found.lane, &it->found.ordinal, &error))
    it->found = LNS_EVENT_NONE;
}

static void
found_cb (gpointer job, gpointer owner)
{
  const Finding *it = job;
  LnsFunctions *self = owner;

  if (it->found.lane != LNS_ID_NONE)
    lns_view_reveal_event (self->view, it->found);
}

static const LnsJobFuncs find_funcs = { find, found_cb, finding_free };

/* Looks for the next sample that was taken in one of NODES, which are taken over. */
static void
start_finding (LnsFunctions *self, bool *nodes)
{
  LnsEvent event;
  const LnsEventId selected = lns_view_get_selected_event (self->view, &event);
  Finding *job = g_new0 (Finding, 1);

  job->tree = g_atomic_rc_box_acquire ((Tree *)self->sums->kept);
  job->query = query_of (self);
  job->threads = copy_threads (self, self->threads);
  job->query.threads = job->threads;
  job->nodes = nodes;
  job->from_ns = INT64_MIN;
  if (selected.lane != LNS_ID_NONE && event.start_ns < INT64_MAX &&
      lns_report_lanes (lns_view_get_report (self->view), NULL)[selected.lane].kind == self->kind)
    job->from_ns = event.start_ns + 1;
  lns_job_start (&self->finding, self->view, &find_funcs, job, self);
}

void
lns_functions_show_next_sample (LnsFunctions *self,
                                const LnsCallBranches *branches,
                                uint32_t branch)
{
  if (self->sums == NULL)
    return;
  bool *nodes = g_new0 (bool, self->sums->tree->n_nodes);
  lns_call_branches_mark (branches, branch, nodes);
  start_finding (self, nodes);
}

void
lns_functions_show_next_sample_of (LnsFunctions *self, uint32_t function)
{
  if (self->sums == NULL)
    return;
  const LnsCallTree *tree = self->sums->tree;
  bool *nodes = g_new0 (bool, tree->n_nodes);
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    {
      const uint32_t at = tree->nodes[i].function;
      nodes[i] = (self->sums->is_by_module ? tree->first_of_module[at] : at) == function;
    }
  lns_call_tree_mark_below (tree, nodes);
  start_finding (self, nodes);
}

unsigned
lns_functions_module_hue (LnsFunctions *self, uint32_t function)
{
  return ((const Tree *)self->sums->kept)->hues[function];
}

/* --- Texts -------------------------------------------------------------------------------------- */

char *
lns_functions_name (LnsFunctions *self, uint32_t function)
{
  const LnsCallFunction *it = &self->sums->tree->functions[function];

  const gboolean is_unknown = it->symbol != 0 && it->symbol == it->module; /* of an import */

  if (!self->sums->is_by_module && !is_unknown)
    return lns_event_text_string (lns_view_get_report (self->view), it->symbol, true);
  g_autofree char *path = lns_functions_module (self, function);
  g_autofree char *name = *path != '\0' ? g_path_get_basename (path) : g_strdup (_ ("(no module)"));
  return self->sums->is_by_module ? g_steal_pointer (&name) : g_strconcat (name, "+0x…", NULL);
}

char *
lns_functions_module (LnsFunctions *self, uint32_t function)
{
  const uint32_t module = self->sums->tree->functions[function].module;

  return module != 0 ? lns_event_text_string (lns_view_get_report (self->view), module, true)
                     : g_strdup ("");
}

char *
lns_functions_share (LnsFunctions *self, uint64_t n)
{
  char number[LNS_FORMAT_SIZE];

  lns_format_fixed (100.0 * (double)n / (double)MAX (self->sums->n_samples, 1), 1, number);
  return g_strdup_printf (_ ("%s %%"), number);
}

char *
lns_functions_describe (LnsFunctions *self, uint32_t function, LnsCallCount count)
{
  char total[LNS_FORMAT_SIZE], own[LNS_FORMAT_SIZE];
  g_autofree char *name = lns_functions_name (self, function);
  g_autofree char *module = lns_functions_module (self, function);
  g_autofree char *total_share = lns_functions_share (self, count.total);
  g_autofree char *own_share = lns_functions_share (self, count.self);
  /* Translators: of samples: "Total: 37.5 % (1,200 samples)" */
  g_autofree char *totals =
      g_strdup_printf (ngettext ("Total: %s (%s sample)", "Total: %s (%s samples)", count.total),
                       total_share, lns_format_unsigned (count.total, total));
  g_autofree char *owns =
      g_strdup_printf (ngettext ("Self: %s (%s sample)", "Self: %s (%s samples)", count.self),
                       own_share, lns_format_unsigned (count.self, own));

  return g_strconcat (name, "\n", totals, "\n", owns, *module != '\0' ? "\n" : "", module, NULL);
}

/* --- Life ----------------------------------------------------------------------------------- */

LnsFunctions *
lns_functions_new (LnsView *view)
{
  LnsFunctions *self = g_object_new (LNS_TYPE_FUNCTIONS, NULL);

  self->view = g_object_ref (view);
  self->scope = lns_scope_of (view);
  self->kind = lns_call_sample_kind (lns_view_get_report (view));
  self->state =
      lns_functions_has_kind (self, self->kind) ? LNS_FUNCTIONS_READING : LNS_FUNCTIONS_NONE;
  g_signal_connect_object (self->scope, "changed", G_CALLBACK (scope_changed_cb), self, 0);
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, 0);
  return self;
}

static void
lns_functions_dispose (GObject *object)
{
  LnsFunctions *self = LNS_FUNCTIONS (object);

  lns_job_cancel (&self->summing);
  lns_job_cancel (&self->finding);
  G_OBJECT_CLASS (lns_functions_parent_class)->dispose (object);
}

static void
lns_functions_finalize (GObject *object)
{
  LnsFunctions *self = LNS_FUNCTIONS (object);

  lns_function_sums_unref (self->sums);
  g_clear_pointer (&self->counted, counted_unref);
  g_clear_pointer (&self->tree, tree_unref);
  g_free (self->threads);
  g_free (self->title);
  g_free (self->filter);
  g_free (self->message);
  g_object_unref (self->scope);
  g_object_unref (self->view);
  G_OBJECT_CLASS (lns_functions_parent_class)->finalize (object);
}

static void
lns_functions_class_init (LnsFunctionsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_functions_dispose;
  G_OBJECT_CLASS (klass)->finalize = lns_functions_finalize;
  signals[CHANGED] = g_signal_new ("changed", LNS_TYPE_FUNCTIONS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 0);
}

static void
lns_functions_init (LnsFunctions *self)
{
  self->filter = g_strdup ("");
  self->is_stale = TRUE;
}
