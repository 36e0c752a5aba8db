/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#define LNS_TYPE_START_PAGE (lns_start_page_get_type ())

/* What a window shows while it has no report: how to begin, and the recent reports. */
G_DECLARE_FINAL_TYPE (LnsStartPage, lns_start_page, LNS, START_PAGE, AdwBin)
