/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/export/sample-stacks.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/export/samples.h"

/* The samples of one thread by chain. */
typedef struct
{
  const LnsExportJob *job;
  LnsGpuStackFunc function;
  void *data;
  uint32_t lane;             /* of the thread, or LNS_ID_NONE */
  bool is_python;            /* its samples are, and there are others */
  uint64_t *counts;          /* by call node */
  LNS_ARRAY (uint32_t) seen; /* the nodes that have some */
  LnsExportChain chain;
  LNS_ARRAY (uint32_t) names;
} Chains;

/* Gives FUNCTION the chain that ends with NODE, below the process. */
static bool
tell_chain (Chains *chains, uint32_t node, LnsError *error)
{
  LnsReport *report = chains->job->report;
  const LnsStackFrame *frames = chains->job->code->frames;
  const uint32_t process = lns_export_track (report, chains->lane)->process;

  chains->names.n = 0;
  *lns_array_add (&chains->names) = lns_report_processes (report, NULL)[process].name;
  if (chains->is_python)
    *lns_array_add (&chains->names) = LNS_GPU_STACK_PYTHON;
  lns_export_chain (chains->job->code, node, &chains->chain);
  for (size_t i = 0; i < chains->chain.n; i++)
    *lns_array_add (&chains->names) =
        lns_export_symbol (chains->job->code, &frames[chains->chain.items[i]]);
  return chains->function (chains->data, chains->names.items, (unsigned)chains->names.n,
                           (int64_t)chains->counts[node], error);
}

static bool
tell_thread (Chains *chains, LnsError *error)
{
  bool good = true;

  for (size_t i = 0; good && i < chains->seen.n; i++)
    {
      good = tell_chain (chains, chains->seen.items[i], error);
      chains->counts[chains->seen.items[i]] = 0;
    }
  chains->seen.n = 0;
  return good;
}

static bool
count_sample (void *data, const LnsExportSample *sample, LnsError *error)
{
  Chains *chains = data;

  if (sample->lane != chains->lane)
    {
      if (!tell_thread (chains, error))
        return false;
      chains->lane = sample->lane;
      chains->is_python = sample->is_python && lns_export_has_both (chains->job->report);
    }
  if (sample->node != LNS_ID_NONE && chains->counts[sample->node]++ == 0)
    *lns_array_add (&chains->seen) = sample->node;
  return true;
}

bool
lns_sample_stacks_sweep (const LnsGpuStacks *stacks,
                         LnsGpuStackFunc function,
                         void *data,
                         LnsError *error)
{
  Chains chains = { .job = lns_gpu_stacks_text (stacks)->job,
                    .function = function,
                    .data = data,
                    .lane = LNS_ID_NONE };

  chains.counts = lns_calloc (chains.job->code->n_nodes, sizeof *chains.counts);
  const bool good = lns_export_each_sample (chains.job, count_sample, &chains, error) &&
                    tell_thread (&chains, error);
  lns_array_clear (&chains.seen);
  lns_array_clear (&chains.chain);
  lns_array_clear (&chains.names);
  free (chains.counts);
  return good;
}

bool
lns_sample_stacks_are_wanted (const LnsGpuStacks *stacks)
{
  const LnsExportJob *job = lns_gpu_stacks_text (stacks)->job;

  return job->options->stacks == LNS_EXPORT_CPU_STACKS ||
         (job->options->stacks == LNS_EXPORT_ANY_STACKS && !lns_gpu_stacks_has_work (stacks) &&
          lns_export_has_samples (job->report));
}
