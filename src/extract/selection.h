/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which time and which lanes of a report are wanted. */

#pragma once

#include "src/analysis/filter.h"
#include "src/extract/extract.h"

typedef struct
{
  LnsFilterSpan span; /* within what the report covers                                            */
  bool is_cut;        /* the span is not all of that                                              */
  bool *lanes;        /* owned; by lane: whether it is wanted; or NULL: all are                   */
} LnsSelection;

/* Finds what WANTED means in REPORT. False and ERROR where there is no such process or GPU, or the report covers nothing of that
 * time; RET_SELECTION is to be cleared whatever is returned. O(lanes × what is named). */
bool lns_selection_find (LnsReport *report,
                         const LnsExtract *wanted,
                         LnsSelection *ret_selection,
                         LnsError *error);
void lns_selection_clear (LnsSelection *selection);

/* What REPORT is called where it is spoken of: the name of its file, or of the one that it was imported from, without folders.
 * Owned by REPORT. */
const char *lns_selection_title (const LnsReport *report);
