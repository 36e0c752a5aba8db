/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/critical.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/sampled-function.h"
#include "src/analysis/graph/path-event.h"
#include "src/base/compare.h"
#include "src/base/search.h"
#include "src/tables/lanes.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/scope.h"

/* Of larger reports it takes long, and much memory: 50 bytes for each event. */
#define MOST_EVENTS 20000000

/* What is larger is not kept to find other paths in. */
#define MOST_KEPT_BYTES (128 << 20)

/* Of a reports with no more events, what an event has to spare is looked for without anybody having asked for the path. */
#define MOST_EVENTS_UNWANTED 500000

/* Of so many links the longest is known. */
#define BLOCK 64

/* Narrower links are passed by. */
#define LEAST_WALK_PX 2

/* Of a view's data: the path that others hold a reference on. */
#define KEY "lns-critical"

/* What paths are found in, for workers and the main thread. */
typedef struct
{
  LnsCriticalRun *run; /* owned; after a search NULL if the report cannot be read */
} Shared;

/* What the path is in. */
typedef struct
{
  int64_t gpu_ns, thread_ns;
} Work;

/* What a thread was in, in a link that begins then. */
typedef struct
{
  int64_t start_ns;
  uint32_t function; /* string id */
} MostlyIn;

/* A path with what it refers to. */
typedef struct
{
  Shared *shared;            /* a reference */
  LnsCriticalPath *critical; /* owned */
  GArray *longest;           /* owned; of uint32_t: of each BLOCK links the longest */
  GArray *longest_of;        /* owned; of uint32_t: of each label 1 + the longest link, or 0 */
  GArray *work;              /* owned; of Work: all before each BLOCK links */
  GArray *mostly_in;         /* owned; of MostlyIn, by start: of the longest links */
  gboolean has_names;        /* main thread only, as what follows: they were looked for … */
  LnsPathNames functions, ranges;
  LnsError error; /* … and cannot be told, if this says why */
} Found;

struct _LnsCritical
{
  GObject parent_instance;

  LnsView *view;   /* owned */
  LnsScope *scope; /* owned */
  LnsCriticalState state;
  guint n_wanting;                 /* who show it */
  Found *whole, *part;             /* owned, or NULL */
  GCancellable *running, *seeking; /* of the search, and of that for a part; or NULL */
  GCancellable *going, *measuring, *naming;
  gboolean wants_names;
  LnsError error; /* why there is no path */
  gboolean has_current;
  LnsPathLink current;
  int walk; /* the way that somebody wants to go once the path is there, or 0 */
  LnsSlack slack;
};

G_DEFINE_FINAL_TYPE (LnsCritical, lns_critical, G_TYPE_OBJECT)

static void
shared_clear (gpointer data)
{
  lns_critical_run_free (((Shared *)data)->run);
}

static void
shared_unref (Shared *shared)
{
  g_atomic_rc_box_release_full (shared, shared_clear);
}

static void
found_clear (gpointer data)
{
  Found *found = data;

  lns_critical_path_free (found->critical);
  lns_array_clear (&found->functions);
  lns_array_clear (&found->ranges);
  g_array_unref (found->longest);
  g_array_unref (found->longest_of);
  g_array_unref (found->work);
  g_array_unref (found->mostly_in);
  shared_unref (found->shared);
}

static void
found_unref (Found *found)
{
  g_atomic_rc_box_release_full (found, found_clear);
}

static inline int64_t
length_of (const LnsPathLink *link)
{
  return link->end_ns - link->start_ns;
}

/* Adds what LINK of CRITICAL has from START_NS to END_NS to WORK. */
static inline void
add_work (Work *work,
          const LnsCriticalPath *critical,
          const LnsPathLink *link,
          int64_t start_ns,
          int64_t end_ns)
{
  const LnsPieceKind kind = critical->graph->labels.items[link->label].kind;
  const int64_t ns = MIN (link->end_ns, end_ns) - MAX (link->start_ns, start_ns);

  if (ns <= 0 || link->is_unknown)
    return;
  if (kind >= LNS_PIECE_KERNEL)
    work->gpu_ns += ns;
  else if (kind == LNS_PIECE_RUN || kind == LNS_PIECE_CALL || kind == LNS_PIECE_SYNC ||
           kind == LNS_PIECE_MPI)
    work->thread_ns += ns;
}

