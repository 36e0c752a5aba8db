/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes samples as `perf script` prints them, which stackcollapse-perf.pl, inferno, speedscope, hotspot and the Firefox
 * Profiler read. Threads come one after the other. */

#include <inttypes.h>
#include <stdio.h>

#include "src/export/samples.h"

static void *
script_open (const LnsExportJob *job, LnsError *error)
{
  return (void *)job;
}

static bool
script_takes (const LnsTable *table)
{
  return false;
}

typedef struct
{
  LnsExportText *text;
  bool has_cycles; /* CPUs were sampled by cycles */
} Script;

/* What took SAMPLE. Where cycles did, none can be taken in a kernel that may not be looked into: what stands for it comes from
 * the time that threads ran. */
static const char *
event_of (const Script *script, const LnsExportSample *sample)
{
  const LnsExportCode *code = script->text->job->code;
  if (sample->is_python)
    return "python";
  if (!script->has_cycles)
    return "cpu-clock";
  const LnsStackFrame *frame =
      sample->node != LNS_ID_NONE ? &code->frames[code->nodes[sample->node].frame] : NULL;
  const char *symbol =
      frame != NULL ? lns_report_string (script->text->job->report, frame->symbol, NULL) : "";
  return sample->cycles == 0 && frame != NULL && frame->module == LNS_ID_NONE && symbol[0] == '['
             ? "kernel-time"
             : "cycles";
}

/* Puts a line such as "python3  4711/4712  [001]    12.345678:          1 cpu-clock: ". Samples of Python are an event of
 * their own. The names have no suffix such as ":u", as one file has samples of programs and of the kernel, and
 * stackcollapse-perf.pl takes only those of one name. */
static void
put_head (const Script *script, const LnsExportSample *sample)
{
  LnsExportText *text = script->text;
  const LnsReport *report = text->job->report;
  const LnsTrack *track = lns_export_track (report, sample->lane);
  const LnsProcess *process = &lns_report_processes (report, NULL)[track->process];
  const LnsThread *thread =
      track->thread != LNS_ID_NONE ? &lns_report_threads (report, NULL)[track->thread] : NULL;
  const uint64_t time_ns =
      sample->time_ns < 0 ? -(uint64_t)sample->time_ns : (uint64_t)sample->time_ns;
  char line[160];
  lns_export_put_name (text, thread != NULL && thread->name != 0 ? thread->name : process->name, 0);
  snprintf (line, sizeof line, " %d/%d [%03u] %s%" PRIu64 ".%06" PRIu64 ": %" PRIu64 " %s: \n",
            process->pid, thread != NULL ? thread->tid : process->pid, sample->cpu,
            sample->time_ns < 0 ? "-" : "", time_ns / 1000000000, time_ns % 1000000000 / 1000,
            sample->cycles > 0 ? sample->cycles : 1, event_of (script, sample));
  lns_export_put_text (text, line);
}

static void
put_function (LnsExportText *text, const LnsStackFrame *frame)
{
  const LnsExportCode *code = text->job->code;
  size_t n;
  const char *symbol = lns_report_string (text->job->report, frame->symbol, &n);
  char address[32];
  snprintf (address, sizeof address, "\t%16" PRIx64 " ", lns_export_address (code, frame));
  lns_export_put_text (text, address);
  /* What stands for callers that are missing has a name without being a function. */
  if (frame->is_resolved || (frame->module == LNS_ID_NONE && n > 0 && symbol[0] == '['))
    lns_export_put_name (text, frame->symbol, 0);
  else
    lns_export_put_text (text, "[unknown]");
  lns_export_put_text (text, " (");
  if (frame->inlined_in != 0)
    lns_export_put_text (text, "inlined");
  else if (frame->module != LNS_ID_NONE)
    lns_export_put_name (text, code->modules[frame->module].path, 0);
  else
    lns_export_put_text (text, "[unknown]");
  lns_export_put_text (text, ")\n");
}

static bool
put_sample (void *data, const LnsExportSample *sample, LnsError *error)
{
  LnsExportText *text = ((const Script *)data)->text;
  LnsCallWalk walk = lns_export_code_walk (text->job->code, sample->node);
  const LnsStackFrame *frame;
  put_head (data, sample);
  while ((frame = lns_call_walk_next (&walk)) != NULL)
    put_function (text, frame);
  lns_export_put_byte (text, '\n');
  return lns_export_text_is_good (text, error);
}

static bool
note_cycles (void *data, const LnsExportSample *sample, LnsError *error)
{
  Script *script = data;
  script->has_cycles |= sample->cycles > 0;
  return true;
}

static bool
script_close (void *sink, bool good, LnsError *error)
{
  const LnsExportJob *job = sink;
  Script script = { .text = job->text };
  return good && lns_export_each_sample (job, note_cycles, &script, error) &&
         lns_export_each_sample (job, put_sample, &script, error);
}

const LnsExportType lns_sink_perf_script = {
  .name = "perf-script",
  .ending = ".perf.txt",
  .is_stream = true,
  .has_chains = true,
  .open = script_open,
  .takes = script_takes,
  .close = script_close,
};
