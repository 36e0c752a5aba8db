/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/range-control.h"

#include <string.h>

#include "capture/wire/patience.h"
#include "src/base/monotonic.h"

/* Marks the serials of flushes, which commands of lns_commands_give () never reach. */
#define FLUSH_SERIAL 0x80000000u

/* How long a range's end waits for a process that does not listen and has no records of CUPTI. */
#define UNASKED_NS INT64_C (100000000)

/* The most beginnings and ends of one process that are followed in one go, as other processes wait. */
#define EDGES_MAX 1000

void
lns_range_control_set (LnsRangeControl *control, const LnsWireOptions *asked)
{
  LnsPeers *peers = control->peers;
  pthread_mutex_lock (&peers->lock);
  LnsWireOptions *target = &peers->asked.target;
  target->range_kind = asked->range_kind;
  target->range_end = asked->range_end;
  target->n_ranges = asked->n_ranges;
  target->range_any_domain = asked->range_any_domain;
  memcpy (target->range_message, asked->range_message, sizeof target->range_message);
  memcpy (target->range_domain, asked->range_domain, sizeof target->range_domain);
  control->n_in_range = 0;
  if (asked->range_kind != LNS_WIRE_RANGE_NONE)
    peers->asked.recording = false;
  for (size_t i = 0; i < peers->all.n; i++)
    {
      LnsPeer *peer = peers->all.items[i];
      peer->is_in_range = false;
      peer->n_range_edges = 0;
      lns_wire_pool_set_range (peer->pool, target);
      lns_wire_pool_set_recording (peer->pool, peers->asked.recording);
    }
  pthread_mutex_unlock (&peers->lock);
}

/* Lets all processes record or not, as PEER's range has begun (PEER itself records already), or the last range has
 * ended. A process that is about to begin a range of its own, of which nothing was heard yet, records all the
 * same. Tells the processes if IS_NEWS. The lock is held. */
static void
set_others_recording (LnsRangeControl *control, const LnsPeer *peer, bool recording, bool is_news)
{
  const LnsWireCommand command = {
    .magic = LNS_WIRE_MAGIC,
    .kind = recording ? LNS_WIRE_COMMAND_START : LNS_WIRE_COMMAND_STOP,
  };
  control->peers->asked.recording = recording;
  for (size_t i = 0; i < control->peers->all.n; i++)
    if (control->peers->all.items[i] != peer || !recording) /* others' ranges may have let it */
      lns_wire_pool_let_record (control->peers->all.items[i]->pool, recording);
  for (size_t i = 0; is_news && i < control->watches->all.n; i++)
    if (control->watches->all.items[i]->peer != peer)
      lns_watch_send (control->watches->all.items[i], &command);
}

static void
begin_range (LnsRangeControl *control, LnsPeer *peer)
{
  pthread_mutex_lock (&control->peers->lock);
  const bool is_first = !peer->is_in_range && control->n_in_range++ == 0;
  peer->is_in_range = true;
  /* Also lets processes in a range of their own record, as their range may end before this one. */
  set_others_recording (control, peer, true, is_first);
  pthread_mutex_unlock (&control->peers->lock);
}

/* PEER has left its range, or has ended. Returns whether it was the last process in a range. */
static bool
leave_range (LnsRangeControl *control, LnsPeer *peer)
{
  pthread_mutex_lock (&control->peers->lock);
  const bool is_last = peer->is_in_range && --control->n_in_range == 0;
  peer->is_in_range = false;
  if (is_last)
    set_others_recording (control, peer, false, true);
  pthread_mutex_unlock (&control->peers->lock);
  return is_last;
}

/* Tells the recorder not to wait for more records of the range of PROCESS. */
static void
tell_flushed (LnsRangeControl *control, uint32_t process)
{
  LnsBatchEvent event = { .kind = LNS_BATCH_FLUSHED, .process = process };
  lns_mailbox_post (control->peers->mailbox, &event);
}

/* The time by the clock of PEER's records. */
static uint64_t
ticks_of (const LnsPeer *peer)
{
  return lns_wire_clock_ticks (lns_wire_pool_view (peer->pool)->header->clock);
}

/* Whether CUPTI holds records of PEER, complete or not, in a buffer that it had when FLUSH began. */
static bool
is_withheld (const LnsPeer *peer, const LnsFlush *flush)
{
  const uint64_t claimed_ticks = lns_wire_pool_oldest_claim (peer->pool);
  return claimed_ticks != 0 && claimed_ticks <= flush->ticks;
}

