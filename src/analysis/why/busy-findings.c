/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What is slow while a GPU is busy: copies beside which nothing runs, and kernels that fill a part of the GPU. */

#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/analysis/why/maker.h"
#include "src/base/compare.h"
#include "src/tables/enums.h"
#include "src/tables/lanes.h"

/* CUpti_ActivityMemoryKind. */
#define PAGEABLE 1

/* Shorter kernels are bound by their launches. */
#define LONG_KERNEL_NS INT64_C (20000)

typedef struct
{
  LnsWhyMaker *maker;
  const LnsDeviceWork *work;
  LnsSpans kernels; /* when any kernel ran                                                       */
  size_t first;
  uint32_t n_multiprocessors;
  LnsIdMap kernel_ns; /* name -> how long its kernels were                                       */
  /* Of copies alone, pageable ones first; and of kernels that leave a part of the GPU idle. */
  struct
  {
    int64_t ns;
    uint64_t n;
    LnsEvidence longest;
    int64_t longest_ns;
    uint32_t name;
  } pageable, pinned, small;
} Busy;

#define TAKE(what, cost_ns, chunk, i)                                                              \
 do                                                                                                \
  {                                                                                                \
   (what).ns += (cost_ns);                                                                         \
   (what).n++;                                                                                     \
   if ((cost_ns) > (what).longest_ns)                                                              \
    {                                                                                              \
     (what).longest_ns = (cost_ns);                                                                \
     (what).name = (chunk)->name[i];                                                               \
     (what).longest =                                                                              \
         (LnsEvidence){ (chunk)->start_ns[i], (chunk)->start_ns[i] + (chunk)->duration_ns[i],      \
                        (chunk)->lane, (chunk)->first + (i) };                                     \
    }                                                                                              \
  }                                                                                                \
 while (0)

static int
compare_starts (const void *a, const void *b)
{
  const LnsSpan *sa = a, *sb = b;
  return LNS_COMPARE (sa->start_ns, sb->start_ns);
}

static void
add_span (LnsSpans *spans, size_t first, int64_t start_ns, int64_t end_ns)
{
  LnsSpan *last = spans->n > first ? &spans->items[spans->n - 1] : NULL;

  if (last != NULL && start_ns <= last->end_ns)
    last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
  else
    *lns_array_add (spans) = (LnsSpan){ start_ns, end_ns };
}

static void
add_kernels (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Busy *busy = data;
  const LnsSpan *span = &busy->work->span;
  uint32_t n_launches;
  const LnsCudaLaunch *launches = lns_report_launches (busy->maker->report, &n_launches);
  const bool is_kernel =
      lns_report_lanes (busy->maker->report, NULL)[chunk->lane].kind == LNS_LANE_CUDA_KERNEL;
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const int64_t duration_ns =
          lns_event_has_length (chunk->flags[i]) ? chunk->duration_ns[i] : 0;
      int64_t start_ns = chunk->start_ns[i], end_ns = start_ns + duration_ns;
      start_ns = start_ns > span->start_ns ? start_ns : span->start_ns;
      end_ns = end_ns < span->end_ns ? end_ns : span->end_ns;
      if (start_ns >= end_ns)
        continue;
      add_span (&busy->kernels, busy->first, start_ns, end_ns);
      if (is_kernel && chunk->name[i] != 0)
        lns_id_map_set_number (&busy->kernel_ns, chunk->name[i],
                               lns_id_map_number (&busy->kernel_ns, chunk->name[i]) +
                                   (uint64_t)(end_ns - start_ns));
      if (!is_kernel || end_ns - start_ns < LONG_KERNEL_NS || busy->n_multiprocessors == 0)
        continue;
      const uint64_t launch = lns_chunk_extra (chunk, column, i);
      if (launch >= n_launches)
        continue;
      const uint64_t blocks =
          (uint64_t)launches[launch].grid[0] * launches[launch].grid[1] * launches[launch].grid[2];
      if (blocks == 0 || blocks >= busy->n_multiprocessors)
        continue;
      const int64_t cost_ns =
          (int64_t)((double)(end_ns - start_ns) * (1 - (double)blocks / busy->n_multiprocessors));
      TAKE (busy->small, cost_ns, chunk, i);
    }
}

/* How much of the time from START_NS to END_NS no kernel ran. */
static int64_t
alone_ns (const Busy *busy, int64_t start_ns, int64_t end_ns)
{
  const LnsSpan wanted = { .start_ns = start_ns };
  size_t i = lns_lower_bound (busy->kernels.items, busy->kernels.n, sizeof wanted, &wanted,
                              compare_starts);
  int64_t ns = end_ns - start_ns;

  for (i -= i > 0; i < busy->kernels.n && busy->kernels.items[i].start_ns < end_ns; i++)
    {
      const LnsSpan *span = &busy->kernels.items[i];
      const int64_t from_ns = span->start_ns > start_ns ? span->start_ns : start_ns,
                    to_ns = span->end_ns < end_ns ? span->end_ns : end_ns;
      ns -= to_ns > from_ns ? to_ns - from_ns : 0;
    }
  return ns;
}

