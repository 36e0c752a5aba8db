/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Chooses metrics for each chip that NVIDIA's own libcupti knows, if that is installed: it lists metrics and plans passes
 * without a GPU. */

#include <dlfcn.h>
#include <string.h>

#include "capture/sampler/cupti.h"
#include "capture/sampler/metric-set.h"
#include "tests/tap.h"

/* CUpti_Profiler_Host_GetSupportedChips_Params */
LNS_CUPTI_STRUCT (LnsCuptiChips, size_t n; const char *const *names;)

static LnsCuptiChips chips = LNS_CUPTI_PARAMS (LnsCuptiChips, names);

/* Loads the library from where the toolkit has it: the double comes first where the loader looks. */
static bool
load (void)
{
  static const char *const paths[] = { "/usr/local/cuda/lib64/libcupti.so.13",
                                       "/usr/local/cuda/lib64/libcupti.so.12",
                                       "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
                                       "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12" };
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    {
      void *library = dlopen (paths[i], RTLD_NOW | RTLD_LOCAL);
      int (*list) (LnsCuptiChips *) = NULL;
      if (library == NULL)
        continue;
#define FIND(name, ...) lns_cupti_pm.name = (__typeof__ (lns_cupti_pm.name))dlsym (library, #name);
      LNS_CUPTI_PM_FUNCTIONS (FIND)
#undef FIND
      list = (__typeof__ (list))dlsym (library, "cuptiProfilerHostGetSupportedChips");
      if (list != NULL && list (&chips) == LNS_CUPTI_SUCCESS)
        return true;
    }
  return false;
}

static bool
has (const LnsMetricSet *set, const char *title)
{
  for (size_t i = 0; i < set->n; i++)
    if (strcmp (set->metrics[i].title, title) == 0)
      return true;
  return false;
}

/* PM sampling came with Turing. */
static void
each_chip_has_a_set_of_one_pass (void)
{
  static LnsMetricSet set;
  if (!load ())
    LNS_SKIP ("NVIDIA's libcupti is not installed");
  for (size_t i = 0; i < chips.n; i++)
    {
      if (strncmp (chips.names[i], "GV", 2) == 0)
        continue;
      const int result = lns_metric_set_choose ("general", chips.names[i], NULL, &set);
      if (result == LNS_CUPTI_NOT_INITIALIZED)
        LNS_SKIP ("libnvperf_host is not installed");
      printf ("# %s: %zu metrics, %zu bytes\n", chips.names[i], set.n, set.n_image_bytes);
      LNS_CHECK_INT (result, LNS_CUPTI_SUCCESS);
      LNS_CHECK (set.n >= 11 && set.image != NULL);
      LNS_CHECK (has (&set, "SMs Active") && has (&set, "SM Issue") &&
                 has (&set, "Tensor Active") && has (&set, "GR Active") &&
                 has (&set, "GPC Clock Frequency"));
      LnsCuptiPasses passes = LNS_CUPTI_PARAMS (LnsCuptiPasses, n_passes);
      passes.n_bytes = set.n_image_bytes;
      passes.bytes = set.image;
      LNS_CHECK_INT (lns_cupti_pm.cuptiProfilerHostGetNumOfPasses (&passes), LNS_CUPTI_SUCCESS);
      LNS_CHECK_INT (passes.n_passes, 1);
      for (size_t k = 0; k < set.n; k++)
        for (size_t l = 0; l < k; l++)
          LNS_CHECK (set.metrics[k].id != set.metrics[l].id &&
                     strcmp (set.metrics[k].name, set.metrics[l].name) != 0);
    }
}

static void
sets_are_parts_of_the_general_one (void)
{
  static LnsMetricSet compute, memory, general;
  if (chips.n == 0 ||
      lns_metric_set_choose ("general", "GH100", NULL, &general) != LNS_CUPTI_SUCCESS)
    LNS_SKIP ("NVIDIA's libcupti is not installed");
  LNS_CHECK_INT (lns_metric_set_choose ("compute", "GH100", NULL, &compute), LNS_CUPTI_SUCCESS);
  LNS_CHECK_INT (lns_metric_set_choose ("memory", "GH100", NULL, &memory), LNS_CUPTI_SUCCESS);
  LNS_CHECK_INT (compute.n + memory.n, general.n);
  LNS_CHECK (has (&compute, "SMs Active") && !has (&memory, "SMs Active"));
  LNS_CHECK (has (&memory, "DRAM Read Bandwidth") && !has (&compute, "DRAM Read Bandwidth"));
}

int
main (void)
{
  LNS_TEST (each_chip_has_a_set_of_one_pass);
  LNS_TEST (sets_are_parts_of_the_general_one);
  return lns_tap_done ();
}
