/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tells assistive technology of the tabs of a bar what libadwaita 1.2 does not: that they are tabs, how they are called, and which one is
 * selected. */

#pragma once

#include <adwaita.h>

/* Prepares for all bars to come; call it before the first one is made. */
void lns_tab_names_prepare (void);

/* Follows the tabs of BAR, which has a view, as long as both are there. */
void lns_tab_names_follow (AdwTabBar *bar);
