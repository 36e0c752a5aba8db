/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds where a thread ran in pieces that are too short to be told apart, and where there is room for a name. */

#pragma once

#include "ui/tiles/tile.h"

/* Per device pixel of TILE, which has states, whether the thread ran there for most of the time, short pauses among it, and neither a
 * bar nor a name is there: LNS_TILE_PX × scale of them, and a false one. Free with g_free (). Any thread. */
bool *lns_thread_runs_find (const LnsTile *tile) __attribute__ ((warn_unused_result));
