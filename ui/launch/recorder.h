/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gio/gio.h>

#define LNS_TYPE_LAUNCH_RECORDER (lns_launch_recorder_get_type ())

/* One run of `lanescope profile`. The tool reports through its progress descriptor and is told what to do through its
 * control descriptor. Main thread only.
 *
 * Signal: changed (): the state or the tick has changed. */
G_DECLARE_FINAL_TYPE (LnsLaunchRecorder, lns_launch_recorder, LNS, LAUNCH_RECORDER, GObject)

typedef enum
{
  LNS_LAUNCH_RECORDER_IDLE,
  LNS_LAUNCH_RECORDER_STARTING, /* the tool runs, but not the program yet */
  LNS_LAUNCH_RECORDER_RUNNING,
  LNS_LAUNCH_RECORDER_STOPPING, /* the tool was told to stop, or is finishing the report   */
  LNS_LAUNCH_RECORDER_FINISHED, /* the tool has ended */
} LnsLaunchRecorderState;

/* What is known of a run. */
typedef struct
{
  LnsLaunchRecorderState state;

  /* The last progress that the tool reported; it does so four times a second. */
  gint64 elapsed_ns;
  guint64 bytes; /* of the report so far */
  guint64 events;
  guint64 dropped; /* events */

  GFile *growing;    /* owned by the recorder: where the report grows, or NULL: not known */
  gboolean collects; /* it does grow: collecting has begun, and has not ended */

  /* When finished: */
  GFile *report; /* owned by the recorder; or NULL */
  char *
      problem; /* owned by the recorder; a sentence about what went wrong, or NULL: the tool's error, or how the
                      program ended unless it returned 0 or was stopped by lns_launch_recorder_stop () */
  gboolean
      exists; /* the program was not started because the report, or an export beside it, exists */
} LnsLaunchRun;

/* What to launch. Strings are bytes: paths need not be UTF-8. */
typedef struct
{
  const char *const *words; /* arguments of `lanescope profile`: switches, then the program     */
  const char *folder;       /* the program's working directory, or NULL for this process's own  */
  const char *const
      *settings; /* environment: "NAME=VALUE" over this process's own, or NULL       */
} LnsLaunchRequest;

LnsLaunchRecorder *lns_launch_recorder_new (void) G_GNUC_WARN_UNUSED_RESULT;

/* The path of the `lanescope` binary: from the variable LNS_LANESCOPE, beside this program, in the build tree, or on
 * the PATH; NULL if there is none. Free with g_free (). */
char *lns_launch_recorder_find_tool (void) G_GNUC_WARN_UNUSED_RESULT;

/* Starts the tool, as soon as the folder answers. A recorder starts only once. Returns FALSE and sets ERROR if there is no tool to
 * start; the problem tells of all that fails later. */
gboolean
lns_launch_recorder_start (LnsLaunchRecorder *self, const LnsLaunchRequest *launch, GError **error);

/* Stops the recording. The tool finishes the report and keeps it; one that waits for its folder does not start. */
void lns_launch_recorder_stop (LnsLaunchRecorder *self);

/* Begins to collect, where the program was started without. */
void lns_launch_recorder_begin (LnsLaunchRecorder *self);

/* Ends the program and drops the report. */
void lns_launch_recorder_cancel (LnsLaunchRecorder *self);

/* Owned by the recorder, and changes with it. */
const LnsLaunchRun *lns_launch_recorder_get_run (LnsLaunchRecorder *self);

/* The tool's warnings about switches that it cannot honour, one per line, or "". The report does not have them. */
char *lns_launch_recorder_get_remarks (LnsLaunchRecorder *self) G_GNUC_WARN_UNUSED_RESULT;

/* The last output of the program and the tool: at most 16 lines and 4 KiB of standard error, then as much of standard output. Valid
 * UTF-8, or "". */
char *lns_launch_recorder_get_output (LnsLaunchRecorder *self) G_GNUC_WARN_UNUSED_RESULT;

/* The last output of the program and the tool to standard error: at most 16 lines and 4 KiB, valid UTF-8, or "". */
char *lns_launch_recorder_get_last_words (LnsLaunchRecorder *self) G_GNUC_WARN_UNUSED_RESULT;

/* So of WORDS, which it printed to standard error. */
char *lns_launch_recorder_find_remarks (const char *words) G_GNUC_WARN_UNUSED_RESULT;

/* The tool's error in WORDS, which it printed to standard error, without a newline at their end; NULL: they do not end with one. */
char *lns_launch_recorder_find_refusal (const char *words) G_GNUC_WARN_UNUSED_RESULT;
