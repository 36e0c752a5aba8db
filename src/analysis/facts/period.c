/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Words of one, two, four, … symbols that come at regular distances may begin a repetition. A few of them, with different
 * distances, are looked at closely: how much of the sequence is alike from one to the next. */

#include "src/analysis/facts/period.h"

#include <math.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/id-map.h"
#include "src/base/memory.h"

/* So many repetitions count, and this share of all symbols. */
#define LEAST_REPETITIONS 4
#define LEAST_SHARE       0.8

/* A repetition is alike if it has this share of the typical one. */
#define ALIKE 0.75

/* A longer period explains so much more of the symbols than a shorter one within it: the layers of a model are no steps. */
#define BETTER 0.01

/* So many words of one length are told apart; further ones are too rare to matter. */
#define MOST_WORDS 65536

/* So many periods are looked at closely. */
#define MOST_TRIALS 24

/* Periods whose logarithms fall into one of so many classes for each power of two count as one. */
#define CLASSES 16

/* After an added, missing or wrong symbol, the sequences agree again within so many, for so many. */
#define MOST_SHIFT      8
#define LEAST_AGREEMENT 3

/* A word, and how it comes again. */
typedef struct
{
  size_t first, last;
  size_t n;
  double sum, sum_of_squares; /* of the logarithms of distances                                  */
  uint64_t pause;             /* sum                                                             */
} Word;

/* A word that may begin a repetition. */
typedef struct
{
  size_t first, n;
  unsigned size;
  double length, variance; /* of the distances' logarithm, base 2: mean, as a length; variance   */
  double pause;            /* mean                                                               */
  double score;
  size_t typical; /* symbols of the typical repetition                                           */
} Candidate;

typedef LNS_ARRAY (Candidate) Candidates;

typedef struct
{
  const uint32_t *symbols;
  size_t n;
  double collision; /* how probable it is that two symbols are the same                          */
  size_t *cuts;     /* where repetitions of the candidate at hand begin                          */
  size_t n_cuts, n_allocated;
} Sequence;

/* --- Words at regular distances --------------------------------------------------------------- */

/* How much the logarithm of N distances may vary. Distances of random words do by 3.4; few of them may be alike by chance. */
static double
most_variance (size_t n)
{
  return n < 8 ? 0.04 : n < 32 ? 0.2 : 1.0;
}

/* Adds the words of SIZE symbols that come at regular distances. IDS has the word, from 1 on, that begins at each place, or 0.
 */
static void
add_candidates (const uint32_t *ids,
                const uint8_t *pauses,
                size_t n,
                unsigned size,
                Word *words,
                Candidates *candidates)
{
  memset (words, 0, MOST_WORDS * sizeof *words);
  for (size_t i = 0; i < n; i++)
    {
      if (ids[i] == 0)
        continue;
      Word *word = &words[ids[i] - 1];
      if (word->n++ == 0)
        word->first = i;
      else if (i - word->last > 1)
        {
          const double distance = log2f ((float)(i - word->last));
          word->sum += distance;
          word->sum_of_squares += distance * distance;
        }
      word->last = i;
      word->pause += pauses != NULL ? pauses[i] : 0;
    }
  for (size_t i = 0; i < MOST_WORDS; i++)
    {
      const Word *word = &words[i];
      if (word->n < LEAST_REPETITIONS)
        continue;
      const double n_distances = (double)(word->n - 1), mean = word->sum / n_distances,
                   variance = word->sum_of_squares / n_distances - mean * mean,
                   length = exp2 (mean);
      if (length < 1.5 || variance > most_variance (word->n - 1) ||
          (double)(word->last - word->first) + length < LEAST_SHARE * (double)n)
        continue;
      *lns_array_add (candidates) = (Candidate){ .first = word->first,
                                                 .n = word->n,
                                                 .size = size,
                                                 .length = length,
                                                 .variance = variance > 0 ? variance : 0,
                                                 .pause = (double)word->pause / (double)word->n };
    }
}