static int
compare_mostly_in (gconstpointer a, gconstpointer b)
{
  const MostlyIn *ma = a, *mb = b;

  return LNS_COMPARE (ma->start_ns, mb->start_ns);
}

/* In which functions threads were in the longest links of CRITICAL. */
static GArray *
find_functions (LnsWorker *worker, const LnsCriticalPath *critical)
{
  GArray *functions = g_array_new (FALSE, FALSE, sizeof (MostlyIn));

  for (size_t i = 0; i < critical->path.longest.n && !atomic_load (&worker->cancelled); i++)
    {
      const LnsPathLink *link = &critical->path.longest.items[i];
      const LnsGraphLabel *label = &critical->graph->labels.items[link->label];
      const uint32_t thread = critical->graph->agents.items[label->agent].thread;
      if (thread == LNS_ID_NONE || label->kind == LNS_PIECE_JOIN)
        continue;
      const MostlyIn it = {
        link->start_ns,
        lns_sampled_function (worker->report, thread, link->start_ns, link->end_ns).name
      };
      if (it.function != 0)
        g_array_append_val (functions, it);
    }
  g_array_sort (functions, compare_mostly_in);
  return functions;
}

/* Finds the path of SHARED from START_NS to END_NS. On a worker. O(points). */
static Found *
found_new (LnsWorker *worker, Shared *shared, int64_t start_ns, int64_t end_ns)
{
  Found *found = g_atomic_rc_box_new0 (Found);

  found->shared = g_atomic_rc_box_acquire (shared);
  found->critical =
      lns_critical_path_find (shared->run, start_ns, end_ns, LNS_CRITICAL_LONGEST, true);
  found->mostly_in = find_functions (worker, found->critical);
  found->longest = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  found->work = g_array_new (FALSE, FALSE, sizeof (Work));
  found->longest_of = g_array_new (FALSE, TRUE, sizeof (uint32_t));
  g_array_set_size (found->longest_of, (guint)found->critical->graph->labels.n);
  const LnsPathLink *links = found->critical->path.links.items;
  Work work = { 0 };
  for (size_t first = 0, n = found->critical->path.links.n; first < n; first += BLOCK)
    {
      uint32_t longest = (uint32_t)first;
      g_array_append_val (found->work, work);
      for (size_t i = first; i < n && i < first + BLOCK; i++)
        {
          uint32_t *of_label = &g_array_index (found->longest_of, uint32_t, links[i].label);
          add_work (&work, found->critical, &links[i], INT64_MIN, INT64_MAX);
          if (length_of (&links[i]) > length_of (&links[longest]))
            longest = (uint32_t)i;
          if (*of_label == 0 || length_of (&links[i]) > length_of (&links[*of_label - 1]))
            *of_label = (uint32_t)i + 1;
        }
      g_array_append_val (found->longest, longest);
    }
  return found;
}

/* --- The search ------------------------------------------------------------------------------- */

/* For the path of the whole, or, where HAS_SPAN, for that of a part. */
typedef struct
{
  Shared *shared; /* a reference, or NULL: what it is found in has to be made first */
  gboolean has_span;
  int64_t start_ns, end_ns;
  Found *found; /* owned, or NULL */
  LnsError error;
} Search;

static void
search_free (gpointer data)
{
  Search *search = data;

  g_clear_pointer (&search->found, found_unref);
  g_clear_pointer (&search->shared, shared_unref);
  g_free (search);
}

/* On a worker. */
static void
search_work (LnsWorker *worker, gpointer data)
{
  Search *search = data;
  const gboolean is_made = search->shared == NULL;

  if (is_made)
    {
      search->shared = g_atomic_rc_box_new0 (Shared);
      search->shared->run =
          lns_critical_run_new (worker->report, &worker->cancelled, &search->error);
    }
  if (search->shared->run == NULL)
    return;
  search->found =
      found_new (worker, search->shared, search->has_span ? search->start_ns : INT64_MIN,
                 search->has_span ? search->end_ns : INT64_MAX);
  if (is_made && lns_critical_run_bytes (search->shared->run) > MOST_KEPT_BYTES)
    lns_critical_run_forget (search->shared->run);
}

