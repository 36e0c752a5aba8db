/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes samples as a profile for the Firefox Profiler (profiler.firefox.com): the "processed profile" of version 60, in
 * which all threads share the tables of calls, frames and functions. Later versions of the viewer read it. The format is
 * described by src/types/profile.ts and docs-developer/CHANGELOG-formats.md of github.com/firefox-devtools/profiler.
 *
 * Its tables are columns: an array for each field. Times are in ms. */

#include <stdlib.h>
#include <string.h>

#include "src/base/id-map.h"
#include "src/base/memory.h"
#include "src/export/samples.h"

/* Indices into the categories that the profile defines. */
enum
{
  CATEGORY_USER = 1,
  CATEGORY_KERNEL = 2
};

/* A function of one name in one module. */
typedef struct
{
  uint32_t symbol;
  uint32_t module; /* string id of the path, 0 = none */
  uint32_t file;   /* of the first frame that has one, or 0 */
} Function;

/* A call: a call node of the report, or an inlined call at its place. */
typedef struct
{
  uint32_t frame;
  uint32_t caller; /* or LNS_ID_NONE */
} Call;

typedef struct
{
  const LnsExportJob *job;
  LnsExportText *text;
  const LnsStackFrame *frames;
  uint32_t n_frames;
  const LnsModule *modules;

  LnsIdMap string_numbers; /* 1 + the number of each string id + 1 that is used */
  LNS_ARRAY (uint32_t) strings;
  LnsIdMap function_numbers; /* 1 + function by module << 32 | symbol, + 1 */
  LNS_ARRAY (Function) functions;
  LnsIdMap resource_numbers; /* 1 + resource by the module's path */
  LNS_ARRAY (uint32_t) resources;
  LnsIdMap source_numbers; /* 1 + source by the file's path */
  LNS_ARRAY (uint32_t) sources;
  uint32_t *function_of; /* by frame */
  LNS_ARRAY (Call) calls;
  uint32_t *call_of; /* by call node: its innermost call */

  uint32_t lane; /* of the thread that is being written, or LNS_ID_NONE */
  uint64_t n_threads;
  LNS_ARRAY (int64_t) times_ns; /* of its samples */
} Firefox;

/* ---- What the tables have ------------------------------------------------------------------------ */

/* The number that VALUE has among those of ITEMS, which it joins if it is new. */
#define NUMBER_OF(numbers, items_, key, value)                                                     \
 __extension__({                                                                                   \
 const uint64_t key_ = 1 + (uint64_t)(key);                                                        \
 if (lns_id_map_number ((numbers), key_) == 0)                                                     \
  {                                                                                                \
   *lns_array_add (items_) = (value);                                                              \
   lns_id_map_set_number ((numbers), key_, (items_)->n);                                           \
  }                                                                                                \
 (uint32_t) (lns_id_map_number ((numbers), key_) - 1);                                             \
 })

static uint32_t
string_number (Firefox *self, uint32_t string)
{
  return NUMBER_OF (&self->string_numbers, &self->strings, string, string);
}

static uint32_t
module_of (const Firefox *self, const LnsStackFrame *frame)
{
  return frame->module != LNS_ID_NONE ? self->modules[frame->module].path : 0;
}

static void
list_functions (Firefox *self)
{
  self->function_of = lns_calloc (self->n_frames, sizeof *self->function_of);
  for (uint32_t i = 0; i < self->n_frames; i++)
    {
      const LnsStackFrame *frame = &self->frames[i];
      const uint32_t module = module_of (self, frame);
      const uint32_t symbol = lns_export_symbol (self->job->code, frame);
      const uint32_t number =
          NUMBER_OF (&self->function_numbers, &self->functions, (uint64_t)module << 32 | symbol,
                     ((Function){ .symbol = symbol, .module = module, .file = 0 }));
      self->function_of[i] = number;
      if (self->functions.items[number].file == 0)
        self->functions.items[number].file = frame->file;
    }
  for (size_t i = 0; i < self->functions.n; i++)
    {
      const Function *function = &self->functions.items[i];
      string_number (self, function->symbol);
      if (function->module != 0)
        {
          string_number (self, function->module);
          NUMBER_OF (&self->resource_numbers, &self->resources, function->module, function->module);
        }
      if (function->file != 0)
        {
          string_number (self, function->file);
          NUMBER_OF (&self->source_numbers, &self->sources, function->file, function->file);
        }
    }
}

