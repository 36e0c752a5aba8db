/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Whom a thread waited for, and what that one did meanwhile. Looked up for the longest parts of a finding alone. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/call-pairs.h"
#include "src/analysis/why/maker.h"
#include "src/tables/kept-fields.h"
#include "src/tables/lanes.h"

/* What a thread did for how long. */
typedef struct
{
  LnsOccupation what;
  int64_t ns;
  /* Its longest part. */
  int64_t start_ns, end_ns;
  uint32_t waker;
  uint32_t lane;
  uint64_t ordinal;
  LnsCallClass class;
  LnsDoing doing;    /* one that runs stands for all in which the thread goes on                  */
  int64_t python_ns; /* of a wait: how long it was for the lock of Python's interpreter        */
  LnsVote waker_vote; /* 1 + the thread that ended most of it, of what is known of that          */
} Occupied;

typedef LNS_ARRAY (Occupied) Occupations;

/* --- Who let it go on ------------------------------------------------------------------------- */

/* The holder of the lock that call ORDINAL of LANE waits for, if the report tells. */
static uint32_t
holder_of (LnsWhyMaker *maker, uint32_t lane, uint64_t ordinal)
{
  LnsCallSubject subject;
  LnsEvent event;

  if (lane == LNS_ID_NONE ||
      lns_report_lanes (maker->report, NULL)[lane].kind != LNS_LANE_OS_CALL ||
      !lns_report_event (maker->report, lane, ordinal, &event, NULL) ||
      !lns_call_subject_find (
          maker->report, event.extra[lns_lane_kind_extra (LNS_LANE_OS_CALL, LNS_COLUMN_REMAINDER)],
          &subject))
    return LNS_ID_NONE;
  return subject.holder;
}

/* Whether a call named RELEASE, which may wait itself, is how one named WAIT ends. */
static bool
is_partner (const char *wait, const char *release)
{
  static const struct
  {
    const char *wait, *release;
  } partners[] = { { "barrier_wait", "barrier_wait" },
                   { "mq_receive", "mq_send" },
                   { "mq_timedreceive", "mq_" },
                   { "mq_send", "mq_receive" },
                   { "msgrcv", "msgsnd" },
                   { "msgsnd", "msgrcv" },
                   { "semop", "semop" },
                   { "semtimedop", "semop" },
                   { "futex", "futex" },
                   { "flock", "flock" },
                   { "lockf", "lockf" } };

  for (size_t i = 0; i < sizeof partners / sizeof *partners; i++)
    if (strstr (wait, partners[i].wait) != NULL && strstr (release, partners[i].release) != NULL)
      return true;
  return false;
}

/* For pthread_join (): the thread of the process that ended last between START_NS and END_NS, as far as its events tell. */
static uint32_t
find_joined (LnsWhyMaker *maker, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
  uint32_t n, found = LNS_ID_NONE;
  const LnsThread *threads = lns_report_threads (maker->report, &n);
  int64_t first_ns, last_ns, most_ns = start_ns;

  for (uint32_t i = 0; i < n; i++)
    if (i != thread && threads[i].process == threads[thread].process &&
        lns_thread_facts_span (maker->facts, i, &first_ns, &last_ns) > 0 && last_ns > most_ns &&
        last_ns <= end_ns)
      {
        most_ns = last_ns;
        found = i;
      }
  return found;
}

/* A call that may have let a thread go on. */
typedef struct Release
{
  int64_t start_ns;
  bool is_of_kind; /* of the kind that the wait is of          */
  bool
      is_only; /* late in the wait, and the thread's first in it: after the others of it the wait went on */
  uint32_t thread;
} Release;

static bool
is_likelier (const Release *a, const Release *b)
{
  if (a->is_of_kind != b->is_of_kind)
    return a->is_of_kind;
  if (a->is_only != b->is_only)
    return a->is_only;
  return a->start_ns > b->start_ns;
}

/* Finds the likeliest call of the thread of lane LANE that let a thread go on that waited in a call named WAIT from START_NS to END_NS:
 * one of CLASS. */