static void measure (LnsCritical *self);
static void name (LnsCritical *self);
static void seek_part (LnsCritical *self);

static void
search_done (gpointer data, gpointer owner)
{
  Search *search = data;
  LnsCritical *self = owner;
  Found *before = self->whole;

  self->whole = g_steal_pointer (&search->found);
  self->error = search->error;
  self->state = self->whole != NULL ? LNS_CRITICAL_THERE : LNS_CRITICAL_NONE;
  self->has_current = FALSE;
  Found *part = g_steal_pointer (&self->part);
  g_signal_emit_by_name (self, "changed");
  g_clear_pointer (&before, found_unref);
  g_clear_pointer (&part, found_unref);
  seek_part (self);
  measure (self);
  name (self);
  if (self->walk != 0)
    lns_critical_walk (self, self->walk);
  self->walk = 0;
}

static const LnsJobFuncs search_funcs = { search_work, search_done, search_free, NULL };

static void
part_done (gpointer data, gpointer owner)
{
  Search *search = data;
  LnsCritical *self = owner;
  Found *before = self->part;

  /* Where the report can no longer be read, the path of the whole goes on being shown. */
  self->part = g_steal_pointer (&search->found);
  self->has_current = FALSE;
  g_signal_emit_by_name (self, "changed");
  g_clear_pointer (&before, found_unref);
  name (self);
}

static const LnsJobFuncs part_funcs = { search_work, part_done, search_free, NULL };

/* Whether SHARED has what paths are found in. */
static gboolean
is_kept (const Shared *shared)
{
  return shared->run->times != NULL;
}

/* Looks for the path of the time that panes speak of, unless that is the whole. */
static void
seek_part (LnsCritical *self)
{
  Search *search;
  int64_t start_ns, end_ns;

  lns_job_cancel (&self->seeking);
  if (self->state != LNS_CRITICAL_THERE || self->n_wanting == 0)
    return;
  if (lns_scope_get (self->scope, &start_ns, &end_ns) == LNS_SCOPE_WHOLE)
    {
      Found *part = g_steal_pointer (&self->part);
      if (part != NULL)
        g_signal_emit_by_name (self, "changed");
      g_clear_pointer (&part, found_unref);
      name (self);
      return;
    }
  search = g_new0 (Search, 1);
  search->has_span = TRUE;
  search->start_ns = start_ns;
  search->end_ns = end_ns;
  if (is_kept (self->whole->shared))
    search->shared = g_atomic_rc_box_acquire (self->whole->shared);
  lns_job_start (&self->seeking, self->view, &part_funcs, search, self);
  g_signal_emit_by_name (self, "changed");
}

static void
look (LnsCritical *self)
{
  self->state = LNS_CRITICAL_LOOKING;
  lns_job_start (&self->running, self->view, &search_funcs, g_new0 (Search, 1), self);
  g_signal_emit_by_name (self, "changed");
}

/* Looks for the path if that is due. */
static void
look_if_due (LnsCritical *self)
{
  const LnsReportInfo *info = lns_report_info (lns_view_get_report (self->view));

  if (info->state == LNS_STATE_RECORDING)
    {
      self->state = LNS_CRITICAL_WAITING;
      g_signal_emit_by_name (self, "changed");
    }
  else if (info->n_events > MOST_EVENTS)
    {
      self->state = LNS_CRITICAL_UNASKED;
      g_signal_emit_by_name (self, "changed");
    }
  else
    look (self);
}

/* Names were added to the report, or it has ended. Ids are as they were, and so is what was found of a report that had ended. */
static void
grown_cb (LnsView *view, LnsReport *before, LnsCritical *self)
{
  if (self->state == LNS_CRITICAL_WAITING)
    look_if_due (self);
  else if (self->state == LNS_CRITICAL_THERE)
    g_signal_emit_by_name (self, "changed");
}

