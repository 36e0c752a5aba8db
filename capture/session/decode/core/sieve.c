/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/sieve.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/id-map.h"
#include "src/base/plain-name.h"

/* How often the report is told how many steps there were, as each time takes room in the file. */
#define TELL_NS       INT64_C (10000000000)
#define FIRST_TELL_NS INT64_C (1000000000)

/* Launches of kept calls that are remembered at least: the older half of them is forgotten when there are twice as many. */
#define LEAST_LAUNCHES ((size_t)1 << 17)

/* A lane of the report, and its events that wait. */
typedef struct
{
  uint32_t process;
  int correlation; /* index in LnsEvent.extra, or -1 */
  bool is_call;    /* its events launch work */
  bool is_work;    /* its events are launched by calls */
  bool is_state;   /* an event holds until the next one */
  bool is_shown;   /* the writer has an open event */
  bool is_closed;  /* as soon as its events are decided about */
  bool is_waiting; /* it is in the list of those that have events */
  bool has_open, has_last;
  LnsEvent open; /* if has_open */
  LnsEvent last; /* if has_last: the last one, of a lane of states, which was dropped */
  /* Events that wait, each without the columns that its kind does not have. */
  uint8_t *events; /* owned */
  size_t n_events, n_allocated, event_bytes;
  size_t n_gone; /* of them, at the beginning */
} Lane;

struct LnsSieve
{
  LnsWriter *writer;
  LnsSteps *steps;
  int64_t decided_ns;        /* about events that end before */
  int64_t calls_ns;          /* the same for work, whose calls come later */
  size_t max_bytes, n_bytes; /* of events that wait */
  size_t n_waiting;
  LNS_ARRAY (uint32_t) processes;  /* by track */
  LNS_ARRAY (Lane) lanes;          /* by id */
  LNS_ARRAY (uint32_t) waiting;    /* lanes with events */
  LnsIdMap launches, old_launches; /* by process and correlation id */
  LnsKeptSteps outcome;
  bool has_steps, has_ended;
  size_t n_told;       /* stretches before which the report knows what is missing */
  int64_t told_ns;     /* to where it does */
  uint32_t omission;   /* the definition that grows, or LNS_ID_NONE */
  int64_t omission_ns; /* where it ends */
  int64_t counted_at_ns;
};

/* The event with the number I of those that wait in LANE. */
static LnsEvent
event_at (const Lane *lane, size_t i)
{
  LnsEvent event = { 0 };
  memcpy (&event, lane->events + i * lane->event_bytes, lane->event_bytes);
  return event;
}

/* --- Deciding --------------------------------------------------------------------------------- */

static uint64_t
launch_key (const Lane *lane, const LnsEvent *event)
{
  const uint64_t correlation = lane->correlation >= 0 ? event->extra[lane->correlation] : 0;
  return correlation != 0 ? (uint64_t)lane->process << 32 | (uint32_t)correlation : 0;
}

static void
remember_launch (LnsSieve *sieve, uint64_t key)
{
  if (sieve->launches.n >= LEAST_LAUNCHES)
    {
      lns_id_map_clear (&sieve->old_launches);
      sieve->old_launches = sieve->launches;
      sieve->launches = (LnsIdMap){ 0 };
    }
  lns_id_map_set (&sieve->launches, key, sieve);
}

static bool
is_kept (LnsSieve *sieve, const Lane *lane, const LnsEvent *event)
{
  const uint64_t key = lane->is_call || lane->is_work ? launch_key (lane, event) : 0;
  const bool kept =
      _lns_steps_keep (sieve->steps, event->start_ns, event->start_ns + event->duration_ns) ||
      (lane->is_work && key != 0 &&
       (lns_id_map_get (&sieve->launches, key) != NULL ||
        lns_id_map_get (&sieve->old_launches, key) != NULL));
  if (kept && lane->is_call && key != 0)
    remember_launch (sieve, key);
  return kept;
}

/* Whether it is decided about the time of EVENT. */
static bool
is_decided (const LnsSieve *sieve, const Lane *lane, const LnsEvent *event)
{
  return event->start_ns + event->duration_ns <
         (lane->is_work ? sieve->calls_ns : sieve->decided_ns);
}

static void
drop (LnsSieve *sieve, Lane *lane, const LnsEvent *event)
{
  sieve->outcome.n_dropped++;
  lane->has_last = lane->is_state;
  if (lane->is_state)
    lane->last = *event;
}

/* Writes EVENT or drops it. */
static void
pass (LnsSieve *sieve, uint32_t id, const LnsEvent *event)
{
  Lane *lane = &sieve->lanes.items[id];
  if (!is_kept (sieve, lane, event))
    {
      drop (sieve, lane, event);
      return;
    }
  if (lane->has_last)
    {
      /* What held when the stretch began. */
      lns_writer_append (sieve->writer, id, &lane->last);
      sieve->outcome.n_dropped--;
      lane->has_last = false;
    }
  lns_writer_append (sieve->writer, id, event);
  lane->is_shown = false;
}

