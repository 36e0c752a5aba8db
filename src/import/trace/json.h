/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Chrome's trace format, as PyTorch and others write it: JSON, plain or gzipped, an object with
 * "traceEvents" or the list of events alone. Read as a stream: memory is that of the largest event. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/buffer.h"
#include "src/base/error.h"
#include "src/import/trace/value.h"

/* An event with more text than that is left out. */
#define LNS_TRACE_EVENT_MAX_BYTES ((size_t)16 << 20)

/* What is looked at of an event; those from LNS_TRACE_CORRELATION on stand in its "args". */
typedef enum
{
  LNS_TRACE_PHASE,
  LNS_TRACE_NAME,
  LNS_TRACE_CATEGORY,
  LNS_TRACE_PID,
  LNS_TRACE_TID,
  LNS_TRACE_START, /* µs */
  LNS_TRACE_DURATION,
  LNS_TRACE_ID, /* of all processes, unless it is in LNS_TRACE_ID_LOCAL */
  LNS_TRACE_ID_LOCAL,
  LNS_TRACE_SCOPE,
  LNS_TRACE_CORRELATION,
  LNS_TRACE_DEVICE,
  LNS_TRACE_CONTEXT,
  LNS_TRACE_STREAM,
  LNS_TRACE_GRID, /* three numbers */
  LNS_TRACE_BLOCK = LNS_TRACE_GRID + 3,
  LNS_TRACE_REGISTERS = LNS_TRACE_BLOCK + 3,
  LNS_TRACE_SHARED_BYTES,
  LNS_TRACE_BYTES,
  LNS_TRACE_DYNAMIC_BYTES,
  LNS_TRACE_COPY_KIND,
  LNS_TRACE_SOURCE_KIND,
  LNS_TRACE_TARGET_KIND,
  LNS_TRACE_MEMORY_KIND,
  LNS_TRACE_SYNC_TYPE,
  LNS_TRACE_RESULT,
  LNS_TRACE_OWN_DEVICE, /* where "pid" is a process, as our own export has it: LNS_TRACE_DEVICE otherwise */
  LNS_TRACE_ARG_NAME,
  LNS_TRACE_STEP,
  LNS_TRACE_LABELS,
  LNS_TRACE_CLASS,  /* of a call of CUDA: ENUM_NSYS_EVENT_CLASS */
  LNS_TRACE_DOMAIN, /* of NVTX, as our own export has it */
  LNS_TRACE_TABLE,  /* that our own export says an event is of */
  LNS_TRACE_N_FIELDS
} LnsTraceField;

typedef struct
{
  LnsTraceValue fields[LNS_TRACE_N_FIELDS];
  LnsTraceValue arguments; /* all of "args", as JSON */
} LnsTraceEvent;

/* A GPU that the file describes. */
typedef struct
{
  LnsTraceValue id, name, total_bytes, major, minor, n_processors;
} LnsTraceGpu;

typedef struct
{
  /* Called in the thread that reads. False, and the error set, ends the reading. */
  bool (*event) (const LnsTraceEvent *event, void *data, LnsError *error);
  bool (*gpu) (const LnsTraceGpu *gpu, void *data, LnsError *error);
  void (*progress) (double fraction, void *data); /* or NULL; 0 to 1 */
  void *data;
  const atomic_bool *cancel; /* or NULL */
} LnsTraceReader;

typedef struct
{
  int64_t base_ns; /* what the file's times count from, since 1970; 0: not said */
  uint64_t n_events;
  uint64_t n_too_long; /* besides: with more than LNS_TRACE_EVENT_MAX_BYTES of text */
  uint64_t
      n_too_deep; /* of them: whose "args" are left out, as they nest more than 127 lists and objects */
  bool is_cut_off;     /* the file ends, or goes wrong, in the middle: what came before was read */
  char complaint[200]; /* what is wrong then */
} LnsTraceEnd;

/* Whether the file at PATH begins as such a trace does. */
bool lns_trace_is_one (const char *path);

/* Reads the trace at PATH. False and ERROR where it cannot be read or holds no event. */
bool lns_trace_read (const char *path,
                     const LnsTraceReader *reader,
                     LnsTraceEnd *ret_end,
                     LnsError *error);
