/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The steps of long work, on stderr. On a terminal, each step is a bar that fills; elsewhere it is a line, if there are
 * several steps. */

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

/* Begins the next step. TEXT describes it and must live until its end. */
void lns_cli_step_begin (LnsCliSteps *steps, const char *text);

/* A progress function: FRACTION of the current step is done. DATA is an LnsCliSteps. */
void lns_cli_step_show (double fraction, void *data);

/* Ends the current step. IS_DONE fills its bar. */
void lns_cli_step_end (LnsCliSteps *steps, bool is_done);

/* Begins a step that prints by itself, with one line. */
void lns_cli_step_tell (LnsCliSteps *steps, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
