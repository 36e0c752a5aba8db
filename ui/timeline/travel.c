/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/travel.h"

#include "src/analysis/facts/lane-cursor.h"
#include "ui/details/alike-events.h"
#include "ui/model/job.h"

/* Idle stretches that are shorter than this share of the longest are passed by. */
#define LEAST_IDLE 0.1

/* --- Events -------------------------------------------------------------------------------- */

typedef struct
{
  LnsView *view; /* owned */
  LnsEventId id;
  uint32_t name; /* that is wanted, or 0: any */
  int direction;
  bool is_found;
} Travel;

/* On a worker. */
static void
travel_work (LnsWorker *worker, gpointer data)
{
  Travel *travel = data;
  LnsLaneCursor cursor = { .report = worker->report,
                           .lane = travel->id.lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) };
  const uint64_t n = lns_report_lane_info (worker->report, travel->id.lane)->n_events;

  for (uint64_t at = travel->id.ordinal;
       !travel->is_found && !atomic_load_explicit (&worker->cancelled, memory_order_relaxed);)
    {
      if (travel->direction > 0 ? at + 1 >= n : at == 0)
        break;
      at = travel->direction > 0 ? at + 1 : at - 1;
      if (!lns_lane_cursor_go (&cursor, at, NULL) || !lns_lane_cursor_has (&cursor))
        break;
      travel->id.ordinal = at;
      travel->is_found = travel->name == 0 || cursor.chunk->name[cursor.i] == travel->name;
    }
  lns_lane_cursor_clear (&cursor);
}

static void
travel_done (gpointer data, gpointer owner)
{
  Travel *travel = data;

  if (travel->is_found)
    lns_view_reveal_event (travel->view, travel->id);
}

static void
travel_free (gpointer data)
{
  Travel *travel = data;

  g_object_unref (travel->view);
  g_free (travel);
}

static const LnsJobFuncs travel_funcs = { travel_work, travel_done, travel_free, NULL };

void
lns_travel_event (
    LnsView *view, int direction, gboolean same_name, GCancellable **running, gpointer owner)
{
  LnsEvent event;
  const LnsEventId id = lns_view_get_selected_event (view, &event);

  if (id.lane == LNS_ID_NONE || (same_name && event.name == 0))
    return;
  Travel *travel = g_new0 (Travel, 1);
  *travel = (Travel){ g_object_ref (view), id, same_name ? event.name : 0, direction, false };
  lns_job_start (running, view, &travel_funcs, travel, owner);
}

/* --- The longest events -------------------------------------------------------------------- */

typedef struct
{
  LnsView *view; /* owned */
  LnsEventId id;
  LnsLaneKind kind;
  uint32_t name;
  int64_t own_ns;
  int direction;
  bool is_found;
  LnsAlikeEvents events;
} Ascent;

/* On a worker. */
static void
ascent_work (LnsWorker *worker, gpointer data)
{
  Ascent *ascent = data;

  ascent->is_found = lns_alike_find (worker->report, ascent->kind, ascent->name, ascent->own_ns,
                                     &worker->cancelled, &ascent->events);
}

static void
ascent_done (gpointer data, gpointer owner)
{
  Ascent *ascent = data;
  const LnsAlikeEvents *events = &ascent->events;
  unsigned at = 0;

  while (at < events->n_longest && (events->longest[at].lane != ascent->id.lane ||
                                    events->longest[at].ordinal != ascent->id.ordinal))
    at++;
  const int to = at == events->n_longest ? 0 : (int)at + ascent->direction;
  if (ascent->is_found && to >= 0 && to < (int)events->n_longest)
    lns_view_reveal_event (ascent->view, lns_view_event (ascent->view, events->longest[to].lane,
                                                         events->longest[to].ordinal));
}

static void
ascent_free (gpointer data)
{
  Ascent *ascent = data;

  g_object_unref (ascent->view);
  g_free (ascent);
}

static const LnsJobFuncs ascent_funcs = { ascent_work, ascent_done, ascent_free, NULL };

void
lns_travel_longest (LnsView *view, int direction, GCancellable **running, gpointer owner)
{
  LnsEvent event;
  const LnsEventId id = lns_view_get_selected_event (view, &event);

  if (id.lane == LNS_ID_NONE || event.name == 0)
    return;
  Ascent *ascent = g_new0 (Ascent, 1);
  *ascent = (Ascent){ .view = g_object_ref (view),
                      .id = id,
                      .kind = lns_report_lanes (lns_view_get_report (view), NULL)[id.lane].kind,
                      .name = event.name,
                      .own_ns = event.duration_ns,
                      .direction = direction };
  lns_job_start (running, view, &ascent_funcs, ascent, owner);
}

