/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Why a program is slow: what its GPUs, or without one the thread that it waits for, lost their time to. The ledger of each
 * closes to the nanosecond; what was not recorded is said and accuses nobody. */

#pragma once

#include <stdio.h>

#include "src/analysis/stats/style.h"
#include "src/analysis/why/finding.h"
#include "src/tables/tables.h"

typedef struct
{
  LnsFilterSpan span;     /* that is looked at                                                   */
  bool keeps_gaps;        /* the answer has all parts of idle time: 40 bytes each                */
  bool in_language;       /* sentences are in the person's language, else in English              */
  const char *step_range; /* the name of the NVTX range that is a step, or NULL: it is found     */
  uint32_t
      device; /* 1 + CUDA's number of the GPU that the steps are of; 0: the one with most work */
} LnsWhyOptions;

/* Answers for the report of TABLES, whose strings the result refers to by number. CANCEL may be NULL. NULL and ERROR where a
 * chunk is damaged, or cancelled. O(events) and 64 bytes for each time that a GPU was busy. Any thread. */
LnsWhy *lns_why_run (LnsTables *tables,
                     const LnsWhyOptions *options,
                     const atomic_bool *cancel,
                     LnsError *error);
/* Has WHY, which nobody changes any more, one more owner, who must free it, too. Any thread. */
LnsWhy *lns_why_ref (const LnsWhy *why) __attribute__ ((warn_unused_result));
/* It goes with its last owner. NULL is fine. Any thread. */
void lns_why_free (LnsWhy *why);

/* Of reports with more events nothing is foretold unless that is what was asked for: it takes 40 bytes an event. */
#define LNS_WHY_MOST_FORETOLD UINT64_C (12000000)

/* How long the run would take without the finding that GAIN is of, as a sentence: "Without it, the run would take …". To be freed; NULL where it is not known. */
char *lns_why_gain_sentence (const LnsWhyGain *gain);

/* Fills in how long the run would take without the first LNS_WHY_GAINS findings of WHY, where that is known. WHY is of all of the
 * report of TABLES, and keeps its gaps. CANCEL may be NULL. False and ERROR where a chunk is damaged, or cancelled.
 * O(events × log threads); 100 bytes for each piece of a thread or GPU. Any thread. */
bool lns_why_foretell (LnsTables *tables, LnsWhy *why, const atomic_bool *cancel, LnsError *error);

/* What FINDING's time is, in a few words that fit onto a timeline: "waits for loader", "computes: augment". To be freed. */
char *lns_why_label (LnsTables *tables, const LnsWhyFinding *finding);

/* The statement over the report's tables that gives FINDING's time. To be freed. */
char *lns_why_finding_sql (const LnsWhy *why, const LnsWhyFinding *finding);

/* The same for time of CAUSE that no finding is about. To be translated; static. */
const char *lns_why_cause_label (LnsCause cause);

/* The time of LEDGER that the verdict is about: from the first to the last work where starting takes most of it, else all. */
LnsSpan lns_why_judged_span (const LnsWhy *why, const LnsLedger *ledger);

/* What the part of the report that LEDGER is about is called: "GPU 0", "Thread 4711 “train”". To be freed. */
char *lns_why_subject (LnsTables *tables, const LnsLedger *ledger);

/* What the steps are called, without their numbers; "" where there are none. To be freed. */
char *lns_why_step_name (LnsTables *tables, const LnsWhy *why);

/* Writes what follows the verdict for people, a line each: TOP findings (-1 = all), the rest of the ledgers, the steps, what to
 * do, and what is not known. */
void lns_why_write_text (LnsTables *tables, const LnsWhy *why, int64_t top, FILE *stream);

/* Writes WHY as JSON: shapes and names are those of src/cli/formats.md. */
void lns_why_write_json (LnsTables *tables, const LnsWhy *why, FILE *stream);

/* Writes EVIDENCE as a JSON object: the row of its event, where a table has it, and its times. */
void lns_why_write_event (LnsTables *tables, const LnsEvidence *evidence, FILE *stream);

/* Writes the findings as a table. */
void lns_why_write_table (LnsTables *tables,
                          const LnsWhy *why,
                          FILE *stream,
                          const LnsStatsStyle *style);

/* Writes the steps as a table: each outlier with what made it slow. */
void lns_why_write_steps (LnsTables *tables, const LnsWhy *why, FILE *stream);

/* A gap: N_PARTS of the answer's gaps from FIRST on, which follow one another. */
typedef struct
{
  int64_t start_ns, end_ns;
  size_t first, n_parts;
} LnsWhyStretch;

/* Finds the longest gap of WHY, which has kept its gaps, that the time from FROM_NS to TO_NS touches, or else the next one.
 * False where there is none. O(gaps). */
bool lns_why_find_gap (const LnsWhy *why, int64_t from_ns, int64_t to_ns, LnsWhyStretch *ret_gap);

/* Writes what the time of GAP was lost to, in order: as lines for people, the longest where there are many, or as JSON, all. */
void
lns_why_write_gap (LnsTables *tables, const LnsWhy *why, const LnsWhyStretch *gap, FILE *stream);
void lns_why_write_gap_json (LnsTables *tables,
                             const LnsWhy *why,
                             const LnsWhyStretch *gap,
                             FILE *stream);
