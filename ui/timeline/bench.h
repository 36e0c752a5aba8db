/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the benches of the timeline measure: lanescope-ui --bench=MODE REPORT drives the real window
 * without a person, prints one JSON object and ends. The option is not told to users.
 *
 *   first-frame   when the first full picture was painted
 *   frame         how long a frame takes: of a window in one colour, of a pan, of a zoom, with the
 *                 pointer moving; and how long after a jump the exact picture is there */

#pragma once

#include "ui/timeline/timeline.h"

G_BEGIN_DECLS

/* Gives APPLICATION the option. */
void lns_bench_add_option (GApplication *application);

/* Starts what the option asked for, if anything, once TIMELINE is shown. */
void lns_bench_attach (LnsTimeline *timeline);

G_END_DECLS
