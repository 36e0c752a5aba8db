/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which colours the timeline has to have, as the person and the system chose them. On the main thread. */

#pragma once

#include "ui/model/palette.h"

LnsTheme lns_theme_now (void);

/* Calls CALLBACK, which gets OBJECT as its only argument, whenever that changes, as long as OBJECT is there. */
void lns_theme_connect (GCallback callback, gpointer object);
