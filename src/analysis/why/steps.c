/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The steps of a program: a range of the launching thread that repeats; and which of them were slow, and by what. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/why/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/plain-name.h"
#include "src/tables/lanes.h"

/* A range counts as a step from so many repetitions on. */
#define LEAST_STEPS 4

/* … and if it fills this share of the time. */
#define LEAST_COVER 0.5

/* Steps reach over this share of the work. */
#define LEAST_REACH 0.4

/* A step is slow if it takes this many times the median. */
#define SLOW 1.5

/* A step that loses less than this share of what the slowest one loses is none of the slow ones that a finding is about. */
#define SMALL 0.05

/* From so many steps on, a tenth and one more may be slow: where more are, that is how they are. */
#define LEAST_FOR_SLOW 8
#define MOST_SLOW(N)   ((N) / 10 + 1)

/* Ranges that PyTorch makes around single operators: no steps. */
static const char *const operators[] = { "aten::", "autograd::", "torch::", "c10" };

#define N_COLUMNS (1 + LNS_N_IDLE_CAUSES)

/* Ranges of one name, but for numbers in it. */
typedef struct
{
  uint64_t key;
  uint32_t name, lane;
  uint64_t n;
  int64_t ns;
  LnsSpan reach; /* from the first to the last                                                   */
} Candidate;

typedef struct
{
  LnsWhyMaker *maker;
  const LnsFilterSpan *span;
  LnsIdMap index; /* key and lane -> 1 + index of the candidate                                  */
  LNS_ARRAY (Candidate) candidates;
  const char *wanted; /* the name that the user gave, or NULL …                                 */
  uint64_t wanted_key; /* … and the key of the candidates that have it, or 0                     */
  const Candidate *chosen;
} Search;

static void
count_ranges (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Search *search = data;

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      if (chunk->name[i] == 0 || !lns_event_has_length (chunk->flags[i]) ||
          chunk->start_ns[i] < search->span->start_ns ||
          chunk->start_ns[i] + chunk->duration_ns[i] > search->span->end_ns)
        continue;
      const uint64_t key =
          lns_name_key (search->maker->report, &search->maker->name_keys, chunk->name[i]);
      const uint64_t place = key + chunk->lane * UINT64_C (0x9E3779B97F4A7C15);
      uint64_t at = lns_id_map_number (&search->index, place);
      if (at == 0)
        {
          if (search->candidates.n >= 65536)
            continue;
          *lns_array_add (&search->candidates) =
              (Candidate){ .key = key,
                           .name = chunk->name[i],
                           .lane = chunk->lane,
                           .reach = { chunk->start_ns[i], chunk->start_ns[i] } };
          at = search->candidates.n;
          lns_id_map_set_number (&search->index, place, at);
        }
      Candidate *candidate = &search->candidates.items[at - 1];
      candidate->n++;
      candidate->ns += chunk->duration_ns[i];
      candidate->reach.end_ns = chunk->start_ns[i] + chunk->duration_ns[i];
    }
}

static void
add_steps (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Search *search = data;

  (void)track;
  for (uint32_t i = 0; i < chunk->n && search->maker->steps.n < LNS_WHY_MOST_STEPS; i++)
    if (chunk->name[i] != 0 && lns_event_has_length (chunk->flags[i]) &&
        chunk->start_ns[i] >= search->span->start_ns &&
        chunk->start_ns[i] + chunk->duration_ns[i] <= search->span->end_ns &&
        lns_name_key (search->maker->report, &search->maker->name_keys, chunk->name[i]) ==
            search->chosen->key)
      *lns_array_add (&search->maker->steps) =
          (LnsSpan){ chunk->start_ns[i], chunk->start_ns[i] + chunk->duration_ns[i] };
}

static int
compare_ns (const void *a, const void *b)
{
  const int64_t *na = a, *nb = b;
  return LNS_COMPARE (*na, *nb);
}

static int
compare_steps (const void *a, const void *b)
{
  const LnsStep *sa = a, *sb = b;
  return LNS_COMPARE (sb->end_ns - sb->start_ns, sa->end_ns - sa->start_ns)
             ?: LNS_COMPARE (sa->start_ns, sb->start_ns);
}

static bool
is_operator (LnsReport *report, uint32_t name)
{
  const char *text = lns_report_string (report, name, NULL);

  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (strncmp (text, operators[i], strlen (operators[i])) == 0)
      return true;
  return false;
}

/* Those with the most time first. */
static int
compare_candidates (const void *a, const void *b)
{
  const Candidate *ca = a, *cb = b;
  return LNS_COMPARE (cb->ns, ca->ns) ?: LNS_COMPARE (ca->lane, cb->lane);
}

