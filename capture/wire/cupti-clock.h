/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* CUPTI's own clock, for versions that cannot be given ours (before CUDA 11.6). The target reads both
 * clocks now and then, and before it compacts a buffer, so that each time in it lies between two
 * readings, by whose line it becomes ticks of the pool's clock. The readings lie in the pool's header:
 * the session converts by them what a killed process has left. */

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

/* What many threads of the target read while one adds: to the side that is not in use. */
typedef struct
{
  uint32_t is_adding;
  uint32_t n_added; /* its lowest bit is the side in use */
  LnsWireCuptiReadings sides[2];
} LnsWireCuptiClock;

/* Adds READING, unless another thread is adding one. Where there is no room, every other of the older
 * half leaves. Returns false where CUPTI's clock has not gone on as it did before, as when the machine's
 * time is set: then only READING stays. Never waits. */
bool lns_wire_cupti_clock_add (LnsWireCuptiClock *clock, LnsWireCuptiReading reading);

/* Copies what CLOCK holds, which others may change meanwhile. False, and nothing:
 * it makes no sense. */
bool lns_wire_cupti_clock_copy (const LnsWireCuptiClock *clock, LnsWireCuptiReadings *ret_copy);

/* Ticks at CUPTI_NS on the line through the readings around it; before the first and behind the last on
 * that of the nearest two; if there is one only, that one's. Ascending in CUPTI_NS; O(log n). */
uint64_t lns_wire_cupti_clock_ticks (const LnsWireCuptiReadings *known, uint64_t cupti_ns);

/* Makes the time at BYTES, 8 bytes of a record of CUPTI's, such ticks; 0 is no time and stays. */
void lns_wire_cupti_clock_convert (const LnsWireCuptiReadings *known, uint8_t *bytes);