/* Callers come before what they called, as in the report. */
static void
list_calls (Firefox *self)
{
  const LnsCallNode *nodes = self->job->code->nodes;
  const uint32_t n = self->job->code->n_nodes;
  LNS_ARRAY (uint32_t) place = { 0 };
  self->call_of = lns_calloc (n, sizeof *self->call_of);
  for (uint32_t i = 0; i < n; i++)
    {
      LnsCallWalk walk = lns_export_code_walk (self->job->code, i);
      uint32_t caller =
          nodes[i].parent != LNS_ID_NONE ? self->call_of[nodes[i].parent] : LNS_ID_NONE;
      place.n = 0;
      while (walk.node == i)
        *lns_array_add (&place) = (uint32_t)(lns_call_walk_next (&walk) - self->frames);
      for (size_t k = place.n; k > 0; k--)
        {
          *lns_array_add (&self->calls) = (Call){ place.items[k - 1], caller };
          caller = (uint32_t)self->calls.n - 1;
        }
      self->call_of[i] = caller;
    }
  lns_array_clear (&place);
}

/* ---- Columns ------------------------------------------------------------------------------------ */

/* Puts the column NAME of N values: VALUE of each number, null for what is negative. */
static void
put_column (Firefox *self,
            const char *name,
            size_t n,
            int64_t (*value) (Firefox *self, size_t i),
            bool has_null)
{
  lns_export_put_text (self->text, "\"");
  lns_export_put_text (self->text, name);
  lns_export_put_text (self->text, "\":[");
  for (size_t i = 0; i < n; i++)
    {
      const int64_t number = value (self, i);
      if (i > 0)
        lns_export_put_byte (self->text, ',');
      if (number < 0 && has_null)
        lns_export_put_text (self->text, "null");
      else
        lns_export_put_integer (self->text, number);
    }
  lns_export_put_text (self->text, "],\n");
}

/* The same of a column whose values are all WORD. */
static void
put_same (Firefox *self, const char *name, size_t n, const char *word)
{
  lns_export_put_text (self->text, "\"");
  lns_export_put_text (self->text, name);
  lns_export_put_text (self->text, "\":[");
  for (size_t i = 0; i < n; i++)
    {
      if (i > 0)
        lns_export_put_byte (self->text, ',');
      lns_export_put_text (self->text, word);
    }
  lns_export_put_text (self->text, "],\n");
}

static void
begin_table (Firefox *self, const char *name)
{
  lns_export_put_text (self->text, "\"");
  lns_export_put_text (self->text, name);
  lns_export_put_text (self->text, "\":{\n");
}

static void
end_table (Firefox *self, size_t n)
{
  lns_export_put_text (self->text, "\"length\":");
  lns_export_put_integer (self->text, (int64_t)n);
  lns_export_put_text (self->text, "},\n");
}

static int64_t
call_frame (Firefox *self, size_t i)
{
  return self->calls.items[i].frame;
}

static int64_t
call_caller (Firefox *self, size_t i)
{
  const uint32_t caller = self->calls.items[i].caller;
  return caller != LNS_ID_NONE ? (int64_t)caller : -1;
}

static int64_t
frame_category (Firefox *self, size_t i)
{
  const uint32_t module = self->frames[i].module;
  return module != LNS_ID_NONE && self->modules[module].kind == LNS_MODULE_KERNEL ? CATEGORY_KERNEL
                                                                                  : CATEGORY_USER;
}

static int64_t
frame_depth (Firefox *self, size_t i)
{
  int64_t depth = 0;
  for (const LnsStackFrame *frame = &self->frames[i]; frame->inlined_in != 0;
       frame = &self->frames[frame->inlined_in - 1])
    depth++;
  return depth;
}

static int64_t
frame_function (Firefox *self, size_t i)
{
  return self->function_of[i];
}

static int64_t
frame_line (Firefox *self, size_t i)
{
  return self->frames[i].line > 0 ? (int64_t)self->frames[i].line : -1;
}

static int64_t
function_name (Firefox *self, size_t i)
{
  return string_number (self, self->functions.items[i].symbol);
}

static int64_t
function_resource (Firefox *self, size_t i)
{
  return (int64_t)lns_id_map_number (&self->resource_numbers,
                                     1 + (uint64_t)self->functions.items[i].module) -
         1;
}

static int64_t
function_source (Firefox *self, size_t i)
{
  return (int64_t)lns_id_map_number (&self->source_numbers,
                                     1 + (uint64_t)self->functions.items[i].file) -
         1;
}