/* --- Times --------------------------------------------------------------------------------- */

/* Where the way begins: the selected time, or the middle of what is in view. */
static int64_t
here (LnsView *view)
{
  int64_t start_ns, end_ns;

  if (lns_view_get_time_selection (view, &start_ns, &end_ns))
    return start_ns;
  return lns_view_get_start_ns (view) / 2 + lns_view_get_end_ns (view) / 2;
}

/* Whether START_NS lies in DIRECTION of HERE_NS, and nearer than the best so far. */
static gboolean
is_nearer (int64_t start_ns, int64_t here_ns, int direction, gboolean has_best, int64_t best_ns)
{
  const gboolean is_there = direction > 0 ? start_ns > here_ns : start_ns < here_ns;
  return is_there && (!has_best || (direction > 0 ? start_ns < best_ns : start_ns > best_ns));
}

static void
show (LnsAnswer *answer, gboolean is_found, int64_t start_ns, int64_t end_ns)
{
  if (is_found)
    lns_answer_show (answer, &(LnsEvidence){ start_ns, end_ns, LNS_ID_NONE, 0 });
}

/* Where, in the N stretches of IDLE, the gap ends that begins with number I: of a GPU, stretches without work between them are one, unless
 * it is nobody's fault for a part of it. A thread always does something; each of its waits is one. */
static size_t
gap_end (const LnsIdle *idle, size_t n, size_t i, gboolean is_device)
{
  size_t end = i + 1;

  while (is_device && end < n && idle[end].start_ns == idle[end - 1].end_ns &&
         lns_answer_is_warm (idle[end].cause) == lns_answer_is_warm (idle[i].cause))
    end++;
  return end;
}

void
lns_travel_idle (LnsAnswer *answer, LnsView *view, int direction)
{
  const LnsWhy *why = lns_answer_get_why (answer);
  const int64_t here_ns = here (view);
  int64_t longest_ns = 0;
  gboolean is_found = FALSE;
  LnsSpan best = { 0 };
  size_t n = 0;
  const LnsIdle *idle =
      why != NULL && why->ledgers.n > 0 ? lns_answer_get_idle (answer, 0, &n) : NULL;

  const gboolean is_device = n > 0 && why->ledgers.items[0].is_device;
  for (size_t i = 0, end; i < n; i = end)
    {
      end = gap_end (idle, n, i, is_device);
      if (lns_answer_is_warm (idle[i].cause))
        longest_ns = MAX (longest_ns, idle[end - 1].end_ns - idle[i].start_ns);
    }
  for (size_t i = 0, end; i < n; i = end)
    {
      end = gap_end (idle, n, i, is_device);
      const LnsSpan gap = { idle[i].start_ns, idle[end - 1].end_ns };
      if (lns_answer_is_warm (idle[i].cause) &&
          (double)(gap.end_ns - gap.start_ns) >= LEAST_IDLE * (double)longest_ns &&
          is_nearer (gap.start_ns, here_ns, direction, is_found, best.start_ns))
        {
          is_found = TRUE;
          best = gap;
        }
    }
  show (answer, is_found, best.start_ns, best.end_ns);
}

void
lns_travel_step (LnsAnswer *answer, LnsView *view, int direction)
{
  const LnsWhy *why = lns_answer_get_why (answer);
  const int64_t here_ns = here (view);
  const LnsStep *best = NULL;

  for (size_t i = 0; why != NULL && i < why->steps.all.n; i++)
    {
      const LnsStep *step = &why->steps.all.items[i];
      if (is_nearer (step->start_ns, here_ns, direction, best != NULL,
                     best != NULL ? best->start_ns : 0))
        best = step;
    }
  show (answer, best != NULL, best != NULL ? best->start_ns : 0, best != NULL ? best->end_ns : 0);
}

void
lns_travel_finding (LnsAnswer *answer, LnsView *view, int direction)
{
  const LnsWhy *why = lns_answer_get_why (answer);
  const int64_t here_ns = here (view);
  gboolean is_found = FALSE;
  LnsSpan best = { 0 };

  for (size_t f = 0; why != NULL && f < why->findings.n; f++)
    {
      size_t n;
      const LnsSpan *places = lns_answer_get_places (answer, f, &n);
      for (size_t i = 0; i < n; i++)
        if (is_nearer (places[i].start_ns, here_ns, direction, is_found, best.start_ns))
          {
            is_found = TRUE;
            best = places[i];
          }
    }
  show (answer, is_found, best.start_ns, best.end_ns);
}
