/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The one thread that Lanescope adds to a program that uses CUDA. */

#pragma once

/* Starts the thread, once. It flushes, obeys the session, and asks the driver what cannot be asked in a callback. */
void lns_cuda_control_start (void);
