/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/stream.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/core/join.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"

#include <pthread.h>
#include <sys/prctl.h>

LNS_OLDEST (pthread_key_create);
LNS_OLDEST (pthread_setspecific);

#define STREAMS_MAX 65536u

/* Streams without a thread keep at most this many chunks together, and none while other threads lack chunks. */
#define IDLE_CHUNKS_MAX 16u

/* A chunk with less room than this gets no piece of a long record. */
#define PIECE_MIN_BYTES 512u

static const uint32_t not_recording = 0;
LnsInjectStream lns_no_stream = { .gate = LNS_GATE_NONE, .recording = &not_recording };

__thread LnsInjectStream *lns_inject_stream_self;

static LnsInjectStream *streams[STREAMS_MAX]; /* by serial - 1 */
static pthread_key_t end_key;

static inline uint64_t
ticks_now (void)
{
  return lns_wire_clock_ticks (lns_process.clock);
}

/* --- Streams without a thread. --------------------------------------------------------------- */

static void
push_idle (LnsInjectStream *stream)
{
  uint64_t head = __atomic_load_n (&lns_own.idle, __ATOMIC_RELAXED), next;
  do
    {
      stream->next_idle = (uint32_t)head;
      next = ((head >> 32) + 1) << 32 | stream->serial;
    }
  while (!__atomic_compare_exchange_n (&lns_own.idle, &head, next, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED));
}

static LnsInjectStream *
pop_idle (void)
{
  uint64_t head = __atomic_load_n (&lns_own.idle, __ATOMIC_ACQUIRE), next;
  LnsInjectStream *stream;
  do
    {
      if ((uint32_t)head == 0)
        return NULL;
      stream = streams[(uint32_t)head - 1];
      next = ((head >> 32) + 1) << 32 | __atomic_load_n (&stream->next_idle, __ATOMIC_RELAXED);
    }
  while (!__atomic_compare_exchange_n (&lns_own.idle, &head, next, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE));
  if (stream->chunk != NULL)
    __atomic_fetch_sub (&lns_own.n_idle_chunks, 1, __ATOMIC_RELAXED);
  return stream;
}

static void
give_chunk (LnsInjectStream *stream)
{
  if (stream->chunk == NULL)
    return;
  lns_wire_pool_give (stream->line);
  stream->line = NULL;
  stream->chunk = stream->cursor = stream->end = NULL;
}

/* Gives the session the chunks of all streams without a thread, because other threads have none. Threads that begin
 * meanwhile find no idle stream and make a new one. */
