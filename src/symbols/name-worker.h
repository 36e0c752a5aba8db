/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads a program's files in a process of its own. What reads them (libdw, liblzma, demanglers) may crash or not come to
 * an end over a hostile file; then that process ends, and not this one. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "src/symbols/name-stream.h"

typedef struct
{
  void (*run) (const void *what,
               LnsNameWriter *writer); /* in the other process; adds its names to WRITER */
  const void *what;                    /* not owned */
  unsigned most_seconds;               /* of processor time, > 0 */
  const atomic_bool *stop;             /* set by another thread or a signal handler; may be NULL */
} LnsNameJob;

typedef enum
{
  LNS_WORK_DONE,
  LNS_WORK_STOPPED,  /* by *stop */
  LNS_WORK_BROKEN,   /* the process ended before its time; what it wrote before that was read */
  LNS_WORK_NOT_BEGUN /* there is no process: errno says why */
} LnsWorkEnd;

/* Runs JOB in a child of this process, and READER on what it writes. The caller may have other threads. */
LnsWorkEnd lns_name_worker_run (const LnsNameJob *job, LnsNameReader *reader);
