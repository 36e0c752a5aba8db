// Copyright the Lanescope authors
//
// SPDX-License-Identifier: Apache-2.0

// Uses CPU time in a function that was inlined into an instance of a template: `cpu-templates MS`.

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace work
{
volatile uint64_t sum;

// Not inlined by chance: its callers get its code.
__attribute__ ((always_inline)) inline uint64_t
mix (uint64_t value)
{
  for (int i = 0; i < 10000; i++)
    value = value * UINT64_C (6364136223846793005) + UINT64_C (1442695040888963407); // the hot line
  return value;
}

template <typename T, int N> struct Mixer
{
  T value;

  __attribute__ ((noinline)) void
  run (T seed)
  {
    for (int i = 0; i < N; i++)
      value += mix (seed + value); // the call
  }
};
}

static double
cpu_ms ()
{
  timespec now;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double> (now.tv_sec) * 1e3 + static_cast<double> (now.tv_nsec) / 1e6;
}

int
main (int argc, char **argv)
{
  work::Mixer<uint64_t, 100> mixer{ 1 };
  const double until_ms = cpu_ms () + (argc > 1 ? std::atof (argv[1]) : 100);
  while (cpu_ms () < until_ms)
    mixer.run (work::sum);
  work::sum = mixer.value;
  return 0;
}
