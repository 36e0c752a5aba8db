/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes samples as `pprof` reads them: a message Profile of protocol buffers, compressed by gzip. Numbers of fields are those
 * of https://github.com/google/pprof/blob/main/proto/profile.proto. A sample there is a call chain and its counts; there
 * are no times. Memory grows with the functions and chains of the report, not with its samples. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "src/base/buffer.h"
#include "src/base/id-map.h"
#include "src/base/memory.h"
#include "src/export/samples.h"

enum
{
  PROFILE_SAMPLE_TYPE = 1,
  PROFILE_SAMPLE,
  PROFILE_MAPPING,
  PROFILE_LOCATION,
  PROFILE_FUNCTION,
  PROFILE_STRING_TABLE,
  PROFILE_TIME_NANOS = 9,
  PROFILE_DURATION_NANOS,
  PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

#define GZIP_WINDOW_BITS (15 + 16)
#define GZIP_MEMORY      8

typedef struct
{
  const LnsExportJob *job;
  LnsBuffer whole, part, line; /* messages: the profile, one in it, and one in that */
  LnsIdMap strings;            /* index in the string table, by 1 + string id of the report */
  uint64_t n_strings;          /* in the string table */
  LnsIdMap functions;          /* id, by symbol and file */
  uint64_t n_functions;
  bool *is_located; /* by frame: its location is written */
  bool *is_mapped;  /* by module */
} Pprof;

/* ---- Protocol buffers ------------------------------------------------------------------------- */

static void
put_number (LnsBuffer *message, unsigned field, uint64_t value)
{
  if (value == 0)
    return;
  lns_buffer_append_varint (message, field << 3);
  lns_buffer_append_varint (message, value);
}

static void
put_bytes (LnsBuffer *message, unsigned field, const void *bytes, size_t n)
{
  lns_buffer_append_varint (message, field << 3 | 2);
  lns_buffer_append_varint (message, n);
  lns_buffer_append (message, bytes, n);
}

/* Puts PART, and empties it. */
static void
put_message (LnsBuffer *message, unsigned field, LnsBuffer *part)
{
  put_bytes (message, field, part->bytes, part->size_bytes);
  lns_buffer_reset (part);
}

/* ---- The tables ------------------------------------------------------------------------------- */

static uint64_t
text_index (Pprof *pprof, const char *text, size_t n)
{
  put_bytes (&pprof->whole, PROFILE_STRING_TABLE, text, n);
  return pprof->n_strings++;
}

/* The index of the report's STRING. */
static uint64_t
string_index (Pprof *pprof, uint32_t string)
{
  size_t n;
  if (string == 0)
    return 0;
  uint64_t index = lns_id_map_number (&pprof->strings, 1 + (uint64_t)string);
  if (index != 0)
    return index;
  const char *text = lns_report_string (pprof->job->report, string, &n);
  index = text_index (pprof, text, n);
  lns_id_map_set (&pprof->strings, 1 + (uint64_t)string, (void *)(uintptr_t)index);
  return index;
}

static uint64_t
function_id (Pprof *pprof, const LnsStackFrame *frame)
{
  const uint32_t symbol = lns_export_symbol (pprof->job->code, frame);
  const uint64_t key = (uint64_t)symbol << 32 | frame->file;
  uint64_t id = lns_id_map_number (&pprof->functions, key + 1);
  if (id != 0)
    return id;
  id = ++pprof->n_functions;
  lns_id_map_set (&pprof->functions, key + 1, (void *)(uintptr_t)id);
  const uint64_t name = string_index (pprof, symbol), file = string_index (pprof, frame->file);
  put_number (&pprof->part, 1, id);
  put_number (&pprof->part, 2, name);
  put_number (&pprof->part, 3, name);
  put_number (&pprof->part, 4, file);
  put_message (&pprof->whole, PROFILE_FUNCTION, &pprof->part);
  return id;
}

static void
put_module (Pprof *pprof, uint32_t id)
{
  const LnsModule *module = &pprof->job->code->modules[id];
  if (pprof->is_mapped[id])
    return;
  pprof->is_mapped[id] = true;
  size_t n;
  char text[129] = "";
  const uint8_t *build_id =
      (const uint8_t *)lns_report_string (pprof->job->report, module->build_id, &n);
  for (size_t i = 0; i < n && i < 64; i++)
    snprintf (text + 2 * i, 3, "%02x", build_id[i]);
  const uint64_t path = string_index (pprof, module->path),
                 build = n > 0 ? text_index (pprof, text, strlen (text)) : 0;
  put_number (&pprof->part, 1, 1 + (uint64_t)id);
  put_number (&pprof->part, 2, module->start);
  put_number (&pprof->part, 3, module->end);
  put_number (&pprof->part, 4, module->file_offset);
  put_number (&pprof->part, 5, path);
  put_number (&pprof->part, 6, build);
  put_number (&pprof->part, 7, 1); /* has_functions: they need not be looked up */
  put_message (&pprof->whole, PROFILE_MAPPING, &pprof->part);
}

/* Writes the location of PLACE, a frame that call nodes refer to, with the calls that are inlined there. Its id is one more
 * than the frame's. */
static void
put_location (Pprof *pprof, uint32_t place)
{
  const LnsStackFrame *frames = pprof->job->code->frames, *frame = &frames[place];
  const uint64_t address = lns_export_address (pprof->job->code, frame);
  LnsBuffer lines = { 0 };
  if (pprof->is_located[place])
    return;
  pprof->is_located[place] = true;
  const LnsStackFrame *at = frame->innermost != 0 ? &frames[frame->innermost - 1] : frame;
  for (;; at = &frames[at->inlined_in - 1])
    {
      put_number (&pprof->line, 1, function_id (pprof, at));
      put_number (&pprof->line, 2, at->line);
      put_message (&lines, 4, &pprof->line);
      if (at->inlined_in == 0)
        break;
    }
  if (frame->module != LNS_ID_NONE)
    put_module (pprof, frame->module);
  put_number (&pprof->part, 1, 1 + (uint64_t)place);
  put_number (&pprof->part, 2, frame->module != LNS_ID_NONE ? 1 + (uint64_t)frame->module : 0);
  /* One without an address lies where its module begins, as a place must lie in its mapping. */
  put_number (&pprof->part, 3,
              address != 0 || frame->module == LNS_ID_NONE
                  ? address
                  : pprof->job->code->modules[frame->module].start);
  lns_buffer_append (&pprof->part, lines.bytes, lines.size_bytes);
  put_message (&pprof->whole, PROFILE_LOCATION, &pprof->part);
  lns_buffer_clear (&lines);
}

/* ---- The profile ------------------------------------------------------------------------------ */

/* Adds TYPE to the numbers that each sample has. Returns the index of its name. */
static uint64_t
put_type (Pprof *pprof, const char *type)
{
  static const char unit[] = "count";
  const uint64_t name = text_index (pprof, type, strlen (type));
  put_number (&pprof->part, 1, name);
  put_number (&pprof->part, 2, text_index (pprof, unit, strlen (unit)));
  put_message (&pprof->whole, PROFILE_SAMPLE_TYPE, &pprof->part);
  return name;
}

static void
put_chain (
    Pprof *pprof, uint32_t node, const LnsExportCount *count, bool has_cycles, bool has_python)
{
  const LnsCallNode *nodes = pprof->job->code->nodes;
  LnsBuffer values = { 0 };
  for (uint32_t at = node; at != LNS_ID_NONE; at = nodes[at].parent)
    {
      put_location (pprof, nodes[at].frame);
      lns_buffer_append_varint (&values, 1 + (uint64_t)nodes[at].frame);
    }
  put_message (&pprof->part, 1, &values);
  lns_buffer_append_varint (&values, count->n);
  if (has_cycles)
    lns_buffer_append_varint (&values, count->cycles);
  if (has_python)
    lns_buffer_append_varint (&values, count->n_python);
  put_message (&pprof->part, 2, &values);
  put_message (&pprof->whole, PROFILE_SAMPLE, &pprof->part);
  lns_buffer_clear (&values);
}

/* Writes the message, compressed. */
static bool
put_compressed (const Pprof *pprof, LnsError *error)
{
  uint8_t out[1 << 16];
  z_stream stream = { .next_in = pprof->whole.bytes };
  size_t left = pprof->whole.size_bytes;
  int code = Z_OK;
  if (deflateInit2 (&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY,
                    Z_DEFAULT_STRATEGY) != Z_OK)
    return lns_export_fail (pprof->job, ENOMEM, error);
  while (code == Z_OK)
    {
      const uInt n = left < sizeof out ? (uInt)left : (uInt)sizeof out;
      if (stream.avail_in == 0)
        {
          stream.avail_in = n;
          left -= n;
        }
      stream.next_out = out;
      stream.avail_out = sizeof out;
      code = deflate (&stream, left == 0 ? Z_FINISH : Z_NO_FLUSH);
      lns_export_put (pprof->job->text, out, sizeof out - stream.avail_out);
    }
  deflateEnd (&stream);
  return code == Z_STREAM_END && lns_export_text_is_good (pprof->job->text, error);
}

static bool
put_profile (Pprof *pprof, LnsError *error)
{
  LnsReport *report = pprof->job->report;
  const LnsReportInfo *info = lns_report_info (report);
  LnsExportCount *counts = NULL;
  const LnsExportCode *code = pprof->job->code;
  bool has_cycles = false;
  const bool has_python = lns_export_has_both (report);
  bool good = lns_export_count_samples (pprof->job, &counts, error);
  if (good)
    {
      for (uint32_t i = 0; i < code->n_nodes; i++)
        has_cycles |= counts[i].cycles > 0;
      pprof->is_located = lns_calloc (code->n_frames, sizeof *pprof->is_located);
      pprof->is_mapped = lns_calloc (code->n_modules, sizeof *pprof->is_mapped);
      text_index (pprof, "", 0); /* the first one must be empty */
      uint64_t shown = put_type (pprof, "samples");
      if (has_cycles)
        shown = put_type (pprof, "cycles");
      if (has_python)
        {
          put_type (pprof, "python_samples");
          put_number (&pprof->whole, PROFILE_DEFAULT_SAMPLE_TYPE, shown); /* else the last one */
        }
      for (uint32_t i = 0; i < code->n_nodes; i++)
        if (counts[i].n + counts[i].n_python > 0)
          put_chain (pprof, i, &counts[i], has_cycles, has_python);
      put_number (&pprof->whole, PROFILE_TIME_NANOS, (uint64_t)info->t0_realtime_ns);
      put_number (&pprof->whole, PROFILE_DURATION_NANOS, (uint64_t)info->end_ns);
      good = pprof->whole.failed || pprof->part.failed || pprof->line.failed
                 ? lns_export_fail (pprof->job, ENOMEM, error)
                 : put_compressed (pprof, error);
    }
  free (counts);
  return good;
}

static void *
pprof_open (const LnsExportJob *job, LnsError *error)
{
  Pprof *pprof = lns_calloc (1, sizeof *pprof);
  pprof->job = job;
  return pprof;
}

static bool
pprof_takes (const LnsTable *table)
{
  return false;
}

static bool
pprof_close (void *sink, bool good, LnsError *error)
{
  Pprof *pprof = sink;
  good = good && put_profile (pprof, error);
  lns_id_map_clear (&pprof->strings);
  lns_id_map_clear (&pprof->functions);
  lns_buffer_clear (&pprof->whole);
  lns_buffer_clear (&pprof->part);
  lns_buffer_clear (&pprof->line);
  free (pprof->is_located);
  free (pprof->is_mapped);
  free (pprof);
  return good;
}

const LnsExportType lns_sink_pprof = {
  .name = "pprof",
  .ending = ".pb.gz",
  .is_stream = true,
  .has_chains = true,
  .open = pprof_open,
  .takes = pprof_takes,
  .close = pprof_close,
};
