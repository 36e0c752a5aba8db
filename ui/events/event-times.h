/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* An array of times or durations in half the memory, because neighbours are close to each other. Immutable; any
 * thread. */

#pragma once

#include <glib.h>
#include <stdint.h>

#define LNS_EVENT_TIMES_BITS 8 /* 256 values in a block */

typedef struct
{
  uint32_t *above; /* n values: how far above its block's smallest */
  int64_t *lowest; /* of each block                                */
  int64_t **wide;  /* of each block: NULL, or its values where they are too far apart for `above` */
  uint32_t n;
  uint32_t n_wide; /* blocks */
} LnsEventTimes;

/* Takes over N VALUES that came from g_malloc () or one of its kind, in whose memory `above` stays. Give
 * it back by lns_event_times_clear (). O(n). */
void lns_event_times_init (LnsEventTimes *self, int64_t *values, uint32_t n);
void lns_event_times_clear (LnsEventTimes *self);

/* Bytes held. */
uint64_t lns_event_times_bytes (const LnsEventTimes *self);

/* Value I < n. O(1). */
static inline int64_t
lns_event_times_get (const LnsEventTimes *self, uint32_t i)
{
  uint32_t block = i >> LNS_EVENT_TIMES_BITS;
  if (G_UNLIKELY (self->wide[block] != NULL))
    return self->wide[block][i & ((1u << LNS_EVENT_TIMES_BITS) - 1)];
  return self->lowest[block] + self->above[i];
}
