/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/process.h"

#include <stddef.h>

/* In a section of its own: with its alignment, it would have the rest lie on a page of its own too, and a fork's
 * child gets a copy of each page that it writes to. */
LnsOwnPage lns_own __attribute__ ((section (".bss.own")));
LnsProcessState lns_process;

static LnsProcessWatcher *watchers;

void
lns_process_add_watcher (LnsProcessWatcher *watcher)
{
  watcher->next = __atomic_load_n (&watchers, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n (&watchers, &watcher->next, watcher, false, __ATOMIC_RELEASE,
                                       __ATOMIC_RELAXED))
    ;
}

static const LnsProcessWatcher *
first_watcher (void)
{
  return __atomic_load_n (&watchers, __ATOMIC_ACQUIRE);
}

int
lns_process_prepare (void)
{
  int error = 0;
  for (const LnsProcessWatcher *at = first_watcher (); at != NULL && error == 0; at = at->next)
    if (at->prepare != NULL)
      error = at->prepare ();
  return error;
}

void
lns_process_leave_parent (void)
{
  for (const LnsProcessWatcher *at = first_watcher (); at != NULL; at = at->next)
    if (at->leave_parent != NULL)
      at->leave_parent ();
}

void
lns_process_recording_changed (void)
{
  for (const LnsProcessWatcher *at = first_watcher (); at != NULL; at = at->next)
    if (at->follow_recording != NULL)
      at->follow_recording ();
}
