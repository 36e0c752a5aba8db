/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/why/maker.h"
#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

LnsLedger *
_lns_why_begin_ledger (LnsWhyMaker *maker, const LnsSpan *span)
{
  maker->ledger = maker->why->ledgers.n;
  maker->step = 0;
  LnsLedger *ledger = lns_array_add (&maker->why->ledgers);
  *ledger = (LnsLedger){ .span = *span, .thread = LNS_ID_NONE, .device = LNS_ID_NONE };
  return ledger;
}

void
_lns_why_abstain (
    LnsWhyMaker *maker, const LnsSpan *span, const char *advice, const char *reason, ...)
{
  va_list arguments;

  const bool was_english = lns_text_in_english (!maker->in_language);
  LnsAbstention *abstention = lns_array_add (&maker->why->abstained);
  *abstention = (LnsAbstention){ .advice = _ (advice), .span = *span };
  va_start (arguments, reason);
  if (vasprintf (&abstention->reason, _ (reason), arguments) < 0)
    abstention->reason = lns_strdup ("");
  va_end (arguments);
  lns_text_in_english (was_english);
}

/* Whether a thread loses time of CAUSE to what it wants, by whichever calls: to read a folder and to close it are the same loss. */
static bool
is_of_any_call (LnsCause cause)
{
  return cause == LNS_CAUSE_IO_WAIT || cause == LNS_CAUSE_ALLOCATION ||
         cause == LNS_CAUSE_MODULE_LOAD;
}

/* What THREAD is told apart by: threads of a process whose names differ by numbers alone do the same work. */
static uint64_t
thread_key (LnsWhyMaker *maker, uint32_t thread)
{
  uint32_t n, n_processes;
  const LnsThread *threads = lns_report_threads (maker->report, &n);
  const LnsProcess *processes = lns_report_processes (maker->report, &n_processes);

  if (thread >= n || threads[thread].name == 0 || threads[thread].process >= n_processes ||
      threads[thread].tid == processes[threads[thread].process].pid ||
      strcmp (lns_report_string (maker->report, threads[thread].name, NULL),
              lns_report_string (maker->report, processes[threads[thread].process].name, NULL)) ==
          0)
    return thread;
  const uint64_t parts[] = {
    threads[thread].process, lns_name_key (maker->report, &maker->name_keys, threads[thread].name)
  };
  return lns_hash (parts, sizeof parts) | UINT64_C (1) << 63;
}

/* The group of PART, perhaps a new one. */
static LnsGroup *
find_group (LnsWhyMaker *maker, const LnsPart *part)
{
  const bool is_any_call = part->is_any_place || is_of_any_call (part->cause);
  const uint64_t range_key = part->is_any_place
                                 ? 0
                                 : lns_name_key (maker->report, &maker->name_keys, part->range),
                 call_key =
                     is_any_call ? 0 : lns_name_key (maker->report, &maker->name_keys, part->call);
  const uint64_t parts[] = { part->cause, thread_key (maker, part->thread), range_key, call_key,
                             maker->ledger << 2 | part->is_omitted << 1 | part->is_for_python };
  const uint64_t key = lns_hash (parts, sizeof parts) | 1;
  const uint64_t found = lns_id_map_number (&maker->group_of, key);

  if (found != 0)
    return &maker->groups.items[found - 1];
  LnsGroup *group = lns_array_add (&maker->groups);
  *group = (LnsGroup){ .cause = part->cause,
                       .ledger = maker->ledger,
                       .thread = part->thread,
                       .call = part->call,
                       .range = part->range,
                       .range_key = range_key,
                       .confidence = part->confidence,
                       .is_any_place = part->is_any_place,
                       .is_any_call = is_any_call,
                       .is_for_python = part->is_for_python,
                       .is_omitted = part->is_omitted,
                       .last_gap = UINT64_MAX,
                       .last_step = UINT64_MAX };
  lns_id_map_set_number (&maker->group_of, key, maker->groups.n);
  return group;
}

/* Whether PART goes on where LAST ends, in the same event. */
static bool
goes_on (const LnsPart *last, const LnsPart *part)
{
  return last->end_ns == part->start_ns && last->lane == part->lane &&
         last->ordinal == part->ordinal;
}

