/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/event-streams.h"

#include <stdlib.h>

#include "src/base/compare.h"
#include "src/base/memory.h"

/* No more waits are kept: some 60 MB; and of processes with more streams none. */
#define MOST_WAITS   100000
#define MOST_STREAMS 12

/* Which of the last calls that record an event before the wait it was: the last one, the one before, … */
#define N_CALLS 4

/* Work that begins within so long after the end of other work, and later than what is known explains, waited for that. */
#define AFTER_NS INT64_C (15000)

/* Clocks and records of a GPU differ by as much. */
#define CLOCK_NS INT64_C (2000)

/* Of the waits that something unknown held up, a rule explains as many at least … */
#define LEAST_EXPLAINED 0.8

/* … and in no more than this share of all work goes on though what it should wait for does. */
#define MOST_BROKEN 0.02

/* What an event may stand for: the operation of STREAM that was launched last before one of the last calls that record. */
typedef struct
{
  uint32_t stream;
  uint8_t calls;   /* bit: which one of the last calls                                           */
  bool is_running; /* it is at work as the wait is over: it is not what that was for             */
  uint32_t end;    /* point, or LNS_POINT_NONE                                                   */
  int64_t ns;      /* when it ended                                                              */
} Candidate;

typedef struct
{
  uint64_t event;
  uint32_t stream; /* that waits                                                                 */
  uint32_t point;
  int64_t start_ns;
  bool is_late; /* something unknown held it up                                                  */
  uint32_t first, n;
} Wait;

struct LnsEventStreams
{
  LNS_ARRAY (Wait) waits;
  LNS_ARRAY (Candidate) candidates;
};

/* What is learned of waits: what they are for is the operation of STREAM before one of the last calls. LNS_ID_NONE: nothing. */
typedef struct
{
  uint32_t stream;
  unsigned call;
} Rule;

LnsEventStreams *
lns_event_streams_new (void)
{
  return lns_calloc (1, sizeof (LnsEventStreams));
}

void
lns_event_streams_free (LnsEventStreams *events)
{
  if (events == NULL)
    return;
  lns_array_clear (&events->waits);
  lns_array_clear (&events->candidates);
  free (events);
}

/* Adds what an event may stand for that was recorded in stream number STREAM of ORDER before the wait at point BEFORE. */
static void
add_candidates (LnsEventStreams *events, const LnsGpuOrder *order, uint32_t stream, uint32_t before)
{
  Candidate *last = NULL;

  for (unsigned call = 0; call < N_CALLS; call++)
    {
      const uint32_t point = lns_gpu_order_record_call (order, before, call);
      if (point == LNS_POINT_NONE)
        return;
      const LnsEnded *ended = lns_gpu_order_last_by (order, stream, point);
      const uint32_t end = ended != NULL ? ended->end : LNS_POINT_NONE;
      const bool is_running = lns_gpu_order_runs (order, stream, point);
      if (last == NULL || last->end != end || last->is_running != is_running)
        {
          last = lns_array_add (&events->candidates);
          *last = (Candidate){ .stream = stream,
                               .is_running = is_running,
                               .end = end,
                               .ns = ended != NULL ? ended->ns : INT64_MIN };
        }
      last->calls |= (uint8_t)(1u << call);
    }
}

uint32_t
lns_event_streams_add (LnsEventStreams *events,
                       const LnsGpuOrder *order,
                       const LnsGpuWait *wait,
                       uint32_t stream,
                       int64_t start_ns,
                       int64_t known_ns)
{
  const uint32_t number = (uint32_t)events->waits.n;

  if (number >= MOST_WAITS || lns_gpu_order_n_streams (order) > MOST_STREAMS)
    return LNS_ID_NONE;
  const uint32_t first = (uint32_t)events->candidates.n;
  for (uint32_t i = 0; i < lns_gpu_order_n_streams (order); i++)
    if (i != stream)
      add_candidates (events, order, i, wait->point);
  *lns_array_add (&events->waits) = (Wait){ .event = wait->event,
                                            .stream = stream,
                                            .point = LNS_POINT_NONE,
                                            .start_ns = start_ns,
                                            .is_late = start_ns - known_ns > AFTER_NS,
                                            .first = first,
                                            .n = (uint32_t)events->candidates.n - first };
  return number;
}

void
lns_event_streams_set_point (LnsEventStreams *events, uint32_t wait, uint32_t point)
{
  events->waits.items[wait].point = point;
}

/* The candidate of WAIT by RULE, or NULL. */
static const Candidate *
candidate_of (const LnsEventStreams *events, const Wait *wait, Rule rule)
{
  for (uint32_t i = wait->first; i < wait->first + wait->n; i++)
    {
      const Candidate *candidate = &events->candidates.items[i];
      if (candidate->stream == rule.stream && (candidate->calls & 1u << rule.call) != 0)
        return candidate;
    }
  return NULL;
}

