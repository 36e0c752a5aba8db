/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The steps of a longer piece of work, on stderr: each a bar that fills, on a terminal; elsewhere a line,
 * where there is more than one. */

#pragma once

#include <stdbool.h>

typedef struct
{
  unsigned n;  /* how many there are */
  unsigned at; /* the one that runs, from 1; 0: none yet */
  const char *text;
  bool has_bar;
} LnsCliSteps;

LnsCliSteps lns_cli_steps_of (unsigned n);

/* Begins the next step, of which TEXT tells, to be there until its end. */
void lns_cli_step_begin (LnsCliSteps *steps, const char *text);

/* A progress function: FRACTION of the step that runs is done. DATA is the steps. */
void lns_cli_step_show (double fraction, void *data);

/* Ends the step, as done or not. */
void lns_cli_step_end (LnsCliSteps *steps, bool is_done);

/* A step that prints by itself: one line tells of it. */
void lns_cli_step_tell (LnsCliSteps *steps, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