/* Numbers pairs of ids HALF apart, or, if that is 0, the symbols themselves. Returns false if there are more than can be told
 * apart; those have 0. */
static bool
number_words (const uint32_t *symbols, uint32_t *ids, size_t n, size_t half)
{
  LnsIdMap index = { 0 };
  uint64_t last_key = 0, last_id = 0;

  for (size_t i = 0; i < n; i++)
    {
      const uint32_t second = half == 0 ? 0 : i + half < n ? ids[i + half] : 0;
      const uint64_t key = half == 0 ? symbols[i] : (uint64_t)ids[i] << 32 | second;
      if (half > 0 && (ids[i] == 0 || second == 0))
        {
          ids[i] = 0;
          continue;
        }
      if (last_id == 0 || key != last_key)
        {
          last_key = key;
          last_id = lns_id_map_number (&index, key);
          if (last_id == 0 && index.n < MOST_WORDS)
            {
              last_id = index.n + 1;
              lns_id_map_set_number (&index, key, last_id);
            }
        }
      ids[i] = (uint32_t)last_id;
    }
  const bool is_all = index.n < MOST_WORDS;
  lns_id_map_clear (&index);
  return is_all;
}

/* How probable it is that two symbols are the same. IDS numbers them. */
static double
collision_of (const uint32_t *ids, size_t n)
{
  uint32_t *counts = lns_calloc (MOST_WORDS + 1, sizeof *counts);
  double sum = 0;

  for (size_t i = 0; i < n; i++)
    counts[ids[i]]++;
  for (size_t i = 1; i <= MOST_WORDS; i++)
    sum += (double)counts[i] / (double)n * ((double)counts[i] / (double)n);
  free (counts);
  return sum;
}

/* --- What is between -------------------------------------------------------------------------- */

/* Whether A and B begin with the same symbols. */
static bool
agree (const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b)
{
  const size_t n_both = n_a < n_b ? n_a : n_b,
               n = n_both < LEAST_AGREEMENT ? n_both : LEAST_AGREEMENT;
  return n > 0 && *a == *b && memcmp (a, b, n * sizeof *a) == 0;
}

/* How many symbols of A and B are the same in the same order. Runs shorter than LEAST_RUN, which may be chance, do not count.
 * 0 where B is surely not alike. */
static size_t
agreement (const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b, size_t least_run)
{
  size_t i = 0, k = 0, run = 0, sum = 0;

  if (n_a == n_b && memcmp (a, b, n_a * sizeof *a) == 0)
    return n_a;
  while (i < n_a && k < n_b)
    {
      if (a[i] == b[k])
        {
          run++;
          i++;
          k++;
          continue;
        }
      size_t shift_a = 1, shift_b = 1;
      for (size_t shift = 1; shift <= MOST_SHIFT; shift++)
        {
          const bool has_a = i + shift < n_a, has_b = k + shift < n_b;
          const bool is_both =
                         has_a && has_b &&
                         agree (a + i + shift, n_a - i - shift, b + k + shift, n_b - k - shift),
                     is_b = has_b && agree (a + i, n_a - i, b + k + shift, n_b - k - shift),
                     is_a = has_a && agree (a + i + shift, n_a - i - shift, b + k, n_b - k);
          if (is_both || is_b || is_a)
            {
              shift_a = is_both || !is_b ? shift : 0;
              shift_b = is_both || is_b ? shift : 0;
              break;
            }
        }
      sum += run >= least_run ? run : 0;
      run = 0;
      if ((double)(i - sum) > (1 - ALIKE) * (double)n_a)
        return 0;
      i += shift_a;
      k += shift_b;
    }
  return sum + (run >= least_run ? run : 0);
}

