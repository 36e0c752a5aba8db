/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares two runs of a program: whether B's steps take longer than A's, by how much, how sure that is, and because of what. */

#pragma once

#include "src/analysis/compare/changes.h"
#include "src/analysis/stats/style.h"
#include "src/analysis/why/why.h"

typedef struct
{
  const char *step_range; /* the name of the NVTX range that is a step, or NULL: it is found     */
  bool in_language;       /* sentences are in the person's language, else in English              */
  const LnsRunLevels
      *levels; /* of A and B: all runs, of which these are the typical ones; or NULL */
} LnsCompareOptions;

/* What differs between the runs, besides times. */
typedef struct
{
  char *name, *a, *b; /* owned; a or b is NULL where the run does not have it                    */
} LnsDifference;

/* A finding of one run or of both: 1 + its index in each, or 0. */
typedef struct
{
  size_t a, b;
} LnsFindingPair;

typedef LNS_ARRAY (LnsFindingPair) LnsFindingPairs;

typedef struct
{
  LnsTables *tables[2]; /* borrowed                                                              */
  LnsWhy *why[2];       /* owned                                                                 */
  LnsComparedRun runs[2];
  bool has_steps[2]; /* enough of them                                                          */
  bool is_known; /* both have enough steps; else only what differs is told, besides the verdict  */
  double p50_ns[2], p99_ns[2]; /* of the steps, without time for which they had no CPU            */
  double change, low, high;    /* share of A's p50                                                */
  size_t n_runs[2];            /* of which these are the typical ones                         */
  bool tells_runs;             /* what is told is sure beside how far these lie apart          */
  LnsChangesFound found;
  LnsFindingPairs gone, fresh,
      changed; /* findings that weigh, and those that weigh another share */
  LNS_ARRAY (LnsDifference) differs;
  LNS_ARRAY (char *) notes; /* owned sentences: what was left out, and why                        */
  char *verdict;            /* owned: a sentence                                                  */
} LnsComparison;

/* Compares the reports of TABLES, A and B, which are borrowed and must outlive the result. CANCEL may be NULL. To be freed. NULL and
 * ERROR where a chunk is damaged, or cancelled. Takes two threads. O(events of both). */
LnsComparison *lns_compare (LnsTables *const tables[2],
                            const LnsCompareOptions *options,
                            const atomic_bool *cancel,
                            LnsError *error);
void lns_comparison_free (LnsComparison *comparison); /* NULL is fine                           */

/* What the part that CHANGE is about is called: "gemm", "[CUDA memcpy Host-to-Device]". To be freed. */
char *lns_change_name (const LnsComparison *comparison, const LnsChange *change);

/* The range that it is in, or that launched it; NULL where it is in none but the step. To be freed. */
char *lns_change_range (const LnsComparison *comparison, const LnsChange *change);

/* CUDA's number of its GPU, or LNS_ID_NONE. */
uint32_t lns_change_device (const LnsComparison *comparison, const LnsChange *change);

/* Writes what follows the verdict for people: TOP changes (-1 = all), findings, what differs, and notes. */
void lns_comparison_write_text (const LnsComparison *comparison, int64_t top, FILE *stream);

/* Writes all, the verdict first, as Markdown with TOP changes, or as JSON with all: shapes and names are those of
 * src/cli/formats.md. */
void lns_comparison_write_markdown (const LnsComparison *comparison, int64_t top, FILE *stream);
void lns_comparison_write_json (const LnsComparison *comparison, FILE *stream);
