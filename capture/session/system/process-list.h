/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which processes and threads there are, as /proc lists them. What ends meanwhile may be listed, and what begins meanwhile may be
 * missing. */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/array.h"

typedef LNS_ARRAY (int32_t) LnsPids;

/* Adds all processes of the machine that /proc shows to PIDS. O(processes) */
void lns_process_list (LnsPids *pids);

/* Adds the ids of the threads of PID to TIDS: nothing if it has ended. O(threads) */
void lns_process_list_threads (int32_t pid, LnsPids *tids);

/* Adds all that descend from the processes in PIDS and are not in there, parents before their children. This process and what it
 * started are left out. O(processes × generations) */
void lns_process_list_descendants (LnsPids *pids);

bool lns_pids_have (const LnsPids *pids, int32_t pid);

/* The user whose process PID is, and the process itself if PID is a thread's id. False if there is none. */
bool lns_process_owner (int32_t pid, uid_t *ret_user, int32_t *ret_process);

/* Whether PID is a thread of the kernel. */
bool lns_process_is_of_kernel (int32_t pid);
