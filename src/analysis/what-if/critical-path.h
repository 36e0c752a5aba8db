/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a run could not be shorter than: its critical path, by what it is made of. */

#pragma once

#include <stdio.h>

#include "src/analysis/graph/path.h"

/* A part of the path: pieces that bear one name at one place. */
typedef struct
{
  uint32_t label; /* of the graph                                                                */
  uint64_t n, n_all; /* pieces on the path, and in all                                           */
  int64_t ns, all_ns;
  int64_t
      slack_ns; /* the median of those that are not on the path: so much longer they may take for nothing; −1: there are none */
} LnsCriticalPart;

/* What a report's threads and GPUs had to wait for, and when each was there: what critical paths are found in. Not changed any more: any thread. */
typedef struct
{
  LnsGraph *graph; /* owned                                                                      */
  int64_t *times;  /* by point, as it was; owned                                                 */
  int64_t *latest; /* by point: when it may come at the latest, see lns_graph_latest (); owned   */
} LnsCriticalRun;

/* That of REPORT (borrowed). CANCEL may be NULL. To be freed. NULL with ERROR where a chunk is damaged, or cancelled. O(events × log threads);
 * 41 bytes a point stay. */
LnsCriticalRun *
lns_critical_run_new (LnsReport *report, const atomic_bool *cancel, LnsError *error);
void lns_critical_run_free (LnsCriticalRun *run); /* NULL is fine                                 */

/* How many bytes lns_critical_run_forget () would free. */
size_t lns_critical_run_bytes (const LnsCriticalRun *run);

/* Frees all but the labels and agents, which paths that were found need. */
void lns_critical_run_forget (LnsCriticalRun *run);

typedef struct
{
  const LnsGraph *graph; /* of its run, borrowed                                                 */
  LnsPath path;
  int64_t
      rest_ns; /* of the time that was asked for, behind the path: nothing that is recorded ends in it */
  LNS_ARRAY (LnsCriticalPart) parts; /* what has most of the path first                          */
} LnsCriticalPath;

/* Finds the critical path of RUN, which must stay, or what of it leads from FROM_NS to TO_NS, such as one step. Keeps the N_LONGEST longest
 * links, and with KEEPS_LINKS all. To be freed. Any thread. O(points). */
LnsCriticalPath *lns_critical_path_find (
    const LnsCriticalRun *run, int64_t from_ns, int64_t to_ns, size_t n_longest, bool keeps_links);
void lns_critical_path_free (LnsCriticalPath *critical); /* NULL is fine                          */

/* Who does what LABEL of GRAPH tells: "thread 4711 “train”", "GPU 0, stream 7". REPORT has their names. To be freed. */
char *lns_critical_path_who (LnsReport *report, const LnsGraph *graph, const LnsGraphLabel *label);

/* The name of what LABEL tells: of the call, the kernel, the kind of copy; "" where it has none. REPORT's, or static. */
const char *lns_critical_path_name (LnsReport *report, const LnsGraphLabel *label);

/* What LABEL of GRAPH is, for people, if it is called NAME: "waits in read". To be freed. */
char *lns_critical_path_what (const LnsGraph *graph, const LnsGraphLabel *label, const char *name);

/* For how long CRITICAL is in work of GPUs, and in threads; the rest is from launches to starts. O(parts). */
void lns_critical_path_shares (const LnsCriticalPath *critical,
                               int64_t *ret_gpu_ns,
                               int64_t *ret_thread_ns);

/* The sentence that says what the path consists of. To be freed. */
char *lns_critical_path_sentence (LnsReport *report, const LnsCriticalPath *critical);

/* Writes the TOP parts (0 = all) and the longest links, a line each. */
void lns_critical_path_write_text (LnsReport *report,
                                   const LnsCriticalPath *critical,
                                   size_t top,
                                   FILE *stream);
void
lns_critical_path_write_json (LnsReport *report, const LnsCriticalPath *critical, FILE *stream);
