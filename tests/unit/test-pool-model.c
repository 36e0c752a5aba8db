/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The pool's state machine, killed at each step. A child plays the target: it claims chunks, writes
 * numbered records, gives chunks, loses some. It is stopped after every single instruction, and at
 * each stop the session recovers from a copy of the shared memory as it would if the child had been
 * killed there: every record that was committed comes back, in order and once, kept and lost are
 * those made so far, and every chunk is free again. */

#include "capture/wire/pool-session.h"
#include "capture/wire/record.h"
#include "tests/tap.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum
{
  N_CHUNKS = 3,
  CHUNK_BYTES = 4096,
  N_EVENTS = 12,
  /* Records are long here, so that a chunk holds three. */
  RECORD_BYTES = 1280
};

/* Outside the pool: what the child has done for certain. */
typedef struct
{
  volatile uint32_t n_begun;     /* events that it has set about */
  volatile uint32_t n_committed; /* whose commit has returned */
  volatile uint32_t n_lost;      /* whose count has returned */
} Ledger;

static LnsWirePool *
new_pool (void)
{
  LnsWirePoolOptions options = {
    .serial = 1, .clock = LNS_WIRE_CLOCK_MONOTONIC, .chunk_bytes = CHUNK_BYTES, .n_chunks = N_CHUNKS
  };
  LnsWirePool *pool = NULL;
  LNS_CHECK_INT (lns_wire_pool_new (&options, &pool), 0);
  LNS_CHECK_INT (lns_wire_pool_publish (pool, N_CHUNKS), N_CHUNKS);
  return pool;
}

static void
play_target (const LnsWirePoolView *view, Ledger *ledger)
{
  uint64_t sequence = 0;
  int index = -1;
  for (uint32_t i = 1; i <= N_EVENTS; i++)
    {
      ledger->n_begun = i;
      if (index >= 0 && view->lines[index].committed + RECORD_BYTES > view->capacity_bytes)
        {
          lns_wire_pool_give (&view->lines[index]);
          index = -1;
        }
      if (index < 0)
        {
          index = lns_wire_pool_claim (view, 1, sequence, 2, 3);
          if (index < 0)
            {
              lns_wire_pool_count_lost (view, 1, LNS_WIRE_LOSS_MARK, 1, RECORD_BYTES);
              ledger->n_lost++;
              continue;
            }
          sequence++;
        }
      LnsWireLine *line = &view->lines[index];
      LnsWireTextBytes *record =
          (LnsWireTextBytes *)(lns_wire_pool_chunk (view, (uint32_t)index) + line->committed);
      record->head = (LnsWireHead){ .type = LNS_WIRE_STRING, .string = i };
      record->n_bytes = RECORD_BYTES;
      record->n_text_bytes = 8;
      lns_wire_pool_commit (line, line->committed + RECORD_BYTES);
      ledger->n_committed++;
    }
  if (index >= 0)
    lns_wire_pool_give (&view->lines[index]);
}

/* Recovers all of POOL, whose target is dead; returns how many records there were. */
static uint32_t
recover (LnsWirePool *pool)
{
  LnsWireChunk chunks[N_CHUNKS];
  uint8_t buffer[CHUNK_BYTES];
  uint32_t n_records = 0;
  size_t n = lns_wire_pool_scan (pool, chunks, N_CHUNKS);
  for (size_t i = 0; i < n; i++)
    {
      LNS_CHECK_INT (chunks[i].stream, 1);
      LNS_CHECK_INT (chunks[i].sequence, i);
      LNS_CHECK_INT (chunks[i].pid, 2);
      LNS_CHECK_INT (chunks[i].tid, 3);
      size_t n_bytes = lns_wire_pool_read (pool, &chunks[i], buffer, sizeof buffer), at = 0;
      LnsWireRecord record;
      int result;
      while ((result = lns_wire_record_next (buffer, n_bytes, &at, &record)) > 0)
        LNS_CHECK_INT (record.named.id, ++n_records);
      LNS_CHECK_INT (result, 0);
      LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[i], true, true), 0);
    }
  LnsWirePoolUsage usage;
  lns_wire_pool_usage (pool, &usage);
  LNS_CHECK_INT (usage.n_full, 0); /* owned are those that were claimed and never named */
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, N_CHUNKS), 0);
  return n_records;
}

