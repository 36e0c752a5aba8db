/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The report beside another run: whether that is slower and because of what, which findings are gone or new, and what differs
 * besides. A row leads to its place, in both where both are open. */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_COMPARE_PANE (lns_compare_pane_get_type ())
G_DECLARE_FINAL_TYPE (LnsComparePane, lns_compare_pane, LNS, COMPARE_PANE, AdwBin)

/* Follows the pair of VIEW (model/pair.h), of which it keeps a reference. */
GtkWidget *lns_compare_pane_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
