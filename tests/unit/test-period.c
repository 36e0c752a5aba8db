/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/period.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tests/unit/random.h"

static uint64_t random_state = 11;

typedef struct
{
  uint32_t *symbols; /* owned */
  uint8_t *pauses;   /* owned */
  size_t n, n_steps;
} Program;

static uint64_t
draw (uint64_t n)
{
  return test_random (&random_state) % n;
}

static void
add (Program *program, uint32_t symbol, uint8_t pause)
{
  program->symbols[program->n] = symbol;
  program->pauses[program->n++] = pause;
}

static Program
new_program (size_t most)
{
  return (Program){ .symbols = calloc (most, sizeof (uint32_t)), .pauses = calloc (most, 1) };
}

static void
clear_program (Program *program)
{
  free (program->symbols);
  free (program->pauses);
}

/* N_STEPS steps of LENGTH names out of N_NAMES, each with a pause before it; one name in WRONG_IN is missing, doubled or another. */
static Program
steps (size_t n_steps, size_t length, uint32_t n_names, uint64_t wrong_in)
{
  Program program = new_program (2 * n_steps * length + 100);
  uint32_t *step = calloc (length, sizeof *step);

  for (size_t i = 0; i < length; i++)
    step[i] = 1000 + (uint32_t)draw (n_names);
  for (size_t k = 0; k < n_steps; k++)
    for (size_t i = 0; i < length; i++)
      {
        const uint64_t wrong = wrong_in == 0 || draw (wrong_in) != 0 ? 3 : draw (3);
        const uint8_t pause = i == 0 ? 20 : (uint8_t)draw (10);
        if (wrong != 0)
          add (&program, wrong == 1 ? 5 : step[i], pause);
        if (wrong == 2)
          add (&program, step[i], 0);
      }
  program.n_steps = n_steps;
  free (step);
  return program;
}

static bool
find (const Program *program, LnsPeriod *period)
{
  memset (period, 0, sizeof *period);
  return lns_period_find (program->symbols, program->pauses, program->n, period);
}

static void
test_steps_begin_after_the_pause (void)
{
  LnsPeriod period;

  for (unsigned round = 0; round < 300; round++)
    {
      const size_t length = 3 + draw (60);
      Program program = steps (4 + draw (60), length, 200, 0);
      LNS_CHECK (find (&program, &period));
      LNS_CHECK_INT (period.length, length);
      LNS_CHECK_INT (period.first % length, 0);
      LNS_CHECK (program.n_steps - period.n <= 1); /* the last may end before the word does      */
      clear_program (&program);
    }
}

/* A name that comes twice in a step does not halve it. */
static void
test_names_come_more_than_once (void)
{
  static const uint32_t step[] = { 3, 7, 3, 2, 7, 2, 2 };
  Program program = new_program (700);
  LnsPeriod period;

  for (size_t i = 0; i < 350; i++)
    add (&program, step[i % 7], i % 7 == 0 ? 20 : 1);
  LNS_CHECK (find (&program, &period));
  LNS_CHECK_INT (period.length, 7);
  LNS_CHECK_INT (period.first % 7, 0);
  clear_program (&program);
}

static void
test_noise (void)
{
  unsigned n_right = 0;
  LnsPeriod period;

  for (unsigned round = 0; round < 100; round++)
    {
      const size_t length = 10 + draw (100);
      Program program = steps (50 + draw (50), length, 200, 100);
      if (find (&program, &period))
        n_right += period.length * 20 >= length * 19 && period.length * 20 <= length * 21 &&
                   period.n * 10 >= program.n_steps * 9 && period.n <= program.n_steps + 2;
      clear_program (&program);
    }
  LNS_CHECK (n_right >= 97);
}

/* The layers of a model repeat within a step; something is logged every tenth step. */
static void
test_layers_are_no_steps (void)
{
  LnsPeriod period;
  Program program = new_program (1000000);

  for (unsigned k = 0; k < 200; k++)
    {
      for (uint32_t i = 0; i < 4; i++)
        add (&program, 1 + i, i == 0 ? 18 : 2);
      for (uint32_t i = 0; i < 48 * 10; i++)
        add (&program, 100 + i % 10, 2);
      for (uint32_t i = 0; i < 8; i++)
        add (&program, 200 + i, 2);
      if (k % 10 == 9)
        add (&program, 300, 2);
    }
  LNS_CHECK (find (&program, &period));
  LNS_CHECK_INT (period.length, 492);
  LNS_CHECK_INT (period.n, 200);
  LNS_CHECK_INT (program.symbols[period.first], 1);
  clear_program (&program);
}

