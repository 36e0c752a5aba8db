/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports of capture ranges. A process says at what time its range begins and ends, within batches of 50 ms that may
 * hold the next range too. So the waiting records are played up to that time, stream by stream, before the report
 * begins or ends. An end also waits until CUPTI has handed over the work that was finished by then or soon after: GPU
 * work belongs to the range of its call, however late it runs. Samples of CPUs come a moment later than other records, and an
 * end waits for them, too. */

#include "capture/session/record/ranges.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "capture/session/decode/core/clock-line.h"
#include "capture/session/decode/cpu/cpu.h"
#include "capture/session/decode/python/samples.h"
#include "capture/session/decode/gpu/gpu.h"
#include "capture/wire/cuda-layout.h"
#include "capture/wire/os-layout.h"
#include "capture/wire/patience.h"
#include "capture/wire/record.h"

void
_lns_ranges_set (LnsCaptureRanges *ranges, const LnsRangeReports *reports)
{
  ranges->reports = *reports;
  ranges->edges.n = 0;
  ranges->n_begun = ranges->n_early_ready = 0;
  ranges->is_over = false;
  lns_id_map_clear (&ranges->open);
}

/* --- News ------------------------------------------------------------------------------------- */

/* Takes over what NEWS owns. */
static void
tell (LnsCaptureRanges *ranges, LnsRangeNews *news)
{
  pthread_mutex_lock (&ranges->lock);
  LnsRangeNews *added = lns_array_try_add (&ranges->news);
  if (added != NULL)
    *added = *news;
  pthread_mutex_unlock (&ranges->lock);
  if (added == NULL)
    {
      free (news->path);
      lns_report_result_clear (&news->result);
    }
  eventfd_write (ranges->recording->news_fd, 1); /* fails only where it is readable already */
}

bool
_lns_ranges_next (LnsCaptureRanges *ranges, LnsRangeNews *ret_news)
{
  pthread_mutex_lock (&ranges->lock);
  const bool is_there = ranges->news.n > 0;
  if (is_there)
    {
      *ret_news = ranges->news.items[0];
      memmove (ranges->news.items, ranges->news.items + 1,
               --ranges->news.n * sizeof *ranges->news.items);
    }
  pthread_mutex_unlock (&ranges->lock);
  return is_there;
}

void
_lns_ranges_free (LnsCaptureRanges *ranges)
{
  LnsRangeNews news;
  while (_lns_ranges_next (ranges, &news))
    {
      free (news.path);
      lns_report_result_clear (&news.result);
    }
  lns_array_clear (&ranges->news);
  lns_array_clear (&ranges->edges);
  lns_id_map_clear (&ranges->open);
}

/* --- Beginnings and ends ---------------------------------------------------------------------- */

static void
end_report (LnsCaptureRanges *ranges, int64_t end_ns, const LnsWireClockPair *pair)
{
  const LnsBatchEvent stop = { .kind = LNS_BATCH_STOP, .time_ns = pair->monotonic_ns };
  LnsRangeNews news = { .is_end = true, .number = ranges->n_begun };
  if (ranges->recording->writer == NULL)
    return;
  lns_decoder_follow_late (ranges->recording->decoder);
  _lns_recording_stop (ranges->recording, &stop, end_ns, pair, &(LnsKeptOutcome){ 0 },
                       &news.result);
  tell (ranges, &news);
}

static void
begin_report (LnsCaptureRanges *ranges, int64_t start_ns, const LnsWireClockPair *pair)
{
  LnsRangeNews news = { .number = ranges->n_begun + 1 };
  end_report (ranges, start_ns, pair); /* of a process that is gone */
  if (ranges->is_over || (ranges->reports.n_max > 0 && ranges->n_begun >= ranges->reports.n_max))
    return;
  ranges->n_begun++;
  LnsWriter *writer =
      ranges->reports.create (ranges->reports.data, news.number, &news.path, &news.result.error);
  news.is_end = writer == NULL;
  if (writer != NULL)
    _lns_recording_start (ranges->recording, writer, start_ns, pair);
  tell (ranges, &news);
}

