/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Formats numbers for people: in the terminal the same in every locale, in the viewer with the signs of the person's. Nothing that
 * a program reads or writes is formatted here. Each function writes into the caller's RET_TEXT and returns it. Thread-safe. */

#pragma once

#include <stdint.h>

#define LNS_FORMAT_SIZE 64 /* room for every result and its NUL */

/* Has numbers written with these signs: POINT before their fraction, and GROUP between thousands, at most 4 bytes (longer ones
 * change nothing). At first they are '.' and ",". To be called before there are other threads. */
void lns_format_set_signs (char point, const char *group);

/* Puts the sign before the fraction of NUMBER, which printf () wrote in the C locale, in its place. Returns NUMBER. */
char *lns_format_with_point (char *number);

/* VALUE with N_DIGITS (at most 9) after the point: "37.5". */
const char *lns_format_fixed (double value, int n_digits, char ret_text[LNS_FORMAT_SIZE]);

/* The same with N_DIGITS (at most 17) in all, and no zeros at the end: "0.25", "1e+20". */
const char *lns_format_real (double value, int n_digits, char ret_text[LNS_FORMAT_SIZE]);

/* A duration in the unit that leaves 1–999 before the point, to three digits after it: "7 ns",
 * "12.346 µs", "1.500 ms", "3,601.000 s". Rounded half away from zero. */
const char *lns_format_duration (int64_t duration_ns, char ret_text[LNS_FORMAT_SIZE]);

/* A time or duration to the nanosecond: the same units, all digits, zeros at the end left out:
 * "1.234567891 s", "1.5 ms". */
const char *lns_format_duration_exact (int64_t duration_ns, char ret_text[LNS_FORMAT_SIZE]);

/* "1,234,567". */
const char *lns_format_unsigned (uint64_t value, char ret_text[LNS_FORMAT_SIZE]);

/* "signal 9 (SIGKILL)"; of a number without a name "signal 64". */
const char *lns_format_signal (int signal_number, char ret_text[LNS_FORMAT_SIZE]);

/* ONE where N is 1, and else MANY: for lines that programs read, which are not translated. */
static inline const char *
lns_plural (uint64_t n, const char *one, const char *many)
{
  return n == 1 ? one : many;
}

/* How much PART is of WHOLE > 0: "97.3 %", rounded down, so that only the whole is "100.0 %". */
const char *lns_format_share (uint64_t part, uint64_t whole, char ret_text[LNS_FORMAT_SIZE]);

/* "512 B", "1.5 KiB", "20.0 GiB": binary units, one digit after the point. */
const char *lns_format_bytes (uint64_t size_bytes, char ret_text[LNS_FORMAT_SIZE]);
