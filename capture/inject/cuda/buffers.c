/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* CUPTI asks for buffers and gives them back on threads of its own, on the one that flushes, and on the program's
 * threads, inside CUDA calls. The thread that CUPTI calls compacts the buffer at once; nothing here waits for another
 * thread. */

#include "capture/inject/cuda/buffers.h"
#include "capture/inject/cuda/calls.h"
#include "capture/inject/cuda/clock.h"
#include "capture/inject/cuda/kinds.h"
#include "capture/inject/cuda/names.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/cuda/subscriber.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"
#include "capture/inject/core/definitions.h"

/* Buffers of private memory, used if the pool has no free buffer. Their records cannot be salvaged. */
#define SPARES_MAX  1024u
#define SPARE_BYTES (64u << 10)

/* CUPTI gives a buffer back when it is full and all of its records are complete, or when a flush finds them complete.
 * On a GPU that is never idle a flush does not, as the last record of the buffer in use is always incomplete. So a
 * buffer gets no more records than its thread makes in this time. */
#define FILL_MS       250
#define FIRST_RECORDS 64u
#define LEAST_RECORDS 16u
#define MOST_RECORDS  4096u /* more than a buffer holds */

/* How long a thread of ours waits for kernels that still run when a range ends. */
#define LAUNCHED_MS       1000
#define LAUNCHED_PAUSE_MS 5

/* How long records that are not complete are waited for before CUPTI is made to give them out as they are. */
#define INCOMPLETE_MS 100

typedef struct
{
  uint8_t *bytes;
  uint32_t is_used;
} Spare;

/* CUPTI_API_VERSION of the first that can be refused a buffer: CUDA 12.9. Older ones crash, and get one whose records are
 * lost, all of them the same. */
#define TAKES_REFUSAL 27u

static _Alignas(8) uint8_t discard[SPARE_BYTES];

static Spare spares[SPARES_MAX];
static uint32_t n_refused;
static bool may_lack;

/* This thread's last request for a buffer. If the threads share one, each sees only some of the requests, and the
 * buffers are smaller than they need be. */
static __thread struct
{
  int64_t asked_ms; /* 0: never */
  uint32_t n_records;
} pace __attribute__ ((tls_model ("initial-exec")));

/* The threads whose launches go into a graph. */
static LnsWireCuptiCapturing capturing;

/* The launch slots of a stream, and the gap that they were last emptied for. */
typedef struct
{
  LnsWireLaunches launches;
  uint32_t n_gaps;
} StreamLaunches;

static Spare *
claim_spare (void)
{
  for (uint32_t i = 0; i < SPARES_MAX; i++)
    {
      Spare *spare = &spares[i];
      if (__atomic_exchange_n (&spare->is_used, 1, __ATOMIC_ACQUIRE) != 0)
        continue;
      if (spare->bytes == NULL)
        spare->bytes = lns_inject_map (SPARE_BYTES);
      if (spare->bytes != NULL)
        return spare;
      __atomic_store_n (&spare->is_used, 0, __ATOMIC_RELEASE);
      return NULL;
    }
  return NULL;
}

/* The number of records that this thread's next buffer should have; 0: as many as there is room for. */
static uint32_t
follow_pace (void)
{
  const int64_t now_ms = lns_inject_monotonic_ms ();
  const int64_t took_ms = now_ms - pace.asked_ms;
  uint32_t n = pace.n_records;
  if (pace.asked_ms == 0)
    n = FIRST_RECORDS;
  else if (took_ms < FILL_MS / 2)
    n *= 2;
  else if (took_ms > FILL_MS * 2)
    n = (uint32_t)(n * FILL_MS / took_ms);
  n = n < LEAST_RECORDS ? LEAST_RECORDS : n > MOST_RECORDS ? MOST_RECORDS : n;
  pace.asked_ms = now_ms;
  pace.n_records = n;
  return n == MOST_RECORDS ? 0 : n;
}