/* Work before and after the steps, up to a fifth, does not hide them. */
static void
test_other_work_around (void)
{
  LnsPeriod period;

  for (unsigned round = 0; round < 50; round++)
    {
      Program program = new_program (4000), inner = steps (40, 30, 100, 0);
      for (unsigned i = 0; i < 90; i++)
        add (&program, 5000 + (uint32_t)draw (50), 3);
      for (size_t i = 0; i < inner.n; i++)
        add (&program, inner.symbols[i], inner.pauses[i]);
      for (unsigned i = 0; i < 60; i++)
        add (&program, 5000 + (uint32_t)draw (50), 3);
      LNS_CHECK (find (&program, &period));
      LNS_CHECK_INT (period.length, 30);
      LNS_CHECK_INT ((period.first - 90) % 30, 0);
      clear_program (&program);
      clear_program (&inner);
    }
}

static void
test_random_names_have_no_period (void)
{
  LnsPeriod period;

  for (unsigned round = 0; round < 400; round++)
    {
      const size_t n = 8 + draw (round % 10 == 0 ? 50000 : 3000);
      const uint32_t n_names = 2 + (uint32_t)draw (round % 2 == 0 ? 3 : 500),
                     often = (uint32_t)draw (15); /* how much more often than others one comes  */
      Program program = new_program (n);
      for (size_t i = 0; i < n; i++)
        add (&program, draw (16) < often ? 0 : (uint32_t)draw (n_names), 1);
      /* A handful of names may repeat by chance. */
      if (n > 100)
        LNS_CHECK (!find (&program, &period));
      clear_program (&program);
    }
}

static void
test_too_little (void)
{
  Program program = steps (3, 50, 200, 0);
  LnsPeriod period;

  LNS_CHECK (!find (&program, &period)); /* three times                                         */
  LNS_CHECK (!lns_period_find (program.symbols, NULL, 0, &period));
  LNS_CHECK (!lns_period_find (program.symbols, NULL, 7, &period));
  clear_program (&program);
}

static void
test_hostile (void)
{
  enum
  {
    N = 200000
  };
  Program program = new_program (N);
  LnsPeriod period;

  for (size_t i = 0; i < N; i++) /* all the same: nothing tells where one begins                */
    add (&program, 9, 1);
  LNS_CHECK (!find (&program, &period));
  for (size_t i = 0; i < N; i++)
    program.symbols[i] = i % 2;
  LNS_CHECK (find (&program, &period));
  LNS_CHECK_INT (period.length, 2);
  LNS_CHECK_INT (period.n, N / 2);
  for (size_t i = 0; i < N; i++) /* all different                                               */
    program.symbols[i] = (uint32_t)i * 2654435761u;
  LNS_CHECK (!find (&program, &period));
  /* A Fibonacci word: each part of it comes again and again, at two distances. */
  size_t a = 1, b = 2;
  program.symbols[0] = 0;
  program.symbols[1] = 1;
  while (b < N)
    {
      const size_t more = a < N - b ? a : N - b;
      memcpy (program.symbols + b, program.symbols, more * sizeof *program.symbols);
      a = b;
      b += more;
    }
  for (size_t n = 100; n <= N; n = n * 3 / 2)
    LNS_CHECK (!lns_period_find (program.symbols, NULL, n, &period));
  clear_program (&program);
}

static void
test_five_millions (void)
{
  Program program = steps (10000, 500, 300, 0);
  LnsPeriod period;

  LNS_CHECK_INT (program.n, 5000000);
  LNS_CHECK (find (&program, &period));
  LNS_CHECK_INT (period.length, 500);
  LNS_CHECK_INT (period.n, 10000);
  LNS_CHECK_INT (period.first % 500, 0);
  for (size_t i = 0; i < program.n; i++)
    program.symbols[i] = (uint32_t)draw (100);
  LNS_CHECK (!find (&program, &period));
  clear_program (&program);
}

int
main (void)
{
  LNS_TEST (test_steps_begin_after_the_pause);
  LNS_TEST (test_names_come_more_than_once);
  LNS_TEST (test_noise);
  LNS_TEST (test_layers_are_no_steps);
  LNS_TEST (test_other_work_around);
  LNS_TEST (test_random_names_have_no_period);
  LNS_TEST (test_too_little);
  LNS_TEST (test_hostile);
  LNS_TEST (test_five_millions);
  return lns_tap_done ();
}
