/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/rules/maker.h"

#include <stdlib.h>

/* ---- Running --------------------------------------------------------------------------------- */

bool
_lns_rule_add (LnsRuleResult *result, LnsRuleRow row, LnsError *error)
{
  if (result->n == result->n_allocated)
    {
      size_t n = 2 * result->n_allocated + 64;
      LnsRuleRow *larger = realloc (result->rows, n * sizeof *larger);
      if (larger == NULL)
        return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                              "not enough memory for rules; close other programs");
      result->rows = larger;
      result->n_allocated = n;
    }
  result->rows[result->n++] = row;
  return true;
}

bool
_lns_rule_go_on (const atomic_bool *cancel, LnsError *error)
{
  return cancel == NULL || !atomic_load_explicit (cancel, memory_order_relaxed) ||
         lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
}

int
_lns_rule_compare_durations (const void *a, const void *b)
{
  const LnsRuleRow *ra = a, *rb = b;

  if (ra->duration_ns != rb->duration_ns)
    return ra->duration_ns > rb->duration_ns ? -1 : 1;
  if (ra->start_ns != rb->start_ns)
    return ra->start_ns < rb->start_ns ? -1 : 1;
  return ra->lane < rb->lane ? -1 : ra->lane > rb->lane;
}