/* What a kill at this moment would leave. */
static void
check_kill_here (const LnsWirePoolView *view, const Ledger *ledger, bool dead_for_good)
{
  LnsWirePool *copy = new_pool ();
  memcpy (lns_wire_pool_view (copy)->header, view->header, view->pool_bytes);
  uint32_t n_kept = recover (copy);
  LnsWireLosses losses;
  lns_wire_pool_losses (copy, &losses);
  lns_wire_pool_free (copy);
  uint64_t n_lost = losses.events[LNS_WIRE_LOSS_MARK];
  /* The event in progress is kept, or lost, or was not made. */
  LNS_CHECK (n_kept >= ledger->n_committed && n_lost >= ledger->n_lost);
  LNS_CHECK (n_kept + n_lost <= ledger->n_begun);
  LNS_CHECK (n_kept + n_lost + 1 >= ledger->n_begun);
  if (dead_for_good)
    LNS_CHECK_INT (n_kept + n_lost, N_EVENTS);
}

static void
test_killed_after_each_instruction (void)
{
  LnsWirePool *pool = new_pool ();
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  Ledger *ledger =
      mmap (NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      if (ptrace (PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit (77);
      raise (SIGSTOP);
      play_target (view, ledger);
      _exit (0);
    }
  int status, n_stops = 0;
  waitpid (pid, &status, 0);
  if (WIFEXITED (status))
    LNS_SKIP ("ptrace is not allowed here");
  while (WIFSTOPPED (status))
    {
      check_kill_here (view, ledger, false);
      n_stops++;
      LNS_CHECK_INT (ptrace (PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
      waitpid (pid, &status, 0);
    }
  LNS_CHECK (WIFEXITED (status) && WEXITSTATUS (status) == 0);
  check_kill_here (view, ledger, true);
  /* Nine records fill the three chunks, three are lost. */
  LNS_CHECK_INT (ledger->n_committed, 9);
  LNS_CHECK_INT (ledger->n_lost, 3);
  LNS_CHECK (n_stops > 300);
  LNS_CHECK_INT (recover (pool), 9);
  lns_wire_pool_free (pool);
}

/* A random walk through the table of states: claim, write, give, drain, take back, withdraw and
 * lend, in any order the rules allow, against a plain model that knows what must be where. */

enum
{
  MODEL_CHUNKS = 6,
  MODEL_STREAMS = 4
};

typedef struct
{
  int chunk; /* -1: none */
  uint64_t sequence;
  uint32_t n_written, n_read;
  uint64_t n_lost, next_read_sequence;
} ModelStream;

static uint32_t
next_random (uint64_t *seed, uint32_t below)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*seed >> 33) % below;
}

static void
model_write (const LnsWirePoolView *view, ModelStream *stream, uint32_t serial)
{
  if (stream->chunk >= 0 &&
      view->lines[stream->chunk].committed + sizeof (LnsWireHead) > view->capacity_bytes)
    {
      lns_wire_pool_give (&view->lines[stream->chunk]);
      stream->chunk = -1;
    }
  if (stream->chunk < 0)
    {
      uint64_t n_free = lns_wire_pool_n_free (view);
      stream->chunk = lns_wire_pool_claim (view, serial, stream->sequence, 1, 1);
      LNS_CHECK ((stream->chunk >= 0) == (n_free > 0));
      if (stream->chunk < 0)
        {
          stream->n_lost++;
          lns_wire_pool_count_lost (view, serial, LNS_WIRE_LOSS_PUSH, 1, 16);
          return;
        }
      stream->sequence++;
    }
  LnsWireLine *line = &view->lines[stream->chunk];
  LnsWireHead *head =
      (LnsWireHead *)(lns_wire_pool_chunk (view, (uint32_t)stream->chunk) + line->committed);
  *head = (LnsWireHead){ .type = LNS_WIRE_PUSH, .string = ++stream->n_written };
  lns_wire_pool_commit (line, line->committed + sizeof *head);
}

/* Drains chunks in order; those that are full come back, to be lent again or not. */
static void
model_drain (LnsWirePool *pool, ModelStream *streams, bool lend)
{
  LnsWireChunk chunks[MODEL_CHUNKS];
  uint8_t buffer[4096];
  size_t n = lns_wire_pool_scan (pool, chunks, MODEL_CHUNKS);
  for (size_t i = 0; i < n; i++)
    {
      ModelStream *stream = &streams[chunks[i].stream - 1];
      LNS_CHECK_INT (chunks[i].sequence, stream->next_read_sequence);
      size_t n_bytes = lns_wire_pool_read (pool, &chunks[i], buffer, sizeof buffer), at = 0;
      LnsWireRecord record;
      while (lns_wire_record_next (buffer, n_bytes, &at, &record) > 0)
        LNS_CHECK_INT (record.event.string, ++stream->n_read);
      LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[i], false, lend),
                     chunks[i].full ? 0 : -EBUSY);
      stream->next_read_sequence += chunks[i].full;
    }
}

