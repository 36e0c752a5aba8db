/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include "ui/events/event-order.h"

G_BEGIN_DECLS

/* A key for each row of SET that orders like the values of COLUMN: times, numbers and payloads by
 * value (those of several types as doubles), names and what has a name by the bytes of the name,
 * nothing first. NULL without memory. Free with g_free (). O(n). */
uint64_t *lns_event_keys_new (const LnsEventSet *set,
                              LnsEventColumn column) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
