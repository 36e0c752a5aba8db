/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What people want to know about: "kernel ~ gemm: 0.5", "range "load": other thread". An edit names pieces of a program and says what
 * becomes of them. */

#pragma once

#include "src/analysis/graph/replay.h"

/* Immutable; any thread, one at a time. */
typedef struct LnsEdit LnsEdit;

/* The edit that TEXT says. To be freed. NULL, and an ERROR of LNS_ERROR_USAGE that says what is wrong with it, if it says none. */
LnsEdit *lns_edit_new (const char *text, LnsError *error) __attribute__ ((warn_unused_result));
void lns_edit_free (LnsEdit *edit); /* NULL is fine                                              */

/* As it was written. Owned by EDIT. */
const char *lns_edit_text (const LnsEdit *edit);

/* Adds the times of threads that edit number NUMBER is about, if it is about ranges, to MARKS. False and ERROR where a chunk is
 * damaged, or cancelled. O(ranges). */
bool lns_edit_add_marks (const LnsEdit *edit,
                         uint32_t number,
                         LnsReport *report,
                         const atomic_bool *cancel,
                         LnsGraphMarks *marks,
                         LnsError *error);

/* What changes by edits: arrays by label and by edit. */
typedef struct
{
  LnsGraphChange *of_labels, *of_marks;
  bool *moves;
  uint32_t n_edits;
} LnsEditChanges;

/* No changes, for a GRAPH that was built with the marks of N_EDITS edits. To be cleared. */
LnsEditChanges lns_edit_changes (const LnsGraph *graph, uint32_t n_edits);
void lns_edit_changes_clear (LnsEditChanges *changes);

/* How CHANGES are asked for. Valid as long as they are. */
LnsGraphChanges lns_edit_changes_of (const LnsEditChanges *changes);

/* Adds what EDIT, number NUMBER, changes in GRAPH. RET_N gets how many pieces, RET_NS how long they take; 0: none is named. False and
 * ERROR (LNS_ERROR_USAGE) where the report does not say what would become of them. O(labels + overlaps). */
bool lns_edit_apply (const LnsEdit *edit,
                     uint32_t number,
                     const LnsGraph *graph,
                     LnsEditChanges *changes,
                     uint64_t *ret_n,
                     int64_t *ret_ns,
                     LnsError *error);
