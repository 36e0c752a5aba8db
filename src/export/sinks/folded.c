/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes GPU time by stacks of ranges, one line for each kernel or copy: "outer;inner;kernel 1234" in ns; or samples by call
 * chains, one line for each chain: "process;outer;inner 12". flamegraph.pl, speedscope and inferno read it. */

#include "src/export/sample-stacks.h"
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

static bool
write_samples (void *data, const uint32_t *names, unsigned n, int64_t n_samples, LnsError *error)
{
  LnsExportText *text = lns_gpu_stacks_text (data);

  for (unsigned i = 0; i < n; i++)
    {
      size_t size;
      const char *name = lns_gpu_stacks_name (data, names[i], &size);
      if (i > 0)
        lns_export_put_byte (text, ';');
      lns_export_put_clean (text, name, size, ';');
    }
  lns_export_put_byte (text, ' ');
  lns_export_put_integer (text, n_samples);
  lns_export_put_byte (text, '\n');
  return lns_export_text_is_good (text, error);
}

static bool
folded_close (void *data, bool good, LnsError *error)
{
  if (good && lns_sample_stacks_are_wanted (data))
    good = lns_sample_stacks_sweep (data, write_samples, data, error);
  else
    good = good && lns_gpu_stacks_sweep (data, write_stack, data, error);
  lns_gpu_stacks_free (data);
  return good;
}

const LnsExportType lns_sink_folded = {
  .name = "folded",
  .ending = ".folded",
  .is_stream = true,
  .has_chains = true,
  .open = lns_gpu_stacks_open,
  .takes = lns_gpu_stacks_takes,
  .begin = lns_gpu_stacks_begin,
  .row = lns_gpu_stacks_row,
  .close = folded_close,
};
