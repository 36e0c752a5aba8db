/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a comparison of two reports, A and B, says (`lanescope diff`), as it is shown: texts and tables that need neither report. */

#pragma once

#include <glib.h>

#include "src/analysis/compare/compare.h"
#include "src/analysis/facts/span-compare.h"
#include "src/analysis/result.h"

/* Where a row of a table is in A and in B. */
typedef struct
{
  LnsPlace in[2];
  bool has[2];
} LnsPairPlaces;

/* A table, and where each of its rows is. */
typedef struct
{
  LnsResult *result; /* owned; NULL once it was taken, or where there is no such table */
  GArray *places;    /* owned, or NULL; of LnsPairPlaces, by row */
} LnsPairTable;

/* All texts are UTF-8 that can be shown, in the person's language. */
typedef struct
{
  char *verdict; /* owned */
  char *steps;   /* owned: how long a step takes in each; NULL where that cannot be compared */
  LnsPairTable changes;  /* parts of steps that changed for sure, those of most time first */
  LnsPairTable findings; /* that are gone, new, or weigh another share */
  LnsPairTable differs;  /* what differs besides */
  char **notes;          /* owned: sentences that say what was left out */
  GArray *step_spans
      [2]; /* owned; of LnsSpan: the steps of A and of B that were compared, all of them, in order */
} LnsPairFacts;

/* Compares REPORTS, A and B, which are borrowed. CANCEL may be NULL. To be freed. NULL and ERROR where one cannot be read, or cancelled.
 * A worker's: O(events of both). */
LnsPairFacts *lns_pair_facts_new (LnsReport *const reports[2],
                                  const atomic_bool *cancel,
                                  LnsError *error) G_GNUC_WARN_UNUSED_RESULT;

/* Compares SPANS of REPORT, the first as A and the second as B: the parts of both, without findings, what differs besides, and steps. As
 * above. */
LnsPairFacts *lns_pair_facts_of_spans (LnsReport *report,
                                       const LnsSpan spans[2],
                                       const atomic_bool *cancel,
                                       LnsError *error) G_GNUC_WARN_UNUSED_RESULT;

void lns_pair_facts_free (LnsPairFacts *self); /* NULL is fine */