/* How well RULE fits the N WAITS: how many of those that were held up it explains, −1: it was broken. */
static int64_t
fit (const LnsEventStreams *events, const Wait *waits, size_t n, Rule rule)
{
  size_t n_broken = 0, n_late = 0, n_explained = 0;

  for (size_t i = 0; i < n && (double)n_broken <= MOST_BROKEN * (double)n; i++)
    {
      const Candidate *candidate = candidate_of (events, &waits[i], rule);
      n_late += waits[i].is_late;
      if (candidate == NULL)
        continue;
      n_broken += candidate->is_running;
      n_explained += waits[i].is_late && candidate->end != LNS_POINT_NONE &&
                     waits[i].start_ns - candidate->ns >= -CLOCK_NS &&
                     waits[i].start_ns - candidate->ns <= AFTER_NS;
    }
  if ((double)n_broken > MOST_BROKEN * (double)n ||
      (double)n_explained < LEAST_EXPLAINED * (double)n_late)
    return -1;
  return (int64_t)n_explained;
}

/* The rule that fits the N WAITS best; where nothing held them up, it is only told if there is no stream but one that they can be for. */
static Rule
learn (const LnsEventStreams *events, const Wait *waits, size_t n)
{
  Rule best = { LNS_ID_NONE, 0 };
  int64_t best_fit = 0;
  uint32_t only = LNS_ID_NONE;
  bool is_only = true;

  for (size_t i = 0; i < n; i++)
    for (uint32_t k = waits[i].first; k < waits[i].first + waits[i].n; k++)
      {
        const Candidate *candidate = &events->candidates.items[k];
        if (candidate->end == LNS_POINT_NONE)
          continue;
        is_only &= only == LNS_ID_NONE || only == candidate->stream;
        only = candidate->stream;
      }
  /* Any rule that explains something explains one of the first that were held up. */
  for (size_t i = 0, n_seen = 0; i < n && n_seen < 2 * N_CALLS; i++)
    for (uint32_t k = waits[i].first; waits[i].is_late && k < waits[i].first + waits[i].n; k++)
      {
        const Candidate *candidate = &events->candidates.items[k];
        for (unsigned call = 0; call < N_CALLS; call++)
          if ((candidate->calls & 1u << call) != 0)
            {
              const Rule rule = { candidate->stream, call };
              const int64_t fits = fit (events, waits, n, rule);
              if (fits > best_fit || (fits > 0 && fits == best_fit && call < best.call))
                {
                  best = rule;
                  best_fit = fits;
                }
            }
        n_seen += k == waits[i].first;
      }
  const Rule sole = { only, 0 };
  return best_fit == 0 && only != LNS_ID_NONE && is_only && fit (events, waits, n, sole) >= 0
             ? sole
             : best;
}

static void
apply_rule (
    LnsEventStreams *events, LnsGraph *graph, const int64_t *times, const Wait *wait, Rule rule)
{
  const Candidate *candidate =
      rule.stream != LNS_ID_NONE ? candidate_of (events, wait, rule) : NULL;

  if (candidate != NULL && candidate->end != LNS_POINT_NONE && wait->point != LNS_POINT_NONE)
    lns_graph_set_source (graph, wait->point, candidate->end, times[wait->point] - candidate->ns,
                          LNS_EDGE_EVENT | LNS_POINT_INFERRED | LNS_POINT_NOT_BOUND);
}

static int
compare_by_stream (const void *a, const void *b)
{
  const Wait *wa = a, *wb = b;
  return LNS_COMPARE (wa->stream, wb->stream)
             ?: LNS_COMPARE (wa->event, wb->event) ?: LNS_COMPARE (wa->point, wb->point);
}

void
lns_event_streams_apply (LnsEventStreams *events, LnsGraph *graph, const int64_t *times)
{
  Wait *waits = events->waits.items;
  const size_t n = events->waits.n;

  if (n == 0)
    return;
  qsort (waits, n, sizeof *waits, compare_by_stream);
  for (size_t i = 0, n_stream; i < n; i += n_stream)
    {
      for (n_stream = 1; i + n_stream < n && waits[i + n_stream].stream == waits[i].stream;)
        n_stream++;
      const Rule of_stream = learn (events, &waits[i], n_stream);
      for (size_t k = i, n_event; k < i + n_stream; k += n_event)
        {
          for (n_event = 1;
               k + n_event < i + n_stream && waits[k + n_event].event == waits[k].event;)
            n_event++;
          const Rule of_event = learn (events, &waits[k], n_event);
          for (size_t j = k; j < k + n_event; j++)
            apply_rule (events, graph, times, &waits[j],
                        of_event.stream != LNS_ID_NONE ? of_event : of_stream);
        }
    }
}
