/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tracepoints of the kernel: their numbers, and where their records have what is wanted. Both differ from kernel to kernel, and
 * are read from tracefs, which needs privileges. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum
{
  LNS_TRACEPOINT_WAKING,        /* a thread wakes another one: `tid` */
  LNS_TRACEPOINT_SWITCH,        /* a thread leaves its CPU: `prev_state` */
  LNS_TRACEPOINT_SYSCALL_ENTER, /* a system call begins: `id`, the first of `args` */
  LNS_TRACEPOINT_SYSCALL_EXIT,  /* it ends: `id`, `ret` */
  LNS_N_TRACEPOINTS
} LnsTracepointKind;

#define LNS_TRACEPOINT_MOST_FIELDS 2

typedef struct
{
  uint64_t id; /* perf_event_attr.config; 0: not known */
  struct
  {
    uint32_t at, n_bytes; /* in the record; 4 or 8 */
  } fields[LNS_TRACEPOINT_MOST_FIELDS];
} LnsTracepoint;

/* What one record says. */
typedef struct
{
  int64_t fields[LNS_TRACEPOINT_MOST_FIELDS];
  bool is_interrupt; /* an interrupt did it, not the thread that it interrupted */
} LnsTracepointRecord;

/* Finds those tracepoints of KINDS (1 << LnsTracepointKind) that can be used; the others get id 0: all without privileges or
 * without tracefs; LNS_TRACEPOINT_WAKING in a pid namespace, as its records have tids of the whole machine. */
void lns_tracepoints_find (uint32_t kinds, LnsTracepoint ret_tracepoints[static LNS_N_TRACEPOINTS]);

/* Reads the N bytes of a record of TRACEPOINT at BYTES. False if it has not the layout. */
bool lns_tracepoint_read (const LnsTracepoint *tracepoint,
                          const uint8_t *bytes,
                          size_t n,
                          LnsTracepointRecord *ret_record);
