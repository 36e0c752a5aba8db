/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/why/why.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/why/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* Findings below this share of the time from the first to the last work are in the ledger alone. */
#define LEAST_SHARE 0.005

/* --- Findings of the ledger ------------------------------------------------------------------- */

static int
compare_evidence (const void *a, const void *b)
{
  const LnsEvidence *ea = a, *eb = b;
  return LNS_COMPARE (ea->start_ns, eb->start_ns);
}

/* What VOTE is for, if it stands for much of NS. */
static uint32_t
voted (const LnsVote *vote, int64_t ns)
{
  return vote->weight_ns >= ns / 5 ? vote->name : 0;
}

/* A range around parts of a group lasts for so long, at least. */
#define LONG_NS INT64_C (300000)

/* The range that is around most of the parts that GROUP has kept, where the short ranges that they are in differ; or 0. */
static uint32_t
common_range (LnsWhyMaker *maker, const LnsGroup *group)
{
  LnsVote vote = { 0 };

  for (unsigned i = 0; i < group->n_parts; i++)
    {
      LnsDeed around = { .range_lane = LNS_ID_NONE };
      if (lns_thread_facts_long_range (maker->facts, group->parts[i].thread,
                                       group->parts[i].start_ns, LONG_NS, &around, NULL))
        _lns_why_vote (&vote, around.range, 1);
    }
  return vote.weight_ns > group->n_parts / 3 ? vote.name : 0;
}

static bool
add_finding (LnsWhyMaker *maker, const LnsGroup *group, LnsError *error)
{
  LnsWhyFinding *finding =
      _lns_why_add_finding (maker, group->cause, group->ledger, group->ns, group->count);

  finding->group = (uint32_t)(group - maker->groups.items) + 1;
  finding->confidence = group->confidence;
  finding->n_steps = group->n_steps;
  finding->own = (LnsOccupation){ group->thread_vote.name, group->call, group->range, 0 };
  finding->n_threads = group->n_threads;
  if (group->is_any_call)
    {
      finding->own.call = voted (&group->call_vote, group->ns);
      finding->is_many_calls = (double)group->call_vote.weight_ns < 0.8 * (double)group->ns;
    }
  if (group->is_any_place)
    finding->own.range = voted (&group->range_vote, group->ns);
  /* One of many short ranges tells more than the long one around them, if it has nearly all of the time. */
  if (group->inner_vote.weight_ns > group->ns / 2 && group->inner_vote.name != 0)
    finding->own.range = group->inner_vote.name;
  if (group->is_any_place && finding->own.range == 0)
    finding->own.range = common_range (maker, group);
  finding->is_many_ranges = group->is_many_ranges;
  for (unsigned i = 0; i < group->n_parts; i++)
    {
      const LnsPart *part = &group->parts[i];
      const LnsEvidence evidence = { part->start_ns, part->end_ns, part->lane, part->ordinal };
      finding->evidence[finding->n_evidence++] = evidence;
    }
  finding->longest_ns = group->longest_ns;
  finding->longest = (LnsEvidence){ group->longest.start_ns, group->longest.end_ns,
                                    group->longest.lane, group->longest.ordinal };
  qsort (finding->evidence, finding->n_evidence, sizeof *finding->evidence, compare_evidence);
  /* Of calls that take about the same time none has most. */
  if (group->is_any_call && !group->is_any_place && finding->own.call == 0)
    finding->own.call = group->longest.call;
  return _lns_why_follow (maker, group, finding, error);
}

/* Makes findings of the groups that are worth one. */
static bool
add_findings (LnsWhyMaker *maker, LnsError *error)
{
  for (size_t i = 0; i < maker->groups.n; i++)
    {
      const LnsGroup *group = &maker->groups.items[i];
      const LnsSpan span = _lns_why_work_span (&maker->why->ledgers.items[group->ledger]);
      const int64_t kept_ns = span.end_ns - span.start_ns -
                              lns_omitted_ns (&maker->why->omissions, span.start_ns, span.end_ns);
      if (group->is_omitted || (double)group->ns < LEAST_SHARE * (double)kept_ns)
        continue;
      if (!lns_go_on (maker->cancel, error) || !add_finding (maker, group, error))
        return false;
    }
  return true;
}