static bool
find_release (LnsWhyMaker *maker,
              uint32_t lane,
              const char *wait,
              LnsCallClass class,
              int64_t start_ns,
              int64_t end_ns,
              Release *ret_release,
              LnsError *error)
{
  LnsLaneCursor cursor = { .report = maker->report,
                           .lane = lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) };
  /* From the end of the wait back. */
  bool good = lns_go_on (maker->cancel, error) && lns_lane_cursor_seek (&cursor, end_ns, error);
  uint64_t at = lns_lane_cursor_has (&cursor)
                    ? lns_lane_cursor_ordinal (&cursor) + 1
                    : lns_report_lane_info (maker->report, lane)->n_events;

  *ret_release = (Release){ .start_ns = INT64_MIN };
  for (unsigned n = 0; good && at > 0 && n < 32; n++)
    {
      good = lns_lane_cursor_go (&cursor, --at, error);
      if (!good || !lns_lane_cursor_has (&cursor))
        break;
      const int64_t call_ns = lns_lane_cursor_start (&cursor);
      if (call_ns < start_ns)
        break;
      const uint32_t name = cursor.chunk->name[cursor.i];
      const char *release = lns_report_string (maker->report, name, NULL);
      const bool is_by_pair = is_partner (wait, release);
      if (call_ns > end_ns ||
          (!is_by_pair && lns_call_class_of (lns_thread_facts_classes (maker->facts),
                                             LNS_LANE_OS_CALL, name) != class))
        continue;
      /* One of another kind tells only where there is none of this. */
      const bool may =
          is_by_pair || class == LNS_CALL_OUTPUT || lns_call_may_release (wait, release);
      if (ret_release->is_of_kind && may)
        {
          ret_release->is_only = false;
          break;
        }
      if (ret_release->start_ns == INT64_MIN || may)
        *ret_release = (Release){ .start_ns = call_ns,
                                  .is_of_kind = may,
                                  .is_only = may && (end_ns - call_ns) <= (end_ns - start_ns) / 8,
                                  .thread = lns_track_of (maker->report, lane)->thread };
    }
  lns_lane_cursor_clear (&cursor);
  return good;
}

/* The thread whose call let THREAD go on, which waited in CALL, if such calls were recorded: the likeliest that began between START_NS
 * and END_NS, of its own process; or IN_OTHERS, and then only a call that no other of its thread in that time makes less likely. */
static bool
find_releaser (LnsWhyMaker *maker,
               uint32_t thread,
               uint32_t call,
               bool in_others,
               int64_t start_ns,
               int64_t end_ns,
               uint32_t *ret_thread,
               LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (maker->report, &n_lanes);
  const uint32_t process = lns_report_threads (maker->report, NULL)[thread].process;
  const char *wait = lns_report_string (maker->report, call, NULL);
  const bool is_io = lns_call_class_of_text (LNS_LANE_OS_CALL, wait) == LNS_CALL_IO;
  Release likeliest = { .start_ns = INT64_MIN, .thread = LNS_ID_NONE };
  bool good = true;

  *ret_thread = LNS_ID_NONE;
  if (strstr (wait, "_join") != NULL)
    {
      if (!in_others)
        *ret_thread = find_joined (maker, thread, start_ns, end_ns);
      return true;
    }
  for (uint32_t i = 0; good && i < n_lanes; i++)
    {
      const LnsTrack *track = lns_track_of (maker->report, i);
      Release own;
      if (lanes[i].kind != LNS_LANE_OS_CALL || (track->process != process) != in_others ||
          track->thread == thread)
        continue;
      good = find_release (maker, i, wait, is_io ? LNS_CALL_OUTPUT : LNS_CALL_RELEASE, start_ns,
                           end_ns, &own, error);
      if (own.start_ns != INT64_MIN && (own.is_only || !(in_others || is_io)) &&
          is_likelier (&own, &likeliest))
        likeliest = own;
    }
  *ret_thread = likeliest.thread;
  return good;
}

