/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports that hold only their last seconds. New batches are packed and added to the end of a ring in memory. Batches
 * that are too old leave it at its beginning and are played without a report, so that names and open ranges stay known.
 * When the report ends, it begins that many seconds before, and the ring is played into it. So memory holds no more
 * than those seconds, and the disk holds nothing before the end. */

#include "capture/session/record/keep.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/session/system/memory-limit.h"

/* The share of the memory that this process may have. */
#define MEMORY_SHARE 4

/* The part (1 / SLACK) by which the ring may be longer than asked for while batches wait to be packed. */
#define SLACK 10

/* How much longer the ring may be while nothing comes but samples of GPUs. */
#define SAMPLES_NS INT64_C (10000000000)

static LnsBatchEvent *
find_event (LnsBatch *batch, LnsBatchEventKind kind)
{
  for (size_t i = 0; i < batch->events.n; i++)
    if (batch->events.items[i].kind == kind)
      return &batch->events.items[i];
  return NULL;
}

/* Begins to keep batches for the report of START. */
static void
begin (LnsKept *kept, LnsBatchEvent *start)
{
  kept->packer = lns_packer_new ();
  if (kept->packer == NULL)
    return; /* then all of it is recorded */
  kept->keep_ns = start->keep_ns;
  kept->start_ns = start->time_ns;
  kept->writer = start->writer;
  kept->max_bytes = lns_memory_limit () / MEMORY_SHARE;
  kept->outcome.is_short = false;
  kept->outcome.most_bytes = 0;
  /* Raises the priority, as the collector does, if that is allowed: memory grows until batches are packed. */
  kept->priority = getpriority (PRIO_PROCESS, (id_t)gettid ());
  setpriority (PRIO_PROCESS, (id_t)gettid (), -10);
  /* Until the end, the file has nothing but this. */
  char value[32];
  snprintf (value, sizeof value, "%" PRId64, kept->keep_ns);
  lns_writer_set_meta (kept->writer, "keep_ns", value);
  lns_writer_commit (kept->writer, kept->start_ns - kept->t0_ns, NULL);
  start->writer = NULL;
  start->kind = LNS_BATCH_NOTHING;
}

static void
put (LnsKept *kept, LnsBatch *batch)
{
  kept->outcome.is_short |= !lns_batch_pack (batch, kept->packer);
  atomic_fetch_sub (kept->queued_bytes, batch->n_queued_bytes);
  batch->n_queued_bytes = 0;
  for (size_t i = 0; i < batch->events.n; i++)
    lns_batch_event_count_off (&batch->events.items[i]);
  batch->next = NULL;
  *(kept->last != NULL ? &kept->last->next : &kept->first) = batch;
  kept->last = batch;
  kept->n_bytes += lns_batch_held_bytes (batch);
  if (kept->n_bytes > kept->outcome.most_bytes)
    kept->outcome.most_bytes = kept->n_bytes;
}

/* Takes the oldest batch out of the ring and plays it. */
static void
play_oldest (LnsKept *kept)
{
  LnsBatch *batch = kept->first;
  kept->n_bytes -= lns_batch_held_bytes (batch);
  if ((kept->first = batch->next) == NULL)
    kept->last = NULL;
  batch->next = NULL;
  kept->outcome.is_short |= !lns_batch_unpack (batch, kept->packer);
  kept->play (kept->data, batch);
}

/* Makes the report begin with BATCH, at TIME_NS. */
static void
start_with (LnsKept *kept, LnsBatch *batch, int64_t time_ns)
{
  LnsBatchEvent start = { .kind = LNS_BATCH_START, .writer = kept->writer, .time_ns = time_ns };
  kept->writer = NULL;
  lns_batch_events_add (&batch->events, &start);
}

/* Ends the report with BATCH, by END. */
static void
finish (LnsKept *kept, LnsBatch *batch, const LnsBatchEvent *end)
{
  int64_t from_ns = end->time_ns - end->keep_ns;
  setpriority (PRIO_PROCESS, (id_t)gettid (), kept->priority);
  if (from_ns < kept->start_ns)
    from_ns = kept->start_ns;
  for (; kept->first != NULL; play_oldest (kept))
    if (kept->writer != NULL && kept->first->pair.monotonic_ns >= from_ns)
      start_with (kept, kept->first, from_ns);
  if (kept->writer != NULL)
    start_with (kept, batch, from_ns);
  lns_packer_free (kept->packer);
  kept->packer = NULL;
  malloc_trim (0); /* the ring may have been most of this process's memory */
  kept->keep_ns = kept->start_ns = 0;
  kept->n_bytes = 0;
}

static bool
has_only_samples (const LnsBatch *batch)
{
  for (size_t i = 0; i < batch->events.n; i++)
    if (batch->events.items[i].kind != LNS_BATCH_GPU)
      return false;
  return batch->pieces.n == 0;
}

/* Puts BATCH into the ring, and takes out what is too old. */
static void
put_off (LnsKept *kept, LnsBatch *batch)
{
  int64_t from_ns = batch->pair.monotonic_ns - kept->keep_ns;
  if (batch->pieces.n == 0 && batch->events.n == 0)
    {
      /* While nothing comes, nothing leaves: the last seconds of a program that has ended must be there when its
       * end is noticed. */
      lns_batch_free (batch);
      return;
    }
  /* For the same reason, samples of GPUs alone do not push anything out until later: they go on after the end. */
  if (has_only_samples (batch))
    from_ns -= SAMPLES_NS;
  put (kept, batch);
  /* Packing comes first: a packed batch takes a tenth of its memory or less. */
  if (atomic_load (kept->queued_bytes) > 0)
    from_ns -= kept->keep_ns / SLACK;
  /* The pair of a batch is later than its records. */
  while (kept->first->pair.monotonic_ns < from_ns)
    play_oldest (kept);
  for (; kept->first != NULL && kept->n_bytes > kept->max_bytes; kept->outcome.is_short = true)
    play_oldest (kept);
}

void
_lns_kept_take (LnsKept *kept, LnsBatch *batch)
{
  LnsBatchEvent *start = find_event (batch, LNS_BATCH_START);
  if (start != NULL && start->keep_ns > 0)
    begin (kept, start);
  const LnsBatchEvent *end = find_event (batch, LNS_BATCH_STOP);
  if (end == NULL)
    end = find_event (batch, LNS_BATCH_CANCEL);
  if (kept->keep_ns > 0 && end == NULL)
    {
      put_off (kept, batch);
      return;
    }
  if (kept->keep_ns > 0)
    finish (kept, batch, end);
  kept->play (kept->data, batch);
}

void
_lns_kept_free (LnsKept *kept)
{
  while (kept->first != NULL)
    {
      LnsBatch *next = kept->first->next;
      lns_batch_free (kept->first);
      kept->first = next;
    }
  if (kept->writer != NULL)
    lns_writer_abandon (kept->writer);
  lns_packer_free (kept->packer);
}
