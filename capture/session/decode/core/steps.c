/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where no range is named, the step of a process is found: the outermost push/pop range that repeats, on the first thread of the
 * process if that has one. It is chosen once, as early as can be told, because what is not decided waits in memory. */

#include "capture/session/decode/core/steps.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash.h"
#include "src/base/id-map.h"
#include "src/base/plain-name.h"
#include "src/base/saturate.h"

/* A range is a step from so many repetitions on, if they fill half of the time from the first to the last, or a twentieth if they are
 * many … */
#define LEAST_REPEATS 8
#define MANY_REPEATS  64
#define LEAST_AT_END  4

/* … and if nothing is around it, or something that lasts for so long that it is hardly a step itself. */
#define AROUND_NS INT64_C (5000000000)

/* Of steps that are not slow, the first LNS_STEP_LEAST and one of so many are kept, so that it can be seen what is usual. */
#define SAMPLE_EVERY 1000

/* What a search remembers at most: ranges by name and place, and repetitions of each. */
#define MOST_CANDIDATES 4096
#define MOST_REPEATS    1024

/* Ranges that frameworks make around single operators: no steps. */
static const char *const operators[] = { "aten::", "autograd::", "torch::", "c10" };

typedef struct
{
  int64_t start_ns, end_ns;
} Stretch;

typedef LNS_ARRAY (Stretch) Stretches;

/* Ranges of one name at one depth of one thread in one domain. */
typedef struct
{
  LnsStepRange range;
  uint64_t n;
  int64_t sum_ns, first_ns, last_ns;
  Stretches repeats; /* the first MOST_REPEATS */
} Candidate;

/* A step that has not ended. */
typedef struct
{
  uint32_t thread, domain, depth;
  LnsStepSeries *series;
  int64_t start_ns;
  bool is_guess; /* one that began after `start_ns` may be open */
} OpenStep;

struct LnsSteps
{
  LnsStepRule rule;
  uint64_t wanted; /* key of the rule's range, or 0 */
  int64_t floor_ns;
  LnsIdMap series_of;                 /* LnsStepSeries by 1 + process */
  LNS_ARRAY (LnsStepSeries *) series; /* owned */
  LNS_ARRAY (OpenStep) open;
  Stretches kept;      /* in order, and apart */
  LnsIdMap candidates; /* Candidate by hash of its place */
};

/* --- What is kept ----------------------------------------------------------------------------- */

/* The number of stretches that begin at TIME_NS or before. */
static size_t
n_begun (const Stretches *stretches, int64_t time_ns)
{
  size_t first = 0, n = stretches->n;
  while (n > 0)
    {
      const size_t half = n / 2;
      if (stretches->items[first + half].start_ns <= time_ns)
        {
          first += half + 1;
          n -= half + 1;
        }
      else
        n = half;
    }
  return first;
}

/* Adds the time from START_NS to END_NS, and joins what touches it. Steps end about in order, so that it is near the end. Returns
 * false if memory is short. */
static bool
keep (Stretches *kept, int64_t start_ns, int64_t end_ns)
{
  size_t at = n_begun (kept, start_ns);
  if (at > 0 && kept->items[at - 1].end_ns >= start_ns)
    at--;
  else
    {
      if (lns_array_try_add (kept) == NULL)
        return false;
      memmove (&kept->items[at + 1], &kept->items[at], (kept->n - 1 - at) * sizeof *kept->items);
      kept->items[at] = (Stretch){ start_ns, end_ns };
    }
  Stretch *joined = &kept->items[at];
  joined->end_ns = end_ns > joined->end_ns ? end_ns : joined->end_ns;
  size_t next = at + 1;
  for (; next < kept->n && kept->items[next].start_ns <= joined->end_ns; next++)
    if (kept->items[next].end_ns > joined->end_ns)
      joined->end_ns = kept->items[next].end_ns;
  memmove (joined + 1, &kept->items[next], (kept->n - next) * sizeof *kept->items);
  kept->n -= next - at - 1;
  return true;
}

bool
_lns_steps_keep (const LnsSteps *steps, int64_t start_ns, int64_t end_ns)
{
  const bool has_length = end_ns > start_ns;
  const size_t n = n_begun (&steps->kept, has_length ? end_ns - 1 : end_ns);
  return n > 0 && steps->kept.items[n - 1].end_ns >= start_ns + has_length;
}

bool
_lns_steps_kept (const LnsSteps *steps, size_t index, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  if (index >= steps->kept.n)
    return false;
  *ret_start_ns = steps->kept.items[index].start_ns;
  *ret_end_ns = steps->kept.items[index].end_ns;
  return true;
}

