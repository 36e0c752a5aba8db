/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/summary.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "src/analysis/facts/thread-states.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"
#include "ui/model/lane-look.h"

/* A bit for each kind of lanes that is known. */
#define KIND(kind) ((kind) < LNS_N_LANE_KINDS ? UINT64_C (1) << (kind) : 0)
#define CALLS      (KIND (LNS_LANE_CUDA_API) | KIND (LNS_LANE_LIBRARY_CALL))
G_STATIC_ASSERT (LNS_N_LANE_KINDS <= 64);

typedef struct
{
  LnsReport *report;
  const LnsRowTree *tree;
  const LnsPixelQuery *query;
  LnsPixelResult *scratch;
  LnsError *error;
  int64_t end_ns; /* of the query */
  float *busy;    /* of the thread or CPU under way */
  float *alive;   /* threads that a pixel lies between first and last event of; or all CPUs */
  float *shares;  /* the sum of their busy, then the result */
  bool coarse;    /* of any query */
} Summary;

/* What is busy with LANE: a CPU, by its row, or a thread. */
static uint32_t
owner_of (const Summary *self, uint32_t lane)
{
  const uint32_t row = lns_row_tree_row_of_lane (self->tree, lane);
  return lns_report_lanes (self->report, NULL)[lane].kind == LNS_LANE_CPU_RUN
             ? row
             : lns_row_tree_row (self->tree, row)->thread;
}

static uint32_t
pixel_of (const Summary *self, int64_t time_ns)
{
  double px = (double)lns_difference (time_ns, self->query->origin_ns) / self->query->ns_per_px;
  return (uint32_t)CLAMP (px, 0.0, (double)(self->query->n_px - 1));
}

/* Raises BUSY to LANE's share where that is larger. */
static bool
add_lane (Summary *self, uint32_t lane)
{
  if (!lns_report_query_pixels (self->report, lane, self->query, self->scratch, self->error))
    return false;
  lns_states_cut (self->report, lns_report_lanes (self->report, NULL)[lane].kind, self->query,
                  self->scratch);
  self->coarse |= self->scratch->coarse;
  for (uint32_t p = 0; p < self->query->n_px; p++)
    self->busy[p] = fmaxf (self->busy[p], self->scratch->pixels[p].busy);
  return true;
}

/* Adds up the outermost lanes of KINDS, which hold all others: LANES are sorted by owner. */
static bool
add_lanes (Summary *self, const uint32_t *lanes, uint32_t n_lanes, uint64_t kinds)
{
  const LnsLane *all = lns_report_lanes (self->report, NULL);
  for (uint32_t i = 0, next; i < n_lanes; i = next)
    {
      uint32_t owner = owner_of (self, lanes[i]);
      int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
      for (next = i; next < n_lanes && owner_of (self, lanes[next]) == owner; next++)
        {
          const LnsLaneInfo *info = lns_report_lane_info (self->report, lanes[next]);
          const LnsLane *lane = &all[lanes[next]];
          if ((kinds & KIND (lane->kind)) == 0 || lane->ordinal != 0)
            continue;
          if (lane->kind == LNS_LANE_CPU_RUN) /* it is there before and after, too */
            {
              start_ns = self->query->origin_ns;
              end_ns = self->end_ns;
            }
          if (info->end_ns < self->query->origin_ns || info->start_ns >= self->end_ns)
            continue;
          start_ns = MIN (start_ns, info->start_ns);
          end_ns = MAX (end_ns, info->end_ns);
          if (!add_lane (self, lanes[next]))
            return false;
        }
      if (start_ns > end_ns)
        continue;
      for (uint32_t p = pixel_of (self, start_ns); p <= pixel_of (self, end_ns); p++)
        {
          self->shares[p] += self->busy[p];
          self->alive[p]++;
          self->busy[p] = 0;
        }
    }
  return true;
}

/* The lanes of ROW and of what is below it, or those of all processes. */
static const uint32_t *
lanes_of (const LnsRowTree *tree, uint32_t row, uint32_t *ret_n)
{
  const uint32_t *lanes = lns_row_tree_lanes (tree);
  *ret_n = 0;
  if (row != LNS_ID_NONE)
    {
      *ret_n = lns_row_tree_row (tree, row)->n_lanes;
      return lanes + lns_row_tree_row (tree, row)->lanes;
    }
  for (uint32_t r = 0; r < lns_row_tree_n_rows (tree); r++)
    {
      const LnsRow *it = lns_row_tree_row (tree, r);
      if (it->kind == LNS_ROW_PROCESS) /* the lanes of CPUs come behind all of these */
        *ret_n += it->n_lanes;
    }
  return lanes;
}

