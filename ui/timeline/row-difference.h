/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How a chart of B differs from the one of A with the same role: A's edge over B's chart, and a tint where B is less busy. Main thread only. */

#pragma once

#include "ui/timeline/row-context.h"

/* Draws the difference onto the area BODY of ROW of CONTEXT, as far as tiles of both are there. Nothing for rows that are no charts or
 * have no pair, and for those of A. O(width). */
void lns_row_difference_snapshot (const LnsRowContext *context,
                                  uint32_t row,
                                  GtkSnapshot *snapshot,
                                  const graphene_rect_t *body);
