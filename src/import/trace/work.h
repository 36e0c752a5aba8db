/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Calls of CUDA and what they began on GPUs, as a trace tells them. What it does not tell is NULL: a zero would pass
 * for something that was measured. */

#pragma once

#include "src/import/trace/tables.h"

/* Puts the call EVENT, of the driver or of the runtime. */
bool _lns_trace_put_call (LnsTraceTables *tables,
                          const LnsTraceEvent *event,
                          bool is_driver,
                          int64_t start_ns,
                          int64_t end_ns,
                          LnsError *error);

/* Puts work into the row WHICH, one of the four from LNS_TRACE_ROW_KERNEL on. It belongs to the process that makes the
 * calls: which one that is, is known at the end. */
bool _lns_trace_put_work (LnsTraceTables *tables,
                          const LnsTraceEvent *event,
                          LnsTraceRow which,
                          int64_t start_ns,
                          int64_t end_ns,
                          LnsError *error);