void
lns_critical_want (LnsCritical *self)
{
  self->n_wanting++;
  if (self->state == LNS_CRITICAL_UNWANTED)
    look_if_due (self);
  else if (self->n_wanting == 1)
    seek_part (self);
}

void
lns_critical_leave (LnsCritical *self)
{
  self->n_wanting--;
}

void
lns_critical_ask (LnsCritical *self)
{
  if (self->state == LNS_CRITICAL_UNASKED)
    look (self);
}

/* --- What was found --------------------------------------------------------------------------- */

LnsCriticalState
lns_critical_get_state (LnsCritical *self)
{
  return self->state;
}

char *
lns_critical_get_excuse (LnsCritical *self)
{
  switch (self->state)
    {
    case LNS_CRITICAL_WAITING:
      return g_strdup (_ ("The critical path is looked for when the recording ends."));
    case LNS_CRITICAL_UNASKED:
      return g_strdup_printf (_ ("The critical path takes a while to find: the report has %.0f "
                                 "million events."),
                              (double)lns_report_info (lns_view_get_report (self->view))->n_events /
                                  1e6);
    case LNS_CRITICAL_UNWANTED:
    case LNS_CRITICAL_LOOKING:
      return g_strdup (_ ("Looking for the critical path…"));
    case LNS_CRITICAL_NONE:
      return g_strdup_printf (_ ("The critical path cannot be told: %s"), self->error.message);
    case LNS_CRITICAL_THERE:
      break;
    }
  return NULL;
}

const LnsCriticalPath *
lns_critical_get_whole (LnsCritical *self)
{
  return self->state == LNS_CRITICAL_THERE ? self->whole->critical : NULL;
}

const LnsCriticalPath *
lns_critical_get_path (LnsCritical *self)
{
  return self->part != NULL ? self->part->critical : lns_critical_get_whole (self);
}

gboolean
lns_critical_is_looking (LnsCritical *self)
{
  return self->seeking != NULL;
}

static const Found *
found_of (LnsCritical *self, const LnsCriticalPath *path)
{
  return self->part != NULL && self->part->critical == path ? self->part : self->whole;
}

const LnsPathLink *
lns_critical_longest_between (LnsCritical *self,
                              const LnsCriticalPath *path,
                              int64_t start_ns,
                              int64_t end_ns)
{
  const GArray *of_blocks = found_of (self, path)->longest;
  const LnsPathLink *links = path->path.links.items, *longest = NULL;
  const size_t n = path->path.links.n;
  size_t i = LNS_LOWER_BOUND (n, k, links[k].end_ns <= start_ns);

  while (i < n && links[i].start_ns <= end_ns)
    {
      const size_t last = i + BLOCK - 1;
      const gboolean is_block = i % BLOCK == 0 && last < n && links[last].start_ns <= end_ns;
      const LnsPathLink *link =
          &links[is_block ? g_array_index (of_blocks, uint32_t, i / BLOCK) : i];
      if (longest == NULL || length_of (link) > length_of (longest))
        longest = link;
      i += is_block ? BLOCK : 1;
    }
  return longest;
}

const LnsPathLink *
lns_critical_longest_of (LnsCritical *self, const LnsCriticalPath *path, uint32_t label)
{
  const uint32_t i = g_array_index (found_of (self, path)->longest_of, uint32_t, label);

  return i > 0 ? &path->path.links.items[i - 1] : NULL;
}

/* What FOUND has before TIME_NS. O(log links + BLOCK). */
static Work
work_until (const Found *found, int64_t time_ns)
{
  const LnsPathLink *links = found->critical->path.links.items;
  const size_t n = found->critical->path.links.n,
               end = LNS_LOWER_BOUND (n, k, links[k].start_ns < time_ns);
  Work work = { 0 };

  if (end == 0)
    return work;
  const size_t block = (end - 1) / BLOCK;
  work = g_array_index (found->work, Work, block);
  for (size_t i = block * BLOCK; i < end; i++)
    add_work (&work, found->critical, &links[i], INT64_MIN, time_ns);
  return work;
}

