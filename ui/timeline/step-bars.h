/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The steps of a report in its overview: a bar each, as high as it took long, and the median as a dashed line. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/answer.h"
#include "ui/model/palette.h"

/* Whether SELF has steps to show. Main thread. */
gboolean lns_step_bars_are_there (LnsAnswer *self);

/* The bars of SELF's steps at SCALE, of which pixel 0 is the first of N_PX. OTHERS, of LnsSpan, or NULL, are the steps of another run: over
 * each bar is a line as high as the step with its number took there, and what is between the two is tinted. Owned by the caller. Main
 * thread; O(steps). */
GskRenderNode *lns_step_bars_node (LnsAnswer *self,
                                   const GArray *others,
                                   const LnsScale *scale,
                                   int n_px,
                                   int height_px,
                                   const LnsPalette *palette);

/* The step at X, in pixels, or NULL. Owned by SELF. O(log steps). */
const LnsStep *lns_step_bars_at (LnsAnswer *self, const LnsScale *scale, double x);

/* "batch · median 18.412 ms" ("Steps · …" where they are told by their kernels), and in a second line "38 steps · 2 slow". Free with
 * g_free (). */
char *lns_step_bars_text (LnsAnswer *self);

/* "Step 12 of 38: 18.412 ms", with "in B: 20.1 ms" where OTHERS, as above, have one. Free with g_free (). */
char *lns_step_bars_step_text (LnsAnswer *self, const LnsStep *step, const GArray *others);
