/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Opens the kernel's events of processes that run already, of their threads and descendants. Nothing is stopped: threads that begin
 * meanwhile inherit the events of the thread that started them, or are found when the threads are listed again. */

#pragma once

#include "capture/session/cpu/events.h"
#include "capture/session/cpu/owners.h"
#include "capture/session/system/process-list.h"

/* What became of a process. */
typedef struct
{
  int32_t pid;
  int failed;          /* an errno: nothing of it is recorded; 0: nothing was refused */
  LnsPids tids;        /* threads that have events of their own */
  unsigned n_left_out; /* threads that have none, as opening them failed */
} LnsCpuAttached;

typedef struct
{
  LNS_ARRAY (LnsCpuAttached) processes; /* parents before their children */
  LnsIdMap places;                      /* 1 + place in it, by pid */
  LnsCpuOwners owners;
  LnsCpuOrder *order;      /* of the events; NULL: none are open */
  unsigned n_left_out;     /* of all processes */
  int failed_last;         /* an errno: why */
  LnsCpuEventsStep failed; /* where opening failed, if it did */
} LnsCpuAttachment;

/* Opens EVENTS of PIDS and all that descend from them. Returns 0, or an errno if this machine records no process; then
 * ATTACHMENT has the processes nevertheless. No events are open if each process was refused or has ended. Clear ATTACHMENT. */
int lns_cpu_attach (LnsCpuAttachment *attachment,
                    LnsCpuEvents *events,
                    const LnsCpuEventsOptions *options,
                    const LnsPids *pids,
                    bool is_paused);

/* Frees what ATTACHMENT has, but for `owners` and `order`. */
void lns_cpu_attachment_clear (LnsCpuAttachment *attachment);

/* Lists PIDS and all that descend from them in ATTACHMENT, and opens nothing. */
void lns_cpu_attachment_list (LnsCpuAttachment *attachment, const LnsPids *pids);