/* Whether ranges that take NS together fill most of REACH, and that a good part of WORK. */
static bool
are_dense (int64_t ns, const LnsSpan *reach, const LnsSpan *work)
{
  const double reach_ns = (double)(reach->end_ns - reach->start_ns);
  return (double)ns >= LEAST_COVER * reach_ns &&
         reach_ns >= LEAST_REACH * (double)(work->end_ns - work->start_ns);
}

/* Whether the ranges at hand are steps: they fill most of the time from the first to the last, and that a good part of WORK,
 * and most are alike, whatever those take that may be slow. */
static bool
are_steps (const LnsWhyMaker *maker, const LnsSpan *work)
{
  const LnsSpan *steps = maker->steps.items;
  const size_t n = maker->steps.n;
  int64_t sum_ns = 0, alike_ns = 0;

  if (n < LEAST_STEPS)
    return false;
  int64_t *values = lns_calloc (n, sizeof *values);
  for (size_t i = 0; i < n; i++)
    sum_ns += values[i] = steps[i].end_ns - steps[i].start_ns;
  qsort (values, n, sizeof *values, compare_ns);
  const size_t n_alike = n < LEAST_FOR_SLOW ? n : n - MOST_SLOW (n);
  for (size_t i = 0; i < n_alike; i++)
    alike_ns += values[i];
  const double typical_ns = (double)values[n / 2] * (double)n_alike;
  free (values);
  return are_dense (sum_ns, &(LnsSpan){ steps[0].start_ns, steps[n - 1].end_ns }, work) &&
         typical_ns >= LEAST_COVER * (double)alike_ns;
}

/* Finds what the report says of the steps of PROCESS, if it keeps only some. */
static bool
find_counted (const LnsReport *report, uint32_t process, LnsCountedSteps *ret_counted)
{
  for (unsigned i = 0; lns_counted_steps (report, i, ret_counted); i++)
    if (ret_counted->process == process && ret_counted->n > 0)
      return true;
  *ret_counted = (LnsCountedSteps){ 0 };
  return false;
}

/* Whether NAMES are those of one thing: "step" and "step 12". */
static bool
have_one_title (const char *const names[2])
{
  char titles[2][LNS_PLAIN_NAME_SIZE];
  size_t sizes[2];

  for (int i = 0; i < 2; i++)
    sizes[i] = lns_plain_title (names[i], strlen (names[i]), titles[i]);
  return sizes[0] == sizes[1] && memcmp (titles[0], titles[1], sizes[0]) == 0;
}

/* Finds the key of the ranges that are wanted: of the candidates, of which those of most time stand first, one with the very name but
 * for digits, or else one with its title. Fails where there is none, and nothing else in the report has that name. */
static bool
find_wanted (Search *search, LnsError *error)
{
  LnsReport *report = search->maker->report;
  uint64_t titled = 0;
  uint32_t id;

  if (!lns_tables_find_string (search->maker->tables, search->wanted, strlen (search->wanted), &id,
                               error))
    return false;
  const uint64_t exact =
      lns_name_key (report, &search->maker->name_keys, id == LNS_ID_NONE ? 0 : id);
  for (size_t i = 0; search->wanted_key == 0 && i < search->candidates.n; i++)
    {
      const Candidate *candidate = &search->candidates.items[i];
      const char *name = lns_report_string (report, candidate->name, NULL);
      if (exact != 0 && candidate->key == exact)
        search->wanted_key = exact;
      else if (titled == 0 && have_one_title ((const char *const[]){ search->wanted, name }))
        titled = candidate->key;
    }
  if (search->wanted_key == 0)
    search->wanted_key = titled;
  return search->wanted_key != 0 || exact != 0 ||
         lns_error_set (error, LNS_ERROR_USAGE, 0, "--steps: the report has no range “%s”",
                        search->wanted);
}

