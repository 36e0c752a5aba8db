/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Summarises the events of some lanes within a span of time. */

#pragma once

#include <gio/gio.h>

#include "src/store/read/report.h"

typedef struct
{
  uint64_t n_events;     /* that touch the span */
  uint64_t n_started;    /* that begin in it    */
  int64_t busy_ns;       /* the parts in it of the events of the lanes of ordinal 0, added up */
  int64_t longest_ns;    /* duration of the longest event that touches it … */
  uint32_t longest_name; /* … and its name: string id */
} LnsDetailsBand;

/* Replaces: SELECT count(*), sum(overlap), max(duration) FROM events WHERE it touches START_NS …
 * END_NS. Reads the chunks of LANES that touch the span; blocks: for a worker. False and ERROR
 * where it was cancelled or a chunk is damaged. */
bool lns_details_band (LnsReport *report,
                       const uint32_t *lanes,
                       uint32_t n_lanes,
                       int64_t start_ns,
                       int64_t end_ns,
                       LnsDetailsBand *ret_band,
                       GCancellable *cancellable,
                       GError **error);
