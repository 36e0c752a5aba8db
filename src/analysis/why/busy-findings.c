/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What is slow while a GPU is busy: copies beside which nothing runs, and kernels that fill a part of the GPU. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/why/maker.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

/* CUpti_ActivityMemoryKind. */
#define PAGEABLE 1

/* Shorter kernels are bound by their launches. */
#define LONG_KERNEL_NS INT64_C (20000)

/* What costs time in the same way. */
typedef struct
{
  int64_t ns;
  uint64_t n;
  LnsEvidence longest;
  int64_t longest_ns;
  uint32_t name; /* of the longest one                                                           */
  LnsWhyCosts costs;
} Cost;

typedef struct
{
  LnsWhyMaker *maker;
  const LnsDeviceWork *work;
  uint32_t n_multiprocessors;
  LnsIdMap kernel_ns; /* name -> how long its kernels were                                       */
  int64_t kernels_ns; /* how long any kernel ran                                                 */
  Cost pageable, pinned; /* copies beside which no kernel ran                                    */
  Cost small;            /* kernels that leave a part of the GPU idle                            */
  int64_t full_ns, most_full_ns; /* how long the others of a lane were; of the lane with most    */
  /* The sum of all kernels' time by the share of the GPU that their blocks fill. */
  double filled_ns;
} Busy;

/* --- Kernels ---------------------------------------------------------------------------------- */

static void
take (const Busy *busy, Cost *cost, int64_t ns, uint32_t name, LnsEvidence evidence)
{
  cost->ns = lns_sum (cost->ns, ns);
  cost->n++;
  _lns_why_note_cost (busy->maker, &cost->costs, evidence.start_ns, evidence.end_ns, ns);
  if (ns <= cost->longest_ns)
    return;
  cost->longest_ns = ns;
  cost->name = name;
  cost->longest = evidence;
}

static void
add_kernels (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Busy *busy = data;
  const LnsSpan *span = &busy->work->span;
  uint32_t n_launches;
  const LnsCudaLaunch *launches = lns_report_launches (busy->maker->report, &n_launches);
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
      if (chunk->name[i] != 0)
        lns_id_map_set_number (
            &busy->kernel_ns, chunk->name[i],
            (uint64_t)lns_sum ((int64_t)lns_id_map_number (&busy->kernel_ns, chunk->name[i]),
                               end_ns - start_ns));
      busy->full_ns += end_ns - start_ns;
      const uint64_t launch = lns_chunk_extra (chunk, column, i);
      const uint64_t blocks = launch < n_launches
                                  ? (uint64_t)launches[launch].grid[0] * launches[launch].grid[1] *
                                        launches[launch].grid[2]
                                  : 0;
      const bool is_full = blocks == 0 || blocks >= busy->n_multiprocessors;
      busy->filled_ns +=
          (double)(end_ns - start_ns) * (is_full ? 1 : (double)blocks / busy->n_multiprocessors);
      if (end_ns - start_ns < LONG_KERNEL_NS)
        continue;
      /* Collectives need few blocks: they wait for links and for each other. */
      if (is_full ||
          lns_is_collective (lns_report_string (busy->maker->report, chunk->name[i], NULL)))
        continue;
      busy->full_ns -= end_ns - start_ns;
      const double idle = 1 - (double)blocks / busy->n_multiprocessors;
      take (busy, &busy->small, (int64_t)((double)(end_ns - start_ns) * idle), chunk->name[i],
            (LnsEvidence){ start_ns, end_ns, chunk->lane, chunk->first + i });
    }
}

static bool
read_kernels (Busy *busy, LnsError *error)
{
  LnsReport *report = busy->maker->report;
  const LnsLane *lanes = lns_report_lanes (report, NULL);
  bool good = true;

  for (size_t i = 0; good && i < busy->work->lanes.n; i++)
    {
      if (lanes[busy->work->lanes.items[i]].kind != LNS_LANE_CUDA_KERNEL)
        continue;
      busy->full_ns = 0;
      good = lns_read_lane (report, busy->work->lanes.items[i],
                            LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) | LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH),
                            add_kernels, busy, busy->maker->cancel, error);
      if (busy->full_ns > busy->most_full_ns)
        busy->most_full_ns = busy->full_ns;
    }
  return good;
}

/* --- Copies ----------------------------------------------------------------------------------- */

/* Times in which kernels run, as far as copies at hand may overlap them. */
typedef struct
{
  LnsWorkWalk *walk;
  LnsSpans spans;
  size_t first; /* of the spans that may still be asked for                                      */
  bool is_over;
} Kernels;

/* Reads what begins before TIME_NS. */
static bool
read_kernels_to (Busy *busy, Kernels *kernels, int64_t time_ns, LnsError *error)
{
  LnsOperation next;
  bool found;

  while (!kernels->is_over && (kernels->spans.n == kernels->first ||
                               kernels->spans.items[kernels->spans.n - 1].start_ns < time_ns))
    {
      if (!lns_work_walk_busy (kernels->walk, &next, &found, error))
        return false;
      kernels->is_over = !found;
      if (found)
        {
          *lns_array_add (&kernels->spans) = (LnsSpan){ next.start_ns, next.end_ns };
          busy->kernels_ns += next.end_ns - next.start_ns;
        }
    }
  return true;
}