static void
end_range (LnsRangeControl *control, LnsPeer *peer)
{
  /* If the report is over, it has events of all processes, as all could record. */
  const bool is_over = leave_range (control, peer);
  const LnsWireCommand command = { .magic = LNS_WIRE_MAGIC,
                                   .kind = LNS_WIRE_COMMAND_FLUSH,
                                   .serial = FLUSH_SERIAL | ++control->flush_serial };
  LnsFlush flush = { .serial = command.serial,
                     .process = peer->process,
                     .ticks = ticks_of (peer),
                     .is_of_all = is_over };
  for (size_t i = 0; i < control->watches->all.n; i++)
    {
      LnsPeer *asked = control->watches->all.items[i]->peer;
      if ((asked != peer && !is_over) || !lns_watch_send (control->watches->all.items[i], &command))
        continue;
      asked->flush_asked = command.serial;
      flush.is_asked |= asked == peer;
    }
  /* A process that has records and does not listen yet is asked as soon as it does: see ask_again(). */
  const bool has_more = flush.is_asked || is_withheld (peer, &flush);
  flush.until_ns = lns_monotonic_ns () + (has_more ? lns_patience ().flush_ns : UNASKED_NS);
  LnsFlush *added = lns_array_try_add (&control->flushes);
  if (added != NULL)
    *added = flush;
  else
    tell_flushed (control, peer->process);
}

void
lns_range_control_follow (LnsRangeControl *control, LnsPeer *peer)
{
  for (int i = 0; i < EDGES_MAX; i++)
    {
      pthread_mutex_lock (&control->peers->lock);
      const bool is_news = peer->n_range_edges < lns_wire_pool_n_range_edges (peer->pool);
      const bool is_end = is_news && ++peer->n_range_edges % 2 == 0;
      pthread_mutex_unlock (&control->peers->lock);
      if (!is_news)
        return;
      if (is_end)
        end_range (control, peer);
      else
        begin_range (control, peer);
    }
}

void
lns_range_control_flushed (LnsPeer *peer, uint32_t serial)
{
  if ((serial & FLUSH_SERIAL) != 0)
    peer->flush_done = serial;
}

/* Has PEER flush once more: the records of a buffer come when the last of them is complete. */
static void
ask_again (LnsRangeControl *control, LnsPeer *peer, LnsFlush *flush)
{
  const LnsWatch *watch = lns_watches_connection (control->watches, peer);
  const LnsWireCommand command = { .magic = LNS_WIRE_MAGIC,
                                   .kind = LNS_WIRE_COMMAND_FLUSH,
                                   .serial = FLUSH_SERIAL | ++control->flush_serial };
  if (watch == NULL || !lns_watch_send (watch, &command))
    return;
  peer->flush_asked = command.serial;
  flush->serial = command.serial;
  flush->is_asked |= peer->process == flush->process;
}

static bool
is_done (LnsRangeControl *control, LnsFlush *flush, int64_t now_ns)
{
  bool is_complete = true;
  if (now_ns > flush->until_ns)
    return true;
  for (size_t i = 0; i < control->peers->all.n; i++)
    {
      const LnsPeer *peer = control->peers->all.items[i];
      if (peer->process == flush->process && peer->is_gone)
        return true;
      /* Each process answers in the order in which it was asked. */
      if (!peer->is_gone && peer->flush_asked >= flush->serial && peer->flush_done < flush->serial)
        return false;
    }
  for (size_t i = 0; i < control->peers->all.n; i++)
    {
      LnsPeer *peer = control->peers->all.items[i];
      if (peer->is_gone || (!flush->is_of_all && peer->process != flush->process) ||
          !is_withheld (peer, flush))
        continue;
      is_complete = false;
      ask_again (control, peer, flush);
    }
  return flush->is_asked && is_complete;
}

/* Hands the recorder copies of what CUPTI still holds of the range of FLUSH. Those of one process are handed over once for all
 * of its ranges that end now. */
static void
post_withheld (LnsRangeControl *control, const LnsFlush *flush)
{
  for (size_t i = 0; i < control->peers->all.n; i++)
    {
      LnsPeer *peer = control->peers->all.items[i];
      if (!peer->is_gone && (flush->is_of_all || peer->process == flush->process) &&
          is_withheld (peer, flush) && peer->copied_ns != control->now_ns)
        {
          peer->copied_ns = control->now_ns;
          lns_peer_post_withheld (peer, control->peers->mailbox);
        }
    }
}

void
lns_range_control_tick (LnsRangeControl *control, int64_t now_ns)
{
  control->now_ns = now_ns;
  for (size_t i = 0; i < control->peers->all.n; i++)
    {
      LnsPeer *peer = control->peers->all.items[i];
      lns_range_control_follow (control, peer); /* its notices may be lost */
      if (peer->is_gone)
        leave_range (control, peer);
    }
  while (control->flushes.n > 0 && is_done (control, &control->flushes.items[0], now_ns))
    {
      post_withheld (control, &control->flushes.items[0]);
      tell_flushed (control, control->flushes.items[0].process);
      memmove (control->flushes.items, control->flushes.items + 1,
               --control->flushes.n * sizeof *control->flushes.items);
    }
}
