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
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"
#include "capture/inject/core/definitions.h"

/* Buffers of private memory, used if the pool has no free buffer. Their records cannot be salvaged. */
#define SPARES_MAX  1024u
#define SPARE_BYTES (64u << 10)

/* How long a thread of ours waits for kernels that still run when a range ends. */
#define LAUNCHED_MS       1000
#define LAUNCHED_PAUSE_MS 5

typedef struct
{
  uint8_t *bytes;
  uint32_t is_used;
} Spare;

static Spare spares[SPARES_MAX];
static uint32_t n_refused;

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

void
lns_cuda_buffer_requested (uint8_t **buffer, size_t *size, size_t *max_records)
{
  LNS_KEEP_ERRNO;
  *max_records = 0;
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
  if (lns_cupti.version == 0 && lns_cupti_ask_version ())
    lns_cuda_tell_info ();
  LnsWireCuptiSizes sizes = { 0 };
  CUptiResult result = lns_cupti_learn_sizes (&sizes);
  if (result != CUPTI_SUCCESS)
    return !is_needed || lns_cuda_check (result, "cuptiActivityGetNextRecord");
  memcpy (known->record_bytes, sizes.record_bytes, sizeof known->record_bytes);
  __atomic_store_n (&known->version, sizes.version, __ATOMIC_RELEASE);
  return true;
}

/* Writes that CUPTI dropped N records of STREAM, or, if IS_UNFINISHED, had to give them back before their operations had
 * ended. */
static void
tell_dropped (uint32_t stream, bool is_unfinished, uint64_t n)
{
  LnsWireCudaDroppedBytes record = {
    .head = { .ticks = lns_wire_clock_ticks (lns_process.clock), .type = LNS_WIRE_CUDA_DROPPED },
    .context = LNS_WIRE_CUDA_NONE,
    .stream = stream == 0 ? LNS_WIRE_CUDA_NONE : stream,
    .is_unfinished = is_unfinished,
    .count = n,
  };
  if (n > 0)
    lns_inject_stream_tell (&record, sizeof record);
}

/* Compacts VALID bytes. RET_COMPACTED: see lns_wire_cupti_compact(). */
static void
compact (const uint8_t *bytes, size_t valid, uint32_t *ret_compacted)
{
  LnsWireCuptiCounts counts = { 0 };
  LnsWireCuptiReadings readings;
  if (!lns_cuda_learn_sizes (true))
    return;
  LnsWireCuptiSink sink = {
    .reserve = reserve,
    .commit = commit,
    .lose = lose,
    .text = text,
    .call_name = call_name,
    .bus = bus,
    .clock = lns_cuda_readings (&readings),
    .roles = lns_cuda_has_kernels () ? lns_cuda_roles : NULL,
    .skipped_tid = lns_cuda_engine.control_tid,
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
  __atomic_fetch_add (&lns_cuda_engine.n_running, counts.n_launched - counts.n_run,
                      __ATOMIC_RELAXED);
  __atomic_fetch_add (&lns_cuda_engine.running_sum, counts.launched_sum - counts.run_sum,
                      __ATOMIC_RELAXED);
  tell_dropped (0, true, counts.n_unfinished);
  if (counts.unknown_kind != 0)
    lns_cuda_problem (LNS_WIRE_PROBLEM_UNKNOWN_KIND, 0, counts.unknown_kind, NULL);
}

void
lns_cuda_tell_dropped (CUcontext context, uint32_t stream)
{
  size_t n_dropped = 0;
  if (LNS_CUPTI_TRY (ActivityGetNumDroppedRecords, context, stream, &n_dropped))
    tell_dropped (stream, false, n_dropped);
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
  __atomic_fetch_sub (&lns_cuda_engine.n_compacting, 1, __ATOMIC_ACQ_REL);
  lns_cuda_tell_dropped (context, stream);
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

void
lns_cuda_flush (bool by_force)
{
  lns_cuda_read_clocks ();
  CUptiResult result = lns_cupti.ActivityFlushAll (by_force ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  if (result != CUPTI_SUCCESS)
    lns_cuda_problem (LNS_WIRE_PROBLEM_FLUSH, result, 0, NULL);
}
