/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The last calls of a process that may have had other threads go on, for waits of which the report does not tell who ended them. */

#pragma once

#include <stdint.h>

#define LNS_N_RELEASES 64

typedef struct
{
  int64_t ns;       /* when it began                                                             */
  uint32_t thread;  /* instance                                                                  */
  uint32_t point;   /* of the graph                                                              */
  const char *name; /* of the call; the report's                                                 */
} LnsRelease;

/* Zero before first use. */
typedef struct
{
  LnsRelease last[LNS_N_RELEASES]; /* a ring                                                     */
  unsigned n;                      /* in all                                                     */
} LnsReleases;

void lns_releases_add (
    LnsReleases *releases, uint32_t thread, const char *name, int64_t ns, uint32_t point);

/* The last one from FROM_NS to TO_NS, of another thread than THREAD, that can end a wait in the call WAIT; or NULL. */
const LnsRelease *lns_releases_find (
    const LnsReleases *releases, uint32_t thread, const char *wait, int64_t from_ns, int64_t to_ns);
