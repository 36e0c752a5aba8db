/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The steps of a session while it is recorded: which ranges are steps, how long they take, and which of them a report keeps. It is
 * told of ranges, and tells which stretches of time are to be kept. Knows no events and no file. Not thread-safe. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/session/decode/core/name.h"
#include "capture/session/decode/core/step-lengths.h"
#include "capture/session/decode/core/step-rule.h"

typedef struct LnsSteps LnsSteps;

/* A push/pop range, by where it is. All are ids in the session; the names are the caller's. */
typedef struct
{
  uint32_t process, thread, domain, depth;
  bool is_of_main_thread;
  int64_t around_ns;          /* when the range around it began; INT64_MAX: there is none */
  LnsName *name;              /* NULL: it has none, and is no step */
  const LnsName *domain_name; /* NULL: the default domain */
} LnsStepRange;

/* The steps of one process. */
typedef struct
{
  uint32_t process, domain;
  uint64_t key; /* of the name, without its numbers */
  LnsName *name;
  LnsStepLengths lengths;
  uint64_t n_kept;     /* slow ones and others */
  uint64_t n_slow;     /* longer than the limit */
  uint64_t n_unjudged; /* of unknown length, and not kept */
} LnsStepSeries;

/* Steps of a report that begins at START_NS, kept as RULE says. NULL if memory is short; if it gets short later, steps are left out. */
LnsSteps *_lns_steps_new (const LnsStepRule *rule, int64_t start_ns);
void _lns_steps_free (LnsSteps *steps); /* NULL is fine */

/* RANGE began at START_NS, or ended at END_NS. A range whose end was lost is no step. */
void _lns_steps_push (LnsSteps *steps, const LnsStepRange *range, int64_t start_ns);
void _lns_steps_pop (LnsSteps *steps, const LnsStepRange *range, int64_t start_ns, int64_t end_ns);
void _lns_steps_lose (LnsSteps *steps, const LnsStepRange *range);

/* Has all ranges that ended before REACHED_NS been told of, and looks for steps. Returns until when it is decided what is kept. */
int64_t _lns_steps_settle (LnsSteps *steps, int64_t reached_ns);

/* Nothing from before FLOOR_NS can be kept any more that is not decided. */
void _lns_steps_give_up (LnsSteps *steps, int64_t floor_ns);

/* Decides about all: steps that are open at END_NS count by their length so far. Returns false if no range was found that is a step:
 * then nothing is decided. */
bool _lns_steps_end (LnsSteps *steps, int64_t end_ns);

/* Keeps the time around TIME_NS, as far as it is not decided, as the rule says. */
void _lns_steps_keep_around (LnsSteps *steps, int64_t time_ns);

/* Keeps all that is not decided yet, up to END_NS. */
void _lns_steps_keep_rest (LnsSteps *steps, int64_t end_ns);

/* Whether an event from START_NS to END_NS is in a stretch that is kept, for a part of it: what ends where a stretch begins is not.
 * O(log stretches). */
bool _lns_steps_keep (const LnsSteps *steps, int64_t start_ns, int64_t end_ns);

/* The INDEXth stretch that is kept, in order; returns false behind the last. They do not touch. */
bool
_lns_steps_kept (const LnsSteps *steps, size_t index, int64_t *ret_start_ns, int64_t *ret_end_ns);

/* The INDEXth series; NULL behind the last. */
const LnsStepSeries *_lns_steps_series (const LnsSteps *steps, size_t index);