bool
_lns_why_find_steps (LnsWhyMaker *maker,
                     uint32_t thread,
                     const LnsFilterSpan *span,
                     const LnsSpan *work,
                     const char *range,
                     LnsError *error)
{
  Search search = { .maker = maker, .span = span, .wanted = range };
  size_t n;
  const uint32_t *lanes = lns_thread_facts_lanes (maker->facts, thread, LNS_LANE_NVTX_PUSH_POP, &n);
  bool good = true;

  LnsCountedSteps counted = { 0 };
  uint32_t n_threads;
  const LnsThread *threads = lns_report_threads (maker->report, &n_threads);
  if (thread < n_threads && find_counted (maker->report, threads[thread].process, &counted) &&
      range == NULL)
    search.wanted = counted.range;
  for (size_t i = 0; good && i < n; i++)
    good = lns_read_lane (maker->report, lanes[i],
                          LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
                          count_ranges, &search, maker->cancel, error);
  if (good && search.candidates.n > 0)
    qsort (search.candidates.items, search.candidates.n, sizeof (Candidate), compare_candidates);
  if (good && search.wanted != NULL)
    good = find_wanted (&search, error);
  for (size_t i = 0; good && i < search.candidates.n && maker->steps.n == 0; i++)
    {
      search.chosen = &search.candidates.items[i];
      if (search.wanted == NULL ? search.chosen->n < LEAST_STEPS ||
                                      !are_dense (search.chosen->ns, &search.chosen->reach, work) ||
                                      is_operator (maker->report, search.chosen->name)
                                : search.chosen->key != search.wanted_key)
        continue;
      good = lns_read_lane (maker->report, search.chosen->lane,
                            LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
                            add_steps, &search, maker->cancel, error);
      if (search.wanted == NULL && !are_steps (maker, work))
        maker->steps.n = 0;
    }
  if (good && maker->steps.n > 0)
    {
      maker->why->steps.name = search.chosen->name;
      maker->why->steps.thread = thread;
      maker->step_lane = search.chosen->lane;
      if (counted.n > 0 && strcmp (search.wanted, counted.range) == 0)
        maker->counted_steps = counted;
      maker->step_ns = lns_calloc (maker->steps.n * N_COLUMNS + 1, sizeof *maker->step_ns);
    }
  lns_id_map_clear (&search.index);
  lns_array_clear (&search.candidates);
  return good;
}

/* The column in which step I is furthest above the median of all. */
static unsigned
excess_of (const LnsWhyMaker *maker, size_t i, const int64_t *medians, int64_t *ret_ns)
{
  unsigned most = 0;

  *ret_ns = INT64_MIN;
  for (unsigned column = 0; column < N_COLUMNS; column++)
    {
      const int64_t ns = maker->step_ns[i * N_COLUMNS + column] - medians[column];
      if (ns > *ret_ns)
        {
          *ret_ns = ns;
          most = column;
        }
    }
  return most;
}

/* The range that STEP is, or only its time. */
static LnsEvidence
evidence_of (const LnsWhyMaker *maker, const LnsStep *step)
{
  LnsEvidence evidence = { step->start_ns, step->end_ns, LNS_ID_NONE, 0 };

  if (maker->step_lane != LNS_ID_NONE &&
      lns_report_find (maker->report, maker->step_lane, step->start_ns, &evidence.ordinal, NULL))
    evidence.lane = maker->step_lane;
  return evidence;
}

/* Whether the work of steps that are told apart by kernels is known: not where much else ran, or launches have no work. */
static bool
knows_work (const LnsWhyMaker *maker)
{
  const LnsLedger *ledger = &maker->why->ledgers.items[0];

  return !maker->why->steps.is_kernel ||
         ((double)ledger->kernels_ns >= 0.9 * (double)ledger->busy_ns &&
          ledger->graphs_ns <= ledger->busy_ns / 20 &&
          ledger->n_missing <= ledger->n_launches / 20);
}

/* Whether step I takes about as long as others. Where the report keeps only some, most of these are slow. */
static bool
is_usual (const LnsWhyMaker *maker, size_t i)
{
  const LnsSpan *step = &maker->steps.items[i];

  return maker->counted_steps.n == 0 ||
         (double)(step->end_ns - step->start_ns) <= SLOW * (double)maker->counted_steps.p50_ns;
}

/* How much longer the GPU took over what was launched in the first N_SLOW steps of OUTLIERS than over that of a median step, up to
 * MOST_NS: where a thread runs ahead of the GPU, what the GPU does in a step was launched in others. In RET_NS; 0 where the
 * launches are not known. */
static bool
own_excess (LnsWhyMaker *maker,
            const LnsDeviceWork *work,
            size_t n_slow,
            int64_t most_ns,
            int64_t *ret_ns,
            LnsError *error)
{
  const LnsStep *outliers = maker->why->steps.outliers.items;
  const size_t n = maker->steps.n;
  int64_t *own_ns = lns_calloc (n, sizeof *own_ns), slow_ns = 0;
  bool known = false;

  *ret_ns = 0;
  const bool good = _lns_why_step_work (maker, work, own_ns, &known, error);
  for (size_t i = 0; known && i < n_slow; i++)
    slow_ns += own_ns[outliers[i].index];
  if (known)
    {
      size_t n_usual = 0;
      for (size_t i = 0; i < n; i++)
        if (is_usual (maker, i))
          own_ns[n_usual++] = own_ns[i];
      qsort (own_ns, n_usual, sizeof *own_ns, compare_ns);
      const int64_t usual_ns = n_usual > 0 ? own_ns[n_usual / 2] : 0;
      const int64_t excess_ns = slow_ns - (int64_t)n_slow * usual_ns;
      *ret_ns = excess_ns < 0 ? 0 : excess_ns < most_ns ? excess_ns : most_ns;
    }
  free (own_ns);
  return good;
}

