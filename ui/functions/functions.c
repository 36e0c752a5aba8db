/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/functions/functions.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/analysis/facts/gpu-time.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"
#include "ui/functions/function-name.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/name-match.h"
#include "ui/model/palette.h"
#include "ui/model/scope.h"

/* The worker makes branches down to this share of all samples: what a wide flame graph shows at once. */
#define GROWN_SHARE 2000

/* The trees that are kept. */
typedef enum
{
  TREE_OF_SAMPLES, /* of CPUs, and of Python */
  TREE_OF_CPU_BY_THREAD,
  TREE_OF_PYTHON_BY_THREAD,
  TREE_OF_GPU,
  TREE_OF_GPU_STRIPPED,
  N_TREES
} TreePlace;

/* What several sums use, each in a box that counts its references. */
typedef struct
{
  LnsReport *report; /* a reference; the trees' */
  LnsCallTree *tree; /* of samples; or NULL: */
  LnsGpuTime *gpu_time;
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
  LnsFunctionsSource source;
  char *filter; /* owned */
  gboolean is_by_module;
  gboolean is_by_thread;
  gboolean strips_numbers;

  Tree *trees[N_TREES];  /* owned, or NULL: not made yet */
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

/* The hues of what the GPU does are those of its rows on the timeline. Ranges of the program have others, by domain. */
static uint8_t
hue_of (const LnsCallFunction *function, unsigned n_before)
{
  static const uint8_t range_hues[] = { 7, 2, 10, 5, 9, 3, 11 };

  switch ((LnsCallSort)function->sort)
    {
    case LNS_CALL_RANGE:
      return range_hues[n_before % G_N_ELEMENTS (range_hues)];
    case LNS_CALL_KERNEL:
      return 0;
    case LNS_CALL_COPY:
      return 1;
    case LNS_CALL_GRAPH:
      return 4;
    case LNS_CALL_SET:
      return 6;
    case LNS_CALL_PROCESS:
    case LNS_CALL_THREAD:
    case LNS_CALL_NO_RANGE:
    case LNS_CALL_NO_LAUNCH:
      return 8;
    case LNS_CALL_CODE:
    case LNS_N_CALL_SORTS:
      break;
    }
  return (uint8_t)(n_before % LNS_N_HUES);
}

/* Takes TREE or GPU_TIME over; the other one is NULL. Modules have hues by turns, in the order in which they come in the tree. */
static Tree *
tree_new (LnsCallTree *tree, LnsGpuTime *gpu_time)
{
  Tree *self = g_atomic_rc_box_new0 (Tree);
  const LnsCallTree *any = gpu_time != NULL ? gpu_time->tree : tree;
  unsigned n_modules[LNS_N_CALL_SORTS] = { 0 };

  self->report = lns_report_ref (any->report);
  self->tree = tree;
  self->gpu_time = gpu_time;
  self->hues = g_new0 (uint8_t, any->n_functions);
  for (uint32_t i = 0; i < any->n_functions; i++)
    self->hues[i] = any->first_of_module[i] == i
                        ? hue_of (&any->functions[i], n_modules[any->functions[i].sort]++)
                        : self->hues[any->first_of_module[i]];
  return self;
}

static void
tree_clear (gpointer box)
{
  Tree *self = box;

  lns_call_tree_free (self->tree);
  lns_gpu_time_free (self->gpu_time);
  lns_report_close (self->report);
  g_free (self->hues);
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
  LnsFunctionsSource source;
  TreePlace place; /* of the tree */
  gboolean is_by_module, strips_numbers;
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

/* Whether FILTER finds FUNCTION or its module, by which alone it looks if IS_BY_MODULE. */
static bool
function_matches (const Summing *it, LnsReport *report, const LnsCallFunction *function)
{
  size_t size_bytes;

  if (function->sort != LNS_CALL_CODE)
    {
      g_autofree char *name = lns_function_other_name (report, function, FALSE);
      return lns_name_match_test (it->filter, name, strlen (name));
    }
  const char *text = lns_report_string (report, function->symbol, &size_bytes);
  if (!it->is_by_module && lns_name_match_test (it->filter, text, size_bytes))
    return true;
  if (function->module == 0)
    return false;
  text = lns_report_string (report, function->module, &size_bytes);
  const char *slash = memrchr (text, '/', size_bytes);
  const char *name = slash != NULL ? slash + 1 : text;
  return lns_name_match_test (it->filter, name, size_bytes - (size_t)(name - text));
}

/* Leaves the chains alone in which the filter finds something. */
static void
apply_filter (const Summing *it, LnsFunctionSums *sums)
{
  const LnsCallTree *tree = sums->tree;
  g_autofree bool *nodes = g_new0 (bool, tree->n_nodes);

  sums->matches = g_new0 (bool, tree->n_functions);
  for (uint32_t i = 0; i < tree->n_functions; i++)
    sums->matches[i] = function_matches (it, tree->report, &tree->functions[i]);
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    nodes[i] = sums->matches[tree->nodes[i].function];
  lns_call_tree_mark_below (tree, nodes);
  lns_call_sums_keep (tree, nodes, &sums->sums);
}

/* The tree that is asked for. */
static const LnsCallTree *
tree_of (const Summing *it)
{
  return it->tree->gpu_time != NULL ? it->tree->gpu_time->tree : it->tree->tree;
}

static LnsFunctionSums *
make_sums (const Summing *it, const atomic_bool *cancel)
{
  LnsFunctionSums *sums = g_atomic_rc_box_new0 (LnsFunctionSums);
  const LnsCallSums *counted = &it->counted->sums;
  const LnsCallTree *tree = tree_of (it);

  sums->kept = g_atomic_rc_box_acquire (it->tree);
  sums->source = it->source;
  sums->tree = tree;
  sums->is_by_module = it->is_by_module;
  sums->is_by_thread = tree->ends_of != NULL;
  sums->strips_numbers = it->tree->gpu_time != NULL && it->tree->gpu_time->strips_numbers;
  sums->n_samples = counted->n_samples;
  sums->n_without_chain = counted->n_without_chain;
  if (it->filter == NULL && it->source != LNS_FUNCTIONS_OF_GPU)
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

/* Makes the tree, unless there is one. */
static bool
make_tree (Summing *it, LnsWorker *worker)
{
  LnsCallTree *tree = NULL;
  LnsGpuTime *gpu_time = NULL;

  if (it->tree != NULL)
    return true;
  if (it->source == LNS_FUNCTIONS_OF_GPU)
    gpu_time =
        lns_gpu_time_new (worker->report, it->strips_numbers, &worker->cancelled, &it->error);
  else if (it->place == TREE_OF_SAMPLES)
    tree = lns_call_tree_new (worker->report, &worker->cancelled, &it->error);
  else
    tree = lns_call_tree_new_by_thread (worker->report, it->query.kind, &worker->cancelled,
                                        &it->error);
  if (tree == NULL && gpu_time == NULL)
    return false;
  it->tree = tree_new (tree, gpu_time);
  return true;
}

static void
sum (LnsWorker *worker, gpointer job)
{
  Summing *it = job;

  if (!make_tree (it, worker))
    return;
  if (it->counted == NULL)
    {
      LnsCallSums sums;
      if (it->source == LNS_FUNCTIONS_OF_GPU
              ? !lns_gpu_time_sum (it->tree->gpu_time, &it->query, &worker->cancelled, &sums,
                                   &it->error)
              : !lns_call_tree_sum (it->tree->tree, &it->query, &worker->cancelled, &sums,
                                    &it->error))
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

/* Where the tree that is asked for is kept. */
static TreePlace
tree_place (LnsFunctions *self)
{
  switch (self->source)
    {
    case LNS_FUNCTIONS_OF_GPU:
      return self->strips_numbers ? TREE_OF_GPU_STRIPPED : TREE_OF_GPU;
    case LNS_FUNCTIONS_OF_PYTHON:
      return self->is_by_thread ? TREE_OF_PYTHON_BY_THREAD : TREE_OF_SAMPLES;
    case LNS_FUNCTIONS_OF_CPU:
    case LNS_N_FUNCTIONS_SOURCES:
      break;
    }
  return self->is_by_thread ? TREE_OF_CPU_BY_THREAD : TREE_OF_SAMPLES;
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
  Tree **tree = &self->trees[it->place];
  if (*tree == NULL && it->tree != NULL)
    *tree = g_atomic_rc_box_acquire (it->tree);
  if (self->counted == NULL && it->counted != NULL)
    self->counted = g_atomic_rc_box_acquire (it->counted);
  set_state (self, is_good ? LNS_FUNCTIONS_READY : LNS_FUNCTIONS_FAILED,
             is_good ? NULL : it->error.message);
}

static const LnsJobFuncs sum_funcs = { sum, summed_cb, summing_free };

/* The kind of lanes with samples of SOURCE. */
static LnsLaneKind
kind_of (LnsFunctionsSource source)
{
  return source == LNS_FUNCTIONS_OF_PYTHON ? LNS_LANE_PYTHON_SAMPLE : LNS_LANE_CPU_SAMPLE;
}

/* The samples or operations that are asked for. Its threads belong to SELF. */
static LnsCallQuery
query_of (LnsFunctions *self)
{
  LnsCallQuery query = { .kind = kind_of (self->source),
                         .start_ns = INT64_MIN,
                         .end_ns = INT64_MAX,
                         .threads = self->threads };

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
  job->source = self->source;
  /* What stands for modules of GPU time are kinds of work: nothing to sum up by. */
  job->is_by_module = self->is_by_module && self->source != LNS_FUNCTIONS_OF_GPU;
  job->strips_numbers = self->strips_numbers;
  job->filter =
      *self->filter != '\0' ? lns_name_match_new (self->filter, false, false, NULL) : NULL;
  job->place = tree_place (self);
  Tree *tree = self->trees[job->place];
  if (tree != NULL)
    job->tree = g_atomic_rc_box_acquire (tree);
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

/* Samples, which say most, if there are any. */
static LnsFunctionsSource
first_source (LnsFunctions *self)
{
  LnsFunctionsSource source = 0;

  while (source + 1 < LNS_N_FUNCTIONS_SOURCES && !lns_functions_has_source (self, source))
    source++;
  return source;
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
  for (size_t i = 0; i < G_N_ELEMENTS (self->trees); i++)
    g_clear_pointer (&self->trees[i], tree_unref);
  g_clear_pointer (&self->counted, counted_unref);
  if (self->state == LNS_FUNCTIONS_NONE)
    {
      self->source = first_source (self);
      if (!lns_functions_has_source (self, self->source))
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

void
lns_functions_set_by_thread (LnsFunctions *self, gboolean is_by_thread)
{
  if (self->is_by_thread == is_by_thread)
    return;
  self->is_by_thread = is_by_thread;
  if (self->source != LNS_FUNCTIONS_OF_GPU)
    change (self, FALSE);
}

void
lns_functions_set_strips_numbers (LnsFunctions *self, gboolean strips_numbers)
{
  if (self->strips_numbers == strips_numbers)
    return;
  self->strips_numbers = strips_numbers;
  if (self->source == LNS_FUNCTIONS_OF_GPU)
    change (self, FALSE);
}

gboolean
lns_functions_has_source (LnsFunctions *self, LnsFunctionsSource source)
{
  LnsReport *report = lns_view_get_report (self->view);

  return source == LNS_FUNCTIONS_OF_GPU ? lns_gpu_time_is_there (report)
                                        : lns_call_has_samples (report, kind_of (source));
}

void
lns_functions_set_source (LnsFunctions *self, LnsFunctionsSource source)
{
  if (self->source == source || !lns_functions_has_source (self, source))
    return;
  self->source = source;
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

LnsFunctionsSource
lns_functions_get_source (LnsFunctions *self)
{
  return self->source;
}

/* --- Samples ---------------------------------------------------------------------------------- */

typedef struct
{
  Tree *tree; /* owned */
  LnsCallQuery query;
  bool *threads;   /* owned; of the query */
  bool *nodes;     /* owned; those whose samples are wanted */
  int64_t from_ns; /* event to begin with, then those before */
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

/* Looks for what begins at or after FROM_NS. What cannot be read cannot be shown. */
static void
find_from (Finding *it, int64_t from_ns, const atomic_bool *cancelled)
{
  LnsCallQuery query = it->query;
  LnsError error = { 0 };
  bool good;

  if (it->tree->gpu_time != NULL)
    good = lns_gpu_time_find (it->tree->gpu_time, &query, from_ns, it->nodes, cancelled,
                              &it->found.lane, &it->found.ordinal, &error);
  else
    {
      query.start_ns = MAX (query.start_ns, from_ns);
      good = lns_call_tree_find_sample (it->tree->tree, &query, it->nodes, cancelled,
                                        &it->found.lane, &it->found.ordinal, &error);
    }
  if (!good)
    it->found = LNS_EVENT_NONE;
}

static void
find (LnsWorker *worker, gpointer job)
{
  Finding *it = job;

  find_from (it, it->from_ns, &worker->cancelled);
  if (it->found.lane == LNS_ID_NONE && it->from_ns > INT64_MIN)
    find_from (it, INT64_MIN, &worker->cancelled);
}

static void
found_cb (gpointer job, gpointer owner)
{
  const Finding *it = job;
  LnsFunctions *self = owner;

  if (it->found.lane != LNS_ID_NONE)
    lns_view_reveal_event (self->view,
                           lns_view_event (self->view, it->found.lane, it->found.ordinal));
}

static const LnsJobFuncs find_funcs = { find, found_cb, finding_free };

/* Whether what is counted are events of KIND. */
static gboolean
is_counted (const LnsFunctionSums *sums, LnsLaneKind kind)
{
  return sums->source == LNS_FUNCTIONS_OF_GPU ? lns_is_gpu_operation (kind)
                                              : kind == kind_of (sums->source);
}

/* Looks for the next event that counts in one of NODES, which are taken over. */
static void
start_finding (LnsFunctions *self, bool *nodes)
{
  LnsEvent event;
  const LnsEventId selected = lns_view_get_selected_event (self->view, &event);
  Finding *job = g_new0 (Finding, 1);

  job->tree = g_atomic_rc_box_acquire ((Tree *)self->sums->kept);
  job->query = query_of (self);
  job->query.kind = kind_of (self->sums->source);
  job->threads = copy_threads (self, self->threads);
  job->query.threads = job->threads;
  job->nodes = nodes;
  job->from_ns = INT64_MIN;
  if (selected.lane != LNS_ID_NONE && event.start_ns < INT64_MAX &&
      is_counted (self->sums,
                  lns_report_lanes (lns_view_get_report (self->view), NULL)[selected.lane].kind))
    job->from_ns = event.start_ns + 1;
  lns_job_start (&self->finding, self->view, &find_funcs, job, self);
}

void
lns_functions_show_next (LnsFunctions *self, const LnsCallBranches *branches, uint32_t branch)
{
  if (self->sums == NULL)
    return;
  bool *nodes = g_new0 (bool, self->sums->tree->n_nodes);
  lns_call_branches_mark (branches, branch, nodes);
  start_finding (self, nodes);
}

void
lns_functions_show_next_of (LnsFunctions *self, uint32_t function)
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
  return lns_function_name (lns_view_get_report (self->view),
                            &self->sums->tree->functions[function], self->sums->is_by_module);
}

char *
lns_functions_bar_name (LnsFunctions *self, uint32_t function)
{
  const LnsCallFunction *it = &self->sums->tree->functions[function];

  return it->sort != LNS_CALL_CODE
             ? lns_function_other_name (lns_view_get_report (self->view), it, TRUE)
             : lns_functions_name (self, function);
}

char *
lns_functions_module (LnsFunctions *self, uint32_t function)
{
  return lns_function_module (lns_view_get_report (self->view),
                              &self->sums->tree->functions[function]);
}

char *
lns_functions_module_name (LnsFunctions *self, uint32_t function)
{
  return lns_function_module_name (lns_view_get_report (self->view),
                                   &self->sums->tree->functions[function]);
}

char *
lns_functions_amount (LnsFunctions *self, uint64_t n)
{
  char text[LNS_FORMAT_SIZE];

  return g_strdup (self->sums->source == LNS_FUNCTIONS_OF_GPU
                       ? lns_format_duration ((int64_t)MIN (n, INT64_MAX), text)
                       : lns_format_unsigned (n, text));
}

char *
lns_functions_amount_in_words (LnsFunctions *self, uint64_t n)
{
  g_autofree char *amount = lns_functions_amount (self, n);

  return self->sums->source == LNS_FUNCTIONS_OF_GPU
             ? g_steal_pointer (&amount)
             : g_strdup_printf (ngettext ("%s sample", "%s samples", n), amount);
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
  LnsReport *report = lns_view_get_report (self->view);
  const LnsCallFunction *it = &self->sums->tree->functions[function];
  /* Of a kernel with its parameters. */
  g_autofree char *name = it->sort == LNS_CALL_KERNEL && it->symbol != 0
                              ? lns_event_text_string (report, it->symbol, true)
                              : lns_functions_name (self, function);
  g_autofree char *module = lns_functions_module (self, function);
  g_autofree char *total_share = lns_functions_share (self, count.total);
  g_autofree char *own_share = lns_functions_share (self, count.self);
  g_autofree char *total = lns_functions_amount_in_words (self, count.total);
  g_autofree char *own = lns_functions_amount_in_words (self, count.self);
  /* Translators: a share of all, and what it is of: "Total: 37.5 % (1,200 samples)" */
  g_autofree char *totals = g_strdup_printf (_ ("Total: %s (%s)"), total_share, total);
  /* Translators: as before: "Self: 37.5 % (1,200 samples)" */
  g_autofree char *owns = g_strdup_printf (_ ("Self: %s (%s)"), own_share, own);

  return g_strconcat (name, "\n", totals, "\n", owns, *module != '\0' ? "\n" : "", module, NULL);
}

/* --- Life ----------------------------------------------------------------------------------- */

LnsFunctions *
lns_functions_new (LnsView *view)
{
  LnsFunctions *self = g_object_new (LNS_TYPE_FUNCTIONS, NULL);

  self->view = g_object_ref (view);
  self->scope = lns_scope_of (view);
  self->source = first_source (self);
  self->state =
      lns_functions_has_source (self, self->source) ? LNS_FUNCTIONS_READING : LNS_FUNCTIONS_NONE;
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
  for (size_t i = 0; i < G_N_ELEMENTS (self->trees); i++)
    g_clear_pointer (&self->trees[i], tree_unref);
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
