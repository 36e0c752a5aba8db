/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Values of a trace's events, which are kept as they are written. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number or a text as it is written, without quotes; terminated. NULL: it is not there. */
typedef struct
{
  const char *text;
  size_t size_bytes;
} LnsTraceValue;

/* VALUE as a whole number, also one in quotes or in hex; false where it is none that fits. */
bool lns_trace_integer (LnsTraceValue value, int64_t *ret_number);

/* The same, or OTHERWISE. */
int64_t _lns_trace_integer_or (LnsTraceValue value, int64_t otherwise);

/* VALUE, in µs, in ns; exact to the digit. */
bool lns_trace_time (LnsTraceValue value, int64_t *ret_ns);
