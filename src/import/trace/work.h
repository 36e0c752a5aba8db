/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes CUDA calls and GPU work (kernels, copies, sets, synchronizations) of a trace. Values that the trace does not
 * have are NULL, because a zero would look like a measurement. */

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
