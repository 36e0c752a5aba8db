/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/hostile.h"

#include <stdbool.h>
#include <string.h>

#include "tests/unit/report-fixture.h"

static uint64_t state;

void
hostile_seed (uint64_t seed)
{
  state = seed;
}

uint64_t
hostile_draw (uint64_t below)
{
  return fixture_random (&state) % below;
}

int
hostile_one_in (uint64_t n)
{
  return hostile_draw (n) == 0;
}

uint64_t
hostile_number (void)
{
  static const uint64_t ends[] = {
    0,
    1,
    2,
    UINT64_MAX,
    UINT64_MAX - 1,
    INT64_MAX,
    INT64_MAX - 1,
    (uint64_t)INT64_MIN,
    (uint64_t)INT64_MIN + 1,
    UINT32_MAX,
    UINT32_MAX - 1,
    INT32_MAX,
    (uint64_t)INT32_MIN,
    UINT64_C (1) << 32,
    UINT16_MAX,
    UINT64_C (0x7FF0000000000000), /* infinity, as the bits of a double */
    UINT64_C (0xFFF8000000000001), /* not a number                      */
    UINT64_C (0x7FEFFFFFFFFFFFFF), /* the largest double                */
  };
  switch (hostile_draw (4))
    {
    case 0:
      return ends[hostile_draw (sizeof ends / sizeof *ends)];
    case 1:
      return (UINT64_C (1) << hostile_draw (64)) + hostile_draw (3) - 1;
    case 2:
      return ~((UINT64_C (1) << hostile_draw (64)) + hostile_draw (3) - 1);
    default:
      return fixture_random (&state) >> hostile_draw (64);
    }
}

uint32_t
hostile_id (uint32_t n)
{
  if (n == 0 || hostile_one_in (200))
    return (uint32_t)hostile_number ();
  return (uint32_t)hostile_draw (n);
}

/* What readers look for, or take apart. */
static const char *const known_texts[] = {
  "main",
  "cudaLaunchKernel",
  "cuLaunchKernel",
  "cudaMemcpyAsync",
  "cudaStreamSynchronize",
  "MPI_Allreduce",
  "MPI_Isend",
  "pthread_mutex_lock",
  "poll",
  "void gemm<float, 128>(int, std::vector<float>*)",
  "_Z4gemmIfLi128EEvi",
  "NCCL",
  "LNS-CUDA-014",
  "%s%n%5$s",
  "a\nb\tc\r",
  "\x1b]0;title\x07",
  "\xe2\x80\xae",
  "\xff\xfe\xc0\x80\xed\xa0\x80",
  "\"quoted\", <b>&amp;</b>",
  "../../etc/passwd",
  "{\"a\":[{}]}",
  "-1",
  "9223372036854775807",
  "1e999",
};

size_t
hostile_text (const char **ret_bytes)
{
  static const size_t sizes[] = { 0,     1,     7,     127,   128,   255,   4095,
                                  49151, 49152, 49153, 98304, 98305, 120000 };
  static char bytes[120001];
  *ret_bytes = bytes;

  if (!hostile_one_in (4))
    {
      *ret_bytes = known_texts[hostile_draw (sizeof known_texts / sizeof *known_texts)];
      return strlen (*ret_bytes);
    }
  const size_t n = hostile_one_in (3) ? sizes[hostile_draw (sizeof sizes / sizeof *sizes)]
                                      : (size_t)hostile_draw (40);
  const bool is_plain = hostile_one_in (2);
  for (size_t i = 0; i < n; i++)
    bytes[i] = is_plain ? "abc<>()[]{}\\\"',: "[hostile_draw (17)] : (char)hostile_draw (256);
  return n;
}