/* Notes PART of the gap at hand, which IS_NEW. */
static void
note_gap (LnsGroup *group, const LnsPart *part, bool is_new)
{
  if (!is_new && goes_on (&group->stretch, part))
    group->stretch.end_ns = part->end_ns;
  else
    group->stretch = *part;
  if (is_new)
    group->gap_ns = 0;
  if (is_new || group->stretch.end_ns - group->stretch.start_ns >
                    group->gap_part.end_ns - group->gap_part.start_ns)
    group->gap_part = group->stretch;
  group->gap_ns += part->end_ns - part->start_ns;
  if (group->gap_ns > group->longest_ns)
    {
      group->longest_ns = group->gap_ns;
      group->longest = group->gap_part;
    }
}

/* Keeps PART if it is among the longest. */
static void
keep_part (LnsGroup *group, const LnsPart *part)
{
  unsigned least = 0;

  if (group->n_parts > 0)
    {
      /* What follows without a break is one. */
      LnsPart *last = &group->parts[group->n_parts - 1];
      if (goes_on (last, part))
        {
          last->end_ns = part->end_ns;
          last->waker = part->waker != LNS_ID_NONE ? part->waker : last->waker;
          return;
        }
    }
  if (group->n_parts < LNS_MAX_EVIDENCE)
    {
      group->parts[group->n_parts++] = *part;
      return;
    }
  for (unsigned i = 1; i < LNS_MAX_EVIDENCE; i++)
    if (group->parts[i].end_ns - group->parts[i].start_ns <
        group->parts[least].end_ns - group->parts[least].start_ns)
      least = i;
  if (part->end_ns - part->start_ns > group->parts[least].end_ns - group->parts[least].start_ns)
    {
      group->parts[least] = group->parts[LNS_MAX_EVIDENCE - 1];
      group->parts[LNS_MAX_EVIDENCE - 1] = *part;
    }
}

/* The step in which TIME_NS is, or UINT64_MAX. Times ascend in a ledger. */
static uint64_t
step_at (LnsWhyMaker *maker, int64_t time_ns)
{
  while (maker->step < maker->steps.n && maker->steps.items[maker->step].end_ns <= time_ns)
    maker->step++;
  return maker->step < maker->steps.n && maker->steps.items[maker->step].start_ns <= time_ns
             ? maker->step
             : UINT64_MAX;
}

/* Adds the time from START_NS to END_NS to column COLUMN of the steps in which it is. */
static void
add_to_steps (LnsWhyMaker *maker, int64_t start_ns, int64_t end_ns, unsigned column)
{
  if (maker->step_ns == NULL)
    return;
  step_at (maker, start_ns);
  for (size_t i = maker->step; i < maker->steps.n && maker->steps.items[i].start_ns < end_ns; i++)
    {
      const LnsSpan *step = &maker->steps.items[i];
      const int64_t from_ns = step->start_ns > start_ns ? step->start_ns : start_ns,
                    to_ns = step->end_ns < end_ns ? step->end_ns : end_ns;
      if (to_ns > from_ns)
        maker->step_ns[i * (1 + LNS_N_IDLE_CAUSES) + column] += to_ns - from_ns;
    }
}

void
_lns_why_vote (LnsVote *vote, uint32_t name, int64_t ns)
{
  if (vote->name == name)
    vote->weight_ns += ns;
  else if (vote->weight_ns >= ns)
    vote->weight_ns -= ns;
  else
    *vote = (LnsVote){ name, ns - vote->weight_ns };
}

/* Counts THREAD among those that lost NS of GROUP. */
static void
count_thread (LnsWhyMaker *maker, LnsGroup *group, uint32_t thread, int64_t ns)
{
  const uint64_t parts[] = { (uint64_t)(group - maker->groups.items), thread };
  const uint64_t key = lns_hash (parts, sizeof parts);

  _lns_why_vote (&group->thread_vote, thread, ns);
  if (thread == group->thread) /* it was the first */
    group->n_threads += group->n_threads == 0;
  else if (lns_id_map_number (&maker->counted, key) == 0)
    {
      lns_id_map_set_number (&maker->counted, key, 1);
      group->n_threads++;
    }
}

