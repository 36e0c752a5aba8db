/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shows how the selected event compares with all of its name (alike-events.h), which are read on a worker. */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_ALIKE (lns_alike_get_type ())
G_DECLARE_FINAL_TYPE (LnsAlike, lns_alike, LNS, ALIKE, AdwBin)

/* Follows the selected event of VIEW, of which it keeps a reference. Hidden where there is nothing to compare with. */
GtkWidget *lns_alike_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