/* Step I, with the cause that has most of it. */
static LnsStep
describe (const LnsWhyMaker *maker, size_t i)
{
  const int64_t *ns = &maker->step_ns[i * N_COLUMNS];
  LnsStep step = { .start_ns = maker->steps.items[i].start_ns,
                   .end_ns = maker->steps.items[i].end_ns,
                   .busy_ns = ns[0],
                   .index = i };
  unsigned most = 0;

  for (unsigned column = 1; column < N_COLUMNS; column++)
    most = ns[column] > ns[most] ? column : most;
  step.is_busy = most == 0;
  step.cause = most == 0 ? LNS_CAUSE_UNKNOWN : (LnsCause)(most - 1);
  return step;
}

/* The thread that lost most to CAUSE in the N_SLOW first outliers, as far as its longest losses tell; or the one whose steps they
 * are. */
static uint32_t
slow_thread (const LnsWhyMaker *maker, LnsCause cause, size_t n_slow)
{
  const LnsWhySteps *steps = &maker->why->steps;
  uint32_t found = steps->thread;
  int64_t most_ns = 0;

  for (size_t i = 0; i < maker->groups.n; i++)
    {
      const LnsGroup *group = &maker->groups.items[i];
      int64_t ns = 0;
      if (group->cause != cause || group->ledger != 0 || group->thread == LNS_ID_NONE)
        continue;
      for (unsigned k = 0; k < group->n_parts; k++)
        for (size_t step = 0; step < n_slow; step++)
          if (group->parts[k].start_ns >= steps->outliers.items[step].start_ns &&
              group->parts[k].start_ns < steps->outliers.items[step].end_ns)
            ns += group->parts[k].end_ns - group->parts[k].start_ns;
      if (ns > most_ns)
        {
          most_ns = ns;
          found = group->thread;
        }
    }
  return found;
}

/* How sure it is that time of the first ledger was lost to CAUSE: as sure as of most of it. */
static LnsConfidence
confidence_of (const LnsWhyMaker *maker, LnsCause cause)
{
  LnsConfidence confidence = LNS_CONFIDENCE_CERTAIN;
  int64_t most_ns = 0;

  for (size_t i = 0; i < maker->groups.n; i++)
    {
      const LnsGroup *group = &maker->groups.items[i];
      if (group->cause != cause || group->ledger != 0 || group->ns <= most_ns)
        continue;
      most_ns = group->ns;
      confidence = group->confidence;
    }
  return confidence;
}

