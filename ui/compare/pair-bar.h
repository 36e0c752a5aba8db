/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The line above two reports on one axis: which is B, by what it is aligned with A, and how far it was moved. */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_PAIR_BAR (lns_pair_bar_get_type ())
G_DECLARE_FINAL_TYPE (LnsPairBar, lns_pair_bar, LNS, PAIR_BAR, AdwBin)

/* Follows the pair of VIEW, of which it keeps a reference. Hidden while there is no B. */
GtkWidget *lns_pair_bar_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