void
_lns_ranges_leave (LnsCaptureRanges *ranges, uint32_t process)
{
  lns_id_map_take (&ranges->open, process);
}

static void
pass (LnsCaptureRanges *ranges, const LnsRangeEdge *edge)
{
  LnsIdMap *open = &ranges->open;
  const int64_t time_ns = lns_decoder_time_ns (ranges->recording->decoder, edge->ticks);
  const size_t n_before = open->n;
  if (!edge->is_end)
    {
      if (lns_id_map_set (open, edge->process, ranges) && n_before == 0)
        begin_report (ranges, time_ns, &edge->batch->pair);
    }
  else if (lns_id_map_take (open, edge->process) != NULL && open->n == 0)
    end_report (ranges, time_ns, &edge->batch->pair);
}

/* --- Playing up to a time --------------------------------------------------------------------- */

/* Whether the record at BYTES is an event later than TICKS, or a kernel without times, which may be one. Records about
 * threads or the capture may have any time. */
static bool
is_later_event (const uint8_t *bytes, uint64_t ticks)
{
  LnsWireHead head;
  memcpy (&head, bytes, sizeof head);
  if (head.type == (uint8_t)LNS_WIRE_CUDA_KERNEL && head.ticks == 0)
    return true;
  return head.ticks > ticks &&
         (head.type <= LNS_WIRE_DEFERRED || lns_wire_is_cuda_event (head.type) ||
          head.type == (uint8_t)LNS_WIRE_OS_CALL);
}

/* Plays PIECE up to its first record that is later than TICKS, and cuts off what was played. Returns false if there
 * is such a record. */
static bool
play_until (LnsCaptureRanges *ranges, LnsBatchPiece *piece, uint64_t ticks)
{
  size_t at = 0;
  bool is_later = false;
  while (!is_later && at + sizeof (LnsWireHead) <= piece->n_bytes)
    {
      size_t next = at;
      LnsWireRecord record;
      is_later = is_later_event (piece->bytes + at, ticks);
      if (!is_later && lns_wire_record_next (piece->bytes, piece->n_bytes, &next, &record) <= 0)
        next = piece->n_bytes; /* the decoder counts it */
      at = next;
    }
  lns_decoder_play (ranges->recording->decoder, &piece->source, piece->bytes, at);
  const LnsBegun begun =
      at < piece->n_bytes ? lns_records_count_begun (piece->bytes, at) : piece->begun;
  ranges->recording->n_played += begun.n;
  piece->begun = (LnsBegun){ piece->begun.n - begun.n, piece->begun.n_late - begun.n_late };
  piece->bytes += at;
  piece->n_bytes -= at;
  return !is_later;
}

/* Takes what EVENT, of samples, has up to UNTIL_NS (CLOCK_MONOTONIC) out of it. Returns whether that is all of it. */
static bool
take_until (LnsDecoder *decoder, LnsBatchEvent *event, int64_t until_ns)
{
  if (event->kind == LNS_BATCH_GPU)
    return lns_decoder_take_gpu (decoder, event->gpu, until_ns);
  const size_t n =
      event->kind == LNS_BATCH_CPU
          ? lns_decoder_take_cpu (decoder, event->cpu, event->n_cpu_bytes, until_ns)
          : lns_decoder_take_python (decoder, event->cpu, event->n_cpu_bytes, until_ns);
  if (event->waiting != NULL)
    atomic_fetch_sub (event->waiting, n);
  event->n_cpu_bytes -= n;
  memmove (event->cpu, event->cpu + n, event->n_cpu_bytes);
  return event->n_cpu_bytes == 0;
}

/* Takes the samples in BATCH up to UNTIL_NS (CLOCK_MONOTONIC). */
static void
take_samples_until (LnsCaptureRanges *ranges, LnsBatch *batch, int64_t until_ns)
{
  for (size_t i = 0; i < batch->events.n; i++)
    {
      LnsBatchEvent *event = &batch->events.items[i];
      const bool has_samples = event->kind == LNS_BATCH_GPU || event->kind == LNS_BATCH_CPU ||
                               event->kind == LNS_BATCH_PYTHON;
      if (!has_samples || event->time_ns > until_ns)
        continue;
      if (take_until (ranges->recording->decoder, event, until_ns))
        event->kind = LNS_BATCH_NOTHING;
    }
}

