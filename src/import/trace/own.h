/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Imports the events of our own traces that name their table: library calls, MPI calls, system calls and CUDA graphs.
 * The members of their "args" have the names of the table's columns. */

#pragma once

#include "src/import/trace/tables.h"

/* Returns whether EVENT names a table that this file can write. */
bool _lns_trace_is_own (const LnsTraceEvent *event);

/* Writes EVENT, for which _lns_trace_is_own () is true, from START_NS to *END_NS (NULL: it has not ended). Members of
 * "args" that are not columns of the table are left out. */
void _lns_trace_put_own (LnsTraceTables *tables,
                         const LnsTraceEvent *event,
                         int64_t start_ns,
                         const int64_t *end_ns);
