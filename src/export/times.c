/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "src/export/export.h"

/* Reads a time, the sum of numbers with units. Moves *TEXT behind it. */
static bool
parse_time (const char **text, int64_t *ret_ns)
{
  static const struct
  {
    const char *name;
    int64_t ns;
  } units[] = { { "ns", 1 },         { "us", 1000 },       { "µs", 1000 },        { "ms", 1000000 },
                { "s", 1000000000 }, { "m", 60000000000 }, { "h", 3600000000000 } };
  const char *at = *text;
  bool is_negative = *at == '-';
  int64_t sum = 0;

  at += is_negative;
  do
    {
      char *end;
      errno = 0;
      uintmax_t number = strtoumax (at, &end, 10);
      int64_t unit_ns = 1000000000, part;
      if (*at < '0' || *at > '9' || errno != 0)
        return false;
      at = end;
      for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp (at, units[i].name, strlen (units[i].name)) == 0)
          {
            unit_ns = units[i].ns;
            at += strlen (units[i].name);
            break;
          }
      if (__builtin_mul_overflow (number, unit_ns, &part) ||
          __builtin_add_overflow (sum, part, &sum))
        return false;
    }
  while (*at >= '0' && *at <= '9');
  *text = at;
  *ret_ns = is_negative ? -sum : sum;
  return true;
}

bool
lns_export_times_parse (const char *text, LnsExportTimes *ret_times, LnsError *error)
{
  LnsExportTimes times = { .min_ns = INT64_MIN, .max_ns = INT64_MAX };
  const char *at = text;

  times.may_begin_before = *at == ':';
  at += times.may_begin_before;
  bool good = *at == '/' || parse_time (&at, &times.min_ns);
  good = good && *at++ == '/';
  good = good && (*at == '\0' || *at == ':' || parse_time (&at, &times.max_ns));
  times.may_end_after = good && *at == ':';
  at += times.may_end_after;
  if (!good || *at != '\0' || times.min_ns > times.max_ns)
    return lns_error_set (
        error, LNS_ERROR_USAGE, 0,
        "--times: “%s” is not a time range; write start/end, such as 1s/2s500ms, /10ms or :3s/, "
        "where a colon includes events that cross that end",
        text);
  *ret_times = times;
  return true;
}
