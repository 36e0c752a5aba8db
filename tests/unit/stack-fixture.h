/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples of this process as perf takes them: the registers that a signal interrupted and the top of the stack. */

#pragma once

#include <signal.h>
#include <stddef.h>

#include "src/symbols/unwinder.h"

#define STACK_FIXTURE_BYTES 8192

typedef struct
{
  LnsRegisters registers;
  uint8_t bytes[STACK_FIXTURE_BYTES];
  LnsStackCopy stack; /* of `bytes` */
} StackSample;

/* The kind of machine that this program was built for. */
const LnsMachine *stack_fixture_machine (void);

/* The sample that the next signal fills; NULL: none. */
extern StackSample *volatile stack_fixture_sample;

/* A handler of signals (SA_SIGINFO). Async-signal-safe. */
void stack_fixture_take (int number, siginfo_t *info, void *context);

/* Installs that handler for signal NUMBER, with FLAGS. */
void stack_fixture_listen (int number, int flags);

/* The code that this process has mapped, for UNWINDER. The caller frees the maps. */
LnsUnwindMap *stack_fixture_maps (LnsUnwinder *unwinder, size_t *ret_n);