/* Whether a step of SERIES that takes LENGTH_NS is longer than the rule's limit. */
static bool
is_slow (const LnsSteps *steps, const LnsStepSeries *series, int64_t length_ns)
{
  int64_t ns;
  if (steps->rule.quantile == 0)
    return length_ns > steps->rule.limit_ns;
  return _lns_step_lengths_recent (&series->lengths, steps->rule.quantile, &ns) &&
         (double)length_ns > steps->rule.factor * (double)ns;
}

/* The same with AROUND_NS before and after it, and without what is decided already. */
static bool
keep_with (LnsSteps *steps, int64_t start_ns, int64_t end_ns, int64_t around_ns)
{
  start_ns = lns_difference (start_ns, around_ns);
  return keep (&steps->kept, start_ns > steps->floor_ns ? start_ns : steps->floor_ns,
               lns_sum (end_ns, around_ns));
}

static void
judge (LnsSteps *steps, LnsStepSeries *series, int64_t start_ns, int64_t end_ns)
{
  const int64_t length_ns = end_ns > start_ns ? end_ns - start_ns : 0;
  const bool slow = is_slow (steps, series, length_ns);
  series->n_slow += slow;
  if ((slow || series->lengths.n < LNS_STEP_LEAST || series->lengths.n % SAMPLE_EVERY == 0) &&
      end_ns >= steps->floor_ns)
    series->n_kept += keep_with (steps, start_ns, end_ns, slow ? steps->rule.around_ns : 0);
  _lns_step_lengths_add (&series->lengths, length_ns);
}

/* --- Which ranges are steps ------------------------------------------------------------------- */

static uint64_t
key_of (const char *bytes, size_t n_bytes)
{
  char plain[LNS_PLAIN_NAME_SIZE];
  return lns_hash (plain, lns_plain_title (bytes, n_bytes, plain)) | 1;
}

/* The key of NAME, which remembers it. */
static uint64_t
key_of_name (LnsName *name)
{
  if (name->key == 0)
    name->key = key_of (name->bytes, name->n_bytes);
  return name->key;
}

/* The steps of the process of RANGE, of which that is one; NULL if memory is short. */
static LnsStepSeries *
add_series (LnsSteps *steps, const LnsStepRange *range)
{
  LnsStepSeries *series = calloc (1, sizeof *series);
  LnsStepSeries **added = series != NULL ? lns_array_try_add (&steps->series) : NULL;
  if (added == NULL || !lns_id_map_set (&steps->series_of, (uint64_t)range->process + 1, series))
    {
      steps->series.n -= added != NULL;
      free (series);
      return NULL;
    }
  series->process = range->process;
  series->domain = range->domain;
  series->name = lns_name_ref (range->name);
  series->key = key_of_name (range->name);
  *added = series;
  return series;
}

static bool
is_wanted (const LnsSteps *steps, const LnsStepRange *range)
{
  const LnsStepRule *rule = &steps->rule;
  const LnsName *domain = range->domain_name;
  return key_of_name (range->name) == steps->wanted &&
         (strcmp (rule->domain, "*") == 0 ||
          (domain == NULL ? rule->domain[0] == '\0'
                          : strlen (rule->domain) == domain->n_bytes &&
                                memcmp (rule->domain, domain->bytes, domain->n_bytes) == 0));
}

/* The series that RANGE is a step of; NULL if it is none, or that is not known yet. */
static LnsStepSeries *
series_of (LnsSteps *steps, const LnsStepRange *range)
{
  if (range->name == NULL || (steps->wanted != 0 && !is_wanted (steps, range)))
    return NULL;
  LnsStepSeries *series = lns_id_map_get (&steps->series_of, (uint64_t)range->process + 1);
  if (series == NULL && steps->wanted != 0)
    return add_series (steps, range);
  return series != NULL && series->domain == range->domain &&
                 series->key == key_of_name (range->name)
             ? series
             : NULL;
}

static OpenStep *
open_at (LnsSteps *steps, const LnsStepRange *range)
{
  for (size_t i = 0; i < steps->open.n; i++)
    if (steps->open.items[i].thread == range->thread &&
        steps->open.items[i].domain == range->domain)
      return &steps->open.items[i];
  return NULL;
}

static void
close_step (LnsSteps *steps, OpenStep *step)
{
  *step = steps->open.items[--steps->open.n];
}

