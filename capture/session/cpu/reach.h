/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which programs Lanescope's libraries did not reach: those that dropped its variables from their environment, are static, or run
 * with other rights. The files that a program maps tell. Of those with other rights the kernel tells nothing either. */

#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What a program has mapped, as bits. */
typedef enum
{
  LNS_MAPS_SOMETHING = 1 << 0,
  LNS_MAPS_CUDA = 1 << 1,      /* the CUDA driver */
  LNS_MAPS_INJECTION = 1 << 2, /* ours for NVTX and CUDA */
  LNS_MAPS_OS_CALLS = 1 << 3,  /* ours for calls of the C library */
} LnsMaps;

/* Programs that were not reached. */
typedef struct
{
  uint64_t n;
  int32_t pid;   /* of the first */
  char name[64]; /* of the first */
} LnsUnreached;

typedef struct
{
  pthread_mutex_t lock;
  LnsUnreached os_calls, cuda, kernel; /* under the lock: since the session began */
} LnsReach;

void lns_reach_init (LnsReach *reach);
void lns_reach_clear (LnsReach *reach);

/* The bits of a mapping of PATH. */
LnsMaps lns_reach_maps (const char *path);

/* Notes that the program NAME (may be NULL) of process PID mapped MAPS and no more. HAS_OS_CALLS: it was told of them when it
 * began, if it lacks them. */
void
lns_reach_note (LnsReach *reach, LnsMaps maps, bool has_os_calls, int32_t pid, const char *name);

/* Notes that the kernel tells nothing more of the program NAME (may be NULL) of process PID. LACKS_OS_CALLS: it did not load the
 * library that records calls of the C library, and was not told of. */
void lns_reach_note_untold (LnsReach *reach, bool lacks_os_calls, int32_t pid, const char *name);

/* Any thread. */
void lns_reach_get (LnsReach *reach,
                    LnsUnreached *ret_os_calls,
                    LnsUnreached *ret_cuda,
                    LnsUnreached *ret_kernel);
