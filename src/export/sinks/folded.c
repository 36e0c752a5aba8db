/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes GPU time by stacks of ranges, one line for each kernel or copy: "outer;inner;kernel 1234" in ns; or samples by call
 * chains, one line for each chain: "process;outer;inner 12". flamegraph.pl, speedscope and inferno read it. */

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/export/gpu-stacks.h"
#include "src/export/samples.h"

/* Writes a name, with "_" for characters that would end it or its line. */
static void
put_name (LnsExportText *text, const LnsGpuStacks *stacks, uint32_t name)
{
  size_t size;
  const char *at = lns_gpu_stacks_name (stacks, name, &size);

  for (const char *end = at + size; at < end; at++)
    lns_export_put_byte (text, *at == ';' || *at == '\n' || *at == '\r' ? '_' : *at);
}

/* Writes a stack with each range N_RANGES times, and the kernel N_KERNELS times. */
static void
put_stack (const LnsGpuStacks *stacks,
           const uint32_t *names,
           unsigned n,
           unsigned n_ranges,
           unsigned n_kernels,
           int64_t duration_ns)
{
  LnsExportText *text = lns_gpu_stacks_text (stacks);

  for (unsigned i = 0; i < n; i++)
    for (unsigned k = 0; k < (i + 1 < n ? n_ranges : n_kernels); k++)
      {
        if (i + k > 0)
          lns_export_put_byte (text, ';');
        put_name (text, stacks, names[i]);
      }
  lns_export_put_byte (text, ' ');
  lns_export_put_integer (text, duration_ns);
  lns_export_put_byte (text, '\n');
}

static bool
write_stack (void *data, const uint32_t *names, unsigned n, int64_t duration_ns, LnsError *error)
{
  const LnsExportText *text = lns_gpu_stacks_text (data);

  if (text->job->options->folding.doubled)
    {
      put_stack (data, names, n, 2, 1, duration_ns);
      put_stack (data, names, n, 2, 2, duration_ns);
    }
  else
    put_stack (data, names, n, 1, 1, duration_ns);
  return lns_export_text_is_good (text, error);
}

/* The samples of one thread by chain. */
typedef struct
{
  LnsExportText *text;
  uint32_t lane;             /* of the thread, or LNS_ID_NONE */
  uint64_t *counts;          /* by call node */
  LNS_ARRAY (uint32_t) seen; /* the nodes that have some */
  LnsExportChain chain;
} Chains;

/* Writes the chain that ends with NODE, below the name of the process. */
static void
put_chain (Chains *chains, uint32_t node)
{
  LnsReport *report = chains->text->job->report;
  const LnsStackFrame *frames = lns_report_frames (report, NULL);
  const uint32_t process = lns_export_track (report, chains->lane)->process;
  lns_export_chain (report, node, &chains->chain);
  lns_export_put_name (chains->text, lns_report_processes (report, NULL)[process].name, ';');
  for (size_t i = 0; i < chains->chain.n; i++)
    {
      lns_export_put_byte (chains->text, ';');
      lns_export_put_name (chains->text,
                           lns_export_symbol (report, &frames[chains->chain.items[i]]), ';');
    }
  lns_export_put_byte (chains->text, ' ');
  lns_export_put_integer (chains->text, (int64_t)chains->counts[node]);
  lns_export_put_byte (chains->text, '\n');
}

static void
put_thread (Chains *chains)
{
  for (size_t i = 0; i < chains->seen.n; i++)
    {
      put_chain (chains, chains->seen.items[i]);
      chains->counts[chains->seen.items[i]] = 0;
    }
  chains->seen.n = 0;
}

static bool
count_sample (void *data, const LnsExportSample *sample, LnsError *error)
{
  Chains *chains = data;
  if (sample->lane != chains->lane)
    put_thread (chains);
  chains->lane = sample->lane;
  if (sample->node != LNS_ID_NONE && chains->counts[sample->node]++ == 0)
    *lns_array_add (&chains->seen) = sample->node;
  return lns_export_text_is_good (chains->text, error);
}

static bool
write_samples (LnsExportText *text, LnsError *error)
{
  Chains chains = { .text = text, .lane = LNS_ID_NONE };
  uint32_t n;
  lns_report_call_nodes (text->job->report, &n);
  chains.counts = lns_calloc (n, sizeof *chains.counts);
  const bool good = lns_export_each_sample (text->job, count_sample, &chains, error);
  put_thread (&chains);
  lns_array_clear (&chains.seen);
  lns_array_clear (&chains.chain);
  free (chains.counts);
  return good;
}

/* Whether samples are asked for, or all that there is. */
static bool
is_of_samples (const LnsGpuStacks *stacks)
{
  const LnsExportJob *job = lns_gpu_stacks_text (stacks)->job;
  return job->options->stacks == LNS_EXPORT_CPU_STACKS ||
         (job->options->stacks == LNS_EXPORT_ANY_STACKS && !lns_gpu_stacks_has_work (stacks) &&
          lns_export_has_samples (job->report));
}

static bool
folded_close (void *data, bool good, LnsError *error)
{
  if (good && is_of_samples (data))
    good = write_samples (lns_gpu_stacks_text (data), error);
  else
    good = good && lns_gpu_stacks_sweep (data, write_stack, data, error);
  lns_gpu_stacks_free (data);
  return good;
}

const LnsExportType lns_sink_folded = {
  .name = "folded",
  .ending = ".folded",
  .is_stream = true,
  .open = lns_gpu_stacks_open,
  .takes = lns_gpu_stacks_takes,
  .begin = lns_gpu_stacks_begin,
  .row = lns_gpu_stacks_row,
  .close = folded_close,
};
