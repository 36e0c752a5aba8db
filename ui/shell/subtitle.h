/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What matters of a report, below its name: "53,195 events · 46.283 s · 4 steps · NVIDIA H200". */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

/* Has TITLE tell of VIEW's report, now and as more becomes known; of none where VIEW is NULL. Keeps a reference of VIEW until then. */
void lns_subtitle_follow (AdwWindowTitle *title, LnsView *view);