/* --- Waits that are begun again --------------------------------------------------------------- */

/* A wait that time ended is begun again within so long, so often at most. */
#define AGAIN_NS   INT64_C (100000)
#define MOST_AGAIN 1000

static bool
take_waker (void *data, const LnsDeed *deed)
{
  uint32_t *waker = data;

  if (deed->waker != LNS_ID_NONE)
    *waker = deed->waker;
  return true;
}

/* Where PART of THREAD is a wait that time ended, and that the thread began again at once, until what it waited for came: has PART last
 * until then, with the waker of the last one. Python's interpreter waits so for its lock, 5 ms at a time. */
static bool
take_again (LnsWhyMaker *maker, uint32_t thread, LnsPart *part, LnsError *error)
{
  LnsLaneCursor cursor = { .report = maker->report,
                           .lane = part->lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) };
  const char *call = lns_report_string (maker->report, part->call, NULL);
  int64_t start_ns = part->start_ns;
  bool good = true;

  if (part->lane == LNS_ID_NONE ||
      lns_report_lanes (maker->report, NULL)[part->lane].kind != LNS_LANE_OS_CALL ||
      (strstr (call, "timed") == NULL && strstr (call, "clock") == NULL))
    return true;
  good = lns_lane_cursor_go (&cursor, part->ordinal, error);
  for (unsigned n = 0; good && n < MOST_AGAIN; n++)
    {
      good = lns_lane_cursor_next (&cursor, error);
      if (!good || !lns_lane_cursor_has (&cursor) || cursor.chunk->name[cursor.i] != part->call ||
          lns_lane_cursor_start (&cursor) - part->end_ns > AGAIN_NS)
        break;
      start_ns = lns_lane_cursor_start (&cursor);
      part->end_ns = lns_lane_cursor_end (&cursor);
    }
  lns_lane_cursor_clear (&cursor);
  return good && (start_ns == part->start_ns ||
                  lns_thread_facts_walk (maker->facts, thread, start_ns, part->end_ns, false,
                                         take_waker, &part->waker, error));
}

/* --- What the other one did ------------------------------------------------------------------- */

static bool
take_deed (void *data, const LnsDeed *deed)
{
  Occupations *all = data;
  const int64_t ns = deed->end_ns - deed->start_ns;
  const LnsOccupation what = { .call = deed->name, .range = deed->range };
  const LnsDoing doing = deed->doing == LNS_DOING_RUNNABLE || deed->doing == LNS_DOING_OUTSIDE
                             ? LNS_DOING_RUNNING
                             : deed->doing;
  Occupied *found = NULL;

  for (size_t i = 0; i < all->n && found == NULL; i++)
    if (all->items[i].what.call == what.call && all->items[i].what.range == what.range &&
        all->items[i].doing == doing)
      found = &all->items[i];
  if (found == NULL && all->n < 256)
    {
      found = lns_array_add (all);
      *found =
          (Occupied){ .what = what, .doing = doing, .waker = LNS_ID_NONE, .lane = LNS_ID_NONE };
    }
  if (found == NULL)
    return true;
  found->ns += ns;
  if (ns > found->end_ns - found->start_ns)
    {
      found->start_ns = deed->start_ns;
      found->end_ns = deed->end_ns;
      found->waker = deed->waker;
      found->lane = deed->lane;
      found->ordinal = deed->ordinal;
      found->class = deed->class;
    }
  found->python_ns += deed->is_for_python ? ns : 0;
  if (deed->waker != LNS_ID_NONE)
    _lns_why_vote (&found->waker_vote, deed->waker + 1, ns);
  return true;
}

/* Whether A tells more than B: what is known, for longer. */
static bool
tells_more (const Occupied *a, const Occupied *b)
{
  const bool is_known = a->doing != LNS_DOING_UNKNOWN || a->what.range != 0,
             was_known = b->doing != LNS_DOING_UNKNOWN || b->what.range != 0;
  return is_known != was_known && b->ns > 0 ? is_known : a->ns > b->ns;
}

