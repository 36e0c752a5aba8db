/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The kernel's tracepoint sched_waking: a thread wakes another one. Its number and layout differ from kernel to kernel, and
 * are read from tracefs, which needs privileges. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint64_t id;     /* perf_event_attr.config; 0: not known */
  uint32_t tid_at; /* where the record has the tid of the thread that is woken, an int32_t */
} LnsWakingFormat;

/* Finds the tracepoint. False without privileges, without tracefs, and in a pid namespace: records have the tids of the
 * whole machine. */
bool lns_waking_format_find (LnsWakingFormat *ret_format);

/* Reads the N bytes of a record at BYTES. RET_IS_INTERRUPT: an interrupt woke the thread, not what it interrupted. False if it
 * has not the layout. */
bool lns_waking_format_read (const LnsWakingFormat *format,
                             const uint8_t *bytes,
                             size_t n,
                             uint32_t *ret_tid,
                             bool *ret_is_interrupt);
