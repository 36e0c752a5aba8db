/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The one thread of ours in a program that uses CUDA. */

#pragma once

/* Starts the thread, once. It flushes, listens to the session and asks the driver what cannot be asked
 * inside of a callback. */
void lns_cuda_control_start (void);