static void
show_open (LnsSieve *sieve, uint32_t id)
{
  Lane *lane = &sieve->lanes.items[id];
  if (lane->has_open || lane->is_shown)
    lns_writer_set_open (sieve->writer, id, lane->has_open ? &lane->open : NULL);
  lane->is_shown = lane->has_open;
}

/* Passes on the events of lane ID that are decided about. */
static void
flush (LnsSieve *sieve, uint32_t id)
{
  Lane *lane = &sieve->lanes.items[id];
  const size_t n_gone = lane->n_gone;
  for (; lane->n_gone < lane->n_events; lane->n_gone++)
    {
      const LnsEvent event = event_at (lane, lane->n_gone);
      if (!is_decided (sieve, lane, &event))
        break;
      pass (sieve, id, &event);
    }
  sieve->n_waiting -= lane->n_gone - n_gone;
  sieve->n_bytes -= (lane->n_gone - n_gone) * lane->event_bytes;
  if (lane->n_gone < lane->n_events)
    {
      /* The room of what is gone is used again when it is half of all: amortised O(1). */
      if (lane->n_gone > lane->n_events / 2)
        {
          lane->n_events -= lane->n_gone;
          memmove (lane->events, lane->events + lane->n_gone * lane->event_bytes,
                   lane->n_events * lane->event_bytes);
          lane->n_gone = 0;
        }
      return;
    }
  if (lane->n_allocated > 1024)
    {
      free (lane->events);
      lane->events = NULL;
      lane->n_allocated = 0;
    }
  lane->n_events = lane->n_gone = 0;
  show_open (sieve, id);
  if (lane->is_closed)
    lns_writer_close_lane (sieve->writer, id);
}

static void
flush_all (LnsSieve *sieve, bool work)
{
  size_t n_left = 0;
  for (size_t i = 0; i < sieve->waiting.n; i++)
    {
      const uint32_t id = sieve->waiting.items[i];
      Lane *lane = &sieve->lanes.items[id];
      if (lane->is_work == work)
        flush (sieve, id);
      lane->is_waiting = lane->n_events > 0;
      if (lane->is_waiting)
        sieve->waiting.items[n_left++] = id;
    }
  sieve->waiting.n = n_left;
}

/* Has all events decided about that can be: calls first, so that their work is known. */
static void
advance (LnsSieve *sieve)
{
  flush_all (sieve, false);
  flush_all (sieve, true);
}

/* --- What is not kept ------------------------------------------------------------------------- */

/* Tells the report that nothing is kept from START_NS to END_NS, as far as it was not told. */
static void
omit (LnsSieve *sieve, int64_t start_ns, int64_t end_ns, bool may_grow)
{
  if (start_ns >= end_ns)
    return;
  const LnsOmission omission = { .start_ns = start_ns, .end_ns = end_ns };
  if (sieve->omission == LNS_ID_NONE)
    sieve->omission = lns_writer_add_omission (sieve->writer, &omission);
  else if (end_ns != sieve->omission_ns)
    lns_writer_set_omission (sieve->writer, sieve->omission, &omission);
  sieve->omission_ns = end_ns;
  if (!may_grow)
    sieve->omission = LNS_ID_NONE;
}

static void
tell_omissions (LnsSieve *sieve, int64_t until_ns)
{
  int64_t start_ns, end_ns;
  /* A step that began where the last stretch ended has made that longer. */
  if (sieve->n_told > 0 && _lns_steps_kept (sieve->steps, sieve->n_told - 1, &start_ns, &end_ns) &&
      end_ns > sieve->told_ns)
    sieve->told_ns = end_ns;
  for (; _lns_steps_kept (sieve->steps, sieve->n_told, &start_ns, &end_ns) && end_ns <= until_ns;
       sieve->n_told++)
    {
      omit (sieve, sieve->told_ns, start_ns, false);
      sieve->told_ns = end_ns;
    }
  if (_lns_steps_kept (sieve->steps, sieve->n_told, &start_ns, &end_ns) && start_ns < until_ns)
    until_ns = start_ns;
  omit (sieve, sieve->told_ns, until_ns, true);
}