static bool
is_work (LnsReport *report, uint32_t lane)
{
  return lns_lane_look (lns_report_lanes (report, NULL)[lane].kind)->is_work;
}

/* The GPU that did the work of LANE, or LNS_ID_NONE: it holds none, or it is not known. */
static uint32_t
device_of (LnsReport *report, uint32_t lane)
{
  const LnsTrack *track = lns_track_of (report, lane);

  return track != NULL && is_work (report, lane) ? track->device : LNS_ID_NONE;
}

static bool
has_work (LnsReport *report, const uint32_t *lanes, uint32_t n_lanes)
{
  uint32_t n_devices;

  lns_report_devices (report, &n_devices);
  for (uint32_t i = 0; i < n_lanes; i++)
    if (device_of (report, lanes[i]) < n_devices)
      return true;
  return false;
}

/* Sets shares to how busy the GPUs of LANES are, on average: work of one that overlaps counts once. */
static bool
add_work (Summary *self, const uint32_t *lanes, uint32_t n_lanes)
{
  uint32_t n_devices, n_busy = 0;

  lns_report_devices (self->report, &n_devices);
  for (uint32_t device = 0; device < n_devices; device++)
    {
      bool is_used = false;
      for (uint32_t i = 0; i < n_lanes; i++)
        {
          if (device_of (self->report, lanes[i]) != device)
            continue;
          is_used = true;
          if (!lns_report_query_pixels (self->report, lanes[i], self->query, self->scratch,
                                        self->error))
            return false;
          self->coarse |= self->scratch->coarse;
          for (uint32_t p = 0; p < self->query->n_px; p++)
            self->busy[p] = fminf (self->busy[p] + self->scratch->pixels[p].busy, 1);
        }
      for (uint32_t p = 0; p < self->query->n_px; p++)
        {
          self->shares[p] += self->busy[p];
          self->busy[p] = 0;
        }
      n_busy += is_used;
    }
  for (uint32_t p = 0; p < self->query->n_px; p++)
    self->alive[p] = (float)n_busy;
  return true;
}

/* lns_summary_activity (), and the KINDs of lanes that tell of it. */
static LnsActivity
find_activity (LnsReport *report, const LnsRowTree *tree, uint32_t row, uint64_t *ret_kinds)
{
  const LnsRowKind kind = row != LNS_ID_NONE ? lns_row_tree_row (tree, row)->kind : LNS_ROW_PROCESS;
  uint32_t n_lanes;
  const uint32_t *lanes = lanes_of (tree, row, &n_lanes);
  uint64_t kinds = 0;
  for (uint32_t i = 0; i < n_lanes; i++)
    kinds |= KIND (lns_report_lanes (report, NULL)[lanes[i]].kind);

  *ret_kinds = 0;
  if (lns_row_kind_is_merged (kind))
    return LNS_ACTIVITY_WORK;
  if (kinds & (*ret_kinds = KIND (LNS_LANE_CPU_RUN)))
    return LNS_ACTIVITY_OF_CPUS;
  if (kinds & (*ret_kinds = KIND (LNS_LANE_SCHED)))
    return kind == LNS_ROW_THREAD ? LNS_ACTIVITY_ON_CPU : LNS_ACTIVITY_ON_CPUS;
  /* Calls and ranges cover all of the time in most programs, whatever their GPUs do. */
  if (row != LNS_ID_NONE && kind == LNS_ROW_PROCESS && has_work (report, lanes, n_lanes))
    return LNS_ACTIVITY_WORK;
  if ((*ret_kinds = kinds & (KIND (LNS_LANE_NVTX_PUSH_POP) | CALLS)) != 0)
    return (kinds & CALLS) == 0                           ? LNS_ACTIVITY_RANGES
           : (kinds & KIND (LNS_LANE_NVTX_PUSH_POP)) == 0 ? LNS_ACTIVITY_CALLS
                                                          : LNS_ACTIVITY_RANGES_AND_CALLS;
  if (kinds & (*ret_kinds = KIND (LNS_LANE_NVTX_START_END)))
    return LNS_ACTIVITY_RANGES;
  return LNS_ACTIVITY_NONE;
}