/* Adds PART, of which nothing is left out or all. */
static void
add_part (LnsWhyMaker *maker, const LnsPart *part)
{
  LnsLedger *ledger = &maker->why->ledgers.items[maker->ledger];
  LnsGroup *group = find_group (maker, part);
  const uint64_t step = step_at (maker, part->start_ns);
  const int64_t ns = part->end_ns - part->start_ns;

  ledger->cause_ns[part->cause] += ns;
  group->ns += ns;
  if (group->is_any_call)
    _lns_why_vote (&group->call_vote, part->call, ns);
  if (part->is_any_place)
    _lns_why_vote (&group->range_vote, part->range, ns);
  else
    group->is_many_ranges |= group->range != part->range;
  if (part->inner != 0)
    _lns_why_vote (&group->inner_vote, part->inner, ns);
  count_thread (maker, group, part->thread, ns);
  if ((part->cause == LNS_CAUSE_LOCK_WAIT || part->cause == LNS_CAUSE_IO_WAIT) &&
      part->waker != LNS_ID_NONE && part->waker != part->thread)
    _lns_why_vote (&group->waker_vote, part->waker + 1, ns);
  if (part->confidence > group->confidence)
    group->confidence = part->confidence;
  note_gap (group, part, group->last_gap != maker->gap);
  if (group->last_gap != maker->gap)
    {
      group->last_gap = maker->gap;
      group->count++;
    }
  if (maker->last_gap[part->cause] != maker->gap)
    {
      maker->last_gap[part->cause] = maker->gap;
      ledger->n_gaps[part->cause]++;
    }
  if (step != UINT64_MAX && group->last_step != step)
    {
      group->last_step = step;
      group->n_steps++;
    }
  if (maker->keeps_gaps)
    *lns_array_add (&maker->why->gaps) =
        (LnsWhyGap){ .start_ns = part->start_ns,
                     .end_ns = part->end_ns,
                     .cause = part->cause,
                     .ledger = (uint32_t)maker->ledger,
                     .thread = part->thread,
                     .call = part->call,
                     .range = part->range,
                     .finding = (uint32_t)(group - maker->groups.items) + 1 };
  add_to_steps (maker, part->start_ns, part->end_ns, 1 + (unsigned)part->cause);
  keep_part (group, part);
}

/* Adds the time from START_NS to END_NS, which the report leaves out by intent. */
static void
add_omitted (LnsWhyMaker *maker, int64_t start_ns, int64_t end_ns)
{
  const LnsPart part = { .start_ns = start_ns,
                         .end_ns = end_ns,
                         .cause = LNS_CAUSE_NOT_RECORDED,
                         .thread = LNS_ID_NONE,
                         .lane = LNS_ID_NONE,
                         .waker = LNS_ID_NONE,
                         .is_omitted = true };
  if (start_ns >= end_ns)
    return;
  maker->why->ledgers.items[maker->ledger].omitted_ns += end_ns - start_ns;
  add_part (maker, &part);
}

void
_lns_why_add (LnsWhyMaker *maker, const LnsPart *part)
{
  const LnsOmissions *omissions = &maker->why->omissions;
  LnsPart rest = *part;

  for (size_t i = lns_omissions_from (omissions, part->start_ns);
       i < omissions->n && omissions->items[i].start_ns < part->end_ns; i++)
    {
      const LnsOmission *omission = &omissions->items[i];
      const int64_t end_ns = omission->end_ns < part->end_ns ? omission->end_ns : part->end_ns;
      LnsPart before = rest;
      before.end_ns = omission->start_ns;
      if (before.start_ns < before.end_ns)
        {
          add_part (maker, &before);
          rest.start_ns = before.end_ns;
        }
      add_omitted (maker, rest.start_ns, end_ns);
      rest.start_ns = end_ns;
    }
  if (rest.start_ns < rest.end_ns)
    add_part (maker, &rest);
}

