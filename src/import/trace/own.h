/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Events of our own traces that say which table they are of: calls of libraries, of MPI and of the system, and graphs.
 * Their "args" tell the columns by name. */

#pragma once

#include "src/import/trace/tables.h"

/* Whether EVENT says that it is of a table that can be put. */
bool _lns_trace_is_own (const LnsTraceEvent *event);

/* Puts EVENT, which is of such a table, from START_NS to *END_NS (NULL: it has not ended). What its "args" tell of
 * columns that the table does not have is left out. */
bool _lns_trace_put_own (LnsTraceTables *tables,
                         const LnsTraceEvent *event,
                         int64_t start_ns,
                         const int64_t *end_ns,
                         LnsError *error);