static int64_t
resource_name (Firefox *self, size_t i)
{
  return string_number (self, self->resources.items[i]);
}

static int64_t
source_name (Firefox *self, size_t i)
{
  return string_number (self, self->sources.items[i]);
}

static void
put_shared (Firefox *self)
{
  const size_t n_functions = self->functions.n, n_resources = self->resources.n;

  lns_export_put_text (self->text, "\"shared\":{\n");
  begin_table (self, "stackTable");
  put_column (self, "frame", self->calls.n, call_frame, false);
  put_column (self, "prefix", self->calls.n, call_caller, true);
  end_table (self, self->calls.n);
  begin_table (self, "frameTable");
  put_same (self, "address", self->n_frames, "-1");
  put_column (self, "inlineDepth", self->n_frames, frame_depth, false);
  put_column (self, "category", self->n_frames, frame_category, false);
  put_same (self, "subcategory", self->n_frames, "0");
  put_column (self, "func", self->n_frames, frame_function, false);
  put_same (self, "nativeSymbol", self->n_frames, "null");
  put_same (self, "innerWindowID", self->n_frames, "null");
  put_column (self, "line", self->n_frames, frame_line, true);
  put_same (self, "column", self->n_frames, "null");
  end_table (self, self->n_frames);
  begin_table (self, "funcTable");
  put_column (self, "name", n_functions, function_name, false);
  put_same (self, "isJS", n_functions, "false");
  put_same (self, "relevantForJS", n_functions, "false");
  put_column (self, "resource", n_functions, function_resource, false);
  put_column (self, "source", n_functions, function_source, true);
  put_same (self, "lineNumber", n_functions, "null");
  put_same (self, "columnNumber", n_functions, "null");
  end_table (self, n_functions);
  begin_table (self, "resourceTable");
  put_same (self, "lib", n_resources, "null");
  put_column (self, "name", n_resources, resource_name, false);
  put_same (self, "host", n_resources, "null");
  put_same (self, "type", n_resources, "1"); /* a library */
  end_table (self, n_resources);
  begin_table (self, "nativeSymbols");
  put_same (self, "libIndex", 0, "");
  put_same (self, "address", 0, "");
  put_same (self, "name", 0, "");
  put_same (self, "functionSize", 0, "");
  end_table (self, 0);
  begin_table (self, "sources");
  put_same (self, "uuid", self->sources.n, "null");
  put_column (self, "filename", self->sources.n, source_name, false);
  end_table (self, self->sources.n);
  lns_export_put_text (self->text, "\"stringArray\":[");
  for (size_t i = 0; i < self->strings.n; i++)
    {
      size_t size;
      const char *at = lns_report_string (self->job->report, self->strings.items[i], &size);
      lns_export_put_text (self->text, i > 0 ? ",\n" : "\n");
      lns_export_put_json_string (self->text, at, size);
    }
  lns_export_put_text (self->text, "]},\n");
}

/* ---- Threads ------------------------------------------------------------------------------------ */

static void
put_string (Firefox *self, const char *name, uint32_t string)
{
  size_t size;
  const char *at = lns_report_string (self->job->report, string, &size);
  lns_export_put_text (self->text, name);
  lns_export_put_json_string (self->text, at, size);
}

static void
put_number (Firefox *self, const char *name, int64_t number)
{
  lns_export_put_text (self->text, name);
  lns_export_put_integer (self->text, number);
}

static void
begin_thread (Firefox *self, uint32_t lane, bool is_python)
{
  LnsReport *report = self->job->report;
  const LnsTrack *track = lns_export_track (report, lane);
  const LnsProcess *process = &lns_report_processes (report, NULL)[track->process];
  const LnsThread *thread =
      track->thread != LNS_ID_NONE ? &lns_report_threads (report, NULL)[track->thread] : NULL;
  const int tid = thread != NULL ? thread->tid : process->pid;

  self->lane = lane;
  self->times_ns.n = 0;
  lns_export_put_text (self->text, self->n_threads++ > 0 ? ",\n" : "\n");
  lns_export_put_text (self->text, "{\"processType\":\"default\",\"processStartupTime\":0,"
                                   "\"processShutdownTime\":null,\"registerTime\":0,"
                                   "\"unregisterTime\":null,\"pausedRanges\":[]");
  char *name = lns_asprintf (
      "%s%s",
      lns_report_string (report, thread != NULL && thread->name != 0 ? thread->name : process->name,
                         NULL),
      is_python && lns_export_has_both (report) ? " (Python)" : "");
  lns_export_put_text (self->text, ",\"name\":");
  lns_export_put_json_string (self->text, name, strlen (name));
  free (name);
  put_string (self, ",\"processName\":", process->name);
  lns_export_put_text (self->text,
                       tid == process->pid ? ",\"isMainThread\":true" : ",\"isMainThread\":false");
  put_number (self, ",\"pid\":\"", process->pid);
  put_number (self, "\",\"tid\":", tid);
  lns_export_put_text (self->text, ",\n\"samples\":{\"stack\":[");
}

