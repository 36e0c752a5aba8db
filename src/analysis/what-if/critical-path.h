/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a run could not be shorter than: its critical path, by what it is made of. */

#pragma once

#include <stdio.h>

#include "src/analysis/graph/path.h"
#include "src/analysis/stats/style.h"
#include "src/tables/tables.h"

/* A part of the path: pieces that bear one name at one place. */
typedef struct
{
  uint32_t label; /* of the graph                                                                */
  uint64_t n, n_all; /* pieces on the path, and in all                                           */
  int64_t ns, all_ns;
  int64_t
      slack_ns; /* the median of those that are not on the path: so much longer they may take for nothing; −1: there are none */
} LnsCriticalPart;

typedef struct
{
  LnsGraph *graph; /* owned                                                                     */
  int64_t *times;  /* by point, as it was; owned                                                */
  LnsPath path;
  LNS_ARRAY (LnsCriticalPart) parts; /* what has most of the path first                          */
} LnsCriticalPath;

/* Finds the critical path of the report of TABLES (borrowed), or of what of it leads from FROM_NS to TO_NS, such as one step. Keeps the N_LONGEST
 * longest links. CANCEL may be NULL. To be freed. NULL with ERROR where a chunk is damaged, or cancelled. O(events × log threads). */
LnsCriticalPath *lns_critical_path_find (LnsTables *tables,
                                         int64_t from_ns,
                                         int64_t to_ns,
                                         size_t n_longest,
                                         const atomic_bool *cancel,
                                         LnsError *error);
void lns_critical_path_free (LnsCriticalPath *critical); /* NULL is fine                          */

/* The sentence that says what the path consists of. To be freed. */
char *lns_critical_path_sentence (LnsTables *tables, const LnsCriticalPath *critical);

/* Writes the TOP parts (0 = all) and the longest links, a line each. */
void lns_critical_path_write_text (LnsTables *tables,
                                   const LnsCriticalPath *critical,
                                   size_t top,
                                   FILE *stream);
void
lns_critical_path_write_json (LnsTables *tables, const LnsCriticalPath *critical, FILE *stream);
