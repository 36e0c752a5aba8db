/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The critical path of a report (`lanescope why --critical-path`), of all of it and of the time that panes speak of (model/scope.h): found on a worker once
 * somebody shows it, for all that do. What it was found in stays in memory up to 128 MiB; in larger reports it is found again for another time, and
 * what an event has to spare is not told. Main thread only.
 *
 * Signals: "changed" (): another state, or another path; "named" (): functions and ranges are known; "went" (): somebody went to a link; "slack" (): what is known of the
 * selected event. */

#pragma once

#include "src/analysis/what-if/path-names.h"
#include "ui/model/view.h"

typedef enum
{
  LNS_CRITICAL_UNWANTED, /* nobody shows it                                                      */
  LNS_CRITICAL_WAITING,  /* the report is being recorded: it is looked for when that has ended   */
  LNS_CRITICAL_UNASKED,  /* the report is large: lns_critical_ask ()                             */
  LNS_CRITICAL_LOOKING,
  LNS_CRITICAL_THERE,
  LNS_CRITICAL_NONE /* it cannot be told                                                         */
} LnsCriticalState;

#define LNS_TYPE_CRITICAL (lns_critical_get_type ())
G_DECLARE_FINAL_TYPE (LnsCritical, lns_critical, LNS, CRITICAL, GObject)

/* A new reference on the path of VIEW's report. It keeps a reference of VIEW; the search is cancelled with the last reference on the path. */
LnsCritical *lns_critical_of (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

/* Somebody shows it from now on: it is looked for, unless the report is large. And no longer: other times are not looked for then. */
void lns_critical_want (LnsCritical *self);
void lns_critical_leave (LnsCritical *self);

/* Looks for it where the state is LNS_CRITICAL_UNASKED. */
void lns_critical_ask (LnsCritical *self);

LnsCriticalState lns_critical_get_state (LnsCritical *self);

/* What there is instead of a path, in a sentence; NULL while the state is LNS_CRITICAL_THERE. Free with g_free (). */
char *lns_critical_get_excuse (LnsCritical *self);

/* The path of the whole run, and that of the time that panes speak of; the latter is the former while that is the whole, and until it is found. With all links, and
 * the longest LNS_CRITICAL_LONGEST. NULL unless the state is LNS_CRITICAL_THERE. Owned by SELF, until it says "changed". */
#define LNS_CRITICAL_LONGEST 1000
const LnsCriticalPath *lns_critical_get_whole (LnsCritical *self);
const LnsCriticalPath *lns_critical_get_path (LnsCritical *self);

/* Whether the path of another time is being looked for. */
gboolean lns_critical_is_looking (LnsCritical *self);

/* The longest link of PATH, one of the two, of those that are there between START_NS and END_NS, both included; NULL: there is none. Owned by SELF.
 * O(log links), and a 64th of those between. */
const LnsPathLink *lns_critical_longest_between (LnsCritical *self,
                                                 const LnsCriticalPath *path,
                                                 int64_t start_ns,
                                                 int64_t end_ns);

/* The longest link of PATH, one of the two, that is of LABEL; NULL: there is none. Owned by SELF. O(1). */
const LnsPathLink *
lns_critical_longest_of (LnsCritical *self, const LnsCriticalPath *path, uint32_t label);

/* For how long PATH, one of the two, is in work of GPUs, and in work of threads, from START_NS to END_NS: all else waits, or is not known. O(log links). */
void lns_critical_work_between (LnsCritical *self,
                                const LnsCriticalPath *path,
                                int64_t start_ns,
                                int64_t end_ns,
                                int64_t *ret_gpu_ns,
                                int64_t *ret_thread_ns);

/* How much of that path was in which functions and ranges, what has most first: found on a worker after it was wanted. NULL until then, and where it cannot be told, which
 * RET_ERROR says; it may be NULL. Owned by SELF, until it says "changed". */
void lns_critical_want_names (LnsCritical *self);
const LnsPathNames *lns_critical_get_functions (LnsCritical *self, const char **ret_error);
const LnsPathNames *lns_critical_get_ranges (LnsCritical *self, const char **ret_error);

/* The function in which a thread was found in most of the samples in LINK of PATH, one of the two, a string id; 0: in none, or it is not among the longest links. O(log LNS_CRITICAL_LONGEST). */
uint32_t
lns_critical_function_in (LnsCritical *self, const LnsCriticalPath *path, const LnsPathLink *link);

/* Who does what LABEL of PATH tells, as rows have it: "loader (4715)". Free with g_free (). */
char *lns_critical_who (LnsCritical *self, const LnsCriticalPath *path, uint32_t label);

/* What that is, as it can be shown; the name in it whole, or, if IS_SHORT, as it is written onto bars. Free with g_free (). */
char *lns_critical_what (LnsCritical *self,
                         const LnsCriticalPath *path,
                         uint32_t label,
                         gboolean is_short);

/* What PATH, one of the two, consists of, in a sentence; where it has no links, why. Free with g_free (). */
char *lns_critical_get_sentence (LnsCritical *self, const LnsCriticalPath *path);

/* What else is known of LINK: "reason not recorded", or "inferred from timing", translated and static; NULL: all. */
const char *lns_critical_doubt (const LnsPathLink *link);

/* Selects and reveals the event that shows LINK of PATH; where there is none, shows its time. */
void lns_critical_go (LnsCritical *self, const LnsCriticalPath *path, const LnsPathLink *link);

/* Goes on along the path of the time that panes speak of, once that is found: DIRECTION is 1 or -1. From the link where the last such way or click led to, or from the middle of the view. Links that are
 * narrower than two pixels are passed by. */
void lns_critical_walk (LnsCritical *self, int direction);

/* The link where the last way or click led to; FALSE: to none that is still there. */
gboolean lns_critical_get_current (LnsCritical *self, LnsPathLink *ret_link);

/* What is known of the selected event. */
typedef enum
{
  LNS_SLACK_UNKNOWN, /* nothing; or it is no operation of a GPU and no call of CUDA or MPI      */
  LNS_SLACK_ON_PATH, /* it is on the path, for NS                                               */
  LNS_SLACK_SPARE,   /* it may take NS longer for nothing                                       */
  LNS_SLACK_FREE     /* the end of the run does not depend on it                                */
} LnsSlackKind;

typedef struct
{
  LnsSlackKind kind;
  int64_t ns;
} LnsSlack;

/* That of the selected event. Unknown while it is being found, and where too little of the run is known to tell. */
LnsSlack lns_critical_get_slack (LnsCritical *self);