bool
_lns_why_walk (LnsWhyMaker *maker,
               uint32_t thread,
               int64_t start_ns,
               int64_t end_ns,
               LnsDeedFunc take,
               void *data,
               LnsError *error)
{
  const LnsOmissions *omissions = &maker->why->omissions;
  int64_t at_ns = start_ns;
  bool good = true;

  for (size_t i = lns_omissions_from (omissions, start_ns);
       good && i < omissions->n && omissions->items[i].start_ns < end_ns; i++)
    {
      const LnsOmission *omission = &omissions->items[i];
      if (at_ns < omission->start_ns)
        {
          good = lns_thread_facts_walk (maker->facts, thread, at_ns, omission->start_ns, true, take,
                                        data, error);
          at_ns = omission->start_ns;
        }
      const int64_t until_ns = omission->end_ns < end_ns ? omission->end_ns : end_ns;
      add_omitted (maker, at_ns, until_ns);
      at_ns = until_ns;
    }
  return good && (at_ns >= end_ns || lns_thread_facts_walk (maker->facts, thread, at_ns, end_ns,
                                                            true, take, data, error));
}

int64_t
_lns_why_unknown_ns (const LnsLedger *ledger)
{
  return ledger->cause_ns[LNS_CAUSE_UNKNOWN] + ledger->cause_ns[LNS_CAUSE_NOT_RECORDED] -
         ledger->omitted_ns;
}

void
_lns_why_add_busy (LnsWhyMaker *maker, int64_t start_ns, int64_t end_ns)
{
  maker->why->ledgers.items[maker->ledger].busy_ns += end_ns - start_ns;
  add_to_steps (maker, start_ns, end_ns, 0);
}

LnsWhyFinding *
_lns_why_add_finding (LnsWhyMaker *maker, LnsCause cause, size_t ledger, int64_t ns, uint64_t count)
{
  const LnsSpan *span = &maker->why->ledgers.items[ledger].span;
  const double all_ns =
      (double)(span->end_ns - span->start_ns -
               lns_omitted_ns (&maker->why->omissions, span->start_ns, span->end_ns));
  LnsWhyFinding *finding = lns_array_add (&maker->why->findings);

  *finding = (LnsWhyFinding){ .cause = cause,
                              .ledger = ledger,
                              .ns = ns,
                              .count = count,
                              .share = all_ns > 0 ? (double)ns / all_ns : 0,
                              .own = { .thread = LNS_ID_NONE },
                              .longest = { .lane = LNS_ID_NONE } };
  finding->severity = cause == LNS_CAUSE_UNKNOWN ? LNS_WHY_INFO
                      : finding->share >= 0.1    ? LNS_WHY_HIGH
                      : finding->share >= 0.03   ? LNS_WHY_MEDIUM
                                                 : LNS_WHY_INFO;
  return finding;
}

/* --- Costs ------------------------------------------------------------------------------------ */

/* More are told as one. */
#define MOST_COSTS 1000000

void
_lns_why_note_cost (
    const LnsWhyMaker *maker, LnsWhyCosts *costs, int64_t start_ns, int64_t end_ns, int64_t ns)
{
  if (!maker->keeps_gaps || ns <= 0)
    return;
  if (costs->n < MOST_COSTS)
    {
      *lns_array_add (costs) = (LnsWhyCost){ .start_ns = start_ns, .end_ns = end_ns, .ns = ns };
      return;
    }
  LnsWhyCost *last = &costs->items[costs->n - 1];
  last->end_ns = end_ns;
  last->ns = lns_sum (last->ns, ns);
}

void
_lns_why_give_costs (LnsWhyMaker *maker, LnsWhyFinding *finding, LnsWhyCosts *costs)
{
  LnsWhyCosts *all = &maker->why->costs;
  int64_t left_ns = finding->ns;

  finding->first_cost = all->n;
  for (size_t i = 0; i < costs->n && left_ns > 0; i++)
    {
      LnsWhyCost cost = costs->items[i];
      cost.ns = cost.ns < left_ns ? cost.ns : left_ns;
      left_ns -= cost.ns;
      *lns_array_add (all) = cost;
    }
  finding->n_costs = all->n - finding->first_cost;
  lns_array_clear (costs);
}
