/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The stream of records that a thread writes. A thread gets a stream at its first event and gives it back when it ends,
 * with its memory, names and, usually, its chunk, so that the next thread can use it: 100,000 short threads use a
 * handful of streams.
 *
 * The fast path (lns_inject_stream_enter_nvtx() … lns_inject_stream_leave()) is three loads, two compares and a store.
 * It allocates nothing, takes no lock and makes no system call. A stream that was entered must be left on every path.
 * Meanwhile its gate is shut: if a signal handler of the program uses NVTX on this thread, its events are counted as
 * lost. */

#pragma once

#include "capture/inject/core/process.h"
#include "capture/inject/core/record.h"
#include "capture/inject/core/strings.h"
#include "capture/inject/core/walk.h"
#include "capture/wire/clock.h"

/* The number of domains whose depths need no further memory. */
#define LNS_STREAM_NEAR_DOMAINS 64u

typedef struct LnsInjectStream LnsInjectStream;
struct LnsInjectStream
{
  /* The generation while the stream may be entered, LNS_GATE_BUSY while it is. */
  uint64_t gate;
  uint8_t
      *cursor; /* the place of the next record; without a chunk, this and the next two are null */
  uint8_t *end;
  uint8_t *chunk;
  LnsWireLine *line;
  const uint32_t *recording; /* of NVTX events: the pool's flag, or a 0 if they are not asked for */
  uint32_t *depths;          /* by domain: the number of pushed ranges */
  uint32_t n_depths;
  uint32_t pop_floor; /* pops that reach a depth below it take the slow path */
  /* From here on only slow paths. */
  uint32_t serial;
  uint64_t generation;
  uint64_t sequence; /* of the next chunk */
  uint64_t n_ranges; /* started: the next start/end range's number */
  uint64_t thread_serial;
  uint64_t thread_ticks; /* when the thread got the stream */
  uint32_t tid;
  uint32_t next_idle;   /* serial */
  char thread_name[16]; /* of the operating system, as last written */
  bool thread_told;
  bool in_pieces; /* a record is being written in pieces: no other may come between them */
  uint64_t first_lost_ticks;
  uint64_t last_lost_ticks;
  LnsWireLosses lost;       /* since the last record */
  uint32_t n_gaps;          /* how many times the names that the stream has written became void */
  void *launches;           /* of the CUDA engine; null until it writes here */
  void *python;             /* the same, of its Python callers */
  LnsStack stack;           /* of the thread THREAD_SERIAL … */
  uint64_t stack_of;        /* … if this is that number; 0: not read yet */
  uint32_t code_generation; /* of the chains among the names (lns_addresses_generation ()) */
  uint32_t near_depths[LNS_STREAM_NEAR_DOMAINS];
  LnsStrings strings;
};

#define LNS_GATE_BUSY UINT64_MAX
#define LNS_GATE_NONE UINT64_C (3) /* never a generation */

/* All of this library's thread-local storage but the size of CUDA buffers. Null until the thread has a stream, so that a new thread needs no copied
 * initial value: glibc (2.36) misses a thread that is created while another one loads this library, and leaves its
 * storage zero. */
extern __thread LnsInjectStream *lns_inject_stream_self
    __attribute__ ((tls_model ("initial-exec")));

/* The stream of threads that have none of their own. It can never be entered. */
extern LnsInjectStream lns_no_stream;

/* This thread's stream, or lns_no_stream. */
static inline LnsInjectStream *
lns_inject_stream_mine (void)
{
  LnsInjectStream *stream = lns_inject_stream_self;
  return __builtin_expect (stream != NULL, 1) ? stream : &lns_no_stream;
}

/* Instead of a kind: the stream is entered for something other than an event, recording or not. */
#define LNS_STREAM_NO_EVENT LNS_WIRE_LOSS_KINDS

/* Enters this thread's stream if the fast path cannot: joins the session, gets a stream. Returns null if the event is
 * not recorded, and counts it as a loss of KIND if it is lost. */
LnsInjectStream *lns_inject_stream_enter_slow (LnsWireLossKind kind);

/* The same for NVTX events, which are not recorded if the session does not ask for them. */
LnsInjectStream *lns_inject_stream_enter_nvtx_slow (LnsWireLossKind kind);

static inline LnsInjectStream *
lns_inject_stream_shut_gate (LnsInjectStream *stream)
{
  __atomic_store_n (&stream->gate, LNS_GATE_BUSY, __ATOMIC_RELAXED);
  __atomic_signal_fence (__ATOMIC_SEQ_CST);
  return stream;
}

/* Enters this thread's stream for an NVTX event. */
static inline LnsInjectStream *
lns_inject_stream_enter_nvtx (LnsWireLossKind kind)
{
  LnsInjectStream *stream = lns_inject_stream_mine ();
  if (__builtin_expect (stream->gate != lns_process_generation (), 0) ||
      __builtin_expect (!__atomic_load_n (stream->recording, __ATOMIC_RELAXED), 0))
    return lns_inject_stream_enter_nvtx_slow (kind);
  return lns_inject_stream_shut_gate (stream);
}

/* The same for an event that may open the capture range. Returns null also while other processes' ranges have it
 * recorded, as it must be compared first. */
LnsInjectStream *lns_inject_stream_enter_opening_slow (LnsWireLossKind kind);

