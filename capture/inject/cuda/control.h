/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The one thread that Lanescope adds to a program that uses CUDA. */

#pragma once

/* Starts a thread of ours that runs RUN. Returns 0 or an errno. */
int lns_cuda_start_thread (void *(*run) (void *));

/* Starts the thread, once. It flushes, obeys the session, and asks the driver what cannot be asked in a callback. */
void lns_cuda_control_start (void);
