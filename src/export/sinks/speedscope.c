/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes samples as JSON for speedscope: a profile for each thread, in the order of time. The format is that of
 * https://www.speedscope.app/file-format-schema.json. */

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/export/samples.h"

typedef struct
{
  const LnsExportJob *job;
  LnsExportChain chain;
  uint32_t lane; /* of the profile that is being written, or LNS_ID_NONE */
  uint64_t n;    /* samples in it */
  uint64_t n_profiles;
  bool has_both;
} Speedscope;

static void
put_string (LnsExportText *text, uint32_t string)
{
  size_t size;
  const char *at = lns_report_string (text->job->report, string, &size);
  lns_export_put_json_string (text, at, size);
}

static void
put_frames (const Speedscope *scope)
{
  LnsExportText *text = scope->job->text;
  const LnsStackFrame *frames = scope->job->code->frames;
  const LnsModule *modules = scope->job->code->modules;
  const uint32_t n = scope->job->code->n_frames;
  for (uint32_t i = 0; i < n; i++)
    {
      const uint32_t module = frames[i].module != LNS_ID_NONE ? modules[frames[i].module].path : 0;
      lns_export_put_text (text, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
      put_string (text, lns_export_symbol (scope->job->code, &frames[i]));
      if (frames[i].file != 0 || module != 0)
        {
          lns_export_put_text (text, ",\"file\":");
          put_string (text, frames[i].file != 0 ? frames[i].file : module);
        }
      if (frames[i].file != 0 && frames[i].line != 0)
        {
          lns_export_put_text (text, ",\"line\":");
          lns_export_put_integer (text, frames[i].line);
        }
      lns_export_put_byte (text, '}');
    }
}

static void *
speedscope_open (const LnsExportJob *job, LnsError *error)
{
  Speedscope *scope = lns_calloc (1, sizeof *scope);
  scope->job = job;
  scope->lane = LNS_ID_NONE;
  scope->has_both = lns_export_has_both (job->report);
  return scope;
}

static bool
speedscope_takes (const LnsTable *table)
{
  return false;
}

/* ---- Profiles --------------------------------------------------------------------------------- */

/* Puts "name (pid/tid)" of the thread as JSON, and what samples these are, if there are others. */
static void
put_thread (const Speedscope *scope, bool is_python)
{
  LnsReport *report = scope->job->report;
  const LnsTrack *track = lns_export_track (report, scope->lane);
  const LnsProcess *process = &lns_report_processes (report, NULL)[track->process];
  const LnsThread *thread =
      track->thread != LNS_ID_NONE ? &lns_report_threads (report, NULL)[track->thread] : NULL;
  const uint32_t name = thread != NULL && thread->name != 0 ? thread->name : process->name;
  char *whole = lns_asprintf ("%s (%d/%d)%s", lns_report_string (report, name, NULL), process->pid,
                              thread != NULL ? thread->tid : process->pid,
                              is_python && scope->has_both ? " Python" : "");
  lns_export_put_json_string (scope->job->text, whole, strlen (whole));
  free (whole);
}

static void
begin_profile (Speedscope *scope, uint32_t lane, bool is_python)
{
  LnsExportText *text = scope->job->text;
  scope->lane = lane;
  scope->n = 0;
  lns_export_put_text (text, scope->n_profiles++ > 0 ? ",\n{\"type\":\"sampled\",\"name\":"
                                                     : "\n{\"type\":\"sampled\",\"name\":");
  put_thread (scope, is_python);
  lns_export_put_text (text, ",\"unit\":\"none\",\"startValue\":0,\"samples\":[");
}

/* Every sample weighs the same. */
static void
end_profile (Speedscope *scope)
{
  LnsExportText *text = scope->job->text;
  if (scope->lane == LNS_ID_NONE)
    return;
  lns_export_put_text (text, "],\n\"weights\":[");
  for (uint64_t i = 0; i < scope->n; i++)
    lns_export_put_text (text, i > 0 ? ",1" : "1");
  lns_export_put_text (text, "],\"endValue\":");
  lns_export_put_integer (text, (int64_t)scope->n);
  lns_export_put_byte (text, '}');
  scope->lane = LNS_ID_NONE;
}

static bool
put_sample (void *data, const LnsExportSample *sample, LnsError *error)
{
  Speedscope *scope = data;
  LnsExportText *text = scope->job->text;
  if (sample->lane != scope->lane)
    {
      end_profile (scope);
      begin_profile (scope, sample->lane, sample->is_python);
    }
  lns_export_chain (scope->job->code, sample->node, &scope->chain);
  lns_export_put_text (text, scope->n++ > 0 ? ",\n[" : "\n[");
  for (size_t i = 0; i < scope->chain.n; i++)
    {
      if (i > 0)
        lns_export_put_byte (text, ',');
      lns_export_put_integer (text, scope->chain.items[i]);
    }
  lns_export_put_byte (text, ']');
  return lns_export_text_is_good (text, error);
}

static bool
speedscope_close (void *sink, bool good, LnsError *error)
{
  Speedscope *scope = sink;
  LnsExportText *text = scope->job->text;
  if (good)
    {
      lns_export_put_text (text,
                           "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                           "\"exporter\":\"lanescope\",\"shared\":{\"frames\":[");
      put_frames (scope);
      lns_export_put_text (text, "]},\n\"profiles\":[");
      good = lns_export_each_sample (scope->job, put_sample, scope, error);
      end_profile (scope);
      lns_export_put_text (text, "]}\n");
    }
  lns_array_clear (&scope->chain);
  free (scope);
  return good;
}

const LnsExportType lns_sink_speedscope = {
  .name = "speedscope",
  .ending = ".speedscope.json",
  .is_stream = true,
  .has_chains = true,
  .open = speedscope_open,
  .takes = speedscope_takes,
  .close = speedscope_close,
};
