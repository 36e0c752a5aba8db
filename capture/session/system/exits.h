/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How processes ended that live too short for a pidfd (system/process-end.h): the kernel's process connector tells of each
 * thread that ends, on the whole machine. It tells root alone before Linux 6.6, and nobody in a network or pid namespace of its
 * own (Documentation/driver-api/connector.rst, drivers/connector/cn_proc.c). Used by one thread. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct LnsExits LnsExits;

/* Listens from here on. NULL where the kernel does not tell, or memory or descriptors are short. */
LnsExits *lns_exits_new (void);
void lns_exits_free (LnsExits *exits);

/* Takes what the kernel has told since the last call. What it had no room for is lost. */
void lns_exits_read (LnsExits *exits);

/* Takes how PID ended, as wait() says it, into RET_STATUS. The process had begun by START_NS (CLOCK_MONOTONIC), or INT64_MIN:
 * an older one may have had its number. Returns false if that is not known, or not yet. */
bool lns_exits_take (LnsExits *exits, int32_t pid, int64_t start_ns, int *ret_status);
