/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads the arguments of a fuzzer: how often it tries each kind of mutation, and the seed of its
 * random numbers. */

#pragma once

#include <stdint.h>
#include <stdlib.h>

/* N from LNS_MUTATIONS, or from the arguments: [N [SEED]]. What is not given stays as it is. */
static inline void
read_mutations (int argc, char **argv, unsigned *n_mutations, uint64_t *seed)
{
  const char *given = getenv ("LNS_MUTATIONS");

  if (argc > 1)
    given = argv[1];
  if (given != NULL)
    *n_mutations = (unsigned)strtoul (given, NULL, 10);
  if (argc > 2)
    *seed = strtoull (argv[2], NULL, 10);
}
