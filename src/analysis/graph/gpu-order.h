/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the GPU work of one process has to wait for, and what calls wait for: the last operations of its streams, the events that were recorded, and
 * the waits for them. Points are those of a graph, in whose order calls launch work. */

#pragma once

#include "src/analysis/facts/call-class.h"
#include "src/base/array.h"

/* An operation that has ended. */
typedef struct
{
  uint32_t end, launch; /* points: its end, and the call that launched it or LNS_POINT_NONE      */
  int64_t ns;           /* when it ended                                                         */
} LnsEnded;

/* A wait for the GPU as CUPTI tells of it. */
typedef struct
{
  uint64_t correlation, event;
  uint32_t type;   /* CUpti_ActivitySynchronizationType                                          */
  uint32_t stream; /* LnsCudaStream                                                              */
  uint32_t point;  /* of a stream that waits: before what is launched later than this point      */
} LnsGpuWait;

typedef struct LnsGpuOrder LnsGpuOrder;

LnsGpuOrder *lns_gpu_order_new (void);
void lns_gpu_order_free (LnsGpuOrder *order); /* NULL is fine                                     */

/* The number of STREAM, an LnsCudaStream, which is added where ADDS; else LNS_ID_NONE where it is not known. O(streams). */
uint32_t lns_gpu_order_stream (LnsGpuOrder *order, uint32_t stream, bool adds);

/* An operation of stream number STREAM that began at START_NS has ended. In order of their ends, all streams. O(1). */
void
lns_gpu_order_end (LnsGpuOrder *order, uint32_t stream, int64_t start_ns, const LnsEnded *ended);

/* An operation of stream number STREAM that point LAUNCH launched begins. */
void lns_gpu_order_begin (LnsGpuOrder *order, uint32_t stream, uint32_t launch);

uint32_t lns_gpu_order_n_streams (const LnsGpuOrder *order);

/* Whether an operation of stream number STREAM is at work that point LAUNCH launched, or one before it. O(1). */
bool lns_gpu_order_runs (const LnsGpuOrder *order, uint32_t stream, uint32_t launch);

/* The last operation of stream number STREAM that has ended and that point LAUNCH launched, or one before it; or NULL. O(1). */
const LnsEnded *lns_gpu_order_last_by (const LnsGpuOrder *order, uint32_t stream, uint32_t launch);

/* The operation of stream number STREAM that ended last, or NULL. O(1). */
const LnsEnded *lns_gpu_order_last (const LnsGpuOrder *order, uint32_t stream);

/* The operation that ended last, and RET_STREAM the number of its stream; or NULL. O(1). */
const LnsEnded *lns_gpu_order_last_of_all (const LnsGpuOrder *order, uint32_t *ret_stream);

/* Since when operations have run without a pause of more than some µs; INT64_MAX: there were none. */
int64_t lns_gpu_order_busy_since (const LnsGpuOrder *order);

/* A call waits, or a stream. O(streams). */
void lns_gpu_order_wait (LnsGpuOrder *order, const LnsGpuWait *wait);

/* EVENT was recorded in STREAM, an LnsCudaStream, by the call at point LAUNCH. O(streams). */
void lns_gpu_order_record (LnsGpuOrder *order, uint64_t event, uint32_t stream, uint32_t launch);

/* A call of CUDA begins at POINT: whether it records an event follows from its NAME. O(1). */
void lns_gpu_order_call (LnsGpuOrder *order, const char *name, uint32_t point);

/* The last but NUMBER call that records an event before point BEFORE, or LNS_POINT_NONE. O(calls). */
uint32_t lns_gpu_order_record_call (const LnsGpuOrder *order, uint32_t before, unsigned number);

/* Waits for events of which it is not known where they were recorded. */
#define LNS_MOST_UNKNOWN_WAITS 4
typedef struct
{
  LnsGpuWait items[LNS_MOST_UNKNOWN_WAITS];
  unsigned n;
} LnsUnknownWaits;

/* The last operation that one of stream number STREAM that was launched at point LAUNCH has to be after, by events for which the stream
 * waits; or NULL. RET_UNKNOWN gets those of which the report does not tell more. The next one need not wait for them. O(waits × records). */
const LnsEnded *lns_gpu_order_take_waits (LnsGpuOrder *order,
                                          uint32_t stream,
                                          uint32_t launch,
                                          LnsUnknownWaits *ret_unknown);

#define LNS_MOST_AWAITED 8

/* What a call waited for: the operation that ended last comes first. */
typedef struct
{
  LnsEnded ends[LNS_MOST_AWAITED];
  unsigned n;
  bool is_inferred; /* the report does not tell: it is the operation that ended last             */
} LnsAwaited;

/* What a call of CLASS called NAME with CORRELATION waited for, which began at point CALL and has ended. O(streams). */
LnsAwaited lns_gpu_order_awaited (const LnsGpuOrder *order,
                                  LnsCallClass class,
                                  const char *name,
                                  uint64_t correlation,
                                  uint32_t call);
