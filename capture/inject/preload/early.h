/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* liblanescope-early.so is preloaded (LD_PRELOAD) into programs whose NVTX events are asked for, and loads the injection
 * library before the program has threads. NVTX would load it in the program's first call, which then takes 140 µs instead
 * of 3: so much longer for a fork of another thread to come between (core/first-call.h).
 *
 * It takes itself out of the environment, which programs may look at, and in which it would reach programs of another loader,
 * that complains, or with a sanitizer, that ends them. So it stands before the functions that execute programs
 * (early-exec.c), and goes into those that take it. It needs nothing but libc.so.6. */

#pragma once

#include <stddef.h>

#define LNS_EARLY_INJECTION "NVTX_INJECTION64_PATH="
#define LNS_EARLY_PRELOAD   "LD_PRELOAD="

/* The path by which this library was preloaded; empty if it was not. Set before the program begins. */
extern char lns_early_path[4096];

/* The value of the variable that begins with NAME, an equals sign at its end, in the list VARIABLES, or NULL. */
const char *lns_early_value (char *const *variables, const char *name);

/* Whether VALUE, which may be NULL, names our injection library. */
int lns_early_is_ours (const char *value);