void
lns_critical_work_between (LnsCritical *self,
                           const LnsCriticalPath *path,
                           int64_t start_ns,
                           int64_t end_ns,
                           int64_t *ret_gpu_ns,
                           int64_t *ret_thread_ns)
{
  const Found *found = found_of (self, path);
  const Work before = work_until (found, start_ns), all = work_until (found, end_ns);

  *ret_gpu_ns = all.gpu_ns - before.gpu_ns;
  *ret_thread_ns = all.thread_ns - before.thread_ns;
}

/* TEXT, which is freed, as it can be shown. */
static char *
shown (char *text)
{
  char *result = lns_display_text (text, strlen (text), TRUE);

  free (text);
  return result;
}

char *
lns_critical_who (LnsCritical *self, const LnsCriticalPath *path, uint32_t label)
{
  LnsReport *report = lns_view_get_report (self->view);
  const LnsGraphLabel *it = &path->graph->labels.items[label];
  const uint32_t thread = path->graph->agents.items[it->agent].thread;

  return thread != LNS_ID_NONE ? lns_event_text_thread_or (report, thread, _ ("Thread"))
                               : shown (lns_critical_path_who (report, path->graph, it));
}

char *
lns_critical_what (LnsCritical *self,
                   const LnsCriticalPath *path,
                   uint32_t label,
                   gboolean is_short)
{
  const LnsGraphLabel *it = &path->graph->labels.items[label];
  const char *whole = lns_critical_path_name (lns_view_get_report (self->view), it);
  const LnsNames names = it->kind == LNS_PIECE_KERNEL ? LNS_NAMES_KERNELS
                         : it->kind == LNS_PIECE_CALL || it->kind == LNS_PIECE_SYNC
                             ? LNS_NAMES_CALLS
                             : LNS_NAMES_OWN;
  size_t size = strlen (whole);
  const char *name = whole;

  if (is_short)
    name = lns_event_bar_name (names, whole, &size);
  else if (names == LNS_NAMES_CALLS)
    name = lns_event_short_name (names, whole, &size);
  g_autofree char *part = g_strndup (name, size);
  return shown (lns_critical_path_what (path->graph, it, part));
}

char *
lns_critical_get_sentence (LnsCritical *self, const LnsCriticalPath *path)
{
  return shown (lns_critical_path_sentence (lns_view_get_report (self->view), path));
}

const char *
lns_critical_doubt (const LnsPathLink *link)
{
  return link->is_unknown    ? _ ("reason not recorded")
         : link->is_inferred ? _ ("inferred from timing")
                             : NULL;
}

/* --- Functions and ranges --------------------------------------------------------------------- */

typedef struct
{
  Found *found; /* a reference; its path is read */
  LnsPathNames functions, ranges;
  LnsError error;
} Naming;

static void
naming_work (LnsWorker *worker, gpointer data)
{
  Naming *naming = data;

  if (lns_path_functions (worker->report, naming->found->critical, &worker->cancelled,
                          &naming->functions, &naming->error))
    lns_path_ranges (worker->report, naming->found->critical, &worker->cancelled, &naming->ranges,
                     &naming->error);
}

static void
naming_done (gpointer data, gpointer owner)
{
  Naming *naming = data;
  Found *found = naming->found;

  found->has_names = TRUE;
  found->functions = naming->functions;
  found->ranges = naming->ranges;
  found->error = naming->error;
  memset (&naming->functions, 0, sizeof naming->functions);
  memset (&naming->ranges, 0, sizeof naming->ranges);
  g_signal_emit_by_name (owner, "named");
}

static void
naming_free (gpointer data)
{
  Naming *naming = data;

  lns_array_clear (&naming->functions);
  lns_array_clear (&naming->ranges);
  found_unref (naming->found);
  g_free (naming);
}

static const LnsJobFuncs naming_funcs = { naming_work, naming_done, naming_free, NULL };

/* Looks for the names of the path, if somebody wants them. */
static void
name (LnsCritical *self)
{
  Found *found = self->part != NULL ? self->part : self->whole;

  lns_job_cancel (&self->naming);
  if (!self->wants_names || self->state != LNS_CRITICAL_THERE || found->has_names)
    return;
  Naming *naming = g_new0 (Naming, 1);
  naming->found = g_atomic_rc_box_acquire (found);
  lns_job_start (&self->naming, self->view, &naming_funcs, naming, self);
}

