/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which thread's events record a thread. Threads of a program that runs already have events that were opened for them, and threads
 * that they start inherit these. One that starts while events are being opened may have inherited some and get others: its records
 * would count twice. So each thread has one owner, a thread for which events were opened, and records of others' events are left
 * out. Used by one thread. */

#pragma once

#include "capture/session/cpu/rings.h"
#include "src/base/array.h"
#include "src/base/id-map.h"

typedef struct
{
  LnsIdMap of_events;  /* 1 + owner, by id of event */
  LnsIdMap of_threads; /* 2 × (1 + owner), and 1 if the thread has ended, by tid */
  LnsIdMap
      of_inherited; /* 1 + owner, by tid: threads that have all events of it, as far as is known */
  LNS_ARRAY (int64_t) opened_ns; /* CLOCK_MONOTONIC, by owner */
} LnsCpuOwners;

void lns_cpu_owners_clear (LnsCpuOwners *owners);

/* Makes TID, for which EVENTS opened the last events, the owner of itself. */
void lns_cpu_owners_add (LnsCpuOwners *owners, const LnsCpuEvents *events, int32_t tid);

/* Whether TID is an owner, or inherited all events of one: see lns_cpu_owners_look (). */
bool lns_cpu_owners_have (const LnsCpuOwners *owners, int32_t tid);

/* Learns from RECORD, which goes on waiting in its ring, which threads inherited all events of an owner. DATA is the owners. */
void lns_cpu_owners_look (void *data,
                          const struct perf_event_header *record,
                          const LnsCpuRecordIds *ids);

/* Whether RECORD counts. Each record is to be asked for once, in the order of their times. */
bool lns_cpu_owners_admit (LnsCpuOwners *owners,
                           const struct perf_event_header *record,
                           const LnsCpuRecordIds *ids);
