/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Chooses a hue for each name of a report. With a hash alone, one name in twelve would get its neighbour's hue, so a
 * name gets the hue of its hash unless other names of about the same time have that hue. The choice depends on the
 * report alone and is the same in every session. */

#pragma once

#include <glib.h>

#include "src/store/read/report.h"

typedef GHashTable LnsHues; /* of a name's hash: 1 + its hue */

/* O(strings), of which only the first 65,536 are looked at. REPORT is not needed later. Not changed any more: any thread. */
LnsHues *lns_hues_new (LnsReport *report);

/* The hue, 0 … LNS_N_HUES - 1, of the name of SIZE_BYTES as lns_event_short_name () has it. O(size). */
unsigned lns_hues_get (LnsHues *self, const char *name, size_t size_bytes);
