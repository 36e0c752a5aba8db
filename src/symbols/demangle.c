/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (16 * 1024)

char *
lns_demangle (const char *mangled)
{
  /* The demanglers know more languages, whose rules would take plain C names for theirs. */
  const bool is_mangled = strncmp (mangled, "_Z", 2) == 0 || strncmp (mangled, "_R", 2) == 0 ||
                          strncmp (mangled, "___Z", 4) == 0;
  if (!is_mangled || strnlen (mangled, MOST_BYTES) == MOST_BYTES)
    return NULL;
  char *rust = rust_demangle (mangled, DMGL_PARAMS);
  if (rust != NULL)
    return rust;
  return cplus_demangle_v3 (mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
}
