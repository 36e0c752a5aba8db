/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How long the program, the session and what samples wait for one another before they go on without. Each is far more than
 * an idle machine needs. */

#pragma once

#include <stdint.h>

typedef struct
{
  /* A process, within the first call that it records: for connect, hello and welcome together. Less where it sees that the
   * session is stopped. */
  int handshake_ms;
  /* The same within cuInit(), which takes long by itself. */
  int long_handshake_ms;
  /* A process at its exit: for its threads to leave CUPTI, and for the bus ids of its devices. */
  int exit_ms;
  /* The session at the end of a report: for processes to hand over their last GPU records. */
  int finish_ms;
  /* The session at the end of a range: for its process to hand over the GPU records that belong to it. */
  int64_t flush_ns;
  /* The session at the end of a range: for samples of CPUs up to there. */
  int64_t late_samples_ns;
  /* The session at the end of a report: for those that sample to hand over their last samples. */
  int64_t drain_ns;
  /* The session before it starts the program: for the driver and CUPTI to begin to sample. On machines with many GPUs,
   * initialising the driver takes a few seconds. */
  int64_t sampler_begin_ns;
  /* The session, once it has asked a process that samples to end: for that to do so. */
  int64_t sampler_end_ns;
} LnsPatience;

/* What holds in this process. A build that has tests (-Dtests) multiplies all by the whole number from 1 to 100 in the
 * environment variable LNS_TEST_PATIENCE, so that its tests pass on a busy machine. Any thread; takes no lock and allocates
 * nothing. */
LnsPatience lns_patience (void);
