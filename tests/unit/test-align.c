/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/align.h"

#include "tests/tap.h"
#include "tests/unit/random.h"

#define MOST 200

static uint64_t random_state;

static uint64_t
draw (uint64_t n)
{
  return test_random (&random_state) % n;
}

/* "a" to "z" are names, whose shape is theirs, too. */
static size_t
operations (const char *letters, LnsStepOperation *ret_operations)
{
  size_t n = 0;

  for (; letters[n] != '\0'; n++)
    ret_operations[n] = (LnsStepOperation){ .name = (uint64_t)letters[n],
                                            .short_name = (uint64_t)letters[n],
                                            .shape = 1000 + (uint64_t)letters[n],
                                            .range = 7 };
  return n;
}

/* What is aligned of A and B: "a" for both, "+a" and "-a" for one, "a=b" for two names. */
static const char *
aligned (const LnsStepOperation *a, size_t n_a, const LnsStepOperation *b, size_t n_b)
{
  static char text[4 * MOST];
  LnsAlignment found = lns_align (a, n_a, b, n_b);
  size_t n = 0;

  for (size_t i = 0; i < found.n; i++)
    {
      const LnsAligned *it = &found.items[i];
      if (it->a == SIZE_MAX || it->b == SIZE_MAX)
        n += (size_t)snprintf (text + n, sizeof text - n, "%c%c", it->a == SIZE_MAX ? '+' : '-',
                               (char)(it->a == SIZE_MAX ? b[it->b].name : a[it->a].name));
      else
        n += (size_t)snprintf (text + n, sizeof text - n,
                               a[it->a].name == b[it->b].name ? "%c" : "%c=%c", (char)a[it->a].name,
                               (char)b[it->b].name);
    }
  text[n] = '\0';
  lns_array_clear (&found);
  return text;
}

static const char *
letters_aligned (const char *a, const char *b)
{
  LnsStepOperation as[MOST], bs[MOST];
  const size_t n_a = operations (a, as), n_b = operations (b, bs);

  for (size_t i = 0; i < n_b; i++)
    if (bs[i].name >= 'A' && bs[i].name <= 'Z') /* as the small letter, under another name */
      bs[i].shape = 1000 + bs[i].name - 'A' + 'a';
  return aligned (as, n_a, bs, n_b);
}

static void
test_inserted_and_missing_ones_are_told (void)
{
  LNS_CHECK_STR (letters_aligned ("abc", "abc"), "abc");
  LNS_CHECK_STR (letters_aligned ("", "ab"), "+a+b");
  LNS_CHECK_STR (letters_aligned ("ab", ""), "-a-b");
  LNS_CHECK_STR (letters_aligned ("aabbc", "aaxbbc"), "aa+xbbc");
  LNS_CHECK_STR (letters_aligned ("abcdef", "abdef"), "ab-cdef");
}

static void
test_another_name_of_one_shape_is_the_same (void)
{
  LNS_CHECK_STR (letters_aligned ("abc", "aBc"), "ab=Bc");
  LNS_CHECK_STR (letters_aligned ("abcd", "axBcd"), "a+xb=Bcd");
  LnsStepOperation a = { .name = 'a', .short_name = 'a', .shape = 5, .range = 1 }, b = a;
  b.name = b.short_name = 'b';
  b.range = 2;
  LNS_CHECK_STR (aligned (&a, 1, &b, 1), "-a+b");
}

/* Each operation is aligned once, in order, and as many are the same as the plain algorithm finds. */
static void
test_random_steps (void)
{
  random_state = lns_tap_seed ();
  for (int round = 0; round < 300; round++)
    {
      LnsStepOperation a[MOST / 4], b[MOST / 4];
      const size_t n_a = draw (MOST / 4), n_b = draw (MOST / 4);
      unsigned best[MOST / 4 + 1][MOST / 4 + 1] = { { 0 } };
      for (size_t i = 0; i < n_a; i++)
        a[i] = (LnsStepOperation){ .name = 1 + draw (5), .short_name = 10 + i, .range = 1 };
      for (size_t i = 0; i < n_b; i++)
        b[i] = (LnsStepOperation){ .name = 1 + draw (5), .short_name = 100 + i, .range = 1 };
      for (size_t i = 0; i < n_a; i++)
        for (size_t k = 0; k < n_b; k++)
          {
            const unsigned left = best[i][k + 1], up = best[i + 1][k], both = best[i][k] + 1;
            best[i + 1][k + 1] = a[i].name == b[k].name && both > left && both > up ? both
                                 : left > up                                        ? left
                                                                                    : up;
          }
      LnsAlignment found = lns_align (a, n_a, b, n_b);
      size_t next_a = 0, next_b = 0, n_same = 0;
      for (size_t i = 0; i < found.n; i++)
        {
          const LnsAligned *it = &found.items[i];
          if (it->a != SIZE_MAX)
            LNS_CHECK_INT (it->a, next_a++);
          if (it->b != SIZE_MAX)
            LNS_CHECK_INT (it->b, next_b++);
          if (it->a != SIZE_MAX && it->b != SIZE_MAX)
            {
              LNS_CHECK_INT (a[it->a].name, b[it->b].name);
              n_same++;
            }
        }
      lns_array_clear (&found);
      LNS_CHECK_INT (next_a, n_a);
      LNS_CHECK_INT (next_b, n_b);
      LNS_CHECK_INT (n_same, best[n_a][n_b]);
    }
}

int
main (void)
{
  LNS_TEST (test_inserted_and_missing_ones_are_told);
  LNS_TEST (test_another_name_of_one_shape_is_the_same);
  LNS_TEST (test_random_steps);
  return lns_tap_done ();
}
