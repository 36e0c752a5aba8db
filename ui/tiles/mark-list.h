/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads few marks one by one: the pixel query does not list them, as they have no width. */

#pragma once

#include <gtk/gtk.h>

#include "src/store/read/pixels.h"

/* Gives the events of LANE that start in [START_NS, END_NS), ascending, with duration 0: *RET_EVENTS is freed with g_free (). Returns
 * false and sets ERROR if a chunk is damaged; *RET_EVENTS is then as it was. Any thread. O(log events + those that are given). */
bool lns_mark_list_read (LnsReport *report,
                         uint32_t lane,
                         int64_t start_ns,
                         int64_t end_ns,
                         LnsPixelEvent **ret_events,
                         uint32_t *ret_n,
                         LnsError *error);
