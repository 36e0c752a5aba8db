/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes the records that the decoder plays (decode/cpu/cpu.h) of those that the kernel writes: knows its processes, unwinds
 * stacks, and hands the records to the next batch. Used by one thread, but for `n_waiting_bytes` and `is_hurried`. */

#pragma once

#include <stdatomic.h>

#include "capture/session/cpu/family.h"
#include "capture/session/cpu/hidden.h"
#include "capture/session/cpu/owners.h"
#include "capture/session/cpu/stacks.h"
#include "capture/session/decode/cpu/cpu.h"
#include "src/base/buffer.h"

/* Zero it and set the first group before its first use. */
typedef struct
{
  LnsPeers *peers;
  const LnsCpuEvents *events;
  unsigned n_samples_of_a_chain; /* one sample of so many keeps its call chain */
  bool has_switches;             /* context switches are recorded */
  bool is_attached;              /* to processes that ran already: records have owners */
  LnsCpuOwners owners;
  LnsStacks *stacks; /* NULL: samples come without stacks */

  LnsFamily family;
  LnsCpuHidden hidden; /* see lns_cpu_records_hide () */
  LnsIdMap
      own_calls;    /* of threads, by process and tid: what they do for Lanescope alone, as bits */
  LnsIdMap leaving; /* tid << 8 | LnsCpuSwitch by CPU: of who left it last to wait */
  LnsBuffer out;    /* records for the next batch */
  uint64_t n_samples;
  uint64_t n_dropped;            /* records without memory that no LNS_CPU_LOST tells of */
  atomic_size_t n_waiting_bytes; /* of records that are not recorded yet */
  /* Samples keep what the kernel found of their callers: somebody waits for them. */
  atomic_bool is_hurried;
} LnsCpuRecords;

/* A mapping in the making, with room for its path. */
typedef struct
{
  LnsCpuMapping mapping;
  char path[4096];
} LnsCpuMadeMapping;

/* Frees what RECORDS hold, with owners and stacks. */
void lns_cpu_records_clear (LnsCpuRecords *records);

/* Makes records of RECORD. DATA is an LnsCpuRecords: an LnsCpuTake. */
void lns_cpu_records_take (void *data,
                           const struct perf_event_header *record,
                           const LnsCpuRecordIds *ids);

/* Has samples that are due after each PERIOD_NS of CPU time, and that the kernel does not give, recorded as LNS_CPU_HIDDEN. */
void lns_cpu_records_hide (LnsCpuRecords *records, int64_t period_ns);

/* Notes that nothing is recorded from TIME_NS on, for a while. */
void lns_cpu_records_pause (LnsCpuRecords *records, int64_t time_ns);

/* Adds a record of KIND with VALUE and the N_BYTES at REST behind its head. */
void lns_cpu_records_put (LnsCpuRecords *records,
                          LnsCpuKind kind,
                          uint32_t process,
                          const LnsCpuRecordIds *ids,
                          uint64_t value,
                          const void *rest,
                          size_t n_bytes);

/* Adds MAPPING of RELATIVE, whose file has IDENTITY. */
void lns_cpu_records_map (LnsCpuRecords *records,
                          LnsRelative *relative,
                          const LnsCpuMapping *mapping,
                          const uint8_t identity[static LNS_FILE_IDENTITY_BYTES],
                          const LnsCpuRecordIds *ids);

/* Hands all that was added up to UNTIL_NS to the next batch, and tells what was dropped. */
void lns_cpu_records_post (LnsCpuRecords *records, int64_t until_ns);