/* Has gaps, which name their groups, name their findings. */
static void
number_gaps (LnsWhyMaker *maker)
{
  LnsWhy *why = maker->why;
  uint32_t *findings = lns_calloc (maker->groups.n + 1, sizeof *findings);

  for (size_t i = 0; i < why->findings.n; i++)
    if (why->findings.items[i].group != 0)
      findings[why->findings.items[i].group] = (uint32_t)i + 1;
  for (size_t i = 0; i < why->gaps.n; i++)
    why->gaps.items[i].finding = findings[why->gaps.items[i].finding];
  for (size_t i = 0; i < why->findings.n; i++)
    for (size_t k = 0; k < why->findings.items[i].n_costs; k++)
      why->costs.items[why->findings.items[i].first_cost + k].finding = (uint32_t)i + 1;
  free (findings);
}

/* --- All -------------------------------------------------------------------------------------- */

/* The thread of the processes of WORK with the most CUDA calls, or LNS_ID_NONE. */
static uint32_t
launching_thread (LnsReport *report, const LnsDeviceWork *work)
{
  uint32_t n_lanes, thread = LNS_ID_NONE;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  uint64_t most = 0;

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrack *track = lns_track_of (report, i);
      const uint64_t n = lns_report_lane_info (report, i)->n_events;
      bool is_of_it = false;
      for (size_t k = 0; k < work->processes.n; k++)
        is_of_it |= work->processes.items[k] == track->process;
      if (lanes[i].kind == LNS_LANE_CUDA_API && lanes[i].ordinal == 0 && is_of_it && n > most)
        {
          most = n;
          thread = track->thread;
        }
    }
  return thread;
}

/* Processes that launched GPU work of which nothing was recorded. */
static bool
tell_blind (LnsWhyMaker *maker, const LnsFilterSpan *span, LnsError *error)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (maker->report, &n);
  bool good = true;

  for (uint32_t i = 0; good && i < n; i++)
    {
      int64_t *times = NULL;
      LnsLaunchCounts counts = { 0 };
      size_t n_missing = 0;
      if (span->process != LNS_ID_NONE && i != span->process)
        continue;
      good = lns_launch_finder_missing (maker->finder, i, &times, &n_missing, &counts, error);
      if (good && counts.n_launches > 0)
        _lns_why_abstain (
            maker, &(LnsSpan){ span->start_ns, span->end_ns },
            N_ ("Record GPU work as well as calls: -t cuda, on a machine where CUPTI may."),
            N_ ("Process %d launched GPU work %zu times, and none of it was recorded: "
                "whether the GPU was idle is not known."),
            processes[i].pid, counts.n_launches);
      free (times);
    }
  return good;
}

/* Says that nobody knows what collectives waited for whose other ranks are not in the report. */
static void
tell_lone_collectives (LnsWhyMaker *maker)
{
  const LnsLedger *ledger = &maker->why->ledgers.items[0];
  char text[LNS_WHY_NS_SIZE];

  if (ledger->kernel != 0 && ledger->kernel_ns > ledger->busy_ns / 10 &&
      lns_is_collective (lns_report_string (maker->report, ledger->kernel, NULL)))
    _lns_why_abstain (maker, &ledger->span,
                      N_ ("Record all ranks into one report, or compare their reports."),
                      N_ ("Collectives took %s: whether they waited for other GPUs was not "
                          "recorded."),
                      _lns_why_ns (ledger->kernel_ns, text));
}

