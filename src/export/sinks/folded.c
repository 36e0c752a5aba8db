/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* GPU time by stacks of ranges, a line for each kernel or copy: "outer;inner;kernel 1234" in ns, as
 * flamegraph.pl, speedscope and inferno read it. */

#include <stdlib.h>

#include "src/export/text.h"
#include "src/export/gpu-stacks.h"

typedef struct
{
  const LnsExportJob *job;
  LnsGpuStacks *stacks;
  LnsExportText *text;
} Sink;

static void *
folded_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = calloc (1, sizeof *sink);

  if (sink == NULL)
    {
      lns_export_no_memory (error);
      return NULL;
    }
  sink->job = job;
  sink->stacks = lns_gpu_stacks_new (job, error);
  sink->text = sink->stacks != NULL ? lns_export_text_open (job, job->temporary, error) : NULL;
  if (sink->text != NULL)
    return sink;
  lns_gpu_stacks_free (sink->stacks);
  free (sink);
  return NULL;
}

static bool
folded_begin (void *data, const LnsTable *table, LnsError *error)
{
  lns_gpu_stacks_begin (((Sink *)data)->stacks, table);
  return true;
}

static bool
folded_row (void *data, const LnsSinkRow *row, LnsError *error)
{
  return lns_gpu_stacks_row (((Sink *)data)->stacks, row, error);
}

static bool
folded_end (void *data, LnsError *error)
{
  return true;
}

/* A name, without what would end it or its line. */
static void
put_name (const Sink *sink, uint32_t name)
{
  size_t size;
  const char *at = lns_gpu_stacks_name (sink->stacks, name, &size);

  for (const char *end = at + size; at < end; at++)
    lns_export_put_byte (sink->text, *at == ';' || *at == '\n' || *at == '\r' ? '_' : *at);
}

/* N_KERNELS times the kernel, below N_RANGES times each range. */
static void
put_stack (const Sink *sink,
           const uint32_t *names,
           unsigned n,
           unsigned n_ranges,
           unsigned n_kernels,
           int64_t duration_ns)
{
  for (unsigned i = 0; i < n; i++)
    for (unsigned k = 0; k < (i + 1 < n ? n_ranges : n_kernels); k++)
      {
        if (i + k > 0)
          lns_export_put_byte (sink->text, ';');
        put_name (sink, names[i]);
      }
  lns_export_put_byte (sink->text, ' ');
  lns_export_put_integer (sink->text, duration_ns);
  lns_export_put_byte (sink->text, '\n');
}

static bool
write_stack (void *data, const uint32_t *names, unsigned n, int64_t duration_ns, LnsError *error)
{
  Sink *sink = data;

  if (sink->job->options->folding.doubled)
    {
      put_stack (sink, names, n, 2, 1, duration_ns);
      put_stack (sink, names, n, 2, 2, duration_ns);
    }
  else
    put_stack (sink, names, n, 1, 1, duration_ns);
  return lns_export_text_is_good (sink->text, error);
}

static bool
folded_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;

  good = good && lns_gpu_stacks_sweep (sink->stacks, write_stack, sink, error);
  if (good)
    lns_gpu_stacks_tell (sink->stacks);
  good = lns_export_text_close (sink->text, good, error) && good;
  lns_gpu_stacks_free (sink->stacks);
  free (sink);
  return good;
}

const LnsExportType lns_sink_folded = {
  .name = "folded",
  .ending = ".folded",
  .is_stream = true,
  .open = folded_open,
  .takes = lns_gpu_stacks_takes,
  .begin = folded_begin,
  .row = folded_row,
  .end = folded_end,
  .close = folded_close,
};