static void
tell_counts (LnsSieve *sieve)
{
  const LnsStepSeries *series;
  char key[32], value[512];
  for (unsigned i = 0; (series = _lns_steps_series (sieve->steps, i)) != NULL; i++)
    {
      const LnsStepLengths *lengths = &series->lengths;
      snprintf (key, sizeof key, "kept_steps.%u", i);
      snprintf (value, sizeof value,
                "%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64
                " %" PRId64 " %" PRId64 " %.*s",
                series->process, lengths->n + series->n_unjudged, series->n_kept, series->n_slow,
                lengths->sum_ns, _lns_step_lengths_all (lengths, 0.5),
                _lns_step_lengths_all (lengths, 0.95), _lns_step_lengths_all (lengths, 0.99),
                lengths->most_ns, (int)(series->name->n_bytes < 256 ? series->name->n_bytes : 256),
                series->name->bytes);
      lns_writer_set_meta (sieve->writer, key, value);
    }
  snprintf (value, sizeof value, "%" PRIu64, sieve->outcome.n_dropped);
  lns_writer_set_meta (sieve->writer, "kept_steps_omitted", value);
}

void
_lns_sieve_tell (LnsSieve *sieve)
{
  if (sieve->has_ended)
    return;
  tell_omissions (sieve, sieve->decided_ns);
  if (sieve->decided_ns - sieve->counted_at_ns < TELL_NS)
    return;
  sieve->counted_at_ns = sieve->decided_ns;
  tell_counts (sieve);
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Gives up what waits, as there is too much of it. */
static void
give_up (LnsSieve *sieve)
{
  int64_t last_ns = sieve->decided_ns;
  for (size_t i = 0; i < sieve->waiting.n; i++)
    {
      const Lane *lane = &sieve->lanes.items[sieve->waiting.items[i]];
      const LnsEvent last = event_at (lane, lane->n_events - 1);
      if (last.start_ns + last.duration_ns > last_ns)
        last_ns = last.start_ns + last.duration_ns;
    }
  sieve->outcome.is_short = true;
  _lns_steps_give_up (sieve->steps, last_ns + 1);
  sieve->decided_ns = sieve->calls_ns = last_ns + 1;
  advance (sieve);
}

void
_lns_sieve_append (LnsSieve *sieve, uint32_t id, const LnsEvent *event)
{
  if (id >= sieve->lanes.n)
    return;
  Lane *lane = &sieve->lanes.items[id];
  lane->has_open = false;
  if (!lane->is_waiting && is_decided (sieve, lane, event))
    {
      pass (sieve, id, event);
      show_open (sieve, id);
      return;
    }
  uint8_t *events =
      lns_array_try_grow_ (lane->events, lane->n_events, &lane->n_allocated, lane->event_bytes);
  lane->events = events != NULL ? events : lane->events;
  uint32_t *waiting =
      events != NULL && !lane->is_waiting ? lns_array_try_add (&sieve->waiting) : NULL;
  if (events == NULL || (!lane->is_waiting && waiting == NULL))
    {
      sieve->outcome.is_short = true;
      drop (sieve, lane, event);
      return;
    }
  memcpy (events + lane->n_events++ * lane->event_bytes, event, lane->event_bytes);
  if (waiting != NULL)
    *waiting = id;
  lane->is_waiting = true;
  sieve->n_waiting++;
  sieve->n_bytes += lane->event_bytes;
  if (sieve->n_bytes > sieve->max_bytes)
    give_up (sieve);
}

void
_lns_sieve_set_open (LnsSieve *sieve, uint32_t id, const LnsEvent *event)
{
  if (id >= sieve->lanes.n)
    return;
  Lane *lane = &sieve->lanes.items[id];
  lane->has_open = event != NULL;
  if (event != NULL)
    lane->open = *event;
  if (!lane->is_waiting)
    show_open (sieve, id);
}

void
_lns_sieve_close_lane (LnsSieve *sieve, uint32_t id)
{
  if (id >= sieve->lanes.n)
    return;
  sieve->lanes.items[id].is_closed = true;
  if (!sieve->lanes.items[id].is_waiting)
    lns_writer_close_lane (sieve->writer, id);
}

void
_lns_sieve_settle (LnsSieve *sieve, int64_t reached_ns, int64_t calls_ns)
{
  if (sieve->has_ended)
    return;
  const int64_t decided_ns = _lns_steps_settle (sieve->steps, reached_ns);
  if (decided_ns > sieve->decided_ns)
    sieve->decided_ns = decided_ns;
  calls_ns = calls_ns < sieve->decided_ns ? calls_ns : sieve->decided_ns;
  if (calls_ns > sieve->calls_ns)
    sieve->calls_ns = calls_ns;
  advance (sieve);
}

void
_lns_sieve_keep_around (LnsSieve *sieve, int64_t time_ns)
{
  if (sieve->has_ended)
    return;
  sieve->outcome.n_asked++;
  _lns_steps_keep_around (sieve->steps, time_ns);
}

uint64_t
_lns_sieve_waiting (const LnsSieve *sieve, int64_t *inout_start_ns)
{
  if (sieve->n_waiting > 0 && sieve->calls_ns < *inout_start_ns)
    *inout_start_ns = sieve->calls_ns;
  return sieve->n_waiting;
}

const LnsKeptSteps *
_lns_sieve_end (LnsSieve *sieve, int64_t end_ns)
{
  LnsKeptSteps *outcome = &sieve->outcome;
  const LnsStepSeries *series;
  if (sieve->has_ended)
    return outcome;
  outcome->is_found = _lns_steps_end (sieve->steps, end_ns);
  if (!outcome->is_found && !outcome->is_named && sieve->has_steps)
    _lns_steps_keep_rest (sieve->steps, end_ns);
  sieve->decided_ns = sieve->calls_ns = INT64_MAX;
  advance (sieve);
  tell_omissions (sieve, end_ns);
  tell_counts (sieve);
  sieve->has_ended = true;
  for (size_t i = 0; (series = _lns_steps_series (sieve->steps, i)) != NULL; i++)
    {
      outcome->n_steps += series->lengths.n + series->n_unjudged;
      outcome->n_kept += series->n_kept;
      outcome->n_slow += series->n_slow;
    }
  if ((series = _lns_steps_series (sieve->steps, 0)) != NULL)
    {
      char plain[LNS_PLAIN_NAME_SIZE];
      const size_t n = lns_plain_title (series->name->bytes, series->name->n_bytes, plain);
      snprintf (outcome->range, sizeof outcome->range, "%.*s", (int)n, plain);
    }
  return outcome;
}

/* --- All -------------------------------------------------------------------------------------- */

LnsSieve *
_lns_sieve_new (const LnsStepRule *rule, LnsWriter *writer, int64_t start_ns, size_t max_bytes)
{
  LnsSieve *sieve = calloc (1, sizeof *sieve);
  if (sieve == NULL || (sieve->steps = _lns_steps_new (rule, start_ns)) == NULL)
    {
      free (sieve);
      return NULL;
    }
  sieve->writer = writer;
  sieve->decided_ns = sieve->calls_ns = sieve->told_ns = start_ns;
  sieve->counted_at_ns = start_ns - TELL_NS + FIRST_TELL_NS;
  sieve->max_bytes = max_bytes;
  sieve->omission = LNS_ID_NONE;
  sieve->has_steps = rule->has_steps;
  sieve->outcome.is_asked_only = !rule->has_steps;
  sieve->outcome.is_named = rule->range[0] != '\0';
  snprintf (sieve->outcome.range, sizeof sieve->outcome.range, "%s", rule->range);
  lns_writer_set_meta (writer, "keep_steps", rule->text);
  return sieve;
}

void
_lns_sieve_free (LnsSieve *sieve)
{
  if (sieve == NULL)
    return;
  _lns_steps_free (sieve->steps);
  for (size_t i = 0; i < sieve->lanes.n; i++)
    free (sieve->lanes.items[i].events);
  lns_array_clear (&sieve->lanes);
  lns_array_clear (&sieve->processes);
  lns_array_clear (&sieve->waiting);
  lns_id_map_clear (&sieve->launches);
  lns_id_map_clear (&sieve->old_launches);
  free (sieve);
}

LnsSteps *
_lns_sieve_steps (LnsSieve *sieve)
{
  return sieve->steps;
}

void
_lns_sieve_add_track (LnsSieve *sieve, uint32_t id, uint32_t process)
{
  while (sieve->processes.n <= id)
    {
      uint32_t *added = lns_array_try_add (&sieve->processes);
      if (added == NULL)
        return;
      *added = LNS_ID_NONE;
    }
  sieve->processes.items[id] = process;
}

void
_lns_sieve_add_lane (LnsSieve *sieve, uint32_t id, uint32_t track, LnsLaneKind kind)
{
  while (sieve->lanes.n <= id)
    if (lns_array_try_add (&sieve->lanes) == NULL)
      return; /* its events are left out */
  Lane *lane = &sieve->lanes.items[id];
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  lane->process = track < sieve->processes.n ? sieve->processes.items[track] : LNS_ID_NONE;
  unsigned n_extra = 0;
  while (info != NULL && n_extra < LNS_EXTRA_MAX && info->extra[n_extra] != 0)
    n_extra++;
  lane->event_bytes = offsetof (LnsEvent, extra) + n_extra * sizeof (uint64_t);
  lane->correlation = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION);
  lane->is_call = kind == LNS_LANE_CUDA_API;
  lane->is_work = kind == LNS_LANE_CUDA_KERNEL || kind == LNS_LANE_CUDA_MEMCPY ||
                  kind == LNS_LANE_CUDA_MEMSET || kind == LNS_LANE_CUDA_GRAPH ||
                  kind == LNS_LANE_CUDA_HOST;
  lane->is_state = kind == LNS_LANE_SCHED || kind == LNS_LANE_COUNTER;
}
