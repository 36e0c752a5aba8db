/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How a process ended that is not a child of ours. wait() tells that to its parent alone; since Linux 6.15, a pidfd tells it
 * to whoever held it before. */

#pragma once

#include <stdint.h>

typedef enum
{
  LNS_PROCESS_END_KNOWN,
  LNS_PROCESS_END_LATER, /* its parent has not waited for it yet */
  LNS_PROCESS_END_UNTOLD /* the kernel does not tell */
} LnsProcessEnd;

/* A descriptor for the end of PID, to be closed. -1 if PID is gone, or descriptors are short. */
int lns_process_end_watch (int32_t pid);

/* Sets RET_STATUS to how the process of FD ended, as wait() says it, if that is known. */
LnsProcessEnd lns_process_end_status (int fd, int *ret_status);
