/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The selected time beside the time that was selected before it (lns_view_add_time_selection ()): what took longer in which. A worker
 * reads both. */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_SPAN_BESIDE (lns_span_beside_get_type ())
G_DECLARE_FINAL_TYPE (LnsSpanBeside, lns_span_beside, LNS, SPAN_BESIDE, AdwBin)

/* Follows the selected times of VIEW, of which it keeps a reference. Hidden while there are not two. */
GtkWidget *lns_span_beside_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