/* Says that nobody knows whom a rank of MPI waited for, if no other is in the report. */
static void
tell_lone_rank (LnsWhyMaker *maker)
{
  uint32_t n_lanes, rank = LNS_ID_NONE;
  const LnsLane *lanes = lns_report_lanes (maker->report, &n_lanes);
  char text[LNS_WHY_NS_SIZE];

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const uint32_t process = lns_track_of (maker->report, i)->process;
      if (lanes[i].kind != LNS_LANE_MPI_CALL ||
          lns_report_lane_info (maker->report, i)->n_events == 0)
        continue;
      if (rank != LNS_ID_NONE && rank != process)
        return;
      rank = process;
    }
  for (size_t i = 0; rank != LNS_ID_NONE && i < maker->why->ledgers.n; i++)
    {
      const LnsLedger *ledger = &maker->why->ledgers.items[i];
      const int64_t ns = ledger->cause_ns[LNS_CAUSE_COLLECTIVE_WAIT];
      if (ns > (ledger->span.end_ns - ledger->span.start_ns) / 33)
        _lns_why_abstain (
            maker, &ledger->span,
            N_ ("Record all ranks into one report, or compare their reports."),
            N_ ("One rank of MPI was recorded: for which other it waited %s, or whether data "
                "were on the way, is not known."),
            _lns_why_ns (ns, text));
    }
}

/* Says that the report keeps only a part. */
static void
tell_omitted (LnsWhyMaker *maker)
{
  int64_t kept_ns, all_ns;
  char kept[LNS_WHY_NS_SIZE], all[LNS_WHY_NS_SIZE];

  if (lns_keeps_part (maker->report, &kept_ns, &all_ns))
    _lns_why_abstain (maker, &maker->why->span, N_ ("Record all of it to see more."),
                      N_ ("The report keeps %s of %s and counts the rest: times and sums are of "
                          "what it keeps."),
                      _lns_why_ns (kept_ns, kept), _lns_why_ns (all_ns, all));
}

/* Puts the GPU that CUDA calls NUMBER first, if there is one with work. */
static void
put_first (LnsReport *report, LnsDeviceWorks *works, uint32_t number)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);

  for (size_t i = 0; i < works->n; i++)
    if (works->items[i].device < n && devices[works->items[i].device].number == number)
      {
        const LnsDeviceWork first = works->items[i];
        for (; i > 0; i--)
          works->items[i] = works->items[i - 1];
        works->items[0] = first;
        return;
      }
}

static bool
run (LnsWhyMaker *maker, const LnsWhyOptions *options, LnsDeviceWorks *works, LnsError *error)
{
  const LnsFilterSpan *span = &options->span;

  *works = lns_device_works (maker->report, span);
  if (options->device != 0)
    put_first (maker->report, works, options->device - 1);
  if (works->n > 0)
    {
      const uint32_t thread = launching_thread (maker->report, &works->items[0]);
      if (!_lns_why_find_steps (maker, thread, span, &works->items[0].work, options->step_range,
                                error) ||
          (maker->steps.n == 0 && options->step_range == NULL &&
           !_lns_why_find_kernel_steps (maker, &works->items[0], thread, error)))
        return false;
      int64_t *step_ns = maker->step_ns;
      for (size_t i = 0; i < works->n; i++)
        {
          /* Steps are those of the first GPU. */
          maker->step_ns = i == 0 ? step_ns : NULL;
          if (!_lns_why_device (maker, &works->items[i], error))
            {
              maker->step_ns = step_ns;
              return false;
            }
        }
      maker->step_ns = step_ns;
      if (!_lns_why_busy (maker, works, error) || !_lns_why_collectives (maker, works, error) ||
          !_lns_why_clocks (maker, works, error))
        return false;
      if (works->n == 1)
        tell_lone_collectives (maker);
    }
  else if (!tell_blind (maker, span, error) ||
           !_lns_why_thread (maker, span, options->step_range, error))
    return false;
  tell_lone_rank (maker);
  tell_omitted (maker);
  if (!add_findings (maker, error) ||
      !_lns_why_judge_steps (maker, works->n > 0 ? &works->items[0] : NULL, error))
    return false;
  for (size_t i = 0; i < maker->why->findings.n; i++)
    {
      LnsWhyFinding *finding = &maker->why->findings.items[i];
      const bool is_step = finding->cause == LNS_CAUSE_SLOW_STEP;
      if (is_step && finding->part == LNS_CAUSE_UNKNOWN && works->n > 0
              ? !_lns_why_find_slow_kernels (maker, &works->items[0], finding, error)
          : is_step ? !_lns_why_find_deed (maker, finding, error)
                    : finding->cause >= LNS_N_IDLE_CAUSES &&
                          !_lns_why_find_launch (maker, finding, error))
        return false;
    }
  return true;
}

