/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Collectives on GPUs: a kernel of NCCL that began first spins until the last of its peers begins. A GPU that does so is busy, and
 * waits for the thread that launched the last one. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/ordering.h"
#include "src/analysis/why/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* More collectives are not looked at: their kernels take 48 bytes each. */
#define MOST_KERNELS 1000000

typedef struct
{
  int64_t start_ns, end_ns;
  uint64_t ordinal;
  uint32_t lane, name;
  uint32_t device; /* index of the GPU                                                           */
} Kernel;

typedef LNS_ARRAY (Kernel) Kernels;

/* A collective that waited for its last peer. */
typedef struct
{
  int64_t start_ns, end_ns;
  int64_t hidden_ns; /* how much of it other kernels ran beside                                  */
  size_t kernel, last; /* indices of both                                                        */
} Wait;

typedef LNS_ARRAY (Wait) WaitList;

typedef struct
{
  LnsWhyMaker *maker;
  uint32_t device;
  const LnsSpan *span;
  Kernels kernels;
  WaitList *waits; /* of each GPU, in order                                                      */
} Reading;

/* Whether kernels called NAME are of collectives. */
static bool
is_collective (LnsWhyMaker *maker, uint32_t name)
{
  uint64_t known = lns_id_map_number (&maker->collectives, name);

  if (known == 0)
    {
      known = 1 + lns_is_collective (lns_report_string (maker->report, name, NULL));
      lns_id_map_set_number (&maker->collectives, name, known);
    }
  return known == 2;
}

static void
add_kernels (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Reading *reading = data;
  LnsWhyMaker *maker = reading->maker;

  (void)track;
  for (uint32_t i = 0; i < chunk->n && reading->kernels.n < MOST_KERNELS; i++)
    {
      const uint32_t name = chunk->name[i];
      const int64_t start_ns = chunk->start_ns[i], end_ns = start_ns + chunk->duration_ns[i];
      if (name == 0 || !lns_event_has_length (chunk->flags[i]) ||
          start_ns < reading->span->start_ns || end_ns > reading->span->end_ns)
        continue;
      if (is_collective (maker, name))
        *lns_array_add (&reading->kernels) = (Kernel){ .start_ns = start_ns,
                                                       .end_ns = end_ns,
                                                       .ordinal = chunk->first + i,
                                                       .lane = chunk->lane,
                                                       .name = name,
                                                       .device = reading->device };
    }
}

static int
compare_starts (const void *a, const void *b)
{
  const Kernel *ka = a, *kb = b;
  return LNS_COMPARE (ka->start_ns, kb->start_ns);
}

/* The last peer that kernel I of KERNELS waited for, or I: of each other GPU the first kernel of the name that begins while it
 * runs. */
static size_t
last_peer (const Kernels *kernels, size_t i)
{
  const Kernel *self = &kernels->items[i];
  uint64_t seen = UINT64_C (1) << self->device % 64;
  size_t last = i;

  for (size_t k = i + 1; k < kernels->n && kernels->items[k].start_ns < self->end_ns; k++)
    {
      const Kernel *peer = &kernels->items[k];
      const uint64_t bit = UINT64_C (1) << peer->device % 64;
      if (peer->name != self->name || (seen & bit) != 0)
        continue;
      seen |= bit;
      last = k;
    }
  return last;
}

/* Waits of one GPU. */
typedef struct
{
  int64_t ns;
  uint64_t n;
  uint32_t name;
  LnsVote late; /* 1 + index of the kernel's GPU                                                 */
  size_t sample[64]; /* by GPU: a kernel of it that came last                                    */
  LnsPart parts[LNS_MAX_EVIDENCE];
  unsigned n_parts;
  LnsWhyCosts costs;
} Waits;

/* Notes of the waits in which other kernels ran for how long: these cost nothing, as far as that is known. */
static void
hide_waits (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  const Reading *reading = data;
  WaitList *waits = &reading->waits[reading->device];

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const int64_t start_ns = chunk->start_ns[i], end_ns = start_ns + chunk->duration_ns[i];
      if (!lns_event_has_length (chunk->flags[i]) ||
          (chunk->name[i] != 0 && is_collective (reading->maker, chunk->name[i])))
        continue;
      /* Those of one GPU follow one another, as each is a kernel of one stream; of more streams some may be left out. */
      size_t k = LNS_LOWER_BOUND (waits->n, w, waits->items[w].end_ns <= start_ns);
      for (; k < waits->n && waits->items[k].start_ns < end_ns; k++)
        {
          Wait *wait = &waits->items[k];
          const int64_t from_ns = wait->start_ns > start_ns ? wait->start_ns : start_ns,
                        to_ns = wait->end_ns < end_ns ? wait->end_ns : end_ns;
          wait->hidden_ns += to_ns > from_ns ? to_ns - from_ns : 0;
        }
    }
}