/* What THREAD did for most of the N stretches at PARTS. */
static bool
find_occupation (LnsWhyMaker *maker,
                 uint32_t thread,
                 const LnsPart *parts,
                 unsigned n,
                 Occupied *ret_most,
                 LnsError *error)
{
  Occupations all = { 0 };
  bool good = true;

  *ret_most = (Occupied){ .waker = LNS_ID_NONE, .lane = LNS_ID_NONE };
  for (unsigned i = 0; good && i < n; i++)
    good = lns_thread_facts_walk (maker->facts, thread, parts[i].start_ns, parts[i].end_ns, true,
                                  take_deed, &all, error);
  for (size_t i = 0; i < all.n; i++)
    if (tells_more (&all.items[i], ret_most))
      *ret_most = all.items[i];
  lns_array_clear (&all);
  ret_most->what.thread = thread;
  if (good && ret_most->what.call == 0)
    good = _lns_why_find_function (maker, thread, parts, n, false, false, &ret_most->what, error);
  return good;
}

bool
_lns_why_find_occupation (LnsWhyMaker *maker,
                          uint32_t thread,
                          const LnsPart *parts,
                          unsigned n,
                          LnsOccupation *ret_occupation,
                          LnsError *error)
{
  Occupied most;
  const bool good = find_occupation (maker, thread, parts, n, &most, error);

  *ret_occupation = most.what;
  return good;
}

/* Whether the threads A and B are of two processes of one name. */
static bool
is_of_same_program (LnsWhyMaker *maker, uint32_t a, uint32_t b)
{
  uint32_t n, n_processes;
  const LnsThread *threads = lns_report_threads (maker->report, &n);
  const LnsProcess *processes = lns_report_processes (maker->report, &n_processes);

  return a < n && b < n && threads[a].process != threads[b].process &&
         threads[a].process < n_processes && threads[b].process < n_processes &&
         processes[threads[a].process].name == processes[threads[b].process].name;
}

/* The thread for which the N waits at PARTS of THREAD were, the one with most of their time, or LNS_ID_NONE; which of them were
 * for it, and how many for another process of the same name. */
static bool
find_awaited (LnsWhyMaker *maker,
              uint32_t thread,
              const LnsPart *parts,
              unsigned n,
              uint32_t *ret_thread,
              LnsPart ret_parts[static LNS_MAX_EVIDENCE],
              unsigned *ret_n,
              unsigned *ret_n_others,
              LnsError *error)
{
  uint32_t threads[LNS_MAX_EVIDENCE];
  int64_t most_ns = 0, all_ns = 0;
  bool good = true, is_io = false;

  *ret_thread = LNS_ID_NONE;
  for (unsigned i = 0; good && i < n; i++)
    {
      threads[i] = parts[i].waker;
      is_io |=
          parts[i].call != 0 && lns_call_class_of (lns_thread_facts_classes (maker->facts),
                                                   LNS_LANE_OS_CALL, parts[i].call) == LNS_CALL_IO;
      if (threads[i] == LNS_ID_NONE || threads[i] == thread)
        threads[i] = holder_of (maker, parts[i].lane, parts[i].ordinal);
      if (threads[i] != LNS_ID_NONE)
        continue;
      LnsPart whole = parts[i];
      good = take_again (maker, thread, &whole, error);
      threads[i] = whole.waker != thread ? whole.waker : LNS_ID_NONE;
      if (good && threads[i] == LNS_ID_NONE)
        good = find_releaser (maker, thread, whole.call, false, whole.start_ns, whole.end_ns,
                              &threads[i], error);
      if (good && threads[i] == LNS_ID_NONE)
        good = find_releaser (maker, thread, whole.call, true, whole.start_ns, whole.end_ns,
                              &threads[i], error);
    }
  for (unsigned i = 0; good && i < n; i++)
    {
      int64_t ns = 0;
      for (unsigned k = 0; k < n; k++)
        ns += threads[k] == threads[i] ? parts[k].end_ns - parts[k].start_ns : 0;
      all_ns += parts[i].end_ns - parts[i].start_ns;
      if (threads[i] != LNS_ID_NONE && threads[i] != thread && ns > most_ns)
        {
          most_ns = ns;
          *ret_thread = threads[i];
        }
    }
  /* What is told by the time of calls alone has to be so of most waits. */
  if (is_io && (double)most_ns < 0.6 * (double)all_ns)
    *ret_thread = LNS_ID_NONE;
  *ret_n = *ret_n_others = 0;
  for (unsigned i = 0; i < n; i++)
    if (threads[i] == *ret_thread)
      ret_parts[(*ret_n)++] = parts[i];
    else if (*ret_thread != LNS_ID_NONE && is_of_same_program (maker, threads[i], *ret_thread))
      ++*ret_n_others;
  return good;
}

