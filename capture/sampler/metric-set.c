/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/sampler/metric-set.h"
#include "capture/sampler/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARE ".avg.pct_of_peak_sustained_elapsed"

/* Sets, as bits. Every metric is in the general one. */
#define COMPUTE 1
#define MEMORY  2

/* The metrics, those that are asked for most first. A name is tried if the chip lacks those before it. Names and meanings are
 * those of the table of PM sampling in CUPTI's documentation and of what libcupti 13.0 lists. Ids never change. */
static const struct
{
  uint32_t id;
  const char *title, *unit, *submetric;
  const char *names[2];
  unsigned sets;
  bool is_grouped; /* outside of groups it needs several passes */
} known[] = {
  { 1, "SMs Active", "%", SHARE, { "sm__cycles_active" }, COMPUTE, false },
  { 2, "SM Issue", "%", SHARE, { "sm__inst_executed_realtime" }, COMPUTE, false },
  /* On Turing, the pipe that the tensor cores share with FP16. */
  { 3,
    "Tensor Active",
    "%",
    SHARE,
    { "sm__pipe_tensor_cycles_active_realtime", "sm__pipe_shared_cycles_active_realtime" },
    COMPUTE,
    false },
  { 4, "GR Active", "%", SHARE, { "gr__cycles_active" }, COMPUTE, false },
  { 5,
    "DRAM Read Bandwidth",
    "%",
    SHARE,
    { "dramc__read_throughput", "dram__read_throughput" },
    MEMORY,
    false },
  { 6,
    "DRAM Write Bandwidth",
    "%",
    SHARE,
    { "dramc__write_throughput", "dram__write_throughput" },
    MEMORY,
    false },
  { 7,
    "Compute Warps in Flight",
    "%",
    SHARE,
    { "tpc__warps_active_shader_cs_realtime" },
    COMPUTE,
    false },
  { 8, "PCIe RX Throughput", "%", SHARE, { "pcie__read_bytes" }, MEMORY, false },
  { 9, "PCIe TX Throughput", "%", SHARE, { "pcie__write_bytes" }, MEMORY, false },
  { 10,
    "NVLink RX Bandwidth",
    "%",
    SHARE,
    { "nvlrx__bytes", "nvlrx__bytes_packet_request_data_user" },
    MEMORY,
    false },
  { 11,
    "NVLink TX Bandwidth",
    "%",
    SHARE,
    { "nvltx__bytes", "nvltx__bytes_packet_request_data_user" },
    MEMORY,
    false },
  { 12, "L2 Throughput", "%", SHARE, { "lts__throughput" }, MEMORY, true },
  { 13, "L2 Hit Rate", "%", ".pct", { "lts__average_t_sector_hit_rate_realtime" }, MEMORY, false },
  { 14, "GPC Clock Frequency", "Hz", ".avg.per_second", { "gpc__cycles_elapsed" }, COMPUTE, false },
  { 15, "SYS Clock Frequency", "Hz", ".avg.per_second", { "sys__cycles_elapsed" }, MEMORY, false },
  { 16, "Dispatch Started", "%", SHARE, { "gr__dispatch_count" }, COMPUTE, false },
  { 17,
    "Sync Compute in Flight",
    "%",
    SHARE,
    { "gr__compute_cycles_active_queue_sync" },
    COMPUTE,
    false },
  { 18,
    "Async Compute in Flight",
    "%",
    SHARE,
    { "gr__compute_cycles_active_queue_async" },
    COMPUTE,
    false },
  { 19,
    "Unallocated Warps in Active SMs",
    "%",
    SHARE,
    { "tpc__warps_inactive_sm_active_realtime" },
    COMPUTE,
    false },
};

#define N_KNOWN (sizeof known / sizeof *known)

_Static_assert(N_KNOWN <= LNS_WIRE_GPU_MAX_METRICS, "a set has room for all");

/* --- Names ------------------------------------------------------------------------------------ */

/* Groups of metrics that can be counted in one pass, which is what PM sampling has. A chip has the first, or the second beside
 * one for graphics (TriageSCG), or one with a name of its own, or none: names are then without a group. */
static int
rank (const char *name, const char *base)
{
  const char *dot = strrchr (name, '.');
  if (strcmp (dot != NULL ? dot + 1 : name, base) != 0)
    return 0;
  return dot == NULL                               ? 1
         : strstr (name, "TriageCompute.") != NULL ? 5
         : strstr (name, "TriageAC.") != NULL      ? 4
         : strstr (name, "TriageSCG.") != NULL     ? 2
         : strstr (name, "Triage") != NULL         ? 3
                                                   : 0;
}

/* Looks the name of BASE up among the metrics of HOST. Returns "" if there is none. */
static void
find_name (void *host, const char *base, bool is_grouped, char ret_name[LNS_METRIC_NAME_BYTES])
{
  int best = is_grouped ? 1 : 0;
  ret_name[0] = '\0';
  for (int type = 0; type < LNS_CUPTI_N_METRIC_TYPES; type++)
    {
      LnsCuptiNames list = LNS_CUPTI_PARAMS (LnsCuptiNames, n);
      list.host = host;
      list.type = type;
      if (lns_cupti_pm.cuptiProfilerHostGetBaseMetrics (&list) != LNS_CUPTI_SUCCESS)
        continue;
      for (size_t i = 0; i < list.n; i++)
        if (rank (list.names[i], base) > best && strlen (list.names[i]) < LNS_METRIC_NAME_BYTES)
          {
            best = rank (list.names[i], base);
            strcpy (ret_name, list.names[i]);
          }
    }
}

