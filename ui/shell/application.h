/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#define LNS_TYPE_APPLICATION (lns_application_get_type ())

/* The application: its actions, menu bar and theme, and one window for each open report. */
G_DECLARE_FINAL_TYPE (LnsApplication, lns_application, LNS, APPLICATION, AdwApplication)

LnsApplication *lns_application_new (void) G_GNUC_WARN_UNUSED_RESULT;