/* The thread that had the lock of Python's interpreter most while THREAD waited for it, in the N waits at PARTS, or LNS_ID_NONE. */
static bool
find_python_holder (LnsWhyMaker *maker,
                    uint32_t thread,
                    const LnsPart *parts,
                    unsigned n,
                    uint32_t *ret_thread,
                    LnsError *error)
{
  uint32_t n_threads;
  const LnsThread *threads = lns_report_threads (maker->report, &n_threads);
  unsigned most = 0;

  *ret_thread = LNS_ID_NONE;
  for (uint32_t i = 0; i < n_threads; i++)
    {
      unsigned n_held = 0;
      if (i == thread || threads[i].process != threads[thread].process)
        continue;
      for (unsigned k = 0; k < n; k++)
        {
          unsigned n_samples;
          if (!lns_go_on (maker->cancel, error) ||
              !lns_thread_facts_python_lock (maker->facts, i, LNS_PYTHON_LOCK_HELD,
                                             parts[k].start_ns, parts[k].end_ns, &n_samples, error))
            return false;
          n_held += n_samples;
        }
      if (n_held > most)
        {
          most = n_held;
          *ret_thread = i;
        }
    }
  return true;
}

/* --- Late ranks ------------------------------------------------------------------------------- */

/* So many events of a lane are looked at for a call. */
#define MAX_LOOKED_AT 1000

/* When THREAD last came into a call or range NAME within PART, or before and was in it then; INT64_MIN if it did not. The rank
 * that comes last is out again at once. */
static bool
find_entry (LnsWhyMaker *maker,
            uint32_t thread,
            uint32_t name,
            const LnsPart *part,
            int64_t *ret_start_ns,
            LnsError *error)
{
  static const LnsLaneKind kinds[] = { LNS_LANE_MPI_CALL, LNS_LANE_NVTX_PUSH_POP };
  bool good = true;

  *ret_start_ns = INT64_MIN;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds && *ret_start_ns == INT64_MIN; k++)
    {
      size_t n;
      const uint32_t *lanes = lns_thread_facts_lanes (maker->facts, thread, kinds[k], &n);
      for (size_t i = 0; good && i < n; i++)
        {
          LnsLaneCursor cursor = { .report = maker->report,
                                   .lane = lanes[i],
                                   .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) };
          unsigned n_looked = 0;
          good = lns_lane_cursor_seek (&cursor, part->start_ns, error);
          while (good && lns_lane_cursor_has (&cursor) && n_looked++ < MAX_LOOKED_AT &&
                 lns_lane_cursor_start (&cursor) < part->end_ns)
            {
              if (cursor.chunk->name[cursor.i] == name &&
                  lns_lane_cursor_start (&cursor) > *ret_start_ns)
                *ret_start_ns = lns_lane_cursor_start (&cursor);
              good = lns_lane_cursor_next (&cursor, error);
            }
          lns_lane_cursor_clear (&cursor);
        }
    }
  return good;
}

/* More threads are not looked at. */
#define MAX_RANKS 256

