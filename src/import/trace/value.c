/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

bool
lns_trace_integer (LnsTraceValue value, int64_t *ret_number)
{
  char *end;
  if (value.text == NULL || value.size_bytes == 0)
    return false;
  errno = 0;
  const bool is_hex = value.text[0] == '0' && (value.text[1] | 0x20) == 'x';
  long long number =
      is_hex ? (long long)strtoull (value.text, &end, 16) : strtoll (value.text, &end, 10);
  if (errno != 0 || end == value.text)
    return false;
  if (*end == '.' || *end == 'e' || *end == 'E')
    {
      double real = strtod (value.text, &end);
      if (!(real > -9e18 && real < 9e18))
        return false;
      number = (long long)real;
    }
  *ret_number = number;
  return *end == '\0';
}

int64_t
_lns_trace_integer_or (LnsTraceValue value, int64_t otherwise)
{
  int64_t number;
  return lns_trace_integer (value, &number) ? number : otherwise;
}

bool
lns_trace_time (LnsTraceValue value, int64_t *ret_ns)
{
  char *end;
  if (value.text == NULL || value.size_bytes == 0)
    return false;
  errno = 0;
  const bool is_negative = value.text[0] == '-';
  long long whole = strtoll (value.text, &end, 10);
  if (errno != 0 || end == value.text || whole > INT64_MAX / 4000 || whole < -INT64_MAX / 4000)
    return false;
  int64_t ns = (int64_t)whole * 1000;
  if (*end == '.')
    {
      int64_t unit = 100;
      for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
        ns += (is_negative ? -1 : 1) * unit * (*end - '0');
    }
  if (*end == 'e' || *end == 'E')
    {
      double real = strtod (value.text, &end) * 1000;
      if (!(real > -2e18 && real < 2e18))
        return false;
      ns = (int64_t)llround (real);
    }
  *ret_ns = ns;
  return *end == '\0';
}