void
lns_critical_want_names (LnsCritical *self)
{
  if (self->wants_names)
    return;
  self->wants_names = TRUE;
  name (self);
}

/* The path that is shown, if its names are known. */
static Found *
named (LnsCritical *self, const char **ret_error)
{
  Found *found = self->part != NULL ? self->part : self->whole;
  const gboolean is_there = self->state == LNS_CRITICAL_THERE && found->has_names;

  if (ret_error != NULL)
    *ret_error = is_there && *found->error.message != '\0' ? found->error.message : NULL;
  return is_there && *found->error.message == '\0' ? found : NULL;
}

const LnsPathNames *
lns_critical_get_functions (LnsCritical *self, const char **ret_error)
{
  Found *found = named (self, ret_error);

  return found != NULL ? &found->functions : NULL;
}

const LnsPathNames *
lns_critical_get_ranges (LnsCritical *self, const char **ret_error)
{
  Found *found = named (self, ret_error);

  return found != NULL ? &found->ranges : NULL;
}

uint32_t
lns_critical_function_in (LnsCritical *self, const LnsCriticalPath *path, const LnsPathLink *link)
{
  const GArray *mostly_in = found_of (self, path)->mostly_in;
  const guint i = (guint)LNS_LOWER_BOUND (
      mostly_in->len, k, g_array_index (mostly_in, MostlyIn, k).start_ns < link->start_ns);

  return i < mostly_in->len && g_array_index (mostly_in, MostlyIn, i).start_ns == link->start_ns
             ? g_array_index (mostly_in, MostlyIn, i).function
             : 0;
}

/* --- Ways along it ---------------------------------------------------------------------------- */

typedef struct
{
  LnsView *view;  /* owned */
  Shared *shared; /* a reference; its labels are read */
  LnsPathLink link;
  LnsPathEvent event;
  bool is_found;
} Going;

static void
going_work (LnsWorker *worker, gpointer data)
{
  Going *going = data;
  LnsPathEvents *events = lns_path_events_new (worker->report, going->shared->run->graph);

  going->is_found = lns_path_events_find (events, &going->link, &going->event);
  lns_path_events_free (events);
}

static void
going_done (gpointer data, gpointer owner)
{
  Going *going = data;
  const LnsPathLink *link = &going->link;
  const int64_t length_ns = link->end_ns - link->start_ns;

  if (going->is_found)
    lns_view_reveal_event_at (going->view,
                              lns_view_event (going->view, going->event.lane, going->event.ordinal),
                              link->start_ns + length_ns / 2);
  else
    {
      lns_view_select_event (going->view, LNS_EVENT_NONE);
      lns_view_show_span (going->view, link->start_ns - length_ns, link->end_ns + length_ns);
    }
}

static void
going_free (gpointer data)
{
  Going *going = data;

  g_object_unref (going->view);
  shared_unref (going->shared);
  g_free (going);
}

static const LnsJobFuncs going_funcs = { going_work, going_done, going_free, NULL };

void
lns_critical_go (LnsCritical *self, const LnsCriticalPath *path, const LnsPathLink *link)
{
  Going *going = g_new0 (Going, 1);

  going->view = g_object_ref (self->view);
  going->shared = g_atomic_rc_box_acquire (found_of (self, path)->shared);
  going->link = *link;
  self->has_current = TRUE;
  self->current = *link;
  lns_job_start (&self->going, self->view, &going_funcs, going, self);
  g_signal_emit_by_name (self, "went");
}

/* Whether all of the BLOCK links of FOUND from number FIRST on are shorter than LEAST_NS. */
static gboolean
is_short_block (const Found *found, size_t first, int64_t least_ns)
{
  const LnsPath *path = &found->critical->path;

  return first % BLOCK == 0 && first + BLOCK <= path->links.n &&
         length_of (&path->links.items[g_array_index (found->longest, uint32_t, first / BLOCK)]) <
             least_ns;
}

