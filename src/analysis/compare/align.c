/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/align.h"

#include <string.h>

#include "src/base/memory.h"

/* How well A and B fit; 0: they are not the same. */
static uint32_t
likeness (const LnsStepOperation *a, const LnsStepOperation *b)
{
  if (a->name == b->name)
    return a->range == b->range ? 16 : 12;
  if (a->short_name == b->short_name)
    return a->range == b->range ? 10 : 8;
  if (a->shape != 0 && a->shape == b->shape)
    return a->range == b->range ? 5 : 0;
  /* A kernel of another shape, launched at the same place of the program. */
  return a->shape != 0 && b->shape != 0 && a->range != 0 && a->range == b->range ? 2 : 0;
}

typedef struct
{
  const LnsStepOperation *a, *b;
  LnsAlignment *found;
  uint32_t *forward, *backward; /* n_b + 1 each */
} Aligner;

static void
pair (Aligner *aligner, size_t a, size_t b)
{
  *lns_array_add (aligner->found) = (LnsAligned){ a, b };
}

/* Fills ROW with the best sums of A's operations from A to A_END with each beginning of those of B from B to B_END; backwards, of the
 * ends. */
static void
sum (
    Aligner *aligner, size_t a, size_t a_end, size_t b, size_t b_end, bool backwards, uint32_t *row)
{
  const size_t n_a = a_end - a, n_b = b_end - b;

  memset (row, 0, (n_b + 1) * sizeof *row);
  for (size_t i = 0; i < n_a; i++)
    {
      const LnsStepOperation *own = &aligner->a[backwards ? a_end - 1 - i : a + i];
      uint32_t diagonal = row[0];
      for (size_t k = 1; k <= n_b; k++)
        {
          const uint32_t above = row[k],
                         fit = likeness (own, &aligner->b[backwards ? b_end - k : b + k - 1]);
          uint32_t best = above > row[k - 1] ? above : row[k - 1];
          if (fit > 0 && diagonal + fit > best)
            best = diagonal + fit;
          row[k] = best;
          diagonal = above;
        }
    }
}

static void
align (Aligner *aligner, size_t a, size_t a_end, size_t b, size_t b_end)
{
  while (a < a_end && b < b_end && likeness (&aligner->a[a], &aligner->b[b]) == 16)
    pair (aligner, a++, b++);
  size_t n_tail = 0;
  while (a + n_tail < a_end && b + n_tail < b_end &&
         likeness (&aligner->a[a_end - 1 - n_tail], &aligner->b[b_end - 1 - n_tail]) == 16)
    n_tail++;
  a_end -= n_tail;
  b_end -= n_tail;
  if (a == a_end || b == b_end)
    {
      for (; a < a_end; a++)
        pair (aligner, a, SIZE_MAX);
      for (; b < b_end; b++)
        pair (aligner, SIZE_MAX, b);
    }
  else if (a_end - a == 1)
    {
      size_t best = b;
      for (size_t k = b; k < b_end; k++)
        if (likeness (&aligner->a[a], &aligner->b[k]) >
            likeness (&aligner->a[a], &aligner->b[best]))
          best = k;
      const bool is_same = likeness (&aligner->a[a], &aligner->b[best]) > 0;
      if (!is_same)
        pair (aligner, a, SIZE_MAX);
      for (size_t k = b; k < b_end; k++)
        pair (aligner, is_same && k == best ? a : SIZE_MAX, k);
    }
  else
    {
      const size_t middle = a + (a_end - a) / 2, n = b_end - b;
      size_t best = 0;
      sum (aligner, a, middle, b, b_end, false, aligner->forward);
      sum (aligner, middle, a_end, b, b_end, true, aligner->backward);
      for (size_t k = 0; k <= n; k++)
        if (aligner->forward[k] + aligner->backward[n - k] >
            aligner->forward[best] + aligner->backward[n - best])
          best = k;
      align (aligner, a, middle, b, b + best);
      align (aligner, middle, a_end, b + best, b_end);
    }
  for (size_t i = 0; i < n_tail; i++)
    pair (aligner, a_end + i, b_end + i);
}

LnsAlignment
lns_align (const LnsStepOperation *a, size_t n_a, const LnsStepOperation *b, size_t n_b)
{
  LnsAlignment found = { 0 };
  Aligner aligner = { .a = a,
                      .b = b,
                      .found = &found,
                      .forward = lns_calloc (n_b + 1, sizeof (uint32_t)),
                      .backward = lns_calloc (n_b + 1, sizeof (uint32_t)) };

  align (&aligner, 0, n_a, 0, n_b);
  free (aligner.forward);
  free (aligner.backward);
  return found;
}
