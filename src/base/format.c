/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_GROUP_BYTES 4

static char sign_point = '.';
static char sign_group[MAX_GROUP_BYTES + 1] = ",";

void
lns_format_set_signs (char point, const char *group)
{
  const size_t n_bytes = strlen (group);

  if (n_bytes > MAX_GROUP_BYTES)
    return;
  sign_point = point;
  memcpy (sign_group, group, n_bytes + 1);
}

char *
lns_format_with_point (char *number)
{
  char *point = strchr (number, '.');

  if (point != NULL)
    *point = sign_point;
  return number;
}

const char *
lns_format_fixed (double value, int n_digits, char ret_text[LNS_FORMAT_SIZE])
{
  snprintf (ret_text, LNS_FORMAT_SIZE, "%.*f", n_digits, value);
  return lns_format_with_point (ret_text);
}

const char *
lns_format_real (double value, int n_digits, char ret_text[LNS_FORMAT_SIZE])
{
  snprintf (ret_text, LNS_FORMAT_SIZE, "%.*g", n_digits, value);
  return lns_format_with_point (ret_text);
}

const char *
lns_format_signal (int signal_number, char ret_text[LNS_FORMAT_SIZE])
{
  const char *name = sigabbrev_np (signal_number);

  snprintf (ret_text, LNS_FORMAT_SIZE, name != NULL ? "signal %d (SIG%s)" : "signal %d",
            signal_number, name);
  return ret_text;
}

const char *
lns_format_share (uint64_t part, uint64_t whole, char ret_text[LNS_FORMAT_SIZE])
{
  const unsigned tenths = (unsigned)((__extension__(unsigned __int128) part) * 1000 / whole);

  snprintf (ret_text, LNS_FORMAT_SIZE, "%u.%u %%", tenths / 10, tenths % 10);
  return ret_text;
}

typedef struct
{
  uint64_t size_ns;
  const char *name;
} Unit;

static const Unit units[] = {
  { 1, "ns" }, { 1000, "µs" }, { 1000 * 1000, "ms" }, { 1000 * 1000 * 1000, "s" }
};
#define N_UNITS 4

/* |VALUE|, also of INT64_MIN. */
static uint64_t
magnitude (int64_t value)
{
  return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static const char *
format_grouped (bool negative, uint64_t value, char ret_text[LNS_FORMAT_SIZE])
{
  char reversed[LNS_FORMAT_SIZE];
  int n = 0;
  for (int digits = 0; digits == 0 || value > 0; digits++, value /= 10)
    {
      if (digits > 0 && digits % 3 == 0)
        for (size_t i = strlen (sign_group); i > 0; i--)
          reversed[n++] = sign_group[i - 1];
      reversed[n++] = (char)('0' + value % 10);
    }
  if (negative)
    reversed[n++] = '-';
  for (int i = 0; i < n; i++)
    ret_text[i] = reversed[n - 1 - i];
  ret_text[n] = '\0';
  return ret_text;
}

const char *
lns_format_unsigned (uint64_t value, char ret_text[LNS_FORMAT_SIZE])
{
  return format_grouped (false, value, ret_text);
}

static int
unit_of (uint64_t duration_ns)
{
  int unit = 0;
  while (unit + 1 < N_UNITS && duration_ns >= units[unit + 1].size_ns)
    unit++;
  return unit;
}

const char *
lns_format_duration (int64_t duration_ns, char ret_text[LNS_FORMAT_SIZE])
{
  uint64_t value_ns = magnitude (duration_ns);
  int unit = unit_of (value_ns);
  uint64_t thousandth_ns = units[unit].size_ns / 1000;
  if (unit > 1)
    {
      value_ns = (value_ns + thousandth_ns / 2) / thousandth_ns * thousandth_ns;
      unit = unit_of (value_ns); /* 999.9996 ms are 1.000 s */
      thousandth_ns = units[unit].size_ns / 1000;
    }
  format_grouped (duration_ns < 0, value_ns / units[unit].size_ns, ret_text);
  size_t length = strlen (ret_text), room = LNS_FORMAT_SIZE - length;
  if (unit == 0)
    snprintf (ret_text + length, room, " ns");
  else
    snprintf (ret_text + length, room, "%c%03u %s", sign_point,
              (unsigned)(value_ns % units[unit].size_ns / thousandth_ns), units[unit].name);
  return ret_text;
}

const char *
lns_format_duration_exact (int64_t duration_ns, char ret_text[LNS_FORMAT_SIZE])
{
  uint64_t value_ns = magnitude (duration_ns);
  int unit = unit_of (value_ns);
  format_grouped (duration_ns < 0, value_ns / units[unit].size_ns, ret_text);
  size_t length = strlen (ret_text);
  uint64_t rest_ns = value_ns % units[unit].size_ns;
  int digits = 3 * unit;
  for (; rest_ns > 0 && rest_ns % 10 == 0; rest_ns /= 10)
    digits--;
  if (rest_ns > 0)
    snprintf (ret_text + length, LNS_FORMAT_SIZE - length, "%c%0*" PRIu64 " %s", sign_point, digits,
              rest_ns, units[unit].name);
  else
    snprintf (ret_text + length, LNS_FORMAT_SIZE - length, " %s", units[unit].name);
  return ret_text;
}

const char *
lns_format_bytes (uint64_t size_bytes, char ret_text[LNS_FORMAT_SIZE])
{
  static const char names[][4] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  unsigned unit = 0;
  double value = (double)size_bytes;
  /* 1,023.95 would be written as 1024.0 of the smaller unit. */
  for (; value >= (unit == 0 ? 1024 : 1023.95) && unit + 1 < sizeof names / sizeof names[0]; unit++)
    value /= 1024;
  snprintf (ret_text, LNS_FORMAT_SIZE, unit == 0 ? "%.0f %s" : "%.1f %s", value, names[unit]);
  return lns_format_with_point (ret_text);
}
