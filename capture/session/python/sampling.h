/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples in which functions the threads of Python programs are, while a session lasts. A thread finds the processes of the
 * session that run Python, reads their memory, and hands records (decode/python/samples.h) to the next batch. The programs
 * are not stopped, and need not have loaded our library. The thread takes a few percent of a core at most: samples that would
 * take more are left out and counted.
 *
 *   LNS-PYTHON-003   a process cannot be read, or its interpreter is not known
 *   LNS-PYTHON-005   there was no Python to sample */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/session/collect/peers.h"

#define LNS_PYTHON_MIN_HZ 1
#define LNS_PYTHON_MAX_HZ 2000

typedef struct LnsPythonSampling LnsPythonSampling;

typedef struct
{
  unsigned hz; /* samples a second; 0: none */
  /* What cannot be sampled, or that there was nothing to sample, is told as a warning. Otherwise only processes are sampled that the
   * session knows anyhow, fewer looks find them, and what is told is a note. */
  bool is_asked_for;
  bool wants_names; /* without samples, what threads are called is read now and then, in silence */
} LnsPythonSamplingOptions;

/* PEERS must be there until lns_python_sampling_stop (). Returns NULL if there is nothing to do. It begins with
 * lns_python_sampling_begin (). */
LnsPythonSampling *lns_python_sampling_new (const LnsPythonSamplingOptions *options,
                                            LnsPeers *peers);

/* Starts the thread. Call it once at most, when the session has its program. */
void lns_python_sampling_begin (LnsPythonSampling *sampling);

/* Pauses or goes on; it is not paused at first. Any thread. SAMPLING may be NULL, as in all that follow. */
void lns_python_sampling_set_recording (LnsPythonSampling *sampling, bool recording);

/* Waits until all samples that were taken are in the mailbox, but no longer than NS. One thread at a time. */
void lns_python_sampling_drain (LnsPythonSampling *sampling, int64_t ns);

/* Ends the thread. */
void lns_python_sampling_stop (LnsPythonSampling *sampling);

/* Frees SAMPLING, which was stopped, when no record of it is left. */
void lns_python_sampling_free (LnsPythonSampling *sampling);