/* How much of COPY no kernel ran beside. Copies ascend. */
static bool
alone (Busy *busy, Kernels *kernels, const LnsOperation *copy, int64_t *ret_ns, LnsError *error)
{
  *ret_ns = copy->end_ns - copy->start_ns;
  if (!read_kernels_to (busy, kernels, copy->end_ns, error))
    return false;
  while (kernels->first < kernels->spans.n &&
         kernels->spans.items[kernels->first].end_ns <= copy->start_ns)
    kernels->first++;
  if (kernels->first > 4096 && kernels->first * 2 > kernels->spans.n)
    {
      kernels->spans.n -= kernels->first;
      memmove (kernels->spans.items, &kernels->spans.items[kernels->first],
               kernels->spans.n * sizeof (LnsSpan));
      kernels->first = 0;
    }
  for (size_t i = kernels->first;
       i < kernels->spans.n && kernels->spans.items[i].start_ns < copy->end_ns; i++)
    {
      const LnsSpan *span = &kernels->spans.items[i];
      const int64_t from_ns = span->start_ns > copy->start_ns ? span->start_ns : copy->start_ns,
                    to_ns = span->end_ns < copy->end_ns ? span->end_ns : copy->end_ns;
      *ret_ns -= to_ns > from_ns ? to_ns - from_ns : 0;
    }
  return true;
}

static bool
read_copy (Busy *busy, Kernels *kernels, const LnsOperation *copy, LnsError *error)
{
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_MEMORY_KINDS);
  LnsEvent event;
  int64_t ns;

  if (!lns_report_event (busy->maker->report, copy->lane, copy->ordinal, &event, error) ||
      !alone (busy, kernels, copy, &ns, error))
    return false;
  const bool is_pageable =
      (event.extra[column] & 0xff) == PAGEABLE || (event.extra[column] >> 8 & 0xff) == PAGEABLE;
  take (busy, is_pageable ? &busy->pageable : &busy->pinned, ns, 0,
        (LnsEvidence){ copy->start_ns, copy->end_ns, copy->lane, copy->ordinal });
  return true;
}

static bool
read_copies (Busy *busy, LnsError *error)
{
  LnsWhyMaker *maker = busy->maker;
  const uint32_t copies = 1u << LNS_LANE_CUDA_MEMCPY;
  LnsWorkWalk *walk = lns_work_walk_new (maker->report, busy->work, copies, maker->cancel);
  Kernels kernels = { .walk =
                          lns_work_walk_new (maker->report, busy->work, ~copies, maker->cancel) };
  LnsOperation copy;
  bool found = true, good = true;

  while (good && found)
    {
      good = lns_work_walk_next (walk, &copy, &found, error);
      if (good && found)
        good = read_copy (busy, &kernels, &copy, error);
    }
  good = good && read_kernels_to (busy, &kernels, INT64_MAX, error);
  lns_work_walk_free (walk);
  lns_work_walk_free (kernels.walk);
  lns_array_clear (&kernels.spans);
  return good;
}

/* --- Findings --------------------------------------------------------------------------------- */

static void
tell (Busy *busy, LnsCause cause, size_t ledger, int64_t most_ns, Cost *cost)
{
  const LnsLedger *told = &busy->maker->why->ledgers.items[ledger];
  const int64_t ns = cost->ns < most_ns ? cost->ns : most_ns;

  if (ns <= (told->span.end_ns - told->span.start_ns) / 100)
    return;
  LnsWhyFinding *finding = _lns_why_add_finding (busy->maker, cause, ledger, ns, cost->n);
  finding->own.call = cost->name;
  finding->longest = cost->longest;
  finding->longest_ns = cost->longest_ns < ns ? cost->longest_ns : ns;
  finding->evidence[finding->n_evidence++] = cost->longest;
  _lns_why_give_costs (busy->maker, finding, &cost->costs);
}

static bool
examine (Busy *busy, size_t ledger, LnsError *error)
{
  const LnsDeviceWork *work = busy->work;
  uint32_t n_devices;
  const LnsCudaDevice *devices = lns_report_devices (busy->maker->report, &n_devices);

  if (work->device < n_devices)
    busy->n_multiprocessors = devices[work->device].n_multiprocessors;
  if (!read_kernels (busy, error) || !read_copies (busy, error))
    return false;
  /* Kernels that were not recorded may have run beside copies. */
  busy->maker->why->ledgers.items[ledger].kernels_ns = busy->kernels_ns;
  const LnsLedger *told = &busy->maker->why->ledgers.items[ledger];
  /* Copies may overlap each other: no more can come back than nothing else ran in. */
  const int64_t alone_ns = told->busy_ns - busy->kernels_ns;
  const int64_t pageable_ns = busy->pageable.ns < alone_ns ? busy->pageable.ns : alone_ns;
  if (told->n_missing <= told->n_launches / 20)
    {
      tell (busy, LNS_CAUSE_PAGEABLE_COPY, ledger, alone_ns, &busy->pageable);
      /* Where there is no kernel, none waits. */
      if (busy->kernels_ns > 0)
        tell (busy, LNS_CAUSE_COPY_BOUND, ledger, alone_ns - pageable_ns, &busy->pinned);
    }
  /* What runs beside kernels that fill the GPU costs nothing, nor do many that fill it together. */
  const int64_t beside_ns = busy->kernels_ns - busy->most_full_ns,
                idle_ns = (int64_t)((double)busy->kernels_ns - busy->filled_ns);
  tell (busy, LNS_CAUSE_UNDER_FILLED, ledger, beside_ns < idle_ns ? beside_ns : idle_ns,
        &busy->small);
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
      lns_array_clear (&busy.pageable.costs);
      lns_array_clear (&busy.pinned.costs);
      lns_array_clear (&busy.small.costs);
    }
  return good;
}
