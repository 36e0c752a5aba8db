/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The run of `profile` and `launch`: from the program's start to its end. One thread waits for signals,
 * processes, control lines, requests of other terminals and times, whichever comes first. `profile`
 * collects once, and the end of the report is the end of the run; `launch` collects as often as it is
 * asked to, and each time makes a report of its own. Shared by the files of the run alone. */

#pragma once

#include "capture/session/control/request.h"
#include "src/cli/profile/profile.h"

#define LNS_NEVER INT64_MAX

/* The variable by which commands of --after-… know what they are run for. */
#define LNS_RUN_CALLBACK "LANESCOPE_CALLBACK_NAME"

typedef struct
{
  LnsProfile *profile;
  int control_fd; /* -1: none, or its writer is gone */
  char control[64];
  size_t n_control;                            /* bytes of an unfinished line */
  int64_t start_at_ns, stop_at_ns, tick_at_ns; /* CLOCK_MONOTONIC, or LNS_NEVER */
  bool is_collecting;
  bool is_over;          /* nothing will be collected any more */
  bool has_ended_ranges; /* as the last of them has its report; what belongs to it may still come */
  unsigned n_interrupts; /* Ctrl-C */
  int interrupt;         /* the last signal that asked to end the run; 0: none did */
  bool is_cut_off;       /* such a signal came when the program had ended */
  bool has_killed;       /* the program was sent a signal of ours */
  int64_t exited_at_ns;  /* the program */
  int64_t last_end_ns;   /* of it, and of those that it left and nobody records */
  bool has_told_left;    /* who is waited for */
  bool has_called;       /* a command of --after-… was run */
  unsigned n_ranges;     /* that began: none where there are none */
  bool is_in_range;      /* one has a report now */
  char *range_path;      /* of that */
  LnsReportResult result;
  double lag_ms; /* from the last process's end to the written report */
  FILE *answer;  /* what the terminal is told that asked for what is done now; NULL: none did */
  pid_t *hooks;  /* commands that run */
  size_t n_hooks;
} LnsRun;

int64_t lns_run_now_ns (void);

/* --- run.c -------------------------------------------------------------------- */

/* Sends SIGNAL to the program and to all other processes that are recorded; 0: nothing. */
void lns_run_end_processes (LnsRun *run, int signal_number);

/* --- children.c --------------------------------------------------------------- */

/* Whether the end of all processes is waited for that the program started. */
bool lns_run_waits_for_all (const LnsProfile *profile);

/* Takes note of children that have ended. */
void lns_run_reap (LnsRun *run);

/* Whether processes run on that the program left behind. */
bool lns_run_has_left (const LnsRun *run);

/* Says which are waited for, once; and when that is due, or LNS_NEVER. */
void lns_run_tell_left (LnsRun *run);
int64_t lns_run_tell_left_at_ns (const LnsRun *run);

/* --- collect.c ---------------------------------------------------------------- */

/* Prints to stderr, and to the terminal that has asked. */
void lns_run_print (LnsRun *run, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

/* Says a warning, an error or a note of CODE: on stderr once, and to the terminal that has asked. */
void lns_run_say (LnsRun *run, const char *word, const char *code, const char *text);

/* Says what is wrong with the report at PATH, which is written, beside its diagnostics. Sets
 * profile->lacks_data where something that was asked for is missing. doctor.c. */
void lns_run_examine (LnsRun *run, const char *path);

/* Begins to collect into the report that was created. */
void lns_run_start (LnsRun *run);

/* The same, when the delay is over that the switches ask for. */
void lns_run_start_in_time (LnsRun *run);

/* Ends the report with what there is, and the run but of `launch`. */
void lns_run_stop (LnsRun *run);

/* The same, and ends the program, but not that of `launch`. */
void lns_run_cut_short (LnsRun *run);

/* Throws the report away. */
void lns_run_cancel (LnsRun *run);

/* Says what keeps the report from being written. */
void lns_run_take_trouble (LnsRun *run);

/* Does what is to be done for capture ranges that began or ended. */
void lns_run_take_ranges (LnsRun *run);

/* Says, at the program's end, what of the last capture range came after its report. */
void lns_run_tell_late (LnsRun *run);

/* Tells other terminals how far the run is. */
void lns_run_tell_state (LnsRun *run);

/* --- after.c ------------------------------------------------------------------ */

/* Makes of the report at PATH what --export and --stats ask for, and tells where all is. */
void lns_run_finish_report (LnsRun *run, const char *path);

/* --- control.c ---------------------------------------------------------------- */

/* Does what --control-fd says. */
void lns_run_take_control (LnsRun *run);

/* Does what other terminals ask for. */
void lns_run_take_requests (LnsRun *run);

/* --- hook.c ------------------------------------------------------------------- */

/* Runs COMMAND (NULL: none) by the shell and does not wait for it. WHEN is its switch; PATH a report that is
 * ready, or NULL. */
void lns_run_call (LnsRun *run, const char *when, const char *command, const char *path);

/* Says which commands have failed; with WAIT, when all have ended. */
void lns_run_reap_hooks (LnsRun *run, bool wait);