LnsActivity
lns_summary_activity (LnsReport *report, const LnsRowTree *tree, uint32_t row)
{
  uint64_t kinds;
  return find_activity (report, tree, row, &kinds);
}

char *
lns_summary_text (LnsActivity activity, double share)
{
  static const char *const words[] = {
    [LNS_ACTIVITY_NONE] = N_ ("covered"),
    [LNS_ACTIVITY_ON_CPU] = N_ ("on a CPU"),
    [LNS_ACTIVITY_ON_CPUS] = N_ ("of a CPU"),
    [LNS_ACTIVITY_OF_CPUS] = N_ ("of the CPUs"),
    [LNS_ACTIVITY_RANGES] = N_ ("in NVTX ranges"),
    [LNS_ACTIVITY_CALLS] = N_ ("in calls"),
    [LNS_ACTIVITY_RANGES_AND_CALLS] = N_ ("in NVTX ranges and calls"),
    [LNS_ACTIVITY_WORK] = N_ ("GPU work"),
  };
  char number[LNS_FORMAT_SIZE];
  return g_strdup_printf ("%s %% %s", lns_format_fixed (100 * share, 1, number),
                          _ (words[activity]));
}

bool
lns_summary_query (LnsReport *report,
                   const LnsRowTree *tree,
                   uint32_t row,
                   const LnsPixelQuery *query,
                   LnsPixelResult *scratch,
                   float *ret_shares,
                   LnsError *error)
{
  g_autofree float *busy = g_new0 (float, query->n_px);
  g_autofree float *alive = g_new0 (float, query->n_px);
  Summary self = { report, tree, query, scratch, error, 0, busy, alive, ret_shares, false };
  uint32_t n_lanes;
  uint64_t kinds;
  const uint32_t *lanes = lanes_of (tree, row, &n_lanes);
  const LnsActivity activity = find_activity (report, tree, row, &kinds);
  self.end_ns = lns_sum (query->origin_ns, (int64_t)ceil (query->n_px * query->ns_per_px));
  for (uint32_t p = 0; p < query->n_px; p++)
    ret_shares[p] = 0;
  if (activity == LNS_ACTIVITY_WORK ? !add_work (&self, lanes, n_lanes)
                                    : !add_lanes (&self, lanes, n_lanes, kinds))
    return false;
  for (uint32_t p = 0; p < query->n_px && activity != LNS_ACTIVITY_ON_CPUS; p++)
    ret_shares[p] = alive[p] > 0 ? fminf (ret_shares[p] / alive[p], 1) : 0;
  scratch->coarse = self.coarse;
  return true;
}

/* --- GPUs ---------------------------------------------------------------------------------- */

/* Adds the pixels of what RESULT holds to SUM. */
static void
add_pixels (LnsPixel *sum, const LnsPixelResult *result)
{
  for (uint32_t p = 0; p < result->n_px; p++)
    {
      const LnsPixel *pixel = &result->pixels[p];
      if (pixel->busy > sum[p].busy || sum[p].name == 0)
        sum[p].name = pixel->name;
      sum[p].busy = fminf (sum[p].busy + pixel->busy, 1);
      sum[p].count += pixel->count;
      sum[p].flags |= pixel->flags;
    }
}

bool
lns_work_query (LnsReport *report,
                const LnsRowTree *tree,
                uint32_t row,
                const LnsPixelQuery *query,
                LnsPixelResult *result,
                LnsError *error)
{
  const LnsRow *it = lns_row_tree_row (tree, row);
  if (it->set != NULL)
    return lns_facet_query_pixels (it->set, it->facet, query, result, error);
  const uint32_t *lanes = lns_row_tree_lanes (tree) + it->lanes;
  g_autofree LnsPixel *sum = g_new0 (LnsPixel, query->n_px);
  bool coarse = false;
  result->n_px = 0;
  for (uint32_t i = 0; i < it->n_lanes; i++)
    {
      if (!is_work (report, lanes[i]))
        continue;
      if (!lns_report_query_pixels (report, lanes[i], query, result, error))
        return false;
      coarse |= result->coarse;
      add_pixels (sum, result);
    }
  /* Without any work the result has to be made all the same. */
  if (result->n_px == 0 && !lns_report_query_pixels (report, lanes[0], query, result, error))
    return false;
  result->coarse = coarse;
  memcpy (result->pixels, sum, query->n_px * sizeof *sum);
  result->n_events = 0;
  return true;
}
