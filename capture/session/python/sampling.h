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

/* Samples HZ times a second; if that is 0 and WANTS_NAMES, reads only what threads are called, now and then and of processes that the
 * session knows anyhow, and says nothing if it cannot. PEERS must be there until lns_python_sampling_stop (). Returns NULL if there
 * is nothing to do. It begins with lns_python_sampling_begin (). */
LnsPythonSampling *lns_python_sampling_new (unsigned hz, bool wants_names, LnsPeers *peers);

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