static inline LnsInjectStream *
lns_inject_stream_enter_opening (LnsWireLossKind kind)
{
  LnsInjectStream *stream = lns_inject_stream_mine ();
  const uint32_t recording = __atomic_load_n (stream->recording, __ATOMIC_RELAXED);
  if (__builtin_expect (stream->gate != lns_process_generation (), 0) ||
      __builtin_expect (!(recording & LNS_WIRE_RECORDING_AT_ONCE), 0))
    return lns_inject_stream_enter_opening_slow (kind);
  return lns_inject_stream_shut_gate (stream);
}

/* Whether lns_inject_stream_enter_opening () returned null only because of the comparison. */
static inline bool
lns_inject_stream_is_recorded (void)
{
  const LnsInjectStream *stream = lns_inject_stream_mine ();
  return stream->gate == lns_process_generation () &&
         __atomic_load_n (stream->recording, __ATOMIC_RELAXED) != 0;
}

/* The same for an event of a source other than NVTX, which was asked for. */
static inline LnsInjectStream *
lns_inject_stream_enter (LnsWireLossKind kind)
{
  LnsInjectStream *stream = lns_inject_stream_mine ();
  if (stream->gate != lns_process_generation () ||
      !__atomic_load_n (&lns_process.pool.header->recording, __ATOMIC_RELAXED))
    return lns_inject_stream_enter_slow (kind);
  return lns_inject_stream_shut_gate (stream);
}

static inline void
lns_inject_stream_leave (LnsInjectStream *stream)
{
  __atomic_signal_fence (__ATOMIC_SEQ_CST);
  __atomic_store_n (&stream->gate, stream->generation, __ATOMIC_RELAXED);
}

/* The counter of DOMAIN's depth for this thread, whether the stream is entered or not; null if there is none. */
uint32_t *lns_inject_stream_far_depth (LnsInjectStream *stream, uint32_t domain);

static inline uint32_t *
lns_inject_stream_depth (LnsInjectStream *stream, uint32_t domain)
{
  if (__builtin_expect (domain < stream->n_depths, 1))
    return &stream->depths[domain];
  return lns_inject_stream_far_depth (stream, domain);
}

/* Ends the chunk, takes another, and writes its beginning: which thread writes, and what is missing. Stays in the chunk
 * if there is room and only the latter has to be written. Returns room for N_BYTES, at most a chunk's capacity, or
 * null. */
uint8_t *lns_inject_stream_refill (LnsInjectStream *stream, size_t n_bytes);

/* Returns room for a record of N_BYTES, or null. Nobody sees the record before lns_inject_stream_commit(). */
static inline uint8_t *
lns_inject_stream_reserve (LnsInjectStream *stream, size_t n_bytes)
{
  uint8_t *at = stream->cursor;
  if (__builtin_expect ((size_t)(stream->end - at) < n_bytes, 0))
    return lns_inject_stream_refill (stream, n_bytes);
  return at;
}

static inline void
lns_inject_stream_commit (LnsInjectStream *stream, size_t n_bytes)
{
  stream->cursor += n_bytes;
  lns_wire_pool_commit (stream->line, (uint32_t)(stream->cursor - stream->chunk));
}

/* Writes the 16 bytes of a short event. Returns false if there is no room. */
static inline bool
lns_inject_stream_write_event (LnsInjectStream *stream, LnsWireHead event)
{
  uint8_t *at = lns_inject_stream_reserve (stream, sizeof event);
  if (__builtin_expect (at == NULL, 0))
    return false;
  *(LnsWireHead *)at = event;
  lns_inject_stream_commit (stream, sizeof event);
  return true;
}

/* Writes a record made of PARTS and padding, at most LNS_WIRE_RECORD_MAX_BYTES long, in pieces if need be; its
 * size goes to where long records have it. Returns 0, or -ENOSPC if there is no room; a part of the record may
 * have been written for nothing then. */
int lns_inject_stream_write_parts (LnsInjectStream *stream, const LnsPart *parts, size_t n_parts);

/* Counts an event of KIND and N_BYTES as lost. The names that the stream has written become void. */
void lns_inject_stream_lose (LnsInjectStream *stream, LnsWireLossKind kind, size_t n_bytes);

/* Writes the definitions that wait (definitions.h) into STREAM, which the caller has entered. Leaves them to the next
 * caller if another thread is sending or there is no room. */
void lns_inject_stream_send_definitions (LnsInjectStream *stream);

/* The same, and leaves STREAM. If it is null, whoever takes a chunk next sends them. */
void lns_inject_stream_send_and_leave (LnsInjectStream *stream);

/* Writes the record of N_BYTES at RECORD, whose size is filled in, into this thread's stream, after the definitions
 * that wait. If there is no room now, keeps it like a definition. The stream must not be entered. */
void lns_inject_stream_tell (const void *record, size_t n_bytes);

/* The id of TEXT (not null, N_BYTES, not terminated) in STREAM, which the caller has entered. Writes the text first if
 * need be. Returns LNS_STRINGS_NO_ROOM if the pool has no room. POINTER is the address by which the text is found
 * again, or null. */
uint32_t lns_inject_stream_intern (LnsInjectStream *stream,
                                   const char *text,
                                   size_t n_bytes,
                                   const char *pointer);

/* The same for a terminated wide text, which is written in UTF-8. */
uint32_t lns_inject_stream_intern_wide (LnsInjectStream *stream, const wchar_t *text);