static void
walk (uint64_t seed)
{
  LnsWirePoolOptions options = {
    .serial = 1, .clock = LNS_WIRE_CLOCK_MONOTONIC, .chunk_bytes = 4096, .n_chunks = MODEL_CHUNKS
  };
  LnsWirePool *pool = NULL;
  LNS_CHECK_INT (lns_wire_pool_new (&options, &pool), 0);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  ModelStream streams[MODEL_STREAMS] = { 0 };
  for (int i = 0; i < MODEL_STREAMS; i++)
    streams[i].chunk = -1;
  for (int step = 0; step < 3000; step++)
    {
      uint32_t which = next_random (&seed, MODEL_STREAMS);
      switch (next_random (&seed, 8))
        {
        case 0:
          lns_wire_pool_publish (pool, next_random (&seed, 3));
          break;
        case 1:
          lns_wire_pool_top_up (pool, 0, next_random (&seed, 3));
          break;
        case 2:
          model_drain (pool, streams, next_random (&seed, 2));
          break;
        case 3:
          lns_wire_pool_punch (pool, 4096 * next_random (&seed, 4), 0);
          break;
        case 4:
          if (streams[which].chunk >= 0)
            lns_wire_pool_give (&view->lines[streams[which].chunk]);
          streams[which].chunk = -1;
          break;
        default:
          for (uint32_t n = next_random (&seed, 200); n > 0; n--)
            model_write (view, &streams[which], which + 1);
        }
      LnsWirePoolUsage usage;
      lns_wire_pool_usage (pool, &usage);
      LNS_CHECK_INT (usage.n_none + usage.n_free + usage.n_owned + usage.n_full, MODEL_CHUNKS);
    }
  model_drain (pool, streams, false);
  LnsWireLosses losses;
  lns_wire_pool_losses (pool, &losses);
  uint64_t n_lost = 0;
  for (int i = 0; i < MODEL_STREAMS; i++)
    {
      LNS_CHECK_INT (streams[i].n_read, streams[i].n_written);
      n_lost += streams[i].n_lost;
    }
  LNS_CHECK_INT (losses.events[LNS_WIRE_LOSS_PUSH], n_lost);
  lns_wire_pool_free (pool);
}

static void
test_random_walks (void)
{
  for (uint64_t seed = 1; seed <= 40; seed++)
    walk (seed);
}

int
main (void)
{
  LNS_TEST (test_killed_after_each_instruction);
  LNS_TEST (test_random_walks);
  return lns_tap_done ();
}
