/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/gpu-order.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/graph/graph.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

/* Of a stream so many operations are remembered: a call waits for one of the last that were launched before it. */
#define N_ENDED 16

/* So many records of events, and of waits for them, are remembered. */
#define N_RECORDS 256
#define N_WAITS   64
#define N_CALLS   64

/* Between operations without a pause lies no more than this. */
#define PAUSE_NS INT64_C (15000)

/* CUpti_ActivitySynchronizationType. */
enum
{
  SYNC_EVENT = 1,
  SYNC_STREAM_WAIT,
  SYNC_STREAM,
  SYNC_CONTEXT
};

typedef struct
{
  uint32_t stream;         /* LnsCudaStream                                                      */
  LnsEnded ended[N_ENDED]; /* a ring                                                             */
  unsigned n_ended;        /* in all                                                             */
  unsigned n_begun;
  uint32_t begun; /* launch of what began last                                                   */
  LNS_ARRAY (LnsGpuWait) waits;
} Stream;

typedef struct
{
  uint64_t event;
  uint32_t launch, stream; /* point of the call, number of the stream                            */
} Record;

struct LnsGpuOrder
{
  LNS_ARRAY (Stream) streams;
  LnsGpuWait waits[N_WAITS]; /* of calls: a ring                                                 */
  unsigned n_waits;
  Record records[N_RECORDS]; /* a ring                                                           */
  unsigned n_records;
  uint32_t calls[N_CALLS]; /* points of calls that record: a ring                                */
  unsigned n_calls;
  uint32_t last; /* number of the stream whose operation ended last, or LNS_ID_NONE              */
  int64_t busy_from_ns, busy_to_ns;
};

LnsGpuOrder *
lns_gpu_order_new (void)
{
  LnsGpuOrder *order = lns_calloc (1, sizeof *order);

  order->last = LNS_ID_NONE;
  order->busy_from_ns = INT64_MAX;
  order->busy_to_ns = INT64_MIN;
  return order;
}

void
lns_gpu_order_free (LnsGpuOrder *order)
{
  if (order == NULL)
    return;
  for (size_t i = 0; i < order->streams.n; i++)
    lns_array_clear (&order->streams.items[i].waits);
  lns_array_clear (&order->streams);
  free (order);
}

uint32_t
lns_gpu_order_stream (LnsGpuOrder *order, uint32_t stream, bool adds)
{
  for (uint32_t i = 0; i < order->streams.n; i++)
    if (order->streams.items[i].stream == stream)
      return i;
  if (!adds)
    return LNS_ID_NONE;
  *lns_array_add (&order->streams) = (Stream){ .stream = stream };
  return (uint32_t)order->streams.n - 1;
}

void
lns_gpu_order_begin (LnsGpuOrder *order, uint32_t stream, uint32_t launch)
{
  order->streams.items[stream].n_begun++;
  order->streams.items[stream].begun = launch;
}

uint32_t
lns_gpu_order_n_streams (const LnsGpuOrder *order)
{
  return (uint32_t)order->streams.n;
}

bool
lns_gpu_order_runs (const LnsGpuOrder *order, uint32_t stream, uint32_t launch)
{
  const Stream *self = &order->streams.items[stream];

  return self->n_begun > self->n_ended && self->begun != LNS_POINT_NONE && self->begun <= launch;
}

void
lns_gpu_order_end (LnsGpuOrder *order, uint32_t stream, int64_t start_ns, const LnsEnded *ended)
{
  Stream *self = &order->streams.items[stream];

  self->ended[self->n_ended++ % N_ENDED] = *ended;
  order->last = stream;
  if (start_ns > lns_sum (order->busy_to_ns, PAUSE_NS) || order->busy_from_ns == INT64_MAX)
    order->busy_from_ns = start_ns;
  if (ended->ns > order->busy_to_ns)
    order->busy_to_ns = ended->ns;
}

static const LnsEnded *
last_of (const Stream *stream)
{
  return stream->n_ended > 0 ? &stream->ended[(stream->n_ended - 1) % N_ENDED] : NULL;
}

const LnsEnded *
lns_gpu_order_last (const LnsGpuOrder *order, uint32_t stream)
{
  return last_of (&order->streams.items[stream]);
}

const LnsEnded *
lns_gpu_order_last_of_all (const LnsGpuOrder *order, uint32_t *ret_stream)
{
  *ret_stream = order->last;
  return order->last != LNS_ID_NONE ? last_of (&order->streams.items[order->last]) : NULL;
}

int64_t
lns_gpu_order_busy_since (const LnsGpuOrder *order)
{
  return order->busy_from_ns;
}

void
lns_gpu_order_wait (LnsGpuOrder *order, const LnsGpuWait *wait)
{
  if (wait->type != SYNC_STREAM_WAIT)
    {
      order->waits[order->n_waits++ % N_WAITS] = *wait;
      return;
    }
  const uint32_t stream = lns_gpu_order_stream (order, wait->stream, false);
  if (stream != LNS_ID_NONE && order->streams.items[stream].waits.n < N_RECORDS)
    *lns_array_add (&order->streams.items[stream].waits) = *wait;
}

void
lns_gpu_order_record (LnsGpuOrder *order, uint64_t event, uint32_t stream, uint32_t launch)
{
  const uint32_t number = lns_gpu_order_stream (order, stream, false);

  if (number != LNS_ID_NONE)
    order->records[order->n_records++ % N_RECORDS] = (Record){ event, launch, number };
}

