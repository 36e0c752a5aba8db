/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A session for tests of the injected library: it listens, hands out pools, drains them until all
 * processes that it started have ended, and checks every record. It does what a session must do to
 * lose nothing, and nothing else. */

#pragma once

#include "capture/wire/pool-session.h"
#include "capture/wire/protocol.h"
#include "capture/wire/record.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#define MINI_PROCESSES_MAX 64
#define MINI_DOMAINS       256

/* What is known of one event, its name resolved. Kept only where the options ask for it. */
typedef struct
{
  uint32_t process; /* index of MiniSession.processes */
  uint32_t stream;
  uint64_t thread; /* serial */
  LnsWireType type;
  uint32_t depth, domain;
  uint32_t color, category;
  uint8_t color_type, payload_type;
  uint64_t payload, range;
  char *name; /* null: none */
  uint32_t n_name_bytes;
  uint32_t registered; /* id, while name waits for its definition */
} MiniEvent;

typedef struct
{
  char *text;
  uint32_t n_bytes;
} MiniText;

typedef struct
{
  uint64_t next_sequence;
  LnsWireAssembler assembler;
  MiniText strings[LNS_WIRE_STREAM_STRINGS];
  uint32_t depths[MINI_DOMAINS];
  bool depth_known[MINI_DOMAINS]; /* not between a loss and the next record of the domain */
  uint64_t last_ticks;
  uint64_t thread;
  uint32_t tid;
  char thread_name[16];
  bool has_thread;
  LnsWireLosses told; /* by LOST records */
} MiniStream;

typedef struct
{
  LnsWireHello hello;
  pid_t pid;      /* by its credentials */
  int connection; /* -1: at its end */
  LnsWirePool *pool;
  MiniStream **streams; /* by serial - 1 */
  uint32_t n_streams;
  MiniText *registered; /* by id without the bit */
  uint32_t n_registered;
  char *domains[MINI_DOMAINS];
  uint64_t n_type[256]; /* records by type */
  uint64_t n_threads;   /* THREAD records */
  LnsWireLosses losses; /* by the counters, at the end */
  LnsWireLosses told;   /* by LOST records */
  uint64_t n_max_owned; /* chunks owned at once */
} MiniProcess;

typedef struct MiniSession MiniSession;

typedef struct
{
  uint32_t chunk_bytes; /* 0: default */
  uint32_t n_chunks;    /* 0: default */
  uint32_t n_free;      /* chunks lent and free after each visit; 0: 1,024 */
  bool keep_events;
  bool refuse;                 /* answers no hello: the target must go on without */
  uint32_t refuse_with;        /* not 0: an errno that is the answer to every hello */
  int answer_after_ms;         /* how long a hello waits for its answer */
  int drain_every_ms;          /* 0: all the time */
  const LnsWireOptions *asked; /* of the target; null: NVTX alone */
  bool no_buffers;             /* none of those that CUPTI fills */
  bool paused;                 /* nothing is recorded until the target begins a range */
  void (*on_visit) (MiniSession *);
  /* Types from 0x80 on. */
  void (*on_cuda) (MiniSession *, MiniProcess *, MiniStream *, const LnsWireHead *);
  void (*on_record) (MiniSession *, MiniProcess *, MiniStream *, const LnsWireRecord *);
} MiniOptions;

struct MiniSession
{
  MiniOptions options;
  char folder[64], path[96];
  int listener;
  pthread_t answerer;
  bool is_over;
  LnsWireClock clock;
  uint64_t first_ticks;
  MiniProcess processes[MINI_PROCESSES_MAX];
  uint32_t n_processes;
  MiniEvent *events;
  size_t n_events, n_events_room;
  uint64_t n_wrong_depths; /* records whose depth does not follow from those before */
  uint64_t
      n_wrong_times; /* records older than the session or than what was before, or of the future */
  uint64_t n_unknown_names; /* stream strings that were never told */
  uint64_t n_bad_records;
  uint64_t n_notices;
  uint64_t n_notice[8]; /* by kind */
  int exit_status;      /* of the first child, as waitpid() gives it */
};

/* Runs TARGET in a child under a new session until it and all its descendants are gone. TARGET's
 * result is the exit code. Fails the case where the session itself breaks. */
MiniSession *mini_session_run (const MiniOptions *options, int (*target) (void));

void mini_session_free (MiniSession *session);

/* Over all processes: records of TYPE; losses of KIND by the counters; all losses. */
uint64_t mini_session_count (const MiniSession *session, LnsWireType type);
uint64_t mini_session_lost (const MiniSession *session, LnsWireLossKind kind);
uint64_t mini_session_lost_all (const MiniSession *session);

/* --- In the child. --------------------------------------------------------------------------- */

#include "capture/inject/core/nvtx-abi.h"

/* The functions of a link unit, as NVTX's headers would call them; null where the injection has set
 * none. */
typedef struct
{
  LnsNvtxFunction core[16], core2[16];
  intptr_t payload[64], counters[64];
} NvtxUnit;

/* Loads the injection, as NVTX does, for a link unit with tables of N_CORE and N_CORE2 slots; true
 * when it takes part. */
bool nvtx_load (NvtxUnit *unit, unsigned n_core, unsigned n_core2);

/* The unit that the shorthands below call; loaded by nvtx_start(), which exits on failure. */
extern NvtxUnit nvtx;
void nvtx_start (void);

#define NVTX_CALL(table, slot, result, parameters)                                                 \
 ((result (*) parameters) (uintptr_t)nvtx.table[slot])

static inline int
nvtx_push (const char *message)
{
  return NVTX_CALL (core, LNS_NVTX_CORE_RANGE_PUSH_A, int, (const char *)) (message);
}

static inline int
nvtx_pop (void)
{
  return NVTX_CALL (core, LNS_NVTX_CORE_RANGE_POP, int, (void)) ();
}

static inline void
nvtx_mark (const char *message)
{
  NVTX_CALL (core, LNS_NVTX_CORE_MARK_A, void, (const char *)) (message);
}

static inline uint64_t
nvtx_range_start (const char *message)
{
  return NVTX_CALL (core, LNS_NVTX_CORE_RANGE_START_A, uint64_t, (const char *)) (message);
}

static inline void
nvtx_range_end (uint64_t range)
{
  NVTX_CALL (core, LNS_NVTX_CORE_RANGE_END, void, (uint64_t)) (range);
}

static inline const void *
nvtx_domain (const char *name)
{
  return NVTX_CALL (core2, LNS_NVTX_CORE2_DOMAIN_CREATE_A, const void *, (const char *)) (name);
}

static inline const void *
nvtx_register (const void *domain, const char *text)
{
  return NVTX_CALL (core2, LNS_NVTX_CORE2_DOMAIN_REGISTER_STRING_A, const void *,
                    (const void *, const char *)) (domain, text);
}

static inline int
nvtx_domain_push (const void *domain, const LnsNvtxEventAttributes *attributes)
{
  return NVTX_CALL (core2, LNS_NVTX_CORE2_DOMAIN_RANGE_PUSH_EX, int,
                    (const void *, const LnsNvtxEventAttributes *)) (domain, attributes);
}

static inline int
nvtx_domain_pop (const void *domain)
{
  return NVTX_CALL (core2, LNS_NVTX_CORE2_DOMAIN_RANGE_POP, int, (const void *)) (domain);
}