static void
end_thread (Firefox *self)
{
  if (self->lane == LNS_ID_NONE)
    return;
  lns_export_put_text (self->text, "],\n\"time\":[");
  for (size_t i = 0; i < self->times_ns.n; i++)
    {
      if (i > 0)
        lns_export_put_byte (self->text, ',');
      lns_export_put_real (self->text, (double)self->times_ns.items[i] / 1e6);
    }
  lns_export_put_text (self->text, "],\n\"weight\":null,\"weightType\":\"samples\",");
  put_number (self, "\"length\":", (int64_t)self->times_ns.n);
  lns_export_put_text (self->text,
                       "},\n\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
                       "\"phase\":[],\"category\":[],\"length\":0}}");
  self->lane = LNS_ID_NONE;
}

static bool
put_sample (void *data, const LnsExportSample *sample, LnsError *error)
{
  Firefox *self = data;
  if (sample->lane != self->lane)
    {
      end_thread (self);
      begin_thread (self, sample->lane, sample->is_python);
    }
  if (self->times_ns.n > 0)
    lns_export_put_byte (self->text, ',');
  *lns_array_add (&self->times_ns) = sample->time_ns;
  if (sample->node != LNS_ID_NONE)
    lns_export_put_integer (self->text, self->call_of[sample->node]);
  else
    lns_export_put_text (self->text, "null");
  return lns_export_text_is_good (self->text, error);
}

/* ---- The profile --------------------------------------------------------------------------------- */

static void
put_meta (Firefox *self)
{
  const LnsReportInfo *info = lns_report_info (self->job->report);

  lns_export_put_text (
      self->text,
      "{\"meta\":{\"version\":31,\"preprocessedProfileVersion\":60,\"interval\":1,\"stackwalk\":1,"
      "\"processType\":0,\"product\":\"lanescope\",\"importedFrom\":\"Lanescope\","
      "\"symbolicated\":true,\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,"
      "\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[],\"categories\":["
      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
      "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],\"startTime\":");
  lns_export_put_real (self->text, (double)info->t0_realtime_ns / 1e6);
  lns_export_put_text (self->text, "},\n\"libs\":[],\n");
}

static void *
firefox_open (const LnsExportJob *job, LnsError *error)
{
  Firefox *self = lns_calloc (1, sizeof *self);
  self->job = job;
  self->text = job->text;
  self->frames = job->code->frames;
  self->n_frames = job->code->n_frames;
  self->modules = job->code->modules;
  self->lane = LNS_ID_NONE;
  return self;
}

static bool
firefox_takes (const LnsTable *table)
{
  return false;
}

static void
firefox_free (Firefox *self)
{
  lns_id_map_clear (&self->string_numbers);
  lns_id_map_clear (&self->function_numbers);
  lns_id_map_clear (&self->resource_numbers);
  lns_id_map_clear (&self->source_numbers);
  lns_array_clear (&self->strings);
  lns_array_clear (&self->functions);
  lns_array_clear (&self->resources);
  lns_array_clear (&self->sources);
  lns_array_clear (&self->calls);
  lns_array_clear (&self->times_ns);
  free (self->function_of);
  free (self->call_of);
  free (self);
}

static bool
firefox_close (void *sink, bool good, LnsError *error)
{
  Firefox *self = sink;
  if (good)
    {
      list_functions (self);
      list_calls (self);
      put_meta (self);
      put_shared (self);
      lns_export_put_text (self->text, "\"threads\":[");
      good = lns_export_each_sample (self->job, put_sample, self, error);
      end_thread (self);
      lns_export_put_text (self->text, "]}\n");
    }
  firefox_free (self);
  return good;
}

const LnsExportType lns_sink_firefox = {
  .name = "firefox",
  .ending = ".firefox.json",
  .is_stream = true,
  .has_chains = true,
  .open = firefox_open,
  .takes = firefox_takes,
  .close = firefox_close,
};
