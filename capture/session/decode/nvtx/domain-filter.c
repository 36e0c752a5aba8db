/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/nvtx/domain-filter.h"

#include <string.h>

/* Whether the first name in LIST is NAME; *RET_REST is what follows its comma, NULL at the end. */
static bool
is_next (const char *list, const char *name, size_t n_bytes, const char **ret_rest)
{
  static const char word[] = "default";
  const size_t n_word = strcspn (list, ",");
  const bool is_word = n_word == sizeof word - 1 && memcmp (list, word, n_word) == 0;
  size_t n = 0;
  bool is_same = true;
  for (; *list != '\0' && *list != ','; list++, n++)
    {
      if (*list == '\\' && list[1] != '\0')
        list++;
      is_same = is_same && name != NULL && n < n_bytes && name[n] == *list;
    }
  *ret_rest = *list == ',' ? list + 1 : NULL;
  return is_word ? name == NULL : is_same && name != NULL && n == n_bytes;
}

static bool
has (const char *list, const char *name, size_t n_bytes)
{
  for (const char *rest = list; rest != NULL;)
    if (is_next (rest, name, n_bytes, &rest))
      return true;
  return false;
}

bool
lns_domain_filter_leaves_out (const LnsDomainFilter *filter, const char *name, size_t n_bytes)
{
  return (filter->only != NULL && !has (filter->only, name, n_bytes)) ||
         (filter->but != NULL && has (filter->but, name, n_bytes));
}
