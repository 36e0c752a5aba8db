/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/format.h"
#include "src/base/monotonic.h"

/* The interval at which a pool gives memory back, and what it keeps: LOW_WATER_BYTES, or DRAINS times the most that
 * a drain found if that is more. CUPTI's buffers take longer than the interval to fill, and keep their memory while
 * records come. */
#define LOOK_NS         INT64_C (2000000000)
#define LOW_WATER_BYTES (UINT64_C (16) << 20)
#define DRAINS          4
#define QUIET_BYTES     65536 /* a drain */

LnsPeer *
lns_peer_new (int32_t pid, LnsWirePool *pool)
{
  LnsPeer *peer = calloc (1, sizeof *peer);
  if (peer == NULL)
    {
      lns_wire_pool_free (pool);
      return NULL;
    }
  *peer = (LnsPeer){ .pid = pid, .pid_fd = -1, .pool = pool };
  if (pid > 0)
    peer->pid_fd = (int)syscall (SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
  return peer;
}

void
lns_peer_free (LnsPeer *peer)
{
  if (peer == NULL)
    return;
  if (peer->pid_fd >= 0)
    close (peer->pid_fd);
  lns_wire_pool_free (peer->pool);
  lns_process_info_clear (&peer->info);
  lns_id_map_clear (&peer->next_sequence);
  free (peer->chunks);
  lns_array_clear (&peer->counted);
  free (peer);
}

static bool
has_ended (int pid_fd)
{
  struct pollfd poll_fd = { .fd = pid_fd, .events = POLLIN };
  return poll (&poll_fd, 1, 0) == 1;
}

bool
lns_peer_has_ended (const LnsPeer *peer)
{
  if (peer->pid_fd >= 0)
    return has_ended (peer->pid_fd);
  if (peer->pid <= 0)
    return false;
  /* A pidfd for the moment, as kill() does not tell that a process has ended until somebody has waited for it. */
  int pid_fd = (int)syscall (SYS_pidfd_open, peer->pid, 0);
  if (pid_fd < 0)
    return errno == ESRCH || (kill (peer->pid, 0) != 0 && errno == ESRCH);
  bool ended = has_ended (pid_fd);
  close (pid_fd);
  return ended;
}

void
lns_peer_mark_gone (LnsPeer *peer)
{
  if (peer->is_gone)
    return;
  peer->is_gone = true;
  peer->gone_ns = lns_monotonic_ns ();
}

void
lns_peer_hush (LnsPeer *peer)
{
  lns_wire_pool_set_hushed (peer->pool);
  peer->is_hushed = true;
  if (peer->pid_fd >= 0)
    close (peer->pid_fd);
  peer->pid_fd = -1;
}

/* Fills peer->chunks with all chunks that have records, or with some if memory is short. Returns their number. */
static size_t
scan (LnsPeer *peer)
{
  size_t n;
  peer->is_short = false;
  while ((n = lns_wire_pool_scan (peer->pool, peer->chunks, peer->n_chunks_allocated)) >
         peer->n_chunks_allocated)
    {
      size_t room = n + n / 2 + 16;
      LnsWireChunk *chunks = realloc (peer->chunks, room * sizeof *chunks);
      if (chunks == NULL)
        {
          peer->is_short = true;
          return peer->n_chunks_allocated;
        }
      peer->chunks = chunks;
      peer->n_chunks_allocated = room;
    }
  return n;
}

static uint64_t
next_sequence (const LnsPeer *peer, uint32_t stream)
{
  uintptr_t next = (uintptr_t)lns_id_map_get (&peer->next_sequence, stream);
  return next == 0 ? 0 : (uint64_t)next - 1;
}

/* Up to where the events of CHUNK are counted; NULL if memory is short. */
static LnsCountedChunk *
counted (LnsPeer *peer, const LnsWireChunk *chunk)
{
  while (peer->counted.n <= chunk->index)
    if (lns_array_try_add (&peer->counted) == NULL)
      return NULL;
  LnsCountedChunk *one = &peer->counted.items[chunk->index];
  if (one->generation != chunk->generation)
    *one = (LnsCountedChunk){ .generation = chunk->generation };
  return one;
}

/* Counts the events that begin in the N_BYTES at BYTES, which lie in CHUNK from FROM on. Adds those that were not
 * counted before to the peer's. */
static LnsBegun
count_begun (
    LnsPeer *peer, const LnsWireChunk *chunk, uint32_t from, const uint8_t *bytes, size_t n_bytes)
{
  LnsCountedChunk *done = counted (peer, chunk);
  size_t n_known = done != NULL && done->n_bytes > from ? done->n_bytes - from : 0;
  if (n_known > n_bytes)
    n_known = n_bytes;
  const LnsBegun old = lns_records_count_begun (bytes, n_known),
                 new = lns_records_count_begun (bytes + n_known, n_bytes - n_known);
  peer->n_begun += new.n;
  if (done != NULL && n_known < n_bytes)
    done->n_bytes = from + (uint32_t)n_bytes;
  return (LnsBegun){ old.n + new.n, old.n_late + new.n_late };
}

void
lns_peer_look (LnsPeer *peer)
{
  const size_t n = scan (peer);
  for (size_t i = 0; i < n; i++)
    {
      const LnsWireChunk *chunk = &peer->chunks[i];
      const LnsCountedChunk *done = counted (peer, chunk);
      uint32_t from = chunk->drained;
      if (done != NULL && done->n_bytes > from)
        from = done->n_bytes;
      if (done != NULL && chunk->committed > from)
        count_begun (peer, chunk, from,
                     lns_wire_pool_chunk (lns_wire_pool_view (peer->pool), chunk->index) + from,
                     chunk->committed - from);
    }
  lns_wire_pool_losses (peer->pool, &peer->losses);
}

/* Copies what is new in CHUNK. Returns false if memory is short; it stays in the chunk then. */
static bool
copy_chunk (LnsPeer *peer, const LnsWireChunk *chunk, LnsBatch *batch)
{
  LnsDecoderSource source = { .process = peer->process,
                              .stream = chunk->stream,
                              .tid = chunk->tid };
  uint32_t room = lns_wire_pool_view (peer->pool)->chunk_bytes;
  uint8_t *bytes = lns_batch_reserve (batch, room);
  if (bytes == NULL)
    return false;
  size_t n_bytes = lns_wire_pool_read (peer->pool, chunk, bytes, room);
  if (n_bytes == 0)
    return true;
  const LnsBegun begun = count_begun (peer, chunk, chunk->drained, bytes, n_bytes);
  return lns_batch_add (batch, &source, n_bytes, begun);
}

/* Tells from when on records of PEER may be missing in BATCH and those before it, if that has changed. */
static void
tell_withheld (LnsPeer *peer, LnsBatch *batch)
{
  const uint64_t ticks = lns_wire_pool_oldest_claim (peer->pool);
  LnsBatchEvent event = { .kind = LNS_BATCH_WITHHELD,
                          .process = peer->process,
                          .withheld_ticks = ticks };
  if (ticks != peer->withheld_ticks && lns_batch_events_add (&batch->events, &event))
    peer->withheld_ticks = ticks;
}

bool
lns_peer_drain (LnsPeer *peer, LnsBatch *batch)
{
  if (peer->is_gone)
    lns_wire_pool_set_over (peer->pool);
  else
    tell_withheld (peer, batch);
  size_t n = scan (peer), before = batch->n_bytes;
  for (size_t i = 0; i < n; i++)
    {
      const LnsWireChunk *chunk = &peer->chunks[i];
      /* A chunk that is seen before its predecessor waits for the next drain, unless its process is gone. */
      if (chunk->sequence != next_sequence (peer, chunk->stream) && !peer->is_gone)
        continue;
      if (!copy_chunk (peer, chunk, batch))
        {
          peer->is_short = true;
          break;
        }
      if (!chunk->full && !peer->is_gone)
        continue;
      if (lns_wire_pool_reclaim (peer->pool, chunk, peer->is_gone, !peer->is_gone) == 0)
        lns_id_map_set (&peer->next_sequence, chunk->stream,
                        (void *)(uintptr_t)(chunk->sequence + 2));
    }
  if (batch->n_bytes - before > peer->most_bytes)
    peer->most_bytes = batch->n_bytes - before;
  lns_wire_pool_losses (peer->pool, &peer->losses);
  return !peer->is_short;
}

void
lns_peer_give_up (LnsPeer *peer)
{
  const LnsWirePoolView *view = lns_wire_pool_view (peer->pool);
  const size_t n = scan (peer);
  for (size_t i = 0; i < n; i++)
    {
      const LnsWireChunk *chunk = &peer->chunks[i];
      /* If there is no memory for that either, an event may be counted twice. */
      LnsCountedChunk *done = counted (peer, chunk);
      uint32_t from = chunk->drained;
      if (done != NULL && done->n_given_up > from)
        from = done->n_given_up;
      if (chunk->committed <= from)
        continue;
      const uint8_t *bytes = lns_wire_pool_chunk (view, chunk->index) + from;
      uint32_t n_lost = lns_records_count_begun (bytes, chunk->committed - from).n;
      for (; n_lost > 0; n_lost--)
        lns_wire_pool_count_cause (view, chunk->stream, LNS_WIRE_LOSS_OTHER, LNS_WIRE_CAUSE_UNREAD);
      if (done != NULL)
        done->n_given_up = chunk->committed;
    }
  lns_wire_pool_losses (peer->pool, &peer->losses);
}

/* Whether PEER has enough chunks for now: most children of forks end before they need more. */
static bool
has_enough (const LnsPeer *peer, int64_t now_ns)
{
  LnsWirePoolUsage usage;
  if (now_ns >= peer->frugal_until_ns)
    return false;
  lns_wire_pool_usage (peer->pool, &usage);
  return usage.n_free > usage.n_owned + usage.n_full;
}

void
lns_peer_lend (LnsPeer *peer, uint64_t cap_bytes, uint32_t max_free, int64_t now_ns)
{
  if (peer->is_gone)
    return;
  /* Buffers for CUPTI are lent in any case. */
  lns_wire_pool_top_up (peer->pool, cap_bytes, has_enough (peer, now_ns) ? 0 : max_free);
  if (now_ns - peer->looked_ns < LOOK_NS)
    return;
  const uint64_t keep_bytes = DRAINS * peer->most_bytes;
  lns_wire_pool_punch (peer->pool, keep_bytes > LOW_WATER_BYTES ? keep_bytes : LOW_WATER_BYTES,
                       peer->most_bytes > QUIET_BYTES ? UINT64_MAX : LOW_WATER_BYTES);
  peer->looked_ns = now_ns;
  peer->most_bytes = 0;
}

uint64_t
lns_peer_held_bytes (const LnsPeer *peer)
{
  LnsWirePoolUsage usage;
  lns_wire_pool_usage (peer->pool, &usage);
  return usage.touched_bytes;
}

/* --- What a peer leaves ----------------------------------------------------------------------- */

/* Returns an event of KIND with what CUPTI has in buffer INDEX of PEER, and takes the buffer back from a peer that is gone
 * (LNS_BATCH_SALVAGE). KIND is LNS_BATCH_NOTHING if there is nothing in it, or memory is short. */
static LnsBatchEvent
read_buffer (LnsPeer *peer, uint32_t index, LnsBatchEventKind kind)
{
  const LnsWirePoolView *view = lns_wire_pool_view (peer->pool);
  LnsSalvage *left = malloc (sizeof *left + LNS_WIRE_BUFFER_BYTES);
  if (left == NULL)
    return (LnsBatchEvent){ .kind = LNS_BATCH_NOTHING };
  left->n_bytes = kind == LNS_BATCH_SALVAGE
                      ? lns_wire_pool_salvage (peer->pool, index, left->bytes)
                      : lns_wire_pool_copy_lent (peer->pool, index, left->bytes);
  if (left->n_bytes == 0)
    {
      free (left);
      return (LnsBatchEvent){ .kind = LNS_BATCH_NOTHING };
    }
  left->sizes = view->header->cupti;
  left->skipped_tid = __atomic_load_n (&view->header->listens, __ATOMIC_RELAXED);
  left->skipped_call = __atomic_load_n (&view->header->first_mark, __ATOMIC_RELAXED);
  (void)lns_wire_cupti_clock_copy (&view->header->cupti_clock, NULL, &left->clock);
  return (LnsBatchEvent){ .kind = kind, .process = peer->process, .salvage = left };
}

/* Adds what CUPTI has left in the buffers of PEER to BATCH. */
static void
salvage (LnsPeer *peer, LnsBatch *batch)
{
  for (uint32_t i = 0; i < lns_wire_pool_view (peer->pool)->n_buffers; i++)
    {
      LnsBatchEvent event = read_buffer (peer, i, LNS_BATCH_SALVAGE);
      if (event.kind != LNS_BATCH_NOTHING)
        lns_batch_events_add (&batch->events, &event);
    }
}

void
lns_peer_post_withheld (LnsPeer *peer, LnsMailbox *mailbox)
{
  for (uint32_t i = 0; i < lns_wire_pool_view (peer->pool)->n_buffers; i++)
    {
      LnsBatchEvent event = read_buffer (peer, i, LNS_BATCH_WITHHELD_COPY);
      if (event.kind != LNS_BATCH_NOTHING)
        lns_mailbox_post (mailbox, &event);
    }
}

static void
tell_refused_domains (const LnsPeer *peer, LnsBatch *batch)
{
  const LnsWirePoolHeader *header = lns_wire_pool_view (peer->pool)->header;
  unsigned long long n = __atomic_load_n (&header->domains_refused, __ATOMIC_RELAXED);
  if (n == 0)
    return;
  LnsBatchEvent event =
      lns_batch_diagnostic (peer->process, "LNS-NVTX-004", LNS_SEVERITY_WARNING,
                            "process %d made more than 65,535 NVTX domains; events of the last "
                            "%llu are in its default domain",
                            peer->pid, n);
  lns_batch_events_add (&batch->events, &event);
}

void
lns_peer_finish (LnsPeer *peer, LnsBatch *batch)
{
  salvage (peer, batch);
  LnsBatchEvent event = {
    .kind = LNS_BATCH_PROCESS_GONE,
    .process = peer->process,
    .time_ns = peer->gone_ns,
    .losses = peer->losses,
  };
  lns_batch_events_add (&batch->events, &event);
  tell_refused_domains (peer, batch);
  peer->is_left = true;
}

/* Advice for processes that cannot join for the reason ERROR_CODE. */
static const char *
advice_for_strays (int error_code)
{
  if (error_code == EMFILE || error_code == ENFILE)
    return "raise the program's `ulimit -n`";
  if (error_code == ENOMEM)
    return "raise the program's `ulimit -v`";
  return "have them make an NVTX call before they give up privileges, change their root folder or "
         "close descriptors that they did not open";
}

/* Adds a diagnostic about processes that PEER forked and that could not join, if there is news of them. */
static void
tell_strays (LnsPeer *peer, LnsBatch *batch)
{
  LnsWireStrays strays;
  lns_wire_pool_strays (peer->pool, &strays);
  strays.n_events =
      peer->losses.by_cause[LNS_WIRE_CAUSE_STRAY]; /* no more than the losses that were added */
  const uint64_t n_events = strays.n_events - peer->told.n_events;
  if (strays.n_processes > peer->told.n_processes || strays.n_events > peer->told.n_events)
    {
      LnsBatchEvent event = lns_batch_diagnostic (
          peer->process, "LNS-POOL-006", LNS_SEVERITY_WARNING,
          "%u process%s forked by process %d could not join the session (%s), and %llu NVTX %s "
          "lost; %s",
          strays.n_processes, lns_plural (strays.n_processes, "", "es"), peer->pid,
          strerror (strays.error), (unsigned long long)n_events,
          lns_plural (n_events, "event is", "events are"), advice_for_strays (strays.error));
      lns_batch_events_add (&batch->events, &event);
    }
  peer->told = strays;
}

void
lns_peer_tell_losses (LnsPeer *peer, LnsBatch *batch)
{
  /* Also if the peer has ended since the last drain. */
  lns_wire_pool_losses (peer->pool, &peer->losses);
  LnsBatchEvent event = { .kind = LNS_BATCH_LOSSES,
                          .process = peer->process,
                          .losses = peer->losses };
  lns_batch_events_add (&batch->events, &event);
  tell_strays (peer, batch);
}
