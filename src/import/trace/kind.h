/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tells the kind of an event from the category that PyTorch gives it. */

#pragma once

#include "src/import/trace/json.h"

/* The categories that become something other than ranges and arrows. */
typedef enum
{
  LNS_TRACE_IS_OTHER,
  LNS_TRACE_IS_KERNEL,
  LNS_TRACE_IS_COPY,
  LNS_TRACE_IS_SET,
  LNS_TRACE_IS_SYNC,
  LNS_TRACE_IS_RUNTIME_CALL,
  LNS_TRACE_IS_DRIVER_CALL,
  LNS_TRACE_IS_GPU_ANNOTATION,
  LNS_TRACE_IS_CORRELATION,
  LNS_TRACE_IS_NVTX /* the members of "args" have the names of NVTX_EVENTS' columns               */
} LnsTraceKind;

/* Returns the kind of EVENT. The case of its category does not matter. */
LnsTraceKind _lns_trace_kind (const LnsTraceEvent *event);
