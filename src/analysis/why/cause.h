/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The causes of lost time: a closed vocabulary. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum
{
  /* While a GPU, or the thread that a program waits for, had nothing to do. */
  LNS_CAUSE_LOCK_WAIT,
  LNS_CAUSE_IO_WAIT,
  LNS_CAUSE_SLEEP,
  LNS_CAUSE_CPU_CONTENTION,
  LNS_CAUSE_CPU_WORK,
  LNS_CAUSE_GPU_SYNC,
  LNS_CAUSE_LAUNCH_RATE,
  LNS_CAUSE_ALLOCATION,
  LNS_CAUSE_MODULE_LOAD,
  LNS_CAUSE_DRIVER,
  LNS_CAUSE_START_UP,
  LNS_CAUSE_TEAR_DOWN,
  LNS_CAUSE_COLLECTIVE_WAIT,
  LNS_CAUSE_DEPENDENCY,
  LNS_CAUSE_PROFILER,
  LNS_CAUSE_NOT_RECORDED,
  LNS_CAUSE_UNKNOWN,
  /* While a GPU was busy. */
  LNS_CAUSE_PAGEABLE_COPY,
  LNS_CAUSE_COPY_BOUND,
  LNS_CAUSE_UNDER_FILLED,
  LNS_CAUSE_SLOW_CLOCKS,
  LNS_CAUSE_SLOW_STEP,
  LNS_N_CAUSES
} LnsCause;

/* One past the last cause of a ledger of idle time. */
#define LNS_N_IDLE_CAUSES LNS_CAUSE_PAGEABLE_COPY

/* "lock-wait": what CAUSE is called in JSON, in SQL and in switches. Static. */
const char *lns_cause_name (LnsCause cause);

/* Finds the cause called by the SIZE bytes of NAME. False where there is none. */
bool lns_cause_find (const char *name, size_t size, LnsCause *ret_cause);

/* What CAUSE means, in a line, of which "it" is the thread that launches work. Of those that are said of a busy GPU, too. English,
 * static; NULL for LNS_CAUSE_UNKNOWN. */
const char *lns_cause_help (LnsCause cause);

/* What helps against CAUSE in general: a clause for the end of a sentence. English, static. */
const char *lns_cause_advice (LnsCause cause);

typedef enum
{
  LNS_CONFIDENCE_CERTAIN, /* the report tells: calls and states were recorded                    */
  LNS_CONFIDENCE_LIKELY,
  LNS_CONFIDENCE_GUESS /* where the thread was is known; what it did there is not                */
} LnsConfidence;

typedef enum
{
  LNS_WHY_INFO,
  LNS_WHY_MEDIUM, /* from 3 % of the span                                                        */
  LNS_WHY_HIGH    /* from 10 %                                                                   */
} LnsWhySeverity;

/* "likely", "high": what they are called in JSON and in SQL. Static. */
const char *lns_confidence_name (LnsConfidence confidence);
const char *lns_why_severity_name (LnsWhySeverity severity);
