/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Values in a trace, kept as the file spells them, and their conversion to numbers. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number or a text without its quotes, NUL-terminated. NULL means that the event has no such value. */
typedef struct
{
  const char *text;
  size_t size_bytes;
} LnsTraceValue;

/* Converts VALUE, which may be quoted or hexadecimal. Returns false if it is not an integer of 64 bits. */
bool lns_trace_integer (LnsTraceValue value, int64_t *ret_number);

/* Returns VALUE as an integer, or OTHERWISE if it is not one. */
int64_t _lns_trace_integer_or (LnsTraceValue value, int64_t otherwise);

/* Converts VALUE from µs to ns, without rounding decimal fractions. Returns false if it is not a time. */
bool lns_trace_time (LnsTraceValue value, int64_t *ret_ns);
