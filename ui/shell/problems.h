/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What is wrong with a report, for all that tell of it: its diagnostics, the most severe first, and what the doctor finds, which a
 * worker looks for once the report is whole. Main thread only.
 *
 * Signal: "changed" (guint from): the problems from number FROM on are other ones. Property: "count" (guint): how many are warnings or
 * errors. */

#pragma once

#include "src/store/format/definitions.h"
#include "ui/model/view.h"

/* A diagnostic, or a finding of the doctor. Its texts belong to the report or to the problems, until these change. */
typedef struct
{
  const char *code;
  const char *text;
  LnsSeverity severity;
  int64_t time_ns;  /* LNS_TIME_UNKNOWN = of the whole session */
  uint32_t process; /* or LNS_ID_NONE */
} LnsProblem;

#define LNS_TYPE_PROBLEMS (lns_problems_get_type ())
G_DECLARE_FINAL_TYPE (LnsProblems, lns_problems, LNS, PROBLEMS, GObject)

/* A new reference on the problems of VIEW's report. They keep a reference on VIEW. */
LnsProblems *lns_problems_of (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

/* All of them; RET_N gets their number. Owned by SELF, until they change. */
const LnsProblem *lns_problems_get (LnsProblems *self, guint *ret_n);
