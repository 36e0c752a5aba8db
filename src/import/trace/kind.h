/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a trace's events are, by the categories that PyTorch gives them. */

#pragma once

#include "src/import/trace/json.h"

/* Categories that are no ranges, or no arrows of their own. */
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
  LNS_TRACE_IS_NVTX /* what "args" say of it stands under the names of NVTX_EVENTS' columns       */
} LnsTraceKind;

/* That of EVENT, in whatever case it is written. */
LnsTraceKind _lns_trace_kind (const LnsTraceEvent *event);