/* The last operation of STREAM that was launched by point LAUNCH, or NULL. */
static const LnsEnded *
last_by (const Stream *stream, uint32_t launch)
{
  for (unsigned i = stream->n_ended; i > 0 && i + N_ENDED > stream->n_ended; i--)
    {
      const LnsEnded *ended = &stream->ended[(i - 1) % N_ENDED];
      if (ended->launch == LNS_POINT_NONE || ended->launch <= launch)
        return ended;
    }
  return NULL;
}

const LnsEnded *
lns_gpu_order_last_by (const LnsGpuOrder *order, uint32_t stream, uint32_t launch)
{
  return last_by (&order->streams.items[stream], launch);
}

void
lns_gpu_order_call (LnsGpuOrder *order, const char *name, uint32_t point)
{
  if (strstr (name, "EventRecord") != NULL)
    order->calls[order->n_calls++ % N_CALLS] = point;
}

uint32_t
lns_gpu_order_record_call (const LnsGpuOrder *order, uint32_t before, unsigned number)
{
  for (unsigned i = order->n_calls; i > 0 && i + N_CALLS > order->n_calls; i--)
    if (order->calls[(i - 1) % N_CALLS] <= before && number-- == 0)
      return order->calls[(i - 1) % N_CALLS];
  return LNS_POINT_NONE;
}

/* What EVENT, as it was last recorded by point BEFORE, stands for, or NULL: RET_IS_KNOWN says whether the record is known. */
static const LnsEnded *
find_event (const LnsGpuOrder *order, uint64_t event, uint32_t before, bool *ret_is_known)
{
  for (unsigned i = order->n_records; i > 0 && i + N_RECORDS > order->n_records; i--)
    {
      const Record *record = &order->records[(i - 1) % N_RECORDS];
      *ret_is_known = record->event == event && record->launch <= before;
      if (*ret_is_known)
        return last_by (&order->streams.items[record->stream], record->launch);
    }
  *ret_is_known = false;
  return NULL;
}

const LnsEnded *
lns_gpu_order_take_waits (LnsGpuOrder *order,
                          uint32_t stream,
                          uint32_t launch,
                          LnsUnknownWaits *ret_unknown)
{
  Stream *self = &order->streams.items[stream];
  const LnsEnded *last = NULL;
  size_t kept = 0;

  ret_unknown->n = 0;
  for (size_t i = 0; i < self->waits.n; i++)
    {
      const LnsGpuWait wait = self->waits.items[i];
      bool is_known;
      if (launch != LNS_POINT_NONE && wait.point > launch)
        {
          self->waits.items[kept++] = wait;
          continue;
        }
      const LnsEnded *ended = find_event (order, wait.event, wait.point, &is_known);
      if (ended != NULL && (last == NULL || ended->ns > last->ns))
        last = ended;
      if (!is_known && ret_unknown->n < LNS_MOST_UNKNOWN_WAITS)
        ret_unknown->items[ret_unknown->n++] = wait;
    }
  self->waits.n = kept;
  return last;
}

/* The wait of the call with CORRELATION, or NULL. */
static const LnsGpuWait *
wait_of (const LnsGpuOrder *order, uint64_t correlation)
{
  for (unsigned i = order->n_waits; correlation != 0 && i > 0 && i + N_WAITS > order->n_waits; i--)
    if (order->waits[(i - 1) % N_WAITS].correlation == correlation)
      return &order->waits[(i - 1) % N_WAITS];
  return NULL;
}

static void
await (LnsAwaited *awaited, const LnsEnded *ended)
{
  if (ended == NULL || awaited->n == LNS_MOST_AWAITED)
    return;
  awaited->ends[awaited->n++] = *ended;
  if (ended->ns > awaited->ends[0].ns)
    {
      awaited->ends[awaited->n - 1] = awaited->ends[0];
      awaited->ends[0] = *ended;
    }
}

LnsAwaited
lns_gpu_order_awaited (const LnsGpuOrder *order,
                       LnsCallClass class,
                       const char *name,
                       uint64_t correlation,
                       uint32_t call)
{
  const LnsGpuWait *wait = wait_of (order, correlation);
  LnsAwaited awaited = { 0 };
  bool is_known = false;

  if (wait != NULL && wait->type == SYNC_EVENT)
    await (&awaited, find_event (order, wait->event, call, &is_known));
  if (is_known)
    return awaited;
  const bool is_all = wait != NULL ? wait->type == SYNC_CONTEXT
                                   : strstr (name, "DeviceSynchronize") != NULL ||
                                         strstr (name, "CtxSynchronize") != NULL;
  for (size_t i = 0; i < order->streams.n; i++)
    {
      const Stream *stream = &order->streams.items[i];
      const LnsEnded *last = last_by (stream, call);
      if (class == LNS_CALL_SYNC_COPY ? last != NULL && last->launch == call
                                      : is_all || (wait != NULL && wait->type == SYNC_STREAM &&
                                                   stream->stream == wait->stream))
        await (&awaited, last);
    }
  if (awaited.n == 0 && class != LNS_CALL_SYNC_COPY && order->last != LNS_ID_NONE)
    {
      await (&awaited, last_by (&order->streams.items[order->last], call));
      awaited.is_inferred = true;
    }
  return awaited;
}