void
lns_cuda_buffer_requested (uint8_t **buffer, size_t *size, size_t *max_records)
{
  LNS_KEEP_ERRNO;
  *max_records = follow_pace ();
  *buffer = NULL;
  *size = 0;
  int index = lns_cuda_is_here () ? lns_wire_pool_claim_buffer (&lns_process.pool) : -EAGAIN;
  if (index >= 0)
    {
      *buffer = lns_wire_pool_buffer (&lns_process.pool, (uint32_t)index);
      *size = lns_process.pool.buffer_bytes;
      return;
    }
  Spare *spare = claim_spare ();
  if (spare != NULL)
    {
      *buffer = spare->bytes;
      *size = SPARE_BYTES;
    }
  else if (lns_cuda_is_here ())
    lns_cuda_problem (LNS_WIRE_PROBLEM_BUFFERS, 0,
                      __atomic_add_fetch (&n_refused, 1, __ATOMIC_RELAXED), NULL);
  if (spare == NULL && lns_cupti.version != 0 && lns_cupti.version < TAKES_REFUSAL)
    {
      *buffer = discard;
      *size = sizeof discard;
    }
}

/* Counts the records in the first VALID bytes of the buffer whose records are lost. Several threads may have written to
 * it. */
static void
lose_discarded (size_t valid)
{
  const LnsWireCuptiSizes *sizes = &lns_process.pool.header->cupti;
  uint64_t n = 0;
  for (size_t at = 0, size = 0; at + sizeof (uint64_t) <= valid; at += size)
    {
      const uint32_t kind = __atomic_load_n ((const uint32_t *)(discard + at), __ATOMIC_RELAXED) &
                            ~LNS_WIRE_CUPTI_INCOMPLETE;
      size = kind < LNS_WIRE_CUPTI_KINDS ? sizes->record_bytes[kind] : 0;
      if (size == 0 || size % 8 != 0 || size > valid - at)
        break;
      n++;
    }
  lns_wire_pool_count_lost (&lns_process.pool, 0, LNS_WIRE_LOSS_OTHER, n, valid);
}

/* --- Where compacted records go: this thread's stream. --------------------------------------- */

static uint8_t *
reserve (void *context, size_t n_bytes)
{
  return context == NULL ? NULL : lns_inject_stream_reserve (context, n_bytes);
}

static void
commit (void *context, size_t n_bytes)
{
  lns_inject_stream_commit (context, n_bytes);
}

/* Empties the launch slots of STREAM if it has had a gap since. */
static void
follow_gaps (LnsInjectStream *stream)
{
  StreamLaunches *known = stream->launches;
  if (known->n_gaps == stream->n_gaps)
    return;
  known->n_gaps = stream->n_gaps;
  memset (&known->launches, 0, sizeof known->launches);
}

static void
lose (void *context, size_t n_bytes)
{
  if (context == NULL)
    {
      lns_wire_pool_count_lost (&lns_process.pool, 0, LNS_WIRE_LOSS_OTHER, 1, n_bytes);
      return;
    }
  lns_inject_stream_lose (context, LNS_WIRE_LOSS_OTHER, n_bytes);
  follow_gaps (context);
}

static uint32_t
text (void *context, uint64_t address, bool is_lasting)
{
  const char *words = (const char *)(uintptr_t)address;
  if (is_lasting)
    return lns_cuda_kernel_name (words);
  return words == NULL ? 0 : lns_definitions_string (0, words, strlen (words));
}

static uint32_t
call_name (void *context, bool is_runtime, uint32_t cbid)
{
  return lns_cuda_call_name (is_runtime, cbid);
}

static void
bus (void *context, uint32_t device, char *ret_bus, size_t n_max)
{
  const char *known = lns_cuda_bus (device);
  memcpy (ret_bus, known, strnlen (known, n_max - 1));
}

/* The launch slots of STREAM, which are made on first use. Null without memory. */
static LnsWireLaunches *
launches_of (LnsInjectStream *stream)
{
  if (stream->launches == NULL)
    stream->launches = lns_inject_map (sizeof (StreamLaunches));
  if (stream->launches == NULL)
    return NULL;
  follow_gaps (stream);
  return &((StreamLaunches *)stream->launches)->launches;
}

bool
lns_cuda_learn_sizes (bool is_needed)
{
  LnsWireCuptiSizes *known = &lns_process.pool.header->cupti;
  if (__atomic_load_n (&known->version, __ATOMIC_ACQUIRE) != 0)
    return true;
  if (lns_cuda_is_silent ())
    return false;
  if (lns_cupti.version == 0 && lns_cupti_ask_version ())
    lns_cuda_tell_info ();
  LnsWireCuptiSizes sizes = { 0 };
  CUptiResult result =
      lns_cupti_learn_sizes (lns_cuda_is_shared () ? lns_cuda_engine.subscriber : NULL, &sizes);
  if (result != CUPTI_SUCCESS)
    return !is_needed || lns_cuda_check (result, "cuptiActivityGetNextRecord");
  memcpy (known->record_bytes, sizes.record_bytes, sizeof known->record_bytes);
  __atomic_store_n (&known->version, sizes.version, __ATOMIC_RELEASE);
  return true;
}

