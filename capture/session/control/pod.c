/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/control/pod.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/wire/pod.h"

#define PRELOAD    "LD_PRELOAD"
#define SEPARATORS ": "

/* A copy of the variable NAME, which is then unset. Owned, or NULL. */
static char *
take (const char *name)
{
  const char *value = getenv (name);
  char *copy = value != NULL && value[0] != '\0' ? strdup (value) : NULL;
  unsetenv (name);
  return copy;
}

/* Whether the N_BYTES of ENTRY are a path of the library of the pod. */
static bool
is_library (const char *entry, size_t n_bytes)
{
  static const char name[] = "/" LNS_POD_LIBRARY;
  return n_bytes >= sizeof name - 1 &&
         memcmp (entry + n_bytes - (sizeof name - 1), name, sizeof name - 1) == 0;
}

static void
leave_preloads (void)
{
  char *list = take (PRELOAD);
  if (list == NULL)
    return;
  char *out = list;
  for (const char *entry = list; *entry != '\0';)
    {
      const size_t n_bytes = strcspn (entry, SEPARATORS),
                   n_with = n_bytes + (entry[n_bytes] != '\0');
      if (!is_library (entry, n_bytes))
        {
          memmove (out, entry, n_with);
          out += n_with;
        }
      entry += n_with;
    }
  if (out > list && strchr (SEPARATORS, out[-1]) != NULL)
    out--;
  *out = '\0';
  if (list[0] != '\0')
    setenv (PRELOAD, list, 1);
  free (list);
}

void
lns_pod_take (LnsPod *ret_pod)
{
  *ret_pod =
      (LnsPod){ .switches = take (LNS_POD_SWITCHES), .executable = take (LNS_POD_EXECUTABLE) };
  char *bytes = take (LNS_POD_REPORT_BYTES);
  ret_pod->report_max_bytes = bytes != NULL ? strtoull (bytes, NULL, 10) : 0;
  free (bytes);
  unsetenv (LNS_POD_MATCH);
  unsetenv (LNS_POD_TOOL);
  unsetenv (LNS_POD_SHARED);
  leave_preloads ();
}