void
_lns_steps_push (LnsSteps *steps, const LnsStepRange *range, int64_t start_ns)
{
  if (!steps->rule.has_steps)
    return;
  LnsStepSeries *series = series_of (steps, range);
  OpenStep *open = steps->open.n > 0 ? open_at (steps, range) : NULL;
  if (open != NULL && open->depth < range->depth)
    return; /* a step within a step is a part of that */
  if (open != NULL)
    close_step (steps, open); /* its end was lost */
  if (series != NULL && (open = lns_array_try_add (&steps->open)) != NULL)
    *open = (OpenStep){ .thread = range->thread,
                        .domain = range->domain,
                        .depth = range->depth,
                        .series = series,
                        .start_ns = start_ns };
}

void
_lns_steps_lose (LnsSteps *steps, const LnsStepRange *range)
{
  OpenStep *open = open_at (steps, range);
  if (open != NULL && open->depth >= range->depth)
    close_step (steps, open);
}

/* --- The search ------------------------------------------------------------------------------- */

static bool
is_operator (const LnsName *name)
{
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    {
      const size_t n = strlen (operators[i]);
      if (name->n_bytes >= n && memcmp (name->bytes, operators[i], n) == 0)
        return true;
    }
  return false;
}

static Candidate *
candidate_of (LnsSteps *steps, const LnsStepRange *range)
{
  const uint64_t place[] = { (uint64_t)range->process << 32 | range->thread,
                             (uint64_t)range->domain << 32 | range->depth,
                             key_of_name (range->name) };
  const uint64_t key = lns_hash (place, sizeof place) | 1;
  Candidate *candidate = lns_id_map_get (&steps->candidates, key);
  if (candidate != NULL || steps->candidates.n >= MOST_CANDIDATES)
    return candidate;
  candidate = calloc (1, sizeof *candidate);
  if (candidate == NULL || !lns_id_map_set (&steps->candidates, key, candidate))
    {
      free (candidate);
      return NULL;
    }
  candidate->range = *range;
  lns_name_ref (range->name);
  return candidate;
}

static void
consider (LnsSteps *steps, const LnsStepRange *range, int64_t start_ns, int64_t end_ns)
{
  if (range->name == NULL || is_operator (range->name) ||
      lns_id_map_get (&steps->series_of, (uint64_t)range->process + 1) != NULL)
    return;
  Candidate *candidate = candidate_of (steps, range);
  if (candidate == NULL)
    return;
  if (candidate->n++ == 0)
    candidate->first_ns = start_ns;
  candidate->last_ns = end_ns;
  candidate->sum_ns += end_ns - start_ns;
  candidate->range.around_ns = range->around_ns;
  Stretch *repeat =
      candidate->repeats.n < MOST_REPEATS ? lns_array_try_add (&candidate->repeats) : NULL;
  if (repeat != NULL)
    *repeat = (Stretch){ start_ns, end_ns };
}

static bool
is_step (const Candidate *candidate, bool at_end)
{
  const bool are_many = at_end || candidate->n >= MANY_REPEATS;
  return candidate->n >= (at_end ? LEAST_AT_END : LEAST_REPEATS) &&
         candidate->sum_ns >= (candidate->last_ns - candidate->first_ns) / (are_many ? 20 : 2) &&
         (at_end || candidate->range.around_ns == INT64_MAX ||
          candidate->last_ns - candidate->range.around_ns >= AROUND_NS);
}

/* Whether A is the better step of a process: on its first thread, else with more time. Of ranges within each other, the outer one has
 * more. */
static bool
is_better (const Candidate *a, const Candidate *b)
{
  if (a->range.is_of_main_thread != b->range.is_of_main_thread)
    return a->range.is_of_main_thread;
  return a->sum_ns > b->sum_ns || (a->sum_ns == b->sum_ns && a->range.depth < b->range.depth);
}

static void
free_candidate (Candidate *candidate)
{
  lns_name_unref (candidate->range.name);
  lns_array_clear (&candidate->repeats);
  free (candidate);
}

/* Frees the candidates of PROCESS, or all of them. */
static void
forget_candidates (LnsSteps *steps, uint32_t process, bool all)
{
  LnsIdMap others = { 0 };
  for (size_t i = 0; i < steps->candidates.n_places; i++)
    {
      Candidate *candidate = steps->candidates.entries[i].value;
      if (candidate == NULL)
        continue;
      if (all || candidate->range.process == process ||
          !lns_id_map_set (&others, steps->candidates.entries[i].key, candidate))
        free_candidate (candidate);
    }
  lns_id_map_clear (&steps->candidates);
  steps->candidates = others;
}