static void
add_wait (const LnsWhyMaker *maker, Waits *waits, const Kernels *kernels, const Wait *wait)
{
  const Kernel *self = &kernels->items[wait->kernel], *peer = &kernels->items[wait->last];
  const size_t last = wait->last;
  const int64_t ns = wait->end_ns - wait->start_ns - wait->hidden_ns;
  if (ns <= 0)
    return;
  const LnsPart part = { .start_ns = self->start_ns,
                         .end_ns = peer->start_ns,
                         .lane = self->lane,
                         .ordinal = self->ordinal,
                         .waker = peer->device };
  unsigned least = 0;

  waits->ns += ns;
  waits->n++;
  _lns_why_note_cost (maker, &waits->costs, wait->start_ns, wait->end_ns, ns);
  waits->name = self->name;
  waits->sample[peer->device % 64] = last;
  _lns_why_vote (&waits->late, 1 + peer->device, ns);
  if (waits->n_parts < LNS_MAX_EVIDENCE)
    {
      waits->parts[waits->n_parts++] = part;
      return;
    }
  for (unsigned k = 1; k < LNS_MAX_EVIDENCE; k++)
    if (waits->parts[k].end_ns - waits->parts[k].start_ns <
        waits->parts[least].end_ns - waits->parts[least].start_ns)
      least = k;
  if (ns > waits->parts[least].end_ns - waits->parts[least].start_ns)
    waits->parts[least] = part;
}

/* Makes a finding of the WAITS of ledger L. */
static bool
tell (LnsWhyMaker *maker, size_t l, Waits *waits, const Kernels *kernels, LnsError *error)
{
  const LnsSpan *span = &maker->why->ledgers.items[l].span;
  LnsPart before[LNS_MAX_EVIDENCE];
  LnsLaunchCall call;
  unsigned n = 0;
  bool found;

  if (waits->ns <= (span->end_ns - span->start_ns) / 100)
    return true;
  LnsWhyFinding *finding =
      _lns_why_add_finding (maker, LNS_CAUSE_COLLECTIVE_WAIT, l, waits->ns, waits->n);
  finding->own.call = waits->name;
  _lns_why_give_costs (maker, finding, &waits->costs);
  finding->confidence = LNS_CONFIDENCE_LIKELY;
  for (unsigned i = 0; i < waits->n_parts; i++)
    {
      const LnsPart *part = &waits->parts[i];
      const LnsEvidence evidence = { part->start_ns, part->end_ns, part->lane, part->ordinal };
      finding->evidence[finding->n_evidence++] = evidence;
      if (evidence.end_ns - evidence.start_ns > finding->longest.end_ns - finding->longest.start_ns)
        {
          finding->longest = evidence;
          finding->longest_ns = evidence.end_ns - evidence.start_ns;
        }
      if (part->waker + 1 == waits->late.name)
        before[n++] = *part;
    }
  if (n == 0)
    return true;
  const Kernel *late = &kernels->items[waits->sample[(waits->late.name - 1) % 64]];
  if (!lns_launch_finder_find (maker->finder, late->lane, late->ordinal, &found, &call, error))
    return false;
  if (!found)
    return true;
  finding->n_waits = 1;
  return _lns_why_find_occupation (maker, call.thread, before, n, &finding->waits[0], error);
}

/* Has FUNCTION look at the kernels of all GPUs of WORKS, or only of those that have WAITS. */
static bool
read_kernels (Reading *reading,
              const LnsDeviceWorks *works,
              LnsChunkFunc function,
              bool with_waits,
              LnsError *error)
{
  const LnsLane *lanes = lns_report_lanes (reading->maker->report, NULL);
  bool good = true;

  for (size_t w = 0; good && w < works->n; w++)
    for (size_t i = 0; good && i < works->items[w].lanes.n; i++)
      {
        const uint32_t lane = works->items[w].lanes.items[i];
        reading->device = (uint32_t)w;
        reading->span = &works->items[w].span;
        if (lanes[lane].kind == LNS_LANE_CUDA_KERNEL && (!with_waits || reading->waits[w].n > 0))
          good =
              lns_read_lane (reading->maker->report, lane,
                             LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
                             function, reading, reading->maker->cancel, error);
      }
  return good;
}

bool
_lns_why_collectives (LnsWhyMaker *maker, const LnsDeviceWorks *works, LnsError *error)
{
  Reading reading = { .maker = maker };
  bool good = works->n < 2 || read_kernels (&reading, works, add_kernels, false, error);
  Kernels *kernels = &reading.kernels;
  lns_order (kernels->items, kernels->n, sizeof (Kernel), compare_starts);
  Waits *waits = lns_calloc (works->n + 1, sizeof *waits);
  reading.waits = lns_calloc (works->n + 1, sizeof *reading.waits);
  for (size_t i = 0; good && i < kernels->n; i++)
    {
      const size_t last = last_peer (kernels, i);
      if (last != i)
        *lns_array_add (&reading.waits[kernels->items[i].device]) =
            (Wait){ kernels->items[i].start_ns, kernels->items[last].start_ns, 0, i, last };
    }
  good = good && read_kernels (&reading, works, hide_waits, true, error);
  for (size_t w = 0; w < works->n; w++)
    {
      for (size_t i = 0; i < reading.waits[w].n; i++)
        add_wait (maker, &waits[w], kernels, &reading.waits[w].items[i]);
      lns_array_clear (&reading.waits[w]);
    }
  free (reading.waits);
  for (size_t w = 0; good && w < works->n; w++)
    good = waits[w].n == 0 || tell (maker, w, &waits[w], kernels, error);
  for (size_t w = 0; w < works->n; w++)
    lns_array_clear (&waits[w].costs);
  free (waits);
  lns_array_clear (kernels);
  return good;
}
