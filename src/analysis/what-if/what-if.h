/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How long a run would take if something in it were different. */

#pragma once

#include <stdio.h>

#include "src/analysis/graph/forecast.h"
#include "src/analysis/graph/path.h"
#include "src/analysis/what-if/edits.h"
#include "src/analysis/why/why.h"

/* What one edit does. */
typedef struct
{
  const char *text; /* LnsEdit's                                                                 */
  uint64_t n;       /* pieces, or ranges                                                         */
  int64_t ns;       /* that they take in the report                                              */
  int64_t alone_ns; /* how long the run would take with this edit alone                          */
} LnsEditEffect;

typedef struct
{
  int64_t measured_ns; /* the run, as it was                                                     */
  int64_t replayed_ns; /* the same, computed from the graph without edits                        */
  LnsForecast forecast;
  LnsPathShares shares; /* where too little is known, the forecast is not to be told             */
  uint64_t n_points, n_steps;
  char *step_name; /* owned, "" without steps                                                    */
  LNS_ARRAY (LnsEditEffect) effects; /* by edit                                                  */
} LnsWhatIf;

/* Answers for EDITS, N of them, in the report of TABLES (both borrowed). STEP_RANGE names the NVTX range that is a step, or is NULL. CANCEL
 * may be NULL. To be freed. NULL with ERROR where an edit names nothing, where the report cannot tell, where a chunk is damaged, or cancelled.
 * O(events × log threads). */
LnsWhatIf *lns_what_if_run (LnsTables *tables,
                            LnsEdit *const *edits,
                            size_t n,
                            const char *step_range,
                            const atomic_bool *cancel,
                            LnsError *error);
void lns_what_if_free (LnsWhatIf *answer); /* NULL is fine                                        */

/* The sentence that answers. To be translated already; to be freed. */
char *lns_what_if_sentence (const LnsWhatIf *answer);

/* Writes what follows the sentence, a line each. */
void lns_what_if_write_text (const LnsWhatIf *answer, FILE *stream);
void lns_what_if_write_json (const LnsWhatIf *answer, FILE *stream);