/* Writes that N records of STREAM are missing for REASON, LNS_WIRE_DROPPED_…. */
static void
tell_dropped (uint32_t stream, uint32_t reason, uint64_t n)
{
  LnsWireCudaDroppedBytes record = {
    .head = { .ticks = lns_wire_clock_ticks (lns_process.clock), .type = LNS_WIRE_CUDA_DROPPED },
    .context = LNS_WIRE_CUDA_NONE,
    .stream = stream == 0 ? LNS_WIRE_CUDA_NONE : stream,
    .reason = reason,
    .count = n,
  };
  if (n > 0)
    lns_inject_stream_tell (&record, sizeof record);
}

/* Frees what CUPTI allocated for records: see LnsWireCuptiSink. No stream is entered, as free() may be the program's. */
static void
free_leftovers (void *leftover)
{
  while (leftover != NULL && lns_cupti_free != NULL)
    {
      void *memory = leftover;
      memcpy (&leftover, memory, sizeof leftover);
      lns_cupti_free (memory);
    }
}

/* Compacts VALID bytes. RET_COMPACTED: see lns_wire_cupti_compact(). */
static void
compact (const uint8_t *bytes, size_t valid, uint32_t *ret_compacted)
{
  LnsWireCuptiCounts counts = { 0 };
  LnsWireCuptiLines lines;
  void *leftovers = NULL;
  if (!lns_cuda_learn_sizes (true))
    return;
  LnsWireCuptiSink sink = {
    .reserve = reserve,
    .commit = commit,
    .lose = lose,
    .text = text,
    .call_name = call_name,
    .bus = bus,
    .clock = lns_cuda_lines (&lines),
    .roles = lns_cuda_has_kernels () ? lns_cuda_roles : NULL,
    .ranges = lns_cuda_ranges (),
    .capturing = &capturing,
    .asked_ticks = __atomic_load_n (&lns_cuda_engine.n_forcing, __ATOMIC_ACQUIRE) > 0
                       ? __atomic_load_n (&lns_cuda_engine.asked_ticks, __ATOMIC_ACQUIRE)
                       : 0,
    .has_latencies = (lns_cuda_options ()->cuda & LNS_WIRE_CUDA_LATENCIES) != 0,
    .skipped_tid = lns_cuda_engine.control_tid,
    .skipped_calls = { __atomic_load_n (&lns_cuda_engine.mark, __ATOMIC_ACQUIRE),
                       __atomic_load_n (&lns_process.pool.header->first_mark, __ATOMIC_ACQUIRE) },
    .leftovers = &leftovers,
  };
  LnsInjectStream *stream = lns_inject_stream_enter_slow (LNS_STREAM_NO_EVENT);
  /* A thread has no stream inside a signal handler that interrupted one. All records are lost then, and counted. */
  static LnsWireLaunches nowhere; /* never written: reserve() gives nothing */
  sink.launches = stream == NULL ? NULL : launches_of (stream);
  if (sink.launches == NULL)
    sink.launches = &nowhere;
  else
    {
      sink.context = stream;
      sink.names_epoch = __atomic_load_n (&lns_cuda_engine.names_epoch, __ATOMIC_ACQUIRE);
    }
  lns_wire_cupti_compact (&lns_process.pool.header->cupti, bytes, valid, &sink, ret_compacted,
                          &counts);
  /* Send definitions at once, so that they are there if the process is killed. */
  lns_inject_stream_send_and_leave (stream);
  free_leftovers (leftovers);
  __atomic_fetch_add (&lns_cuda_engine.n_running, counts.n_launched - counts.n_run,
                      __ATOMIC_RELAXED);
  __atomic_fetch_add (&lns_cuda_engine.running_sum, counts.launched_sum - counts.run_sum,
                      __ATOMIC_RELAXED);
  /* Another thread may compact a later buffer meanwhile. */
  uint32_t seen = __atomic_load_n (&lns_cuda_engine.mark_seen, __ATOMIC_RELAXED);
  while (counts.last_skipped != 0 && (int32_t)(counts.last_skipped - seen) > 0 &&
         !__atomic_compare_exchange_n (&lns_cuda_engine.mark_seen, &seen, counts.last_skipped,
                                       false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
  tell_dropped (0, LNS_WIRE_DROPPED_UNFINISHED, counts.n_unfinished);
  tell_dropped (0, LNS_WIRE_DROPPED_MISTIMED, counts.n_mistimed);
  if (counts.unknown_kind != 0)
    lns_cuda_problem (LNS_WIRE_PROBLEM_UNKNOWN_KIND, 0, counts.unknown_kind, NULL);
}

void
lns_cuda_tell_dropped (CUcontext context, uint32_t stream)
{
  size_t n_dropped = 0;
  if (lns_cuda_count_dropped (context, stream, &n_dropped))
    tell_dropped (stream, LNS_WIRE_DROPPED_FULL, n_dropped);
  if (n_dropped > 0)
    __atomic_store_n (&may_lack, true, __ATOMIC_RELEASE);
}

void
lns_cuda_buffer_completed (
    CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
  LNS_KEEP_ERRNO;
  if (buffer == NULL || !lns_cuda_is_here ())
    return;
  if (valid > size)
    valid = size;
  const LnsWirePoolView *pool = &lns_process.pool;
  int index = lns_wire_pool_buffer_index (pool, buffer);
  __atomic_fetch_add (&lns_cuda_engine.n_compacting, 1, __ATOMIC_ACQ_REL);
  if (index >= 0)
    {
      lns_wire_pool_complete_buffer (pool, (uint32_t)index, (uint32_t)valid);
      compact (buffer, valid, &pool->buffer_lines[index].compacted);
      lns_wire_pool_free_buffer (pool, (uint32_t)index);
    }
  for (uint32_t i = 0; index < 0 && i < SPARES_MAX; i++)
    if (spares[i].bytes == buffer)
      {
        compact (buffer, valid, NULL);
        memset (buffer, 0, valid);
        __atomic_store_n (&spares[i].is_used, 0, __ATOMIC_RELEASE);
        break;
      }
  if (buffer == discard)
    lose_discarded (valid);
  __atomic_fetch_sub (&lns_cuda_engine.n_compacting, 1, __ATOMIC_ACQ_REL);
  lns_cuda_tell_dropped (context, stream);
}

bool
lns_cuda_may_lack (void)
{
  return __atomic_load_n (&may_lack, __ATOMIC_ACQUIRE) ||
         __atomic_load_n (&n_refused, __ATOMIC_RELAXED) != 0;
}

/* Whether the buffer of N_BYTES at BYTES, which CUPTI is filling, has a record of the call CORRELATION or of a later one
 * of our thread. */
static bool
has_mark (const uint8_t *bytes, size_t n_bytes, uint32_t correlation)
{
  const LnsWireCuptiSizes *sizes = &lns_process.pool.header->cupti;
  for (size_t at = 0, size = 0; at + sizeof (CUpti_ActivityAPI) <= n_bytes; at += size)
    {
      const CUpti_ActivityAPI *call = (const CUpti_ActivityAPI *)(bytes + at);
      const uint32_t kind = __atomic_load_n ((const uint32_t *)(bytes + at), __ATOMIC_ACQUIRE) &
                            ~LNS_WIRE_CUPTI_INCOMPLETE;
      size = kind < LNS_WIRE_CUPTI_KINDS ? sizes->record_bytes[kind] : 0;
      if (size == 0 || size % 8 != 0)
        break;
      if (kind == CUPTI_ACTIVITY_KIND_DRIVER &&
          (call->correlationId == correlation ||
           (call->threadId == lns_cuda_engine.control_tid &&
            (int32_t)(call->correlationId - correlation) > 0)))
        return true;
    }
  return false;
}

bool
lns_cuda_is_with_cupti (uint32_t correlation)
{
  const LnsWirePoolView *pool = &lns_process.pool;
  for (uint32_t i = 0; i < pool->n_buffers; i++)
    if (__atomic_load_n (&pool->buffer_lines[i].state, __ATOMIC_ACQUIRE) == LNS_WIRE_BUFFER_LENT &&
        has_mark (lns_wire_pool_buffer (pool, i), pool->buffer_bytes, correlation))
      return true;
  for (uint32_t i = 0; i < SPARES_MAX; i++)
    if (__atomic_load_n (&spares[i].is_used, __ATOMIC_ACQUIRE) != 0 && spares[i].bytes != NULL &&
        has_mark (spares[i].bytes, SPARE_BYTES, correlation))
      return true;
  return false;
}

void
lns_cuda_flush_all_launched (void)
{
  struct timespec pause = { .tv_nsec = LAUNCHED_PAUSE_MS * 1000000 };
  for (int left_ms = LAUNCHED_MS;; left_ms -= LAUNCHED_PAUSE_MS)
    {
      lns_cuda_flush (false);
      if ((__atomic_load_n (&lns_cuda_engine.n_running, __ATOMIC_RELAXED) |
           __atomic_load_n (&lns_cuda_engine.running_sum, __ATOMIC_RELAXED)) == 0 ||
          left_ms <= 0 || __atomic_load_n (&lns_cuda_engine.is_over, __ATOMIC_ACQUIRE))
        break;
      (void)LNS_SYSCALL (SYS_nanosleep, &pause, NULL);
    }
  /* Kernels that are still missing were dropped or take too long, and are not waited for again. The session counts
   * them. */
  __atomic_store_n (&lns_cuda_engine.n_running, 0, __ATOMIC_RELAXED);
  __atomic_store_n (&lns_cuda_engine.running_sum, 0, __ATOMIC_RELAXED);
}

/* Whether CUPTI has a buffer with records, complete or not, that it was given by TICKS. */
static bool
is_withheld (uint64_t ticks)
{
  const LnsWirePoolView *pool = &lns_process.pool;
  for (uint32_t i = 0; i < pool->n_buffers; i++)
    {
      const LnsWireBufferLine *line = &pool->buffer_lines[i];
      const uint32_t *kind = (const uint32_t *)lns_wire_pool_buffer (pool, i);
      const bool is_lent = __atomic_load_n (&line->state, __ATOMIC_ACQUIRE) == LNS_WIRE_BUFFER_LENT;
      const uint64_t claimed_ticks = __atomic_load_n (&line->claimed_ticks, __ATOMIC_ACQUIRE);
      if (is_lent && claimed_ticks != 0 && claimed_ticks <= ticks &&
          __atomic_load_n (kind, __ATOMIC_RELAXED) != 0)
        return true;
    }
  return false;
}

/* Has CUPTI give back finished records, or all. */
static void
flush_now (bool by_force)
{
  if (lns_cuda_is_silent ())
    return;
  lns_cuda_read_clocks ();
  /* What the program has waited for by now comes with the first flush, or soon after: CUPTI knows its times. */
  const uint64_t asked_ticks = lns_wire_clock_ticks (lns_process.clock);
  CUptiResult result = lns_cupti.ActivityFlushAll (0);
  for (int i = 0;
       by_force && result == CUPTI_SUCCESS && i < INCOMPLETE_MS && is_withheld (asked_ticks); i++)
    {
      (void)LNS_SYSCALL (SYS_nanosleep, &(struct timespec){ .tv_nsec = 1000000 }, NULL);
      result = lns_cupti.ActivityFlushAll (0);
    }
  if (by_force && result == CUPTI_SUCCESS)
    {
      /* What has ended is here by now. Only the last commands do this: nothing that is in flight then gets times. */
      if (__atomic_load_n (&lns_cuda_engine.n_forcing, __ATOMIC_ACQUIRE) == 0)
        __atomic_store_n (&lns_cuda_engine.asked_ticks, asked_ticks, __ATOMIC_RELEASE);
      __atomic_fetch_add (&lns_cuda_engine.n_forcing, 1, __ATOMIC_ACQ_REL);
      result = lns_cupti.ActivityFlushAll (CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
      __atomic_fetch_sub (&lns_cuda_engine.n_forcing, 1, __ATOMIC_ACQ_REL);
    }
  if (result == CUPTI_SUCCESS)
    return;
  lns_cuda_problem (LNS_WIRE_PROBLEM_FLUSH, result, 0, NULL);
  __atomic_store_n (&may_lack, true, __ATOMIC_RELEASE);
}

void
lns_cuda_flush (bool by_force)
{
  if (!lns_cuda_visit ())
    return;
  flush_now (by_force);
  lns_cuda_leave ();
}

void
lns_cuda_flush_last (void)
{
  flush_now (true);
}
