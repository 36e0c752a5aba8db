/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names without the numbers that tell one of many apart: "step 12", "ProfilerStep#101", "aten::add, seq = 17", "layers.3.attn" have
 * none left; what a thing is keeps its own, as "sgemm_128x64". */

#pragma once

#include <stddef.h>

/* Longer names count by their beginning. */
#define LNS_PLAIN_NAME_SIZE 256

/* Writes the plain form of NAME into RET_PLAIN, without a terminator, and returns its size. O(size). */
size_t lns_plain_name (const char *name, size_t size_bytes, char ret_plain[LNS_PLAIN_NAME_SIZE]);

/* The same without what stood before a number at the end: "step" of "step 12", "ProfilerStep" of "ProfilerStep#101", as people call
 * them. */
size_t lns_plain_title (const char *name, size_t size_bytes, char ret_plain[LNS_PLAIN_NAME_SIZE]);
