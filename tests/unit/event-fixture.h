/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes a report for the tests of what the viewer shows of events: two threads and a process with
 * ranges and marks. They are random, but the same each time; some have odd names, categories or
 * payloads. */

#pragma once

#include <glib.h>

#include "src/store/read/report.h"
#include "src/store/write/writer.h"

#define N_LANES     5
#define LANE_EVENTS 9000 /* more than two chunks */
#define CATEGORY    7    /* "input" in the default domain */
#define BAD_NAME    "bad \xff\xfe name"
#define TABBED_NAME "a\tb \"quoted\"\nnext"
#define GREEK_NAME  "ΣΊΣΥΦΟΣ"

/* Writes it into a folder of its own under the temporary folder and opens it. */
LnsReport *lns_test_report_new (void);

/* Closes it and removes the folder. */
void lns_test_report_free (LnsReport *report);
