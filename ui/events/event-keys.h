/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include "ui/events/event-order.h"

/* Makes a sort key for each row of SET. Keys compare as the values of COLUMN do: times, numbers and payloads by
 * value (payloads of several types as doubles), names and other texts by their bytes. Rows without a value come
 * first. Returns NULL if memory runs out. Free with g_free (). O(n). */
uint64_t *lns_event_keys_new (const LnsEventSet *set,
                              LnsEventColumn column) G_GNUC_WARN_UNUSED_RESULT;
