/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes reports for the reader's tests with the public writer: random lanes of known events. */

#pragma once

#include "src/store/read/report.h"
#include "src/store/write/writer.h"

/* What a random lane looks like. */
typedef enum
{
  LNS_SHAPE_DENSE,  /* back to back, jittered                                                   */
  LNS_SHAPE_BURSTS, /* thousands within microseconds, then milliseconds of nothing              */
  LNS_SHAPE_ZERO,   /* many zero-length ones, several at one time                               */
  LNS_SHAPE_SPARSE, /* gaps of up to minutes                                                    */
  LNS_SHAPE_MIXED,  /* nanoseconds to seconds                                                   */
  LNS_N_SHAPES
} LnsShape;

typedef struct
{
  LnsEvent *events; /* owned                                                                    */
  uint32_t n;
} LnsExpectedLane;

uint64_t fixture_random (uint64_t *state);

/* A path in a folder of this test's own, which goes away at exit. Valid until the next but seven. */
const char *fixture_path (const char *name);

/* N random events of SHAPE from START_NS on, with names that are ids from 1 to 40, whatever text
 * they have. */
LnsExpectedLane fixture_events (LnsShape shape, uint32_t n, int64_t start_ns, uint64_t seed);

/* A writer at PATH (overwritten) with one process, thread and domain, and more than 40 strings. Ends
 * the program where it cannot. */
LnsWriter *fixture_writer (const char *path);

/* Adds a push/pop lane (with its track) to WRITER. */
uint32_t fixture_lane (LnsWriter *writer, LnsLaneKind kind);

/* Commits and finishes, or ends the program. */
void fixture_finish (LnsWriter *writer, int64_t end_ns);

/* Opens PATH, or ends the program with the reason. */
LnsReport *fixture_open (const char *path, const LnsOpenOptions *options);