/* Finds who came last into the collective NAME of PART, in another process, and when. */
static bool
find_late (LnsWhyMaker *maker,
           const LnsPart *part,
           uint32_t name,
           uint32_t *ret_thread,
           int64_t *ret_start_ns,
           LnsError *error)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (maker->report, &n);

  *ret_thread = LNS_ID_NONE;
  *ret_start_ns = part->start_ns;
  for (uint32_t i = 0, looked = 0; i < n && looked < MAX_RANKS; i++)
    {
      int64_t start_ns;
      if (threads[i].process == threads[part->thread].process)
        continue;
      looked++;
      if (!lns_go_on (maker->cancel, error) || !find_entry (maker, i, name, part, &start_ns, error))
        return false;
      if (start_ns > *ret_start_ns)
        {
          *ret_start_ns = start_ns;
          *ret_thread = i;
        }
    }
  return true;
}

/* Fills in the rank that the collective of GROUP waited for, and what it did until it came. */
static bool
follow_ranks (LnsWhyMaker *maker, const LnsGroup *group, LnsWhyFinding *finding, LnsError *error)
{
  const uint32_t name = group->call != 0 ? group->call : group->range;
  uint32_t threads[LNS_MAX_EVIDENCE], late = LNS_ID_NONE;
  LnsPart before[LNS_MAX_EVIDENCE];
  Occupied most;
  int64_t most_ns = 0;
  unsigned n = 0;

  for (unsigned i = 0; i < group->n_parts; i++)
    {
      before[i] = group->parts[i];
      if (!find_late (maker, &group->parts[i], name, &threads[i], &before[i].end_ns, error))
        return false;
    }
  for (unsigned i = 0; i < group->n_parts; i++)
    {
      int64_t ns = 0;
      for (unsigned k = 0; k < group->n_parts; k++)
        ns += threads[k] == threads[i] ? before[k].end_ns - before[k].start_ns : 0;
      if (threads[i] != LNS_ID_NONE && ns > most_ns)
        {
          most_ns = ns;
          late = threads[i];
        }
    }
  if (late == LNS_ID_NONE)
    return true;
  for (unsigned i = 0; i < group->n_parts; i++)
    if (threads[i] == late)
      before[n++] = before[i];
  if (!find_occupation (maker, late, before, n, &most, error))
    return false;
  finding->waits[finding->n_waits++] = most.what;
  return true;
}

/* --- All ---------------------------------------------------------------------------------------- */

/* Fills in the function in which the thread of FINDING, of GROUP, computed: in the N PARTS, its longest; or where these are a small part
 * of many, wherever it ran. */
static bool
find_work (LnsWhyMaker *maker,
           const LnsGroup *group,
           const LnsPart *parts,
           unsigned n,
           LnsWhyFinding *finding,
           LnsError *error)
{
  const LnsSpan span = _lns_why_work_span (&maker->why->ledgers.items[group->ledger]);
  const LnsPart all = { .start_ns = span.start_ns, .end_ns = span.end_ns };
  int64_t told_ns = 0;

  for (unsigned i = 0; i < n; i++)
    told_ns += parts[i].end_ns - parts[i].start_ns;
  const bool is_told = told_ns >= group->ns / 3 || group->range != 0;
  return _lns_why_find_function (maker, finding->own.thread, is_told ? parts : &all,
                                 is_told ? n : 1, false, true, &finding->own, error);
}

/* Whether the N parts of GROUP at PARTS, its longest, are too little of it to tell what was waited for, while the group is most of its ledger:
 * then all of that tells. RET_ALL gets its time. */
static bool
is_told_by_all (
    LnsWhyMaker *maker, const LnsGroup *group, const LnsPart *parts, unsigned n, LnsPart *ret_all)
{
  const LnsSpan span = _lns_why_work_span (&maker->why->ledgers.items[group->ledger]);
  int64_t told_ns = 0;

  *ret_all = (LnsPart){ .start_ns = span.start_ns, .end_ns = span.end_ns };
  for (unsigned i = 0; i < n; i++)
    told_ns += parts[i].end_ns - parts[i].start_ns;
  return told_ns < group->ns / 2 && group->ns >= (span.end_ns - span.start_ns) / 2;
}

