/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds what repeats in a sequence: the steps of a program in the names of its kernels. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At most so many symbols tell where a repetition begins. */
#define LNS_PERIOD_ANCHOR 16

typedef struct
{
  size_t first;    /* where the first repetition begins                                          */
  unsigned anchor; /* so many symbols, as they are at `first`, tell that one begins              */
  size_t length;   /* symbols of a typical repetition, at least 2                                */
  size_t n;        /* repetitions, at least 4                                                    */
} LnsPeriod;

/* Finds the shortest period of the N SYMBOLS: at least 80 % of them repeat a part of two or more symbols, apart from some that
 * were added, left out or replaced, and at least four times. PAUSES, or NULL, has the binary logarithm of the pause before each
 * symbol: of the places where a repetition may begin, the one with the longest pauses is taken. Returns false where nothing
 * repeats. O(N log N) at worst, and 5 bytes for each symbol. Any thread. */
bool
lns_period_find (const uint32_t *symbols, const uint8_t *pauses, size_t n, LnsPeriod *ret_period);