/* Notes where the word of CANDIDATE is. */
static void
find_cuts (Sequence *sequence, const Candidate *candidate)
{
  const uint32_t *symbols = sequence->symbols, *word = symbols + candidate->first;

  sequence->n_cuts = 0;
  for (size_t i = 0; i + candidate->size <= sequence->n; i++)
    if (symbols[i] == word[0] && memcmp (symbols + i, word, candidate->size * sizeof *word) == 0)
      {
        if (sequence->n_cuts == sequence->n_allocated)
          sequence->cuts = lns_array_grow_ (sequence->cuts, sequence->n_cuts,
                                            &sequence->n_allocated, sizeof *sequence->cuts);
        sequence->cuts[sequence->n_cuts++] = i;
      }
}

/* How long the repetition from cut I is. */
static size_t
length_of (const Sequence *sequence, size_t i)
{
  return (i + 1 < sequence->n_cuts ? sequence->cuts[i + 1] : sequence->n) - sequence->cuts[i];
}

/* How many symbols of every STRIDEth repetition, and of how many repetitions, are as the typical one from cut REFERENCE. Stops
 * where too few can be. */
static size_t
alike (
    const Sequence *sequence, size_t reference, size_t stride, size_t least_run, size_t *ret_alike)
{
  const uint32_t *typical = sequence->symbols + sequence->cuts[reference];
  const size_t length = length_of (sequence, reference);
  const double most_lost = (1 - LEAST_SHARE) * (double)sequence->n;
  size_t sum = 0, lost = 0;

  *ret_alike = 0;
  for (size_t i = 0; i < sequence->n_cuts && (double)lost <= most_lost; i += stride)
    {
      const size_t whole = length_of (sequence, i),
                   n = whole < length + MOST_SHIFT ? whole : length + MOST_SHIFT,
                   same = agreement (typical, length, sequence->symbols + sequence->cuts[i],
                                     whole >= 2 * length ? length : n, least_run);
      if ((double)same < ALIKE * (double)length)
        {
          lost += whole;
          continue;
        }
      sum += same;
      ++*ret_alike;
    }
  return sum;
}

/* Sets the score of CANDIDATE: which share of all symbols repeats. */
static void
judge (Sequence *sequence, Candidate *candidate)
{
  size_t best = 0, most = 0, n_alike;

  find_cuts (sequence, candidate);
  /* So long must a run be to come about by chance in one of 16 repetitions only. */
  const double chance = -log (sequence->collision);
  double least_run = chance > 0 ? ceil (log (16 * candidate->length) / chance) : candidate->length;
  least_run = least_run > candidate->length / 2 ? candidate->length / 2 : least_run;
  const size_t run = least_run > 1 ? (size_t)least_run : 1;
  /* The typical one is one of a few that have the typical length. */
  const size_t stride = sequence->n_cuts / 16 + 1;
  for (unsigned k = 1; k <= 3; k++)
    {
      size_t reference = 0;
      double nearest = INFINITY;
      for (size_t i = sequence->n_cuts * (2 * k - 1) / 8, end = i + 64;
           i + 1 < sequence->n_cuts && i < end && nearest > 0.5; i++)
        {
          const double off = fabs ((double)length_of (sequence, i) - candidate->length);
          if (off < nearest)
            {
              nearest = off;
              reference = i;
            }
        }
      const size_t sum = alike (sequence, reference, stride, run, &n_alike);
      if (sum > most)
        {
          most = sum;
          best = reference;
        }
    }
  const size_t sum = alike (sequence, best, 1, run, &n_alike);
  candidate->typical = length_of (sequence, best);
  candidate->score = n_alike < LEAST_REPETITIONS ? 0 : (double)sum / (double)sequence->n;
}

/* --- The best --------------------------------------------------------------------------------- */

static int
compare_variances (const void *a, const void *b)
{
  const Candidate *ca = a, *cb = b;
  return LNS_COMPARE (ca->variance, cb->variance) ?: LNS_COMPARE (ca->first, cb->first);
}

