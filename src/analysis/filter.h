/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Copies the events of a time span of a report into a new report, so that statistics cover only that span. */

#pragma once

#include "src/store/write/writer.h"
#include "src/tables/tables.h"

/* From `start_ns` to `end_ns`, both included. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint32_t process; /* instance whose events alone are kept, or LNS_ID_NONE for all             */
} LnsFilterSpan;

/* Parses the time span in TEXT: "[START]/[END]", each a number of ns or with a unit (s, ms, us, ns), one of which
 * may be missing. False and ERROR if TEXT is not a span. */
bool lns_filter_parse_time (const char *text, LnsFilterSpan *ret_span, LnsError *error);

/* Finds the range that TEXT names, and its process and time: "RANGE[@DOMAIN][/INDEX]", the ranges of one name
 * counted from 0 by start (0 without an index); DOMAIN "*" is any, without one it is the default domain. A
 * backslash before @ or / makes these part of a name. False and ERROR where there is no such range, or where a chunk is
 * damaged. O(ranges of the name). */
bool lns_filter_find_range (LnsTables *tables,
                            const char *text,
                            LnsFilterSpan *ret_span,
                            LnsError *error);

/* Writes to PATH a report of the events of REPORT that overlap SPAN, at full length, and of all of its definitions,
 * whose ids and string ids stay the same. A switch by which a thread began to wait overlaps what it waits through. CANCEL may
 * be NULL. False and ERROR where it cannot be written,
 * where a chunk is damaged, or cancelled. O(log n) a lane, and the events within. */
bool lns_filter_write (LnsReport *report,
                       const LnsFilterSpan *span,
                       const char *path,
                       const atomic_bool *cancel,
                       LnsError *error);

/* A sentence of a part about itself: an information in its diagnostics. */
typedef struct
{
  const char *code;
  char text[256];
} LnsFilterNote;

/* A part of a report that is a report of its own. */
typedef struct
{
  LnsFilterSpan span; /* both ends are within the report                                          */
  const bool *lanes;  /* by lane of the report: whether the part has it; or NULL: it has all      */
  const LnsFilterNote *notes;
  unsigned n_notes;
  unsigned mode; /* permissions, as in LnsWriterOptions                                */
  const atomic_bool
      *cancel;              /* or NULL                                                            */
  LnsProgressFunc progress; /* or NULL; called on this thread                                     */
  void *progress_data;
} LnsFilterPart;

/* Writes PART of REPORT to PATH, where nothing is: the events that overlap its span, at full length, as a duration is a fact
 * that a shorter one would deny; all strings and definitions except tracks and lanes that it does not have; what tells of the
 * recording; and the losses of its time. It knows its span (lns_part_of_report ()), so that nobody takes what is outside for
 * idle. False and ERROR as lns_filter_write (). Memory: the strings and definitions. */
bool
lns_filter_keep (LnsReport *report, const LnsFilterPart *part, const char *path, LnsError *error);

/* What is left of a report that a recording keeps its last seconds of. */
typedef struct
{
  int64_t start_ns,
      keep_ns; /* what ended before `start_ns`, which is `keep_ns` before the end, is left out */
  const char *code, *text; /* of the diagnostic that says so */
} LnsFilterCut;

/* Replaces the finished report at PATH by what CUT leaves of it, as a recording with --keep writes it: what began earlier
 * begins with the report, and is flagged LNS_EVENT_OPEN_START. Definitions, meta values, diagnostics and permissions stay;
 * losses stay unless they ended earlier. Others find either the whole report or the new one at PATH; both need room on the
 * disk. RET_IS_CUT is false, and RET_COUNTS not set, if the report begins no earlier. Returns false and sets ERROR if the
 * report stayed as it was. O(events that are kept, and definitions). */
bool lns_filter_cut (const char *path,
                     const LnsFilterCut *cut,
                     LnsWriterCounts *ret_counts,
                     bool *ret_is_cut,
                     LnsError *error);

/* The time that REPORT covers: if it is a part of another one (lns_part_of_report ()), the part of its span in which the whole report was
 * recorded; else all until it ends. O(log meta values). */
LnsFilterSpan lns_filter_span (const LnsReport *report);

/* Finds when what a thread does from its last SWITCH on, an event of LANE in REPORT (LNS_LANE_SCHED), ends: running, when it
 * was recorded to end; waiting, with the thread; but not after what REPORT knows (LnsReportInfo.known_ns). Returns false, and leaves RET_END_NS alone, if that
 * is not known. O(1). */
bool lns_switch_end (LnsReport *report, uint32_t lane, const LnsEvent *last, int64_t *ret_end_ns);
