/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Keeps how reports were left, in $XDG_STATE_HOME/lanescope/views: a file for each report, by its UUID, so that it is found wherever the
 * report lies now, and a file for each program, from which a new capture gets its rows. They do not lie beside the reports, as those may
 * be read-only, belong to others, or be under version control. */

#pragma once

#include <gio/gio.h>

#include "src/store/read/report.h"
#include "ui/model/kept-view.h"

/* What was found. */
typedef struct
{
  LnsKeptView *view; /* owned, or NULL */
  gboolean
      is_of_report; /* otherwise it is of another capture of the program, and tells only of rows */
  char *problem;    /* owned; a sentence about a file that had to be ignored, or NULL */
} LnsStoredView;

/* Reads how REPORT was left or, if it is new, how its program was. Waits for files: on a worker. */
void lns_view_store_read (LnsReport *report, LnsStoredView *ret_stored);

void lns_stored_view_clear (LnsStoredView *stored);

/* Why a view was not kept, a sentence, to OWNER, if that still lives. */
typedef void (*LnsViewStoreFunc) (const char *problem, GObject *owner);

/* Has a worker write VIEW, which is JSON as lns_kept_view_to_json () has all of it. A later lns_view_store_read () finds it, whether it is written yet or not; the application does not end before.
 * FAILED is called for OWNER on the main thread if it cannot be written. Main thread. */
void lns_view_store_write (LnsReport *report,
                           const LnsKeptView *view,
                           const char *json,
                           LnsViewStoreFunc failed,
                           GObject *owner);
