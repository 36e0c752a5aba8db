/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes the events of a trace that become rows of tables other than ranges and counters: CUDA calls and GPU work
 * (kernels, copies, sets, synchronizations), and events of our own traces that name their table (library calls, MPI
 * calls, system calls and CUDA graphs). Values that the trace does not have are NULL, because a zero would look like a
 * measurement. */

#pragma once

#include "src/import/trace/tables.h"

/* Writes EVENT, a call of the CUDA driver or runtime. */
void _lns_trace_put_call (LnsTraceTables *tables,
                          const LnsTraceEvent *event,
                          bool is_driver,
                          int64_t start_ns,
                          int64_t end_ns);

/* Writes EVENT as a row of kind WHICH, one of the four from LNS_TRACE_ROW_KERNEL on. GPU work belongs to the process
 * with the CUDA calls, which is known only at the end of the trace. */
void _lns_trace_put_work (LnsTraceTables *tables,
                          const LnsTraceEvent *event,
                          LnsTraceRow which,
                          int64_t start_ns,
                          int64_t end_ns);

/* Returns whether EVENT names a table that this file can write. */
bool _lns_trace_is_own (const LnsTraceEvent *event);

/* Writes EVENT, for which _lns_trace_is_own () is true, from START_NS to *END_NS (NULL: it has not ended). Members of
 * "args" that are not columns of the table are left out. */
void _lns_trace_put_own (LnsTraceTables *tables,
                         const LnsTraceEvent *event,
                         int64_t start_ns,
                         const int64_t *end_ns);