/* Takes the best candidate of a process that has no steps yet, and judges its repetitions. Returns false if there is none. */
static bool
choose_one (LnsSteps *steps, bool at_end)
{
  Candidate *best = NULL, *candidate;
  for (size_t at = 0; (candidate = lns_id_map_next (&steps->candidates, &at)) != NULL;)
    if (is_step (candidate, at_end) &&
        (best == NULL || (candidate->range.process == best->range.process
                              ? is_better (candidate, best)
                              : candidate->range.process < best->range.process)))
      best = candidate;
  if (best == NULL)
    return false;
  LnsStepSeries *series = add_series (steps, &best->range);
  for (size_t i = 0; series != NULL && i < best->repeats.n; i++)
    judge (steps, series, best->repeats.items[i].start_ns, best->repeats.items[i].end_ns);
  /* The next one may be open already. */
  OpenStep *open = series != NULL ? lns_array_try_add (&steps->open) : NULL;
  if (open != NULL)
    *open = (OpenStep){ .thread = best->range.thread,
                        .domain = best->range.domain,
                        .depth = best->range.depth,
                        .series = series,
                        .start_ns = best->last_ns,
                        .is_guess = true };
  if (series != NULL)
    series->n_unjudged = best->n - best->repeats.n;
  forget_candidates (steps, best->range.process, false);
  return true;
}

void
_lns_steps_pop (LnsSteps *steps, const LnsStepRange *range, int64_t start_ns, int64_t end_ns)
{
  if (!steps->rule.has_steps)
    return;
  OpenStep *open = steps->open.n > 0 ? open_at (steps, range) : NULL;
  if (open != NULL && open->depth == range->depth && series_of (steps, range) == open->series)
    judge (steps, open->series, start_ns, end_ns);
  if (open != NULL && open->depth >= range->depth)
    close_step (steps, open);
  else if (open == NULL && steps->wanted == 0)
    consider (steps, range, start_ns, end_ns);
}

/* --- All -------------------------------------------------------------------------------------- */

LnsSteps *
_lns_steps_new (const LnsStepRule *rule, int64_t start_ns)
{
  LnsSteps *steps = calloc (1, sizeof *steps);
  if (steps == NULL)
    return NULL;
  steps->rule = *rule;
  steps->floor_ns = start_ns;
  if (rule->range[0] != '\0')
    steps->wanted = key_of (rule->range, strlen (rule->range));
  return steps;
}

void
_lns_steps_free (LnsSteps *steps)
{
  if (steps == NULL)
    return;
  forget_candidates (steps, 0, true);
  for (size_t i = 0; i < steps->series.n; i++)
    {
      lns_name_unref (steps->series.items[i]->name);
      free (steps->series.items[i]);
    }
  lns_array_clear (&steps->series);
  lns_id_map_clear (&steps->series_of);
  lns_array_clear (&steps->open);
  lns_array_clear (&steps->kept);
  free (steps);
}

void
_lns_steps_give_up (LnsSteps *steps, int64_t floor_ns)
{
  if (floor_ns > steps->floor_ns)
    steps->floor_ns = floor_ns;
}

int64_t
_lns_steps_settle (LnsSteps *steps, int64_t reached_ns)
{
  while (steps->candidates.n > 0 && choose_one (steps, false))
    ;
  /* Where the range is named, what comes before its first step is no step. */
  const bool is_known = steps->series.n > 0 || steps->wanted != 0 || !steps->rule.has_steps;
  int64_t decided_ns = is_known ? reached_ns : steps->floor_ns;
  for (size_t i = 0; i < steps->open.n; i++)
    if (steps->open.items[i].start_ns < decided_ns)
      decided_ns = steps->open.items[i].start_ns;
  /* What is decided stays so: steps of a process whose steps are found later are kept from here on. */
  _lns_steps_give_up (steps, lns_difference (decided_ns, steps->rule.around_ns));
  return steps->floor_ns;
}

void
_lns_steps_keep_around (LnsSteps *steps, int64_t time_ns)
{
  if (lns_sum (time_ns, steps->rule.around_ns) > steps->floor_ns)
    keep_with (steps, time_ns, time_ns, steps->rule.around_ns);
}

void
_lns_steps_keep_rest (LnsSteps *steps, int64_t end_ns)
{
  if (end_ns > steps->floor_ns)
    keep (&steps->kept, steps->floor_ns, end_ns);
}

bool
_lns_steps_end (LnsSteps *steps, int64_t end_ns)
{
  while (steps->candidates.n > 0 && choose_one (steps, true))
    ;
  for (size_t i = 0; i < steps->open.n; i++)
    if (!steps->open.items[i].is_guess)
      judge (steps, steps->open.items[i].series, steps->open.items[i].start_ns, end_ns);
  steps->open.n = 0;
  return steps->series.n > 0;
}

const LnsStepSeries *
_lns_steps_series (const LnsSteps *steps, size_t index)
{
  return index < steps->series.n ? steps->series.items[index] : NULL;
}