/* Fills SET with the metrics of the sets SETS that HOST lists. */
static void
list_metrics (void *host, unsigned sets, LnsMetricSet *set)
{
  for (size_t i = 0; i < N_KNOWN; i++)
    {
      LnsMetric *metric = &set->metrics[set->n];
      char base[LNS_METRIC_NAME_BYTES] = "";
      for (int k = 0; k < 2 && base[0] == '\0' && known[i].names[k] != NULL; k++)
        find_name (host, known[i].names[k], known[i].is_grouped, base);
      const int n = snprintf (metric->name, sizeof metric->name, "%s%s", base, known[i].submetric);
      if (base[0] == '\0' || (known[i].sets & sets) == 0 || n < 0 ||
          (size_t)n >= sizeof metric->name)
        continue;
      metric->id = known[i].id;
      metric->title = known[i].title;
      metric->unit = known[i].unit;
      set->n++;
    }
}

/* --- Passes ----------------------------------------------------------------------------------- */

typedef struct
{
  const char *chip;
  const uint8_t *available;
} Chip;

static int
open_host (const Chip *chip, void **ret_host)
{
  LnsCuptiHost params = LNS_CUPTI_PARAMS (LnsCuptiHost, host);
  params.type = LNS_CUPTI_PROFILER_PM_SAMPLING;
  params.chip = chip->chip;
  params.available = chip->available;
  const int result = lns_cupti_pm.cuptiProfilerHostInitialize (&params);
  *ret_host = params.host;
  return result;
}

static void
close_host (void *host)
{
  LnsCuptiHostEnd params = LNS_CUPTI_PARAMS (LnsCuptiHostEnd, host);
  params.host = host;
  if (host != NULL)
    lns_cupti_pm.cuptiProfilerHostDeinitialize (&params);
}

/* Adds all metrics in one call: each further call would take a pass of its own. Returns CUPTI's result and the image. */
static int
make_image (LnsMetricSet *set)
{
  LnsCuptiAdd add = LNS_CUPTI_PARAMS (LnsCuptiAdd, n);
  add.host = set->host;
  add.names = set->names;
  add.n = set->n;
  int result = lns_cupti_pm.cuptiProfilerHostConfigAddMetrics (&add);
  LnsCuptiImageSize size = LNS_CUPTI_PARAMS (LnsCuptiImageSize, n_bytes);
  size.host = set->host;
  if (result == LNS_CUPTI_SUCCESS)
    result = lns_cupti_pm.cuptiProfilerHostGetConfigImageSize (&size);
  if (result != LNS_CUPTI_SUCCESS)
    return result;
  set->n_image_bytes = size.n_bytes;
  set->image = calloc (1, size.n_bytes > 0 ? size.n_bytes : 1);
  if (set->image == NULL)
    return LNS_CUPTI_OUT_OF_MEMORY;
  LnsCuptiImage image = LNS_CUPTI_PARAMS (LnsCuptiImage, bytes);
  image.host = set->host;
  image.n_bytes = size.n_bytes;
  image.bytes = set->image;
  return lns_cupti_pm.cuptiProfilerHostGetConfigImage (&image);
}

static void
forget_image (LnsMetricSet *set)
{
  close_host (set->host);
  free (set->image);
  set->host = NULL;
  set->image = NULL;
}

/* Makes SET's host and image. Returns whether one pass counts all of its metrics. */
static bool
fits (const Chip *chip, LnsMetricSet *set)
{
  for (size_t i = 0; i < set->n; i++)
    set->names[i] = set->metrics[i].name;
  bool is_made =
      open_host (chip, &set->host) == LNS_CUPTI_SUCCESS && make_image (set) == LNS_CUPTI_SUCCESS;
  LnsCuptiPasses passes = LNS_CUPTI_PARAMS (LnsCuptiPasses, n_passes);
  passes.n_bytes = set->n_image_bytes;
  passes.bytes = set->image;
  if (is_made && lns_cupti_pm.cuptiProfilerHostGetNumOfPasses (&passes) == LNS_CUPTI_SUCCESS &&
      passes.n_passes == 1)
    return true;
  forget_image (set);
  return false;
}

/* Takes metrics into SET one after the other, without those that do not fit beside the ones before. */
static void
choose_one_by_one (const Chip *chip, LnsMetricSet *set)
{
  const LnsMetricSet all = *set;
  set->n = 0;
  for (size_t i = 0; i < all.n; i++)
    {
      set->metrics[set->n++] = all.metrics[i];
      if (fits (chip, set))
        forget_image (set);
      else
        set->n--;
    }
  if (set->n > 0 && !fits (chip, set))
    set->n = 0;
}

int
lns_metric_set_choose (const char *name,
                       const char *chip_name,
                       const uint8_t *available,
                       LnsMetricSet *ret_set)
{
  const Chip chip = { chip_name, available };
  const unsigned sets = strcmp (name, "compute") == 0  ? COMPUTE
                        : strcmp (name, "memory") == 0 ? MEMORY
                                                       : COMPUTE | MEMORY;
  void *host = NULL;
  memset (ret_set, 0, sizeof *ret_set);
  const int result = open_host (&chip, &host);
  if (result != LNS_CUPTI_SUCCESS)
    return result;
  list_metrics (host, sets, ret_set);
  close_host (host);
  if (ret_set->n > 0 && !fits (&chip, ret_set))
    choose_one_by_one (&chip, ret_set);
  return LNS_CUPTI_SUCCESS;
}