/* Plays the records of each stream up to its first one after TICKS, in all batches except the newest, and samples up to then
 * in that, too: no definition comes later. */
static void
play_all_until (LnsCaptureRanges *ranges, uint64_t ticks)
{
  LnsIdMap later = { 0 };
  const int64_t until_ns =
      lns_decoder_time_ns (ranges->recording->decoder, ticks) + ranges->recording->t0_ns;
  for (LnsBatch *batch = *ranges->waiting; batch != NULL; batch = batch->next)
    {
      for (size_t i = 0; batch->next != NULL && i < batch->pieces.n; i++)
        {
          LnsBatchPiece *piece = &batch->pieces.items[i];
          if (piece->is_copy)
            continue;
          const uint64_t key = (uint64_t)piece->source.process << 32 | piece->source.stream;
          if (lns_id_map_get (&later, key) == NULL && !play_until (ranges, piece, ticks))
            lns_id_map_set (&later, key, piece);
        }
      take_samples_until (ranges, batch, until_ns);
    }
  lns_decoder_settle (ranges->recording->decoder, ranges->recording->reached_ns);
  lns_id_map_clear (&later);
}

/* --- Work that runs on ------------------------------------------------------------------------ */

/* Selects the events of a process that belong to a range that ends. */
typedef struct
{
  uint64_t end_ticks;
  uint64_t next_ticks;  /* when its next range begins, or UINT64_MAX */
  uint32_t correlation; /* of the first call after the end, or UINT32_MAX: CUPTI counts them */
  uint32_t last;        /* of the last call before the end; 0: none is known */
} Belonging;

static bool
belongs (const void *data, const LnsWireHead *head, uint32_t correlation)
{
  const Belonging *range = data;
  const bool is_unfinished = head->ticks == 0; /* a kernel without times */
  if (head->ticks <= range->end_ticks && !is_unfinished)
    return true;
  switch ((LnsWireCudaType)head->type)
    {
    case LNS_WIRE_CUDA_KERNEL:
    case LNS_WIRE_CUDA_MEMCPY:
    case LNS_WIRE_CUDA_MEMSET:
    case LNS_WIRE_CUDA_GRAPH:
    case LNS_WIRE_CUDA_DECOMPRESS:
      if (correlation != 0 && range->last != 0 && (int32_t)(correlation - range->last) <= 0)
        return true;
      /* While no call after the range is here, an unfinished kernel may be of such a call. If it is of this
       * range, its own call counts it as missing. */
      return correlation != 0 && correlation < range->correlation &&
             (range->correlation != UINT32_MAX ||
              (!is_unfinished && head->ticks < range->next_ticks));
    default:
      return false;
    }
}

/* Finds the next call in PIECE from *INOUT_AT on. Returns false if there is none. */
static bool
next_call (const LnsBatchPiece *piece, size_t *inout_at, LnsWireCudaApiBytes *ret_call)
{
  LnsWireRecord record;
  for (size_t at = *inout_at;
       lns_wire_record_next (piece->bytes, piece->n_bytes, inout_at, &record) > 0; at = *inout_at)
    if (record.type == (LnsWireType)LNS_WIRE_CUDA_API && *inout_at - at >= sizeof *ret_call)
      {
        memcpy (ret_call, piece->bytes + at, sizeof *ret_call);
        return true;
      }
  return false;
}

/* Narrows RANGE by the calls in PIECE. */
static void
look_at_calls (const LnsBatchPiece *piece, Belonging *range)
{
  LnsWireCudaApiBytes call;
  for (size_t at = 0; next_call (piece, &at, &call);)
    if (call.correlation == 0)
      continue;
    else if (call.head.ticks > range->end_ticks && call.correlation < range->correlation)
      range->correlation = call.correlation;
    else if (call.head.ticks <= range->end_ticks && (int32_t)(call.correlation - range->last) > 0)
      range->last = call.correlation;
}