static void
give_idle_chunks (void)
{
  if (__atomic_load_n (&lns_own.n_idle_chunks, __ATOMIC_RELAXED) == 0)
    return;
  uint64_t head = __atomic_load_n (&lns_own.idle, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n (&lns_own.idle, &head, ((head >> 32) + 1) << 32, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    ;
  for (uint32_t serial = (uint32_t)head; serial != 0;)
    {
      LnsInjectStream *stream = streams[serial - 1];
      serial = stream->next_idle;
      if (stream->chunk != NULL)
        __atomic_fetch_sub (&lns_own.n_idle_chunks, 1, __ATOMIC_RELAXED);
      give_chunk (stream);
      push_idle (stream);
    }
}

/* Writes which thread owns STREAM at its cursor, if there is room. */
static void
write_thread (LnsInjectStream *stream)
{
  LnsWireThreadBytes *thread = (LnsWireThreadBytes *)stream->cursor;
  *thread = (LnsWireThreadBytes){
    .head = { .ticks = stream->thread_ticks, .type = LNS_WIRE_THREAD },
    .n_bytes = sizeof *thread,
    .tid = stream->tid,
    .serial = stream->thread_serial,
  };
  memcpy (thread->name, stream->thread_name, sizeof thread->name);
  lns_inject_stream_commit (stream, sizeof *thread);
}

/* Writes which thread writes the records that follow, if that is new, and what is missing before them. Fits into any
 * empty chunk. */
static void
write_preamble (LnsInjectStream *stream)
{
  if (!stream->thread_told)
    {
      (void)LNS_SYSCALL (SYS_prctl, PR_GET_NAME, stream->thread_name);
      write_thread (stream);
      stream->thread_told = true;
    }
  if (stream->first_lost_ticks != 0)
    {
      LnsWireLostBytes *lost = (LnsWireLostBytes *)stream->cursor;
      *lost = (LnsWireLostBytes){
        .head = { .ticks = stream->last_lost_ticks, .type = LNS_WIRE_LOST },
        .n_bytes = sizeof *lost,
        .first_ticks = stream->first_lost_ticks,
        .losses = stream->lost,
      };
      lns_inject_stream_commit (stream, sizeof *lost);
      stream->lost = (LnsWireLosses){ 0 };
      stream->first_lost_ticks = 0;
    }
}
#define PREAMBLE_BYTES (sizeof (LnsWireThreadBytes) + sizeof (LnsWireLostBytes))
_Static_assert(sizeof (LnsWireThreadBytes) % LNS_WIRE_ALIGN_BYTES == 0, "a record's size");
_Static_assert(sizeof (LnsWireLostBytes) % LNS_WIRE_ALIGN_BYTES == 0, "a record's size");

/* --- A thread's beginning and end. ----------------------------------------------------------- */

/* Gives STREAM a number in this process. Returns false if there are too many. */
static bool
number_stream (LnsInjectStream *stream)
{
  uint32_t index = __atomic_fetch_add (&lns_own.n_streams, 1, __ATOMIC_RELAXED);
  if (index >= STREAMS_MAX)
    {
      __atomic_fetch_sub (&lns_own.n_streams, 1, __ATOMIC_RELAXED);
      return false;
    }
  /* In the child of a fork this is mostly true already, and a store would copy the page. */
  if (streams[index] != stream)
    streams[index] = stream;
  stream->serial = index + 1;
  stream->sequence = 0;
  return true;
}

static LnsInjectStream *
make_stream (void)
{
  struct
  {
    LnsInjectStream stream;
    LnsStringMemory strings;
  } *memory = lns_inject_map (sizeof *memory);
  if (memory == NULL)
    return NULL;
  LnsInjectStream *stream = &memory->stream;
  if (!number_stream (stream))
    {
      lns_inject_unmap (memory, sizeof *memory);
      return NULL;
    }
  lns_strings_init (&stream->strings, &memory->strings);
  stream->depths = stream->near_depths;
  stream->n_depths = LNS_STREAM_NEAR_DOMAINS;
  return stream;
}

/* Takes over the stream that this thread had in the process that it was forked from. The depths stay; everything else
 * was the parent's. */
static bool
readopt_stream (LnsInjectStream *stream)
{
  stream->line = NULL;
  stream->chunk = stream->cursor = stream->end = NULL;
  lns_strings_clear (&stream->strings);
  stream->n_gaps++;
  return number_stream (stream);
}

/* The id of this thread. A child of vfork() runs in the place of a thread that continues later, most likely the first
 * one. */
static uint32_t
thread_id (void)
{
  uint32_t pid = (uint32_t)LNS_SYSCALL (SYS_getpid);
  return pid == lns_process.pid ? (uint32_t)LNS_SYSCALL (SYS_gettid) : lns_process.pid;
}

/* The word that tells whether NVTX events are recorded. */
static const uint32_t *
nvtx_flag (void)
{
  return lns_process_wants_nvtx () ? &lns_process.pool.header->recording : &not_recording;
}

/* Gives this thread a stream of GENERATION. Returns null without memory. */
static LnsInjectStream *
begin_thread (uint64_t generation)
{
  uint64_t mask = lns_inject_block_signals ();
  LnsInjectStream *stream = lns_inject_stream_self;
  bool ready = true;
  if (stream != NULL)
    ready = readopt_stream (stream);
  else
    {
      stream = pop_idle ();
      if (stream == NULL)
        stream = make_stream ();
      ready = stream != NULL && pthread_setspecific (end_key, stream) == 0;
      if (ready)
        memset (stream->depths, 0, stream->n_depths * sizeof *stream->depths);
      else if (stream != NULL)
        push_idle (stream);
    }
  if (ready)
    {
      stream->tid = thread_id ();
      stream->thread_serial = __atomic_add_fetch (&lns_own.n_threads, 1, __ATOMIC_RELAXED);
      /* Losses of another thread or process that have no record yet are only in that one's counters. */
      stream->lost = (LnsWireLosses){ 0 };
      stream->first_lost_ticks = 0;
      /* Read the clock now, not when the record is written: no event of the thread may be older. */
      stream->thread_ticks = ticks_now ();
      stream->thread_told = false;
      stream->recording = nvtx_flag ();
      stream->generation = generation;
      if ((size_t)(stream->end - stream->cursor) >= PREAMBLE_BYTES)
        write_preamble (stream);
      else
        give_chunk (stream);
      stream->gate = generation;
      lns_inject_stream_self = stream;
    }
  lns_inject_unblock_signals (mask);
  return ready ? stream : NULL;
}

/* Writes this thread's name if it has changed since it was written. */
static void
tell_last_name (LnsInjectStream *stream)
{
  char name[sizeof stream->thread_name] = { 0 };
  if (!stream->thread_told || LNS_SYSCALL (SYS_prctl, PR_GET_NAME, name) < 0 ||
      memcmp (name, stream->thread_name, sizeof name) == 0)
    return;
  memcpy (stream->thread_name, name, sizeof name);
  if (lns_inject_stream_reserve (stream, sizeof (LnsWireThreadBytes)) != NULL)
    write_thread (stream);
}

/* The thread that ends its process runs no destructors of keys. */
__attribute__ ((destructor)) static void
end_process (void)
{
  LNS_KEEP_ERRNO;
  LnsInjectStream *stream = lns_inject_stream_mine ();
  if (stream->gate != lns_process_generation ())
    return;
  stream->gate = LNS_GATE_BUSY;
  tell_last_name (stream);
  lns_inject_stream_leave (stream);
}

/* The key's destructor. If the thread uses NVTX after this, in destructors of other keys, it begins again. */
static void
end_thread (void *value)
{
  LnsInjectStream *stream = value;
  LNS_KEEP_ERRNO;
  uint64_t mask = lns_inject_block_signals ();
  lns_inject_stream_self = NULL;
  /* A stream that was not used since a fork holds nothing of this process. */
  if (stream->gate == lns_process_generation ())
    {
      stream->gate = LNS_GATE_BUSY;
      tell_last_name (stream);
      if (stream->thread_told)
        (void)lns_inject_stream_write_event (
            stream, (LnsWireHead){ .ticks = ticks_now (), .type = LNS_WIRE_THREAD_END });
      lns_inject_stream_send_definitions (stream);
      if (stream->chunk != NULL &&
          __atomic_fetch_add (&lns_own.n_idle_chunks, 1, __ATOMIC_RELAXED) >= IDLE_CHUNKS_MAX)
        {
          __atomic_fetch_sub (&lns_own.n_idle_chunks, 1, __ATOMIC_RELAXED);
          give_chunk (stream);
        }
      push_idle (stream);
    }
  lns_inject_unblock_signals (mask);
}

/* Runs when the library is loaded, before any thread joins a session. */
__attribute__ ((constructor)) static void
create_key (void)
{
  lns_process.has_key = pthread_key_create (&end_key, end_thread) == 0;
}

/* Counts an event as lost that no stream can count. */
static void
lose_unseen (LnsWireLossKind kind, LnsWireLossCause cause)
{
  if (kind != LNS_STREAM_NO_EVENT &&
      __atomic_load_n (&lns_process.pool.header->recording, __ATOMIC_RELAXED))
    lns_wire_pool_count_cause (&lns_process.pool, lns_inject_stream_mine ()->serial, kind, cause);
}

/* Counts an event of NVTX in the pool of the process that this one was forked from. */
static void
count_stray (LnsWireLossKind kind)
{
  LnsWirePoolHeader *header = lns_process.pool.header;
  if (kind != LNS_STREAM_NO_EVENT && lns_wire_loss_is_missed (kind) && lns_process_wants_nvtx () &&
      __atomic_load_n (&header->recording, __ATOMIC_RELAXED))
    __atomic_fetch_add (&header->strays.n_events, 1, __ATOMIC_RELAXED);
}

LnsInjectStream *
lns_inject_stream_enter_slow (LnsWireLossKind kind)
{
  const uint64_t generation = lns_process_joined ();
  if (generation < LNS_GENERATION_FIRST)
    return NULL;
  LnsInjectStream *stream = lns_inject_stream_mine ();
  if (stream->gate == LNS_GATE_BUSY)
    {
      lose_unseen (kind, LNS_WIRE_CAUSE_HANDLER);
      return NULL;
    }
  if (stream->gate != generation)
    {
      LNS_KEEP_ERRNO;
      stream = begin_thread (generation);
      if (stream == NULL)
        {
          lose_unseen (kind, LNS_WIRE_CAUSE_MEMORY);
          return NULL;
        }
    }
  if (kind != LNS_STREAM_NO_EVENT &&
      !__atomic_load_n (&lns_process.pool.header->recording, __ATOMIC_RELAXED))
    return NULL;
  return lns_inject_stream_shut_gate (stream);
}

LnsInjectStream *
lns_inject_stream_enter_nvtx_slow (LnsWireLossKind kind)
{
  const uint64_t generation = lns_process_joined ();
  if (generation == LNS_GENERATION_STRAY)
    count_stray (kind);
  if (generation == LNS_GENERATION_AWAITED && kind != LNS_STREAM_NO_EVENT &&
      lns_wire_loss_is_missed (kind))
    lns_process_lose_unanswered ();
  if (generation < LNS_GENERATION_FIRST || !lns_process_wants_nvtx ())
    return NULL;
  LnsInjectStream *stream = lns_inject_stream_enter_slow (kind);
  /* A capture range may have been requested since the thread began. */
  if (stream != NULL)
    stream->recording = &lns_process.pool.header->recording;
  return stream;
}

LnsInjectStream *
lns_inject_stream_enter_opening_slow (LnsWireLossKind kind)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx_slow (kind);
  if (stream == NULL ||
      (__atomic_load_n (stream->recording, __ATOMIC_RELAXED) & LNS_WIRE_RECORDING_AT_ONCE))
    return stream;
  lns_inject_stream_leave (stream);
  return NULL;
}

uint32_t *
lns_inject_stream_far_depth (LnsInjectStream *stream, uint32_t domain)
{
  if (stream == &lns_no_stream || domain >= LNS_WIRE_DOMAINS)
    return NULL;
  uint32_t *far = lns_inject_map (LNS_WIRE_DOMAINS * sizeof *far);
  if (far == NULL)
    return NULL;
  memcpy (far, stream->near_depths, sizeof stream->near_depths);
  stream->depths = far;
  stream->n_depths = LNS_WIRE_DOMAINS;
  return &far[domain];
}

/* --- Writing. -------------------------------------------------------------------------------- */

uint8_t *
lns_inject_stream_refill (LnsInjectStream *stream, size_t n_bytes)
{
  const LnsWirePoolView *pool = &lns_process.pool;
  if (n_bytes > pool->capacity_bytes)
    return NULL;
  LNS_KEEP_ERRNO;
  uint8_t *end = stream->chunk != NULL ? stream->chunk + pool->capacity_bytes : NULL;
  if (stream->first_lost_ticks != 0 && (size_t)(end - stream->cursor) >= PREAMBLE_BYTES + n_bytes)
    {
      stream->end = end;
      write_preamble (stream);
      return stream->cursor;
    }
  give_chunk (stream);
  int index =
      lns_wire_pool_claim (pool, stream->serial, stream->sequence, lns_process.pid, stream->tid);
  if (index < 0)
    {
      give_idle_chunks ();
      lns_process_notice_low ();
      return NULL;
    }
  stream->sequence++;
  stream->line = &pool->lines[index];
  stream->chunk = stream->cursor = lns_wire_pool_chunk (pool, (uint32_t)index);
  stream->end = stream->chunk + pool->capacity_bytes;
  write_preamble (stream);
  if (lns_wire_pool_n_free (pool) < pool->header->limit / 2)
    lns_process_notice_low ();
  if (!stream->in_pieces && lns_definitions_are_pending ())
    lns_inject_stream_send_definitions (stream);
  return lns_inject_stream_reserve (stream, n_bytes);
}

/* Writes the record in pieces that fill the room in each chunk. */
static int
write_pieces (LnsInjectStream *stream, const LnsPart *parts, size_t n_parts, uint32_t n_bytes)
{
  stream->in_pieces = true;
  uint32_t offset = 0;
  while (offset < n_bytes)
    {
      size_t room = (size_t)(stream->end - stream->cursor);
      if (room < PIECE_MIN_BYTES)
        {
          if (lns_inject_stream_refill (stream, PIECE_MIN_BYTES) == NULL)
            break;
          continue;
        }
      LnsWirePieceBytes *piece = (LnsWirePieceBytes *)stream->cursor;
      uint32_t n_data = (uint32_t)(room - sizeof *piece);
      if (n_data > n_bytes - offset)
        n_data = n_bytes - offset;
      uint32_t n_piece =
          (sizeof *piece + n_data + LNS_WIRE_ALIGN_BYTES - 1) & ~(LNS_WIRE_ALIGN_BYTES - 1);
      *piece = (LnsWirePieceBytes){
        .head.type = LNS_WIRE_PIECE,
        .n_bytes = n_piece,
        .n_data_bytes = n_data,
        .n_whole_bytes = n_bytes,
        .offset_bytes = offset,
      };
      lns_parts_copy (parts, n_parts, offset, (uint8_t *)(piece + 1), n_piece - sizeof *piece);
      if (offset == 0)
        memcpy ((uint8_t *)(piece + 1) + sizeof (LnsWireHead), &n_bytes, sizeof n_bytes);
      lns_inject_stream_commit (stream, n_piece);
      offset += n_data;
    }
  stream->in_pieces = false;
  return offset < n_bytes ? -ENOSPC : 0;
}

int
lns_inject_stream_write_parts (LnsInjectStream *stream, const LnsPart *parts, size_t n_parts)
{
  const size_t n_bytes = lns_parts_bytes (parts, n_parts);
  if (n_bytes > LNS_WIRE_RECORD_MAX_BYTES)
    return -ENOSPC;
  uint32_t size = (uint32_t)n_bytes;
  if (n_bytes > lns_process.pool.capacity_bytes / 2)
    return write_pieces (stream, parts, n_parts, size);
  uint8_t *at = lns_inject_stream_reserve (stream, n_bytes);
  if (at == NULL)
    return -ENOSPC;
  lns_parts_copy (parts, n_parts, 0, at, n_bytes);
  memcpy (at + sizeof (LnsWireHead), &size, sizeof size);
  lns_inject_stream_commit (stream, n_bytes);
  return 0;
}

void
lns_inject_stream_lose (LnsInjectStream *stream, LnsWireLossKind kind, size_t n_bytes)
{
  stream->last_lost_ticks = ticks_now ();
  if (stream->first_lost_ticks == 0)
    {
      stream->first_lost_ticks = stream->last_lost_ticks;
      lns_strings_clear (&stream->strings);
      stream->n_gaps++;
      /* The next record comes behind LOST, which would make void a name that was written before it. */
      stream->end = stream->cursor;
    }
  stream->lost.events[kind]++;
  stream->lost.n_bytes += n_bytes;
  lns_wire_pool_count_lost (&lns_process.pool, stream->serial, kind, 1, n_bytes);
}

static bool
write_definition (void *stream, const void *record, size_t n_bytes)
{
  LnsPart whole = { .bytes = record, .n_bytes = n_bytes };
  return lns_inject_stream_write_parts (stream, &whole, 1) == 0;
}

void
lns_inject_stream_send_definitions (LnsInjectStream *stream)
{
  lns_definitions_send (write_definition, stream);
}

void
lns_inject_stream_send_and_leave (LnsInjectStream *stream)
{
  if (stream == NULL)
    return;
  lns_inject_stream_send_definitions (stream);
  lns_inject_stream_leave (stream);
}

void
lns_inject_stream_tell (const void *record, size_t n_bytes)
{
  LnsInjectStream *stream = lns_inject_stream_enter_slow (LNS_STREAM_NO_EVENT);
  LnsPart whole = { .bytes = record, .n_bytes = n_bytes };
  /* Send the names first, so that the session can report a problem as soon as its record arrives. */
  if (stream != NULL)
    lns_inject_stream_send_definitions (stream);
  if (stream == NULL || lns_inject_stream_write_parts (stream, &whole, 1) < 0)
    (void)lns_definitions_add (&whole, 1);
  if (stream != NULL)
    lns_inject_stream_leave (stream);
}

/* --- Names. ---------------------------------------------------------------------------------- */

uint32_t
lns_inject_stream_intern (LnsInjectStream *stream,
                          const char *text,
                          size_t n_bytes,
                          const char *pointer)
{
  LnsStrings *strings = &stream->strings;
  const bool is_kept = n_bytes <= LNS_STRINGS_CACHED_MAX;
  const uint64_t hash = is_kept ? lns_strings_hash (text, n_bytes) : 0;
  uint32_t id = is_kept ? lns_strings_look_up (strings, hash, text, n_bytes, pointer) : 0;
  if (id != 0)
    return id;
  if (n_bytes > LNS_TEXT_MAX_BYTES)
    n_bytes = LNS_TEXT_MAX_BYTES;
  id = lns_strings_next_id (strings, n_bytes);
  LnsWireTextBytes head = { .head = { .type = LNS_WIRE_STRING, .string = id },
                            .n_text_bytes = (uint32_t)n_bytes };
  LnsPart parts[] = { { .bytes = &head, .n_bytes = sizeof head },
                      { .bytes = text, .n_bytes = n_bytes } };
  /* A part of the name may be written all the same: the loss that is counted next makes it void. */
  if (lns_inject_stream_write_parts (stream, parts, 2) < 0)
    return LNS_STRINGS_NO_ROOM;
  lns_strings_keep (strings, hash, text, n_bytes, pointer);
  return id;
}

uint32_t
lns_inject_stream_intern_wide (LnsInjectStream *stream, const wchar_t *text)
{
  char *wide = stream->strings.memory->wide;
  size_t n_bytes = lns_utf8_from_wide (text, wide, LNS_STRINGS_WIDE_BYTES);
  if (n_bytes <= LNS_STRINGS_WIDE_BYTES)
    return lns_inject_stream_intern (stream, wide, n_bytes, NULL);

  char *whole = lns_inject_map (n_bytes);
  if (whole == NULL)
    return LNS_STRINGS_NO_ROOM;
  lns_utf8_from_wide (text, whole, n_bytes);
  uint32_t id = lns_inject_stream_intern (stream, whole, n_bytes, NULL);
  lns_inject_unmap (whole, n_bytes);
  return id;
}