bool
_lns_why_follow (LnsWhyMaker *maker, const LnsGroup *group, LnsWhyFinding *finding, LnsError *error)
{
  LnsPart own[LNS_MAX_EVIDENCE], next, all;
  const LnsPart *parts = own;
  unsigned n = 0;
  uint32_t thread = finding->own.thread;

  for (unsigned i = 0; i < group->n_parts; i++)
    if (group->parts[i].thread == thread)
      own[n++] = group->parts[i];
  if (thread == LNS_ID_NONE || n == 0)
    return true;
  if (group->cause == LNS_CAUSE_CPU_WORK)
    return find_work (maker, group, parts, n, finding, error);
  if (group->cause == LNS_CAUSE_START_UP || group->cause == LNS_CAUSE_TEAR_DOWN)
    {
      Occupied most;
      if (!find_occupation (maker, thread, parts, n, &most, error))
        return false;
      finding->own = most.what;
      finding->own_ns = most.ns;
      return true;
    }
  if (group->cause == LNS_CAUSE_CPU_CONTENTION)
    return _lns_why_find_rivals (maker, group, finding, error);
  if (group->cause == LNS_CAUSE_COLLECTIVE_WAIT)
    return follow_ranks (maker, group, finding, error);
  if (!_lns_why_find_function (maker, thread, parts, n, true, false, &finding->own, error))
    return false;
  if (group->cause != LNS_CAUSE_LOCK_WAIT && group->cause != LNS_CAUSE_IO_WAIT)
    return true;
  if (group->cause == LNS_CAUSE_IO_WAIT && group->call == 0 && finding->own.function == 0)
    {
      const LnsSpan span = _lns_why_work_span (&maker->why->ledgers.items[group->ledger]);
      if (!_lns_why_find_asker (maker, thread, &span, &finding->own, error))
        return false;
    }
  finding->is_for_python = group->is_for_python;
  bool is_for_python = group->is_for_python;
  uint32_t waker = group->waker_vote.name;
  while (finding->n_waits < LNS_MAX_WAITS)
    {
      LnsPart told[LNS_MAX_EVIDENCE];
      uint32_t awaited;
      unsigned n_told = 0, n_others = 0;
      Occupied most;
      if (!(is_for_python ? find_python_holder (maker, thread, parts, n, &awaited, error)
                          : find_awaited (maker, thread, parts, n, &awaited, told, &n_told,
                                          &n_others, error)))
        return false;
      /* The longest waits may be those that time ended, or that the waiting one ended; others tell. */
      if ((awaited == LNS_ID_NONE || awaited == finding->own.thread) && waker != 0)
        awaited = waker - 1;
      bool is_known = awaited == LNS_ID_NONE || awaited == finding->own.thread;
      for (unsigned i = 0; i < finding->n_waits; i++)
        is_known |= finding->waits[i].thread == awaited;
      if (is_known)
        break;
      const bool is_told = n_told > 0 && awaited != LNS_ID_NONE;
      if (!find_occupation (maker, awaited, is_told ? told : parts, is_told ? n_told : n, &most,
                            error))
        return false;
      if (finding->n_waits == 0 && most.what.call == 0 && most.what.range == 0 &&
          is_told_by_all (maker, group, own, n, &all) &&
          !_lns_why_find_function (maker, awaited, &all, 1, false, false, &most.what, error))
        return false;
      finding->waits[finding->n_waits++] = most.what;
      finding->is_many_awaited = n_others > n / 3;
      finding->waits_on = most.class == LNS_CALL_LOCK || most.doing == LNS_DOING_BLOCKED;
      if (!finding->waits_on)
        break;
      is_for_python = most.python_ns > most.ns / 2;
      waker = most.waker_vote.weight_ns >= most.ns / 3 ? most.waker_vote.name : 0;
      thread = awaited;
      if (is_for_python)
        continue; /* in the same time as before */
      next = (LnsPart){ .start_ns = most.start_ns,
                        .end_ns = most.end_ns,
                        .call = most.what.call,
                        .lane = most.lane,
                        .ordinal = most.ordinal,
                        .waker = most.waker };
      parts = &next;
      n = 1;
    }
  return true;
}

