/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/reach.h"

#include <stdio.h>
#include <string.h>

void
lns_reach_init (LnsReach *reach)
{
  *reach = (LnsReach){ 0 };
  pthread_mutex_init (&reach->lock, NULL);
}

void
lns_reach_clear (LnsReach *reach)
{
  pthread_mutex_destroy (&reach->lock);
}

LnsMaps
lns_reach_maps (const char *path)
{
  static const struct
  {
    const char *file; /* or how it begins */
    LnsMaps bit;
  } files[] = { { "libcuda.so.", LNS_MAPS_CUDA },
                { "liblanescope-inject.so", LNS_MAPS_INJECTION },
                { "liblanescope-osrt.so", LNS_MAPS_OS_CALLS } };
  const char *slash = strrchr (path, '/');
  if (slash == NULL || path[0] != '/')
    return 0;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (strncmp (slash + 1, files[i].file, strlen (files[i].file)) == 0)
      return LNS_MAPS_SOMETHING | files[i].bit;
  return LNS_MAPS_SOMETHING;
}

static void
add (LnsUnreached *unreached, int32_t pid, const char *name)
{
  if (unreached->n++ > 0)
    return;
  unreached->pid = pid;
  snprintf (unreached->name, sizeof unreached->name, "%s", name != NULL ? name : "");
}

void
lns_reach_note (LnsReach *reach, LnsMaps maps, bool has_os_calls, int32_t pid, const char *name)
{
  if ((maps & LNS_MAPS_SOMETHING) == 0)
    return;
  pthread_mutex_lock (&reach->lock);
  if (!has_os_calls && (maps & LNS_MAPS_OS_CALLS) == 0)
    add (&reach->os_calls, pid, name);
  if ((maps & LNS_MAPS_CUDA) != 0 && (maps & LNS_MAPS_INJECTION) == 0)
    add (&reach->cuda, pid, name);
  pthread_mutex_unlock (&reach->lock);
}

void
lns_reach_note_untold (LnsReach *reach, bool lacks_os_calls, int32_t pid, const char *name)
{
  pthread_mutex_lock (&reach->lock);
  if (lacks_os_calls)
    add (&reach->os_calls, pid, name);
  add (&reach->kernel, pid, name);
  pthread_mutex_unlock (&reach->lock);
}

void
lns_reach_get (LnsReach *reach,
               LnsUnreached *ret_os_calls,
               LnsUnreached *ret_cuda,
               LnsUnreached *ret_kernel)
{
  pthread_mutex_lock (&reach->lock);
  *ret_os_calls = reach->os_calls;
  *ret_cuda = reach->cuda;
  *ret_kernel = reach->kernel;
  pthread_mutex_unlock (&reach->lock);
}
