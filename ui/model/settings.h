/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gio/gio.h>

/* The application's settings, with a reference for the caller. The schema is looked up where it is
 * installed, then in the build tree, so that the viewer runs before it is installed. Never NULL:
 * without any schema the process ends with a sentence on stderr, as there is nothing to run with.
 */
GSettings *lns_settings_new (void) G_GNUC_WARN_UNUSED_RESULT;