static bool
has_call (const LnsBatchPiece *piece, uint32_t correlation)
{
  LnsWireCudaApiBytes call;
  for (size_t at = 0; next_call (piece, &at, &call);)
    if (call.correlation == correlation)
      return true;
  return false;
}

/* Whether what COPY has was handed over by the batch by which all is here, just after it was copied. */
static bool
was_handed_over (const LnsCaptureRanges *ranges,
                 const LnsBatchPiece *copy,
                 const LnsRangeEdge *edge)
{
  LnsWireCudaApiBytes call;
  size_t at = 0;
  if (!next_call (copy, &at, &call))
    return false;
  for (const LnsBatch *batch = *ranges->waiting; batch != edge->ready->next; batch = batch->next)
    for (size_t i = 0; i < batch->pieces.n; i++)
      if (!batch->pieces.items[i].is_copy &&
          batch->pieces.items[i].source.process == copy->source.process &&
          has_call (&batch->pieces.items[i], call.correlation))
        return true;
  return false;
}

/* Plays the work of PROCESS that belongs to the range that ends with EDGE, in the batches up to the one by which
 * all of it is here. */
static void
play_work_of (LnsCaptureRanges *ranges, const LnsRangeEdge *edge, uint32_t process)
{
  Belonging range = { .end_ticks = edge->ticks,
                      .next_ticks = UINT64_MAX,
                      .correlation = UINT32_MAX,
                      .last = lns_decoder_last_call (ranges->recording->decoder, process) };
  for (size_t i = ranges->edges.n; i-- > 0;)
    if ((ranges->edges.items[i].process == process || process != edge->process) &&
        !ranges->edges.items[i].is_end && ranges->edges.items[i].ticks >= edge->ticks)
      range.next_ticks = ranges->edges.items[i].ticks;
  for (LnsBatch *batch = *ranges->waiting; batch != NULL; batch = batch->next)
    for (size_t i = 0; i < batch->pieces.n; i++)
      if (batch->pieces.items[i].source.process == process)
        look_at_calls (&batch->pieces.items[i], &range);
  LnsTaking taking = { .is_wanted = belongs, .data = &range };
  for (LnsBatch *batch = *ranges->waiting; batch != edge->ready->next; batch = batch->next)
    for (size_t i = 0; i < batch->pieces.n; i++)
      {
        LnsBatchPiece *piece = &batch->pieces.items[i];
        if (piece->source.process != process ||
            (piece->is_copy && (batch != edge->ready || was_handed_over (ranges, piece, edge))))
          continue;
        if (piece->is_copy)
          lns_decoder_note_copied (ranges->recording->decoder, process, edge->ticks);
        /* The batch's own memory. */
        if (piece->n_bytes > 0)
          piece->n_bytes =
              lns_decoder_take_cuda (ranges->recording->decoder, &taking, &piece->source,
                                     (uint8_t *)(uintptr_t)piece->bytes, piece->n_bytes);
      }
  lns_decoder_end_taking (&taking);
}

/* Does the same for all processes if this is the last range that is open, as all processes could record until now. */
static void
play_all_work_of (LnsCaptureRanges *ranges, const LnsRangeEdge *edge)
{
  const LnsIdMap *open = &ranges->open;
  const bool is_last = open->n == 1 && lns_id_map_get (open, edge->process) != NULL;
  LnsIdMap done = { 0 };
  play_work_of (ranges, edge, edge->process);
  lns_id_map_set (&done, edge->process, ranges);
  for (LnsBatch *batch = *ranges->waiting; is_last && batch != edge->ready->next;
       batch = batch->next)
    for (size_t i = 0; i < batch->pieces.n; i++)
      {
        const uint32_t process = batch->pieces.items[i].source.process;
        if (lns_id_map_get (&done, process) == NULL && lns_id_map_set (&done, process, ranges))
          play_work_of (ranges, edge, process);
      }
  lns_id_map_clear (&done);
}

/* --- Edges ------------------------------------------------------------------------------------ */

