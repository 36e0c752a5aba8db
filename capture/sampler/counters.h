/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The sampler of hardware counters. */

#pragma once

/* Runs it with the ARGUMENTS behind LNS_WIRE_GPU_METRICS_MODE, of which there are four. Does not return before the session is
 * gone. Returns the process's exit code. */
int lns_counters_run (char **arguments);

/* Prints the numbers, names and buses of all GPUs. Returns the process's exit code: 1 if there is none. */
int lns_counters_list (void);