/* The first link of FOUND that begins after TIME_NS, or, with DIRECTION -1, the last that begins before, and takes LEAST_NS; NULL: there is none. */
static const LnsPathLink *
next_link (const Found *found, int64_t time_ns, int direction, int64_t least_ns)
{
  const LnsPathLink *links = found->critical->path.links.items;
  const size_t n = found->critical->path.links.n;
  /* Behind those that begin by then, or before those that do not. */
  size_t i = LNS_LOWER_BOUND (
      n, k, direction > 0 ? links[k].start_ns <= time_ns : links[k].start_ns < time_ns);

  while (direction > 0 ? i < n : i > 0)
    {
      if (direction > 0 && is_short_block (found, i, least_ns))
        i += BLOCK;
      else if (direction < 0 && i >= BLOCK && is_short_block (found, i - BLOCK, least_ns))
        i -= BLOCK;
      else if (length_of (&links[direction > 0 ? i : i - 1]) >= least_ns)
        return &links[direction > 0 ? i : i - 1];
      else if (direction > 0)
        i++;
      else
        i--;
    }
  return NULL;
}

void
lns_critical_walk (LnsCritical *self, int direction)
{
  const LnsCriticalPath *path = lns_critical_get_path (self);
  const double ns_per_px = lns_scale_ns_per_px (lns_view_get_scale (self->view));
  const int64_t here_ns = self->has_current ? self->current.start_ns
                                            : lns_view_get_start_ns (self->view) / 2 +
                                                  lns_view_get_end_ns (self->view) / 2;

  self->walk = path == NULL ? direction : 0;
  if (self->state == LNS_CRITICAL_UNWANTED)
    look_if_due (self);
  if (path == NULL)
    return;
  const LnsPathLink *link =
      next_link (found_of (self, path), here_ns, direction, (int64_t)(LEAST_WALK_PX * ns_per_px));
  if (link != NULL)
    lns_critical_go (self, path, link);
}

gboolean
lns_critical_get_current (LnsCritical *self, LnsPathLink *ret_link)
{
  *ret_link = self->current;
  return self->has_current;
}

/* --- What the selected event has to spare ----------------------------------------------------- */

typedef struct
{
  Shared *shared; /* a reference */
  uint32_t lane;
  uint64_t ordinal;
  uint32_t label; /* of the event's point */
  int64_t spare_ns;
  bool is_found;
} Measuring;

static void
measuring_work (LnsWorker *worker, gpointer data)
{
  Measuring *measuring = data;
  const LnsCriticalRun *run = measuring->shared->run;
  const uint32_t point = lns_path_point_of (worker->report, run->graph, run->times, measuring->lane,
                                            measuring->ordinal);

  measuring->is_found = point != LNS_POINT_NONE;
  if (!measuring->is_found)
    return;
  measuring->label = run->graph->label[point];
  measuring->spare_ns =
      run->latest[point] != INT64_MAX ? run->latest[point] - run->times[point] : INT64_MAX;
}

/* For how long from START_NS to END_NS the path is in links of LABEL. O(log links + those between). */
static int64_t
on_path_ns (const LnsPath *path, uint32_t label, int64_t start_ns, int64_t end_ns)
{
  const LnsPathLink *links = path->links.items;
  int64_t ns = 0;

  for (size_t i = LNS_LOWER_BOUND (path->links.n, k, links[k].end_ns <= start_ns);
       i < path->links.n && links[i].start_ns < end_ns; i++)
    if (links[i].label == label)
      ns += MIN (links[i].end_ns, end_ns) - MAX (links[i].start_ns, start_ns);
  return ns;
}

static void
measuring_done (gpointer data, gpointer owner)
{
  Measuring *measuring = data;
  LnsCritical *self = owner;
  const LnsCriticalPath *whole = self->whole->critical;
  int64_t start_ns, end_ns;

  if (!measuring->is_found)
    return;
  lns_view_get_selected_times (self->view, &start_ns, &end_ns);
  const int64_t ns = on_path_ns (&whole->path, measuring->label, start_ns, end_ns);
  if (ns > 0)
    self->slack = (LnsSlack){ LNS_SLACK_ON_PATH, ns };
  else if (lns_path_shares (whole->graph, &whole->path).is_known)
    self->slack = (LnsSlack){ measuring->spare_ns == INT64_MAX ? LNS_SLACK_FREE : LNS_SLACK_SPARE,
                              measuring->spare_ns };
  g_signal_emit_by_name (self, "slack");
}

