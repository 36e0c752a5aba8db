/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads Chrome's trace format, which PyTorch and others write: JSON, plain or gzipped, either an object with
 * "traceEvents" or the list of events alone. The file is read as a stream, so memory depends on the largest event,
 * not on the file. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/buffer.h"
#include "src/base/error.h"

/* A number or a text without its quotes, NUL-terminated. NULL means that the event has no such value. */
typedef struct
{
  const char *text;
  size_t size_bytes;
} LnsTraceValue;

/* Converts VALUE, which may be quoted or hexadecimal. Returns false if it is not an integer of 64 bits. */
bool lns_trace_integer (LnsTraceValue value, int64_t *ret_number);

/* Returns VALUE as an integer, or OTHERWISE if it is not one. */
int64_t _lns_trace_integer_or (LnsTraceValue value, int64_t otherwise);

/* Converts VALUE from µs to ns, without rounding decimal fractions. Returns false if it is not a time. */
bool lns_trace_time (LnsTraceValue value, int64_t *ret_ns);

/* Events with more text than this are left out. */
#define LNS_TRACE_EVENT_MAX_BYTES ((size_t)16 << 20)

/* The fields of an event that are read. Those from LNS_TRACE_CORRELATION on are members of its "args". */
typedef enum
{
  LNS_TRACE_PHASE,
  LNS_TRACE_NAME,
  LNS_TRACE_CATEGORY,
  LNS_TRACE_PID,
  LNS_TRACE_TID,
  LNS_TRACE_START, /* µs */
  LNS_TRACE_DURATION,
  LNS_TRACE_ID,       /* unique in all processes */
  LNS_TRACE_ID_LOCAL, /* unique in one process */
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
  LNS_TRACE_OWN_DEVICE, /* the device in our own export, whose "pid" is a process; others use LNS_TRACE_DEVICE */
  LNS_TRACE_ARG_NAME,
  LNS_TRACE_STEP,
  LNS_TRACE_LABELS,
  LNS_TRACE_CLASS,  /* the class of a CUDA call: ENUM_NSYS_EVENT_CLASS */
  LNS_TRACE_DOMAIN, /* the NVTX domain in our own export */
  LNS_TRACE_TABLE,  /* the table that an event of our own export belongs to */
  LNS_TRACE_N_FIELDS
} LnsTraceField;

typedef struct
{
  LnsTraceValue fields[LNS_TRACE_N_FIELDS];
  LnsTraceValue arguments; /* all of "args", as JSON */
} LnsTraceEvent;

/* A GPU, as "deviceProperties" describes it. */
typedef struct
{
  LnsTraceValue id, name, total_bytes, major, minor, n_processors;
} LnsTraceGpu;

typedef struct
{
  /* Both are called in the caller's thread. Return false and set the error to stop reading. */
  bool (*event) (const LnsTraceEvent *event, void *data, LnsError *error);
  bool (*gpu) (const LnsTraceGpu *gpu, void *data, LnsError *error);
  void (*progress) (double fraction, void *data); /* or NULL; 0 to 1 */
  void *data;
  const atomic_bool *cancel; /* or NULL */
} LnsTraceReader;

typedef struct
{
  int64_t base_ns; /* the time that the file's times count from, in ns since 1970; 0: unknown */
  uint64_t n_events;
  uint64_t n_too_long; /* events left out: they have more than LNS_TRACE_EVENT_MAX_BYTES of text */
  uint64_t n_too_deep; /* events without their "args", which nest more than 127 lists and objects */
  bool is_cut_off;     /* the file ends early or is damaged; the events before that were read */
  char complaint[200]; /* what is wrong with it */
} LnsTraceEnd;

/* Returns whether the file at PATH begins as a trace does. */
bool lns_trace_is_one (const char *path);

/* Reads the trace at PATH. Returns false and fills ERROR if it cannot be read or has no events. */
bool lns_trace_read (const char *path,
                     const LnsTraceReader *reader,
                     LnsTraceEnd *ret_end,
                     LnsError *error);
