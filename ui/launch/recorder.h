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
  LNS_LAUNCH_RECORDER_STARTING, /* the tool runs, the program not yet */
  LNS_LAUNCH_RECORDER_RUNNING,
  LNS_LAUNCH_RECORDER_STOPPING, /* the tool was told to stop, or is finishing the report   */
  LNS_LAUNCH_RECORDER_FINISHED, /* the tool is gone */
} LnsLaunchRecorderState;

/* What is known of a run. */
typedef struct
{
  LnsLaunchRecorderState state;

  /* What the tool said last, four times a second. */
  gint64 elapsed_ns;
  guint64 bytes; /* of the report so far */
  guint64 events;
  guint64 dropped; /* events */

  /* When finished: */
  GFile *report; /* owned by the recorder; or NULL */
  char *
      problem; /* owned by the recorder; a sentence about what went wrong, or NULL: the tool's error, or how the
                      program ended unless it returned 0 or was stopped by lns_launch_recorder_stop () */
  gboolean
      exists; /* the program was not started because the report, or an export beside it, exists */
} LnsLaunchRun;

/* What is launched. Strings are bytes: paths need not be UTF-8. */
typedef struct
{
  const char *const *words; /* arguments of `lanescope profile`: switches, then the program     */
  const char *folder;       /* the program's working directory, or NULL for this process's own  */
  const char *const
      *settings; /* environment: "NAME=VALUE" over this process's own, or NULL       */
} LnsLaunchRequest;

LnsLaunchRecorder *lns_launch_recorder_new (void) G_GNUC_WARN_UNUSED_RESULT;

/* The path of the `lanescope` binary: the variable LNS_LANESCOPE, beside this program, in the build tree, or on the
 * PATH. NULL if there is none. Free with g_free (). */
char *lns_launch_recorder_find_tool (void) G_GNUC_WARN_UNUSED_RESULT;

/* Starts the tool; only once for each recorder. FALSE and ERROR if it cannot be started. */
gboolean
lns_launch_recorder_start (LnsLaunchRecorder *self, const LnsLaunchRequest *launch, GError **error);

/* Asks for the end of the recording; the report is finished and kept. */
void lns_launch_recorder_stop (LnsLaunchRecorder *self);

/* Owned by the recorder, and changes with it. */
const LnsLaunchRun *lns_launch_recorder_get_run (LnsLaunchRecorder *self);

/* What the tool said before it started the program of switches that it cannot honour, a line each; "" if nothing. The
 * report does not tell. */
char *lns_launch_recorder_get_remarks (LnsLaunchRecorder *self) G_GNUC_WARN_UNUSED_RESULT;

/* What the program and the tool have written to standard error last: at most 16 lines and 4 KiB, valid UTF-8, "" if
 * nothing. */
char *lns_launch_recorder_get_last_words (LnsLaunchRecorder *self) G_GNUC_WARN_UNUSED_RESULT;