bool
_lns_why_judge_steps (LnsWhyMaker *maker, const LnsDeviceWork *work, LnsError *error)
{
  LnsWhySteps *steps = &maker->why->steps;
  const size_t n = maker->steps.n;
  const LnsCountedSteps *counted = maker->counted_steps.n > 0 ? &maker->counted_steps : NULL;
  /* Where the report keeps only some steps, how many were slow is compared with all that there were. */
  const size_t n_all = counted != NULL ? counted->n : n;
  int64_t *values, medians[N_COLUMNS], excess_ns[N_COLUMNS] = { 0 }, lost_ns = 0;
  size_t n_slow = 0;

  steps->n = n;
  steps->n_counted = counted != NULL ? counted->n : 0;
  steps->is_cut = n == LNS_WHY_MOST_STEPS;
  if (n == 0)
    return true;
  values = lns_calloc (n, sizeof *values);
  for (unsigned column = 0; column < N_COLUMNS; column++)
    {
      size_t n_usual = 0;
      for (size_t i = 0; i < n; i++)
        if (is_usual (maker, i))
          values[n_usual++] = maker->step_ns[i * N_COLUMNS + column];
      qsort (values, n_usual, sizeof *values, compare_ns);
      medians[column] = n_usual > 0 ? values[n_usual / 2] : 0;
    }
  for (size_t i = 0; i < n; i++)
    values[i] = maker->steps.items[i].end_ns - maker->steps.items[i].start_ns;
  qsort (values, n, sizeof *values, compare_ns);
  steps->p50_ns = counted != NULL ? counted->p50_ns : values[n / 2];
  steps->p99_ns = counted != NULL ? counted->p99_ns : values[(n * 99 + 99) / 100 - 1];
  free (values);
  for (size_t i = 0; i < n; i++)
    {
      const LnsSpan *span = &maker->steps.items[i];
      const int64_t ns = span->end_ns - span->start_ns;
      *lns_array_add (&steps->all) = describe (maker, i);
      if ((double)ns <= SLOW * (double)steps->p50_ns)
        continue;
      steps->all.items[i].is_slow = true;
      steps->n_slow++;
      LnsStep step = steps->all.items[i];
      const unsigned column = excess_of (maker, i, medians, &step.excess_ns);
      step.is_busy = column == 0;
      step.cause = column == 0 ? LNS_CAUSE_UNKNOWN : (LnsCause)(column - 1);
      *lns_array_add (&steps->outliers) = step;
    }
  /* Where many are long, lengths differ, and none is slow. */
  if (n_all < LEAST_FOR_SLOW || steps->n_slow > MOST_SLOW (n_all))
    {
      for (size_t i = 0; i < n; i++)
        steps->all.items[i].is_slow = false;
      steps->n_slow = 0;
    }
  if (steps->outliers.n > 0)
    qsort (steps->outliers.items, steps->outliers.n, sizeof *steps->outliers.items, compare_steps);
  for (; n_slow < steps->outliers.n; n_slow++)
    {
      const LnsStep *step = &steps->outliers.items[n_slow], *worst = &steps->outliers.items[0];
      const int64_t ns = step->end_ns - step->start_ns - steps->p50_ns;
      if ((double)ns < SMALL * (double)(worst->end_ns - worst->start_ns - steps->p50_ns))
        break;
      for (unsigned k = 0; k < N_COLUMNS; k++)
        excess_ns[k] += maker->step_ns[step->index * N_COLUMNS + k] - medians[k];
      lost_ns += ns;
    }
  const bool are_few = n_slow > 0 && n_all >= LEAST_FOR_SLOW && n_slow <= MOST_SLOW (n_all);
  if (are_few && work != NULL && !steps->is_kernel && excess_ns[0] > 0)
    {
      int64_t reason_ns = 0;
      if (!own_excess (maker, work, n_slow, excess_ns[0], &excess_ns[0], error))
        return false;
      for (unsigned k = 0; k < N_COLUMNS; k++)
        reason_ns += excess_ns[k] > 0 ? excess_ns[k] : 0;
      lost_ns = lost_ns < reason_ns ? lost_ns : reason_ns;
    }
  unsigned most = 0;
  for (unsigned k = 1; k < N_COLUMNS; k++)
    most = excess_ns[k] > excess_ns[most] ? k : most;
  /* Steps that are long by what was not recorded, or is not known, accuse nobody. */
  if (are_few && maker->why->ledgers.n > 0 && most != 1 + LNS_CAUSE_NOT_RECORDED &&
      most != 1 + LNS_CAUSE_UNKNOWN && lost_ns > 0 && (most != 0 || knows_work (maker)))
    {
      LnsWhyFinding *finding =
          _lns_why_add_finding (maker, LNS_CAUSE_SLOW_STEP, 0, lost_ns, n_slow);
      const LnsStep *worst = &steps->outliers.items[0];
      finding->part = most == 0 ? LNS_CAUSE_UNKNOWN : (LnsCause)(most - 1);
      finding->part_ns = excess_ns[most];
      finding->n_steps = n_slow;
      finding->longest = evidence_of (maker, worst);
      const int64_t worst_ns = worst->end_ns - worst->start_ns - steps->p50_ns;
      finding->longest_ns = worst_ns < lost_ns ? worst_ns : lost_ns;
      finding->own.thread = most == 0 ? steps->thread : slow_thread (maker, finding->part, n_slow);
      finding->confidence = confidence_of (maker, finding->part);
      for (size_t i = 0; i < n_slow && i < LNS_MAX_EVIDENCE; i++)
        finding->evidence[finding->n_evidence++] = evidence_of (maker, &steps->outliers.items[i]);
      LnsWhyCosts costs = { 0 };
      for (size_t i = 0; i < n_slow; i++)
        {
          const LnsStep *step = &steps->outliers.items[i];
          _lns_why_note_cost (maker, &costs, step->start_ns, step->end_ns,
                              step->end_ns - step->start_ns - steps->p50_ns);
        }
      _lns_why_give_costs (maker, finding, &costs);
    }
  if (steps->outliers.n > 8)
    steps->outliers.n = 8;
  return true;
}