static void
add_edge (LnsCaptureRanges *ranges,
          const LnsBatchPiece *piece,
          const LnsBatch *batch,
          const uint8_t *bytes)
{
  LnsWireRangeBytes said;
  memcpy (&said, bytes, sizeof said);
  if (lns_array_try_add (&ranges->edges) == NULL)
    return;
  LnsRangeEdge *edges = ranges->edges.items;
  size_t at = ranges->edges.n - 1;
  for (; at > 0 && edges[at - 1].ticks > said.head.ticks; at--)
    edges[at] = edges[at - 1];
  edges[at] = (LnsRangeEdge){ .ticks = said.head.ticks,
                              .process = piece->source.process,
                              .is_end = said.is_end != 0,
                              .batch = batch };
  if (edges[at].is_end && ranges->n_early_ready > 0)
    {
      ranges->n_early_ready--;
      edges[at].ready = batch;
    }
}

/* Notes that the ends of ranges of PROCESS, all of them or the first, need only wait until BATCH is played. */
static void
make_ready (LnsCaptureRanges *ranges, uint32_t process, const LnsBatch *batch, bool is_all)
{
  for (size_t i = 0; i < ranges->edges.n; i++)
    {
      LnsRangeEdge *edge = &ranges->edges.items[i];
      if (!edge->is_end || edge->ready != NULL ||
          (process != LNS_ID_NONE && edge->process != process))
        continue;
      edge->ready = batch;
      if (!is_all)
        return;
    }
  if (!is_all)
    ranges->n_early_ready++;
}

void
_lns_ranges_find_edges (LnsCaptureRanges *ranges, const LnsBatch *batch)
{
  if (ranges->reports.create == NULL)
    return;
  for (size_t i = 0; i < batch->pieces.n; i++)
    {
      const LnsBatchPiece *piece = &batch->pieces.items[i];
      LnsWireRecord record;
      for (size_t at = 0, next = 0;
           lns_wire_record_next (piece->bytes, piece->n_bytes, &next, &record) > 0; at = next)
        if (record.type == (LnsWireType)LNS_WIRE_RANGE && next - at >= sizeof (LnsWireRangeBytes))
          add_edge (ranges, piece, batch, piece->bytes + at);
    }
  for (size_t i = 0; i < batch->events.n; i++)
    {
      const LnsBatchEvent *event = &batch->events.items[i];
      if (event->kind == LNS_BATCH_FLUSHED)
        make_ready (ranges, event->process, batch, false);
      else if (event->kind == LNS_BATCH_PROCESS_GONE)
        make_ready (ranges, event->process, batch, true);
      else if (event->kind == LNS_BATCH_STOP || event->kind == LNS_BATCH_CANCEL)
        make_ready (ranges, LNS_ID_NONE, batch, true);
    }
}

/* Whether all is here that belongs before EDGE. Samples of CPUs that are later than the time of patience.h are not waited for:
 * batches that wait hold back the reading of new ones. */
static bool
is_complete (const LnsCaptureRanges *ranges, const LnsRangeEdge *edge)
{
  if (!edge->is_end)
    return true;
  if (edge->ready == NULL || edge->ready->next == NULL)
    return false;
  const LnsBatch *newest = edge->ready;
  while (newest->next != NULL)
    newest = newest->next;
  const int64_t end_ns =
      lns_decoder_time_ns (ranges->recording->decoder, edge->ticks) + ranges->recording->t0_ns;
  return newest->sampled_ns == 0 || newest->sampled_ns >= end_ns ||
         newest->pair.monotonic_ns > end_ns + lns_patience ().late_samples_ns;
}

bool
_lns_ranges_pass_edges (LnsCaptureRanges *ranges)
{
  while (ranges->edges.n > 0)
    {
      const LnsRangeEdge edge = ranges->edges.items[0];
      if (edge.batch->next == NULL)
        return true; /* it is in the newest batch, which is not played now either */
      if (!is_complete (ranges, &edge))
        return false;
      play_all_until (ranges, edge.ticks);
      if (edge.is_end)
        play_all_work_of (ranges, &edge);
      pass (ranges, &edge);
      memmove (ranges->edges.items, ranges->edges.items + 1, --ranges->edges.n * sizeof edge);
    }
  return true;
}
