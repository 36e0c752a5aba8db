/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shows what happened in the selected time (src/analysis/facts/span-sums.h): how long GPUs worked and threads ran, and what they
 * were in. Workers read; what another selection needs is given up. */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_SPAN_BOX (lns_span_box_get_type ())
G_DECLARE_FINAL_TYPE (LnsSpanBox, lns_span_box, LNS, SPAN_BOX, AdwBin)

/* Follows the selected time of VIEW, of which it keeps a reference. Hidden while none is selected. */
GtkWidget *lns_span_box_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
