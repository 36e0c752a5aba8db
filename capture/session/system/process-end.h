/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How a process ended that is not a child of ours. wait() tells that to its parent alone; since Linux 6.15, a pidfd tells it
 * to whoever held it before. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A descriptor for the end of PID, to be closed. -1 if PID is gone, or descriptors are short. */
int lns_process_end_watch (int32_t pid);

/* How the process of FD ended, as wait() says it. False if its parent has not waited for it yet, or the kernel does not
 * tell. */
bool lns_process_end_status (int fd, int *ret_status);
