/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/profile/keep-steps.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/terminal/say.h"

bool
lns_range_name_parse (const char *switch_name,
                      const char *given,
                      char *ret_range,
                      char *ret_domain,
                      size_t size,
                      LnsError *error)
{
  char *const parts[] = { ret_range, ret_domain };
  const char *at = NULL;
  memset (ret_range, 0, size);
  memset (ret_domain, 0, size);
  for (const char *c = given; *c != '\0'; c++)
    if (*c == '\\' && c[1] == '@')
      c++;
    else if (*c == '@')
      at = c;
  int part = 0;
  size_t n = 0;
  for (const char *c = given; *c != '\0'; c++)
    if (c == at)
      {
        part = 1;
        n = 0;
      }
    else if (n == size - 1)
      return lns_cli_usage (error, "--%s: names may have at most %zu bytes", switch_name, size - 1);
    else
      {
        c += *c == '\\' && c[1] == '@';
        parts[part][n++] = *c;
      }
  if (ret_range[0] == '\0')
    return lns_cli_usage (error, "--%s: “%s” does not name a range", switch_name, given);
  return true;
}

/* Takes WORD from *INOUT_AT, and blanks before it. */
static bool
take (const char **inout_at, const char *word)
{
  const char *at = *inout_at;
  while (isspace ((unsigned char)*at))
    at++;
  if (strncmp (at, word, strlen (word)) != 0)
    return false;
  *inout_at = at + strlen (word);
  return true;
}

/* Takes a decimal number from *INOUT_AT. */
static bool
take_number (const char **inout_at, double *ret_number)
{
  take (inout_at, "");
  if (!isdigit ((unsigned char)**inout_at))
    return false;
  char *end;
  *ret_number = strtod (*inout_at, &end);
  *inout_at = end;
  return true;
}

static bool
take_quantile (const char **inout_at, LnsStepRule *rule)
{
  double percent;
  if (!take (inout_at, "p") || !take_number (inout_at, &percent) || percent <= 0 || percent >= 100)
    return false;
  rule->quantile = percent / 100;
  return true;
}

static bool
take_time (const char **inout_at, double number, LnsStepRule *rule)
{
  static const struct
  {
    const char *name;
    double ns;
  } units[] = { { "ns", 1 }, { "us", 1e3 }, { "µs", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (take (inout_at, units[i].name))
      {
        if (number * units[i].ns > 1e15)
          return false;
        rule->limit_ns = (int64_t)(number * units[i].ns);
        return true;
      }
  return false;
}

static bool
take_condition (const char *at, LnsStepRule *rule)
{
  double number;
  rule->factor = 1;
  if (!take (&at, "duration") || !take (&at, ">"))
    return false;
  bool good = take_quantile (&at, rule);
  if (!good && take_number (&at, &number))
    {
      if (take (&at, "*"))
        {
          rule->factor = number;
          good = number > 0 && number < 1e6 && take_quantile (&at, rule);
        }
      else
        good = take_time (&at, number, rule);
    }
  take (&at, "");
  return good && *at == '\0';
}

bool
lns_keep_steps_parse (const char *condition,
                      const char *steps,
                      LnsStepRule *ret_rule,
                      LnsError *error)
{
  *ret_rule = (LnsStepRule){ .has_steps = true };
  if (!take_condition (condition, ret_rule) || strlen (condition) >= sizeof ret_rule->text)
    return lns_cli_usage (error,
                          "--keep-steps: cannot read “%s”; use duration > p95, duration > 2 * p95 "
                          "or duration > 20ms",
                          condition);
  snprintf (ret_rule->text, sizeof ret_rule->text, "%s", condition);
  return steps == NULL || lns_range_name_parse ("steps", steps, ret_rule->range, ret_rule->domain,
                                                sizeof ret_rule->range, error);
}
