/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Small worlds of which all is known: programs that never ran, whose threads and streams follow a few rules. A world can be run again with
 * something changed, so that a forecast of the change can be compared with what comes of it. */

#pragma once

#include "src/store/read/report.h"

#define WORLD_MOST_STEPS 60

/* What is changed. */
typedef struct
{
  double kernel_a; /* factor of kernels called "a"                                               */
  double load;  /* … of what is computed in the range "load"                                  */
  bool no_sync; /* the program does not wait for the GPU in its steps                         */
  bool other_thread; /* another thread loads, one ahead; only of worlds without a loader         */
} WorldChange;

#define WORLD_AS_IT_IS ((WorldChange){ 1, 1, false, false })

typedef struct
{
  bool has_loader; /* a thread of its own loads, a step ahead: the launching one waits for it    */
  bool has_second_stream; /* half of the kernels run in another stream, which waits for an event */
  bool has_syncs;         /* each step ends with a wait for the GPU                              */
  unsigned n_steps;
  int64_t
      length_ns; /* from the first instant to the last: of the launching thread, or of a stream */
} World;

/* Draws a world from SEED, runs it with CHANGE, and writes what it did to PATH. */
World world_write (const char *path, uint64_t seed, const WorldChange *change);
