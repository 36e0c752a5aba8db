/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The words of a comparison. */

#pragma once

#include "src/analysis/compare/compare.h"

/* Fills in the verdict and the notes of COMPARISON, in place of those that it has. */
void _lns_comparison_write_sentences (LnsComparison *comparison, bool in_language);

/* What CHANGE is, as a clause: "“gemm” in “mlp” is 1.60 ms slower on GPU 0". To be freed. */
char *_lns_change_clause (const LnsComparison *comparison, const LnsChange *change);

/* "“gemm” in “mlp” on GPU 0". To be freed. */
char *_lns_change_subject (const LnsComparison *comparison, const LnsChange *change);