/* Whether DEED is time of CAUSE. */
static bool
is_of_cause (const LnsDeed *deed, LnsCause cause)
{
  switch (deed->doing)
    {
    case LNS_DOING_CUDA:
      return cause == LNS_CAUSE_UNKNOWN || cause == LNS_CAUSE_GPU_SYNC ||
             cause == LNS_CAUSE_ALLOCATION || cause == LNS_CAUSE_MODULE_LOAD ||
             cause == LNS_CAUSE_DRIVER || cause == LNS_CAUSE_LAUNCH_RATE;
    case LNS_DOING_MPI:
    case LNS_DOING_OS:
      return _lns_why_cause_of_call (deed->class) == cause;
    case LNS_DOING_RUNNABLE:
      return cause == LNS_CAUSE_CPU_CONTENTION;
    case LNS_DOING_BLOCKED:
      return _lns_why_cause_of_block (deed) == cause;
    case LNS_DOING_OVERHEAD:
      return _lns_why_cause_of_overhead (deed->overhead) == cause;
    default:
      return cause == LNS_CAUSE_CPU_WORK || cause == LNS_CAUSE_NOT_RECORDED;
    }
}

typedef struct
{
  Occupations all;
  LnsCause cause;
} Part;

static bool
take_part (void *data, const LnsDeed *deed)
{
  Part *part = data;
  return !is_of_cause (deed, part->cause) || take_deed (&part->all, deed);
}

bool
_lns_why_find_deed (LnsWhyMaker *maker, LnsWhyFinding *finding, LnsError *error)
{
  Part part = { .cause = finding->part };
  Occupied most = { 0 };
  int64_t all_ns = 0;
  bool good = true;

  for (unsigned i = 0; good && i < finding->n_evidence; i++)
    good = lns_thread_facts_walk (maker->facts, finding->own.thread, finding->evidence[i].start_ns,
                                  finding->evidence[i].end_ns, true, take_part, &part, error);
  for (size_t i = 0; i < part.all.n; i++)
    {
      all_ns += part.all.items[i].ns;
      if (part.all.items[i].ns > most.ns)
        most = part.all.items[i];
    }
  lns_array_clear (&part.all);
  finding->is_many_calls = (double)most.ns < 0.8 * (double)all_ns;
  finding->own.call = most.what.call;
  finding->own.range = most.what.range;
  if (!good || finding->part != LNS_CAUSE_CPU_WORK)
    return good;
  LnsPart steps[LNS_MAX_EVIDENCE];
  for (unsigned i = 0; i < finding->n_evidence; i++)
    steps[i] = (LnsPart){ .start_ns = finding->evidence[i].start_ns,
                          .end_ns = finding->evidence[i].end_ns };
  return _lns_why_find_function (maker, finding->own.thread, steps, finding->n_evidence, false,
                                 true, &finding->own, error);
}

bool
_lns_why_find_launch (LnsWhyMaker *maker, LnsWhyFinding *finding, LnsError *error)
{
  LnsLaunchCall call;
  LnsDeed deed = { 0 };
  int64_t until_ns;
  bool found;

  if (finding->longest.lane == LNS_ID_NONE)
    return true;
  if (!lns_launch_finder_find (maker->finder, finding->longest.lane, finding->longest.ordinal,
                               &found, &call, error))
    return false;
  if (!found)
    return true;
  finding->own.thread = call.thread;
  if (finding->own.call == 0)
    finding->own.call = call.name;
  if (!lns_thread_facts_range (maker->facts, call.thread, call.start_ns, &deed, &until_ns, error))
    return false;
  finding->own.range = deed.range;
  return true;
}