static int
compare_lengths (const void *a, const void *b)
{
  const Candidate *ca = a, *cb = b;
  return LNS_COMPARE (ca->length, cb->length) ?: LNS_COMPARE (ca->first, cb->first);
}

/* The most regular of each class of lengths in RET_TRIALS, by length; returns how many. */
static size_t
choose_trials (const Candidates *candidates, Candidate *ret_trials)
{
  size_t best[64 * CLASSES] = { 0 };
  Candidate *all = lns_calloc (64 * CLASSES, sizeof *all);
  size_t n = 0;

  for (size_t i = 0; i < candidates->n; i++)
    {
      const Candidate *candidate = &candidates->items[i];
      size_t *at = &best[(size_t)(log2 (candidate->length) * CLASSES + 0.5)];
      if (*at == 0 || candidate->variance < candidates->items[*at - 1].variance)
        *at = i + 1;
    }
  for (size_t i = 0; i < 64 * CLASSES; i++)
    if (best[i] != 0)
      all[n++] = candidates->items[best[i] - 1];
  if (n > 1)
    qsort (all, n, sizeof *all, compare_variances);
  n = n < MOST_TRIALS ? n : MOST_TRIALS;
  if (n > 1)
    qsort (all, n, sizeof *all, compare_lengths);
  memcpy (ret_trials, all, n * sizeof *all);
  free (all);
  return n;
}

/* The candidate that cuts as TRIAL does, where pauses are longest. */
static Candidate
move_to_pause (Sequence *sequence, const Candidates *candidates, const Candidate *trial)
{
  Candidate best = *trial;

  for (size_t i = 0; i < candidates->n; i++)
    {
      const Candidate *candidate = &candidates->items[i];
      if (fabs (candidate->length - trial->length) <= 0.02 * trial->length &&
          (double)candidate->n >= 0.97 * (double)trial->n - 1 &&
          candidate->variance <= trial->variance + 0.02 && candidate->pause > best.pause + 0.25)
        best = *candidate;
    }
  if (best.first != trial->first || best.size != trial->size)
    judge (sequence, &best);
  return best.score >= trial->score - BETTER ? best : *trial;
}

bool
lns_period_find (const uint32_t *symbols, const uint8_t *pauses, size_t n, LnsPeriod *ret_period)
{
  Candidates candidates = { 0 };
  Sequence sequence = { .symbols = symbols, .n = n };
  Candidate trials[MOST_TRIALS];
  double most = 0;

  if (n < 2 * LEAST_REPETITIONS)
    return false;
  uint32_t *ids = lns_calloc (n, sizeof *ids);
  Word *words = lns_calloc (MOST_WORDS, sizeof *words);
  bool goes_on = true; /* where most words are rare, longer ones are rarer */
  for (unsigned size = 1; goes_on && size <= LNS_PERIOD_ANCHOR; size *= 2)
    {
      goes_on = number_words (symbols, ids, n, size / 2);
      if (size == 1)
        sequence.collision = collision_of (ids, n);
      add_candidates (ids, pauses, n, size, words, &candidates);
    }
  free (words);
  free (ids);
  const size_t n_trials = choose_trials (&candidates, trials);
  for (size_t i = 0; i < n_trials && most < 1 - BETTER; i++)
    {
      judge (&sequence, &trials[i]);
      most = trials[i].score > most ? trials[i].score : most;
    }
  const bool found = most >= LEAST_SHARE;
  for (size_t i = 0; found && i < n_trials; i++)
    if (trials[i].score >= LEAST_SHARE && trials[i].score >= most - BETTER)
      {
        const Candidate best = move_to_pause (&sequence, &candidates, &trials[i]);
        *ret_period = (LnsPeriod){
          .first = best.first, .anchor = best.size, .length = best.typical, .n = best.n
        };
        break;
      }
  free (sequence.cuts);
  lns_array_clear (&candidates);
  return found;
}