LnsWhy *
lns_why_run (LnsTables *tables,
             const LnsWhyOptions *options,
             const atomic_bool *cancel,
             LnsError *error)
{
  LnsReport *report = lns_tables_report (tables);
  LnsWhyMaker maker = { .tables = tables,
                        .report = report,
                        .cancel = cancel,
                        .keeps_gaps = options->keeps_gaps,
                        .in_language = options->in_language,
                        .facts = lns_thread_facts_new (report),
                        .why = lns_calloc (1, sizeof (LnsWhy)) };
  LnsDeviceWorks works = { 0 };

  maker.finder = lns_launch_finder_new (report, lns_thread_facts_classes (maker.facts), cancel);
  const LnsReportInfo *info = lns_report_info (report);
  maker.why->meanwhile.thread = LNS_ID_NONE;
  maker.why->omissions = lns_omissions_of (report);
  maker.why->span.start_ns =
      options->span.start_ns > info->start_ns ? options->span.start_ns : info->start_ns;
  maker.why->span.end_ns =
      options->span.end_ns < info->end_ns ? options->span.end_ns : info->end_ns;
  bool good = run (&maker, options, &works, error);
  LnsWhy *why = maker.why;
  for (size_t i = 0; i < why->ledgers.n; i++)
    {
      const LnsSpan *span = &why->ledgers.items[i].span;
      why->span.start_ns =
          i == 0 || span->start_ns < why->span.start_ns ? span->start_ns : why->span.start_ns;
      why->span.end_ns =
          i == 0 || span->end_ns > why->span.end_ns ? span->end_ns : why->span.end_ns;
    }
  if (good)
    _lns_why_sort_findings (why);
  if (good)
    number_gaps (&maker);
  if (good)
    _lns_why_write_sentences (tables, why, options->in_language);
  lns_device_works_clear (&works);
  lns_launch_finder_free (maker.finder);
  lns_thread_facts_free (maker.facts);
  lns_array_clear (&maker.groups);
  lns_array_clear (&maker.steps);
  lns_id_map_clear (&maker.group_of);
  lns_id_map_clear (&maker.counted);
  lns_id_map_clear (&maker.name_keys);
  lns_id_map_clear (&maker.collectives);
  why->steps.ns = maker.step_ns;
  if (good)
    return why;
  lns_why_free (why);
  return NULL;
}

LnsWhy *
lns_why_ref (const LnsWhy *why)
{
  LnsWhy *shared = (LnsWhy *)why; /* what is counted is no part of the answer */

  atomic_fetch_add (&shared->n_more_owners, 1);
  return shared;
}

void
lns_why_free (LnsWhy *why)
{
  if (why == NULL || atomic_fetch_sub (&why->n_more_owners, 1) > 0)
    return;
  for (size_t i = 0; i < why->findings.n; i++)
    free (why->findings.items[i].sentence);
  for (size_t i = 0; i < why->abstained.n; i++)
    free (why->abstained.items[i].reason);
  lns_omissions_clear (&why->omissions);
  lns_array_clear (&why->findings);
  lns_array_clear (&why->abstained);
  lns_array_clear (&why->ledgers);
  lns_array_clear (&why->steps.outliers);
  lns_array_clear (&why->steps.all);
  free (why->steps.ns);
  lns_array_clear (&why->gaps);
  lns_array_clear (&why->costs);
  free (why->verdict);
  free (why->next);
  free (why);
}