static void
add_copies (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Busy *busy = data;
  const LnsSpan *span = &busy->work->span;
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_MEMORY_KINDS);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const int64_t start_ns = chunk->start_ns[i], end_ns = start_ns + chunk->duration_ns[i];
      if (!lns_event_has_length (chunk->flags[i]) || start_ns < span->start_ns ||
          end_ns > span->end_ns)
        continue;
      const uint64_t kinds = lns_chunk_extra (chunk, column, i);
      const int64_t ns = alone_ns (busy, start_ns, end_ns);
      if ((kinds & 0xff) == PAGEABLE || (kinds >> 8 & 0xff) == PAGEABLE)
        TAKE (busy->pageable, ns, chunk, i);
      else
        TAKE (busy->pinned, ns, chunk, i);
    }
}

static void
tell (Busy *busy,
      LnsCause cause,
      size_t ledger,
      int64_t ns,
      uint64_t n,
      uint32_t name,
      LnsEvidence longest)
{
  LnsWhyFinding *finding = _lns_why_add_finding (busy->maker, cause, ledger, ns, n);

  finding->own.call = name;
  finding->longest = longest;
  finding->evidence[finding->n_evidence++] = longest;
}

static bool
examine (Busy *busy, size_t ledger, LnsError *error)
{
  LnsReport *report = busy->maker->report;
  const LnsDeviceWork *work = busy->work;
  const LnsLane *lanes = lns_report_lanes (report, NULL);
  uint32_t n_devices;
  const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);
  bool good = true;

  if (work->device < n_devices)
    busy->n_multiprocessors = devices[work->device].n_multiprocessors;
  for (size_t i = 0; good && i < work->lanes.n; i++)
    if (lanes[work->lanes.items[i]].kind != LNS_LANE_CUDA_MEMCPY)
      {
        busy->first = busy->kernels.n;
        good = lns_read_lane (report, work->lanes.items[i],
                              LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) | LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                  LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH),
                              add_kernels, busy, busy->maker->cancel, error);
      }
  lns_order (busy->kernels.items, busy->kernels.n, sizeof (LnsSpan), compare_starts);
  LnsSpans merged = { .items = busy->kernels.items, .n_allocated = busy->kernels.n_allocated };
  for (size_t i = 0; i < busy->kernels.n; i++)
    {
      const LnsSpan span = busy->kernels.items[i];
      add_span (&merged, 0, span.start_ns, span.end_ns);
    }
  busy->kernels = merged;
  for (size_t i = 0; good && i < work->lanes.n; i++)
    if (lanes[work->lanes.items[i]].kind == LNS_LANE_CUDA_MEMCPY)
      good = lns_read_lane (report, work->lanes.items[i],
                            LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) | LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                LNS_COLUMN_BIT (LNS_COLUMN_MEMORY_KINDS),
                            add_copies, busy, busy->maker->cancel, error);
  if (!good)
    return false;
  int64_t kernel_ns = 0;
  for (size_t i = 0; i < merged.n; i++)
    kernel_ns += merged.items[i].end_ns - merged.items[i].start_ns;
  /* Copies may overlap each other: no more can come back than nothing else ran in. */
  const int64_t most_ns = work->busy_ns - kernel_ns;
  const int64_t span_ns = work->span.end_ns - work->span.start_ns;
  const int64_t pageable_ns = busy->pageable.ns < most_ns ? busy->pageable.ns : most_ns;
  const int64_t pinned_ns =
      busy->pinned.ns < most_ns - pageable_ns ? busy->pinned.ns : most_ns - pageable_ns;
  /* Kernels that were not recorded may have run beside them. */
  const LnsLedger *told = &busy->maker->why->ledgers.items[ledger];
  if (told->n_missing > told->n_launches / 20)
    return true;
  if (pageable_ns > span_ns / 100)
    tell (busy, LNS_CAUSE_PAGEABLE_COPY, ledger, pageable_ns, busy->pageable.n, 0,
          busy->pageable.longest);
  if (pinned_ns > span_ns / 100)
    tell (busy, LNS_CAUSE_COPY_BOUND, ledger, pinned_ns, busy->pinned.n, 0, busy->pinned.longest);
  const int64_t small_ns = busy->small.ns < kernel_ns ? busy->small.ns : kernel_ns;
  if (small_ns > span_ns / 100)
    tell (busy, LNS_CAUSE_UNDER_FILLED, ledger, small_ns, busy->small.n, busy->small.name,
          busy->small.longest);
  return true;
}

/* Names the kernels that took most of the time. */
static void
name_kernels (const Busy *busy, LnsLedger *ledger)
{
  for (size_t i = 0; i < busy->kernel_ns.n_places; i++)
    {
      const LnsIdMapEntry *entry = &busy->kernel_ns.entries[i];
      const int64_t ns = (int64_t)(uintptr_t)entry->value;
      if (ns > ledger->kernel_ns ||
          (ns > 0 && ns == ledger->kernel_ns && entry->key < ledger->kernel))
        {
          ledger->kernel_ns = ns;
          ledger->kernel = (uint32_t)entry->key;
        }
    }
}

bool
_lns_why_busy (LnsWhyMaker *maker, const LnsDeviceWorks *works, LnsError *error)
{
  bool good = true;

  for (size_t i = 0; good && i < works->n; i++)
    {
      Busy busy = { .maker = maker, .work = &works->items[i] };
      good = examine (&busy, i, error);
      name_kernels (&busy, &maker->why->ledgers.items[i]);
      lns_id_map_clear (&busy.kernel_ns);
      lns_array_clear (&busy.kernels);
    }
  return good;
}
