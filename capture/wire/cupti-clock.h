/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* CUPTI's own clock, for versions that cannot be given ours (before CUDA 11.6). The target reads both clocks
 * every now and then, and before it compacts a buffer. So each time in the buffer lies between two readings,
 * and the line through them turns it into ticks of the pool's clock. The readings lie in the pool's header, so
 * that the session can convert what a killed process left. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LNS_WIRE_CUPTI_READINGS 32u

/* The same moment on both clocks. */
typedef struct
{
  uint64_t cupti_ns; /* cuptiGetTimestamp() */
  uint64_t ticks;
} LnsWireCuptiReading;

typedef struct
{
  uint32_t n; /* 0: CUPTI's times are ticks already */
  uint32_t reserved;
  LnsWireCuptiReading readings[LNS_WIRE_CUPTI_READINGS]; /* ascending in both */
} LnsWireCuptiReadings;

/* Two sides: many threads of the target read the one in use, while one thread adds to the other. */
typedef struct
{
  uint32_t is_adding;
  uint32_t n_added; /* its lowest bit is the side in use */
  LnsWireCuptiReadings sides[2];
} LnsWireCuptiClock;

/* Adds READING, unless another thread is adding one. If there is no room, every other reading of the older half is
 * dropped. Returns false if CUPTI's clock has jumped, as when the machine's time is set; only READING stays then.
 * Never waits. */
bool lns_wire_cupti_clock_add (LnsWireCuptiClock *clock, LnsWireCuptiReading reading);

/* Copies the readings of CLOCK, which others may change meanwhile. Returns false and no readings if they are not
 * valid. */
bool lns_wire_cupti_clock_copy (const LnsWireCuptiClock *clock, LnsWireCuptiReadings *ret_copy);

/* Ticks at CUPTI_NS, on the line through the readings around it. Before the first and after the last reading, the
 * line of the nearest two goes on; with one reading, the result is always its ticks. Ascending in CUPTI_NS;
 * O(log n). */
uint64_t lns_wire_cupti_clock_ticks (const LnsWireCuptiReadings *known, uint64_t cupti_ns);

/* Converts the time at BYTES, 8 bytes of a CUPTI record, into ticks. 0 means no time and stays. */
void lns_wire_cupti_clock_convert (const LnsWireCuptiReadings *known, uint8_t *bytes);