static void
measuring_free (gpointer data)
{
  shared_unref (((Measuring *)data)->shared);
  g_free (data);
}

static const LnsJobFuncs measuring_funcs = { measuring_work, measuring_done, measuring_free, NULL };

/* Whether events of LANE are in the graph. */
static gboolean
has_slack (LnsReport *report, uint32_t lane)
{
  const LnsLaneKind kind = lns_report_lanes (report, NULL)[lane].kind;

  return lns_is_gpu_operation (kind) || kind == LNS_LANE_CUDA_HOST || kind == LNS_LANE_CUDA_API ||
         kind == LNS_LANE_MPI_CALL;
}

/* Finds what the selected event has to spare. */
static void
measure (LnsCritical *self)
{
  LnsReport *report = lns_view_get_report (self->view);
  const LnsEventId id = lns_view_get_selected_event (self->view, NULL);
  const gboolean was_known = self->slack.kind != LNS_SLACK_UNKNOWN;

  lns_job_cancel (&self->measuring);
  self->slack = (LnsSlack){ LNS_SLACK_UNKNOWN, 0 };
  if (was_known)
    g_signal_emit_by_name (self, "slack");
  if (id.lane == LNS_ID_NONE || !has_slack (report, id.lane))
    return;
  if (self->state == LNS_CRITICAL_UNWANTED && !lns_view_is_live (self->view) &&
      lns_report_info (report)->n_events <= MOST_EVENTS_UNWANTED)
    look (self);
  if (self->state != LNS_CRITICAL_THERE || !is_kept (self->whole->shared))
    return;
  Measuring *measuring = g_new0 (Measuring, 1);
  measuring->shared = g_atomic_rc_box_acquire (self->whole->shared);
  measuring->lane = id.lane;
  measuring->ordinal = id.ordinal;
  lns_job_start (&self->measuring, self->view, &measuring_funcs, measuring, self);
}

LnsSlack
lns_critical_get_slack (LnsCritical *self)
{
  return self->slack;
}

/* --- Life ------------------------------------------------------------------------------------- */

LnsCritical *
lns_critical_of (LnsView *view)
{
  LnsCritical *self = g_object_get_data (G_OBJECT (view), KEY);

  if (self != NULL)
    return g_object_ref (self);
  self = g_object_new (LNS_TYPE_CRITICAL, NULL);
  self->view = g_object_ref (view);
  self->scope = lns_scope_of (view);
  g_object_set_data (G_OBJECT (view), KEY, self);
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, 0);
  g_signal_connect_object (view, "event-selected", G_CALLBACK (measure), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->scope, "rested", G_CALLBACK (seek_part), self, G_CONNECT_SWAPPED);
  return self;
}

static void
lns_critical_dispose (GObject *object)
{
  LnsCritical *self = LNS_CRITICAL (object);

  lns_job_cancel (&self->running);
  lns_job_cancel (&self->seeking);
  lns_job_cancel (&self->going);
  lns_job_cancel (&self->measuring);
  lns_job_cancel (&self->naming);
  g_clear_pointer (&self->whole, found_unref);
  g_clear_pointer (&self->part, found_unref);
  if (self->view != NULL)
    g_object_set_data (G_OBJECT (self->view), KEY, NULL);
  g_clear_object (&self->scope);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_critical_parent_class)->dispose (object);
}

static void
lns_critical_class_init (LnsCriticalClass *klass)
{
  static const char *const names[] = { "changed", "named", "went", "slack" };

  G_OBJECT_CLASS (klass)->dispose = lns_critical_dispose;
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    g_signal_new (names[i], LNS_TYPE_CRITICAL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                  0);
}

static void
lns_critical_init (LnsCritical *self)
{
  self->state = LNS_CRITICAL_UNWANTED;
}
