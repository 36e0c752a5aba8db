/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* cuda_memcpy_async, cuda_memcpy_sync, cuda_memset_sync and cuda_api_sync: what makes the host wait. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/projection/cuda-links.h"
#include "src/analysis/rules/maker.h"
#include "src/base/memory.h"
#include "src/tables/enums.h"
#include "src/tables/lanes.h"

/* To devices such copies are staged, and the call returns at once. */
#define STAGED_BYTES (64 * 1024)

/* CUpti_ActivityMemoryKind as tables number it, and CUpti_ActivityMemcpyKind. */
enum
{
  PAGEABLE = 0,
  PINNED = 1,
  MANAGED = 4,
  MANAGED_STATIC = 6,
  UNKNOWN = 7
};
enum
{
  HOST_TO_DEVICE = 1,
  DEVICE_TO_HOST = 2,
  HOST_TO_ARRAY = 3,
  ARRAY_TO_HOST = 4,
  HOST_TO_HOST = 9
};

/* ---- Which events ---------------------------------------------------------------------------- */

static uint64_t
value (const LnsRuleEvent *event, LnsColumnId column)
{
  return lns_chunk_extra (event->chunk, lns_lane_kind_extra (event->kind, column), event->i);
}

/* The kind of memory that a table shows for KIND of CUPTI. */
static int
memory_kind (uint64_t kind)
{
  return (kind & 0xFF) == 0 ? UNKNOWN : (int)(kind & 0xFF) - 1;
}

static bool
is_pageable (const LnsRuleEvent *event)
{
  uint64_t kinds = value (event, LNS_COLUMN_MEMORY_KINDS);
  return memory_kind (kinds) == PAGEABLE || memory_kind (kinds >> 8) == PAGEABLE;
}

/* Copies within and between devices go on beside the host. */
static bool
is_of_host (const LnsRuleEvent *event)
{
  uint64_t kind = value (event, LNS_COLUMN_COPY_KIND);

  if (kind == HOST_TO_DEVICE)
    return value (event, LNS_COLUMN_BYTES) > STAGED_BYTES;
  return kind == DEVICE_TO_HOST || kind == HOST_TO_ARRAY || kind == ARRAY_TO_HOST ||
         kind == HOST_TO_HOST;
}

static bool
is_set_of_host (const LnsRuleEvent *event)
{
  int kind = memory_kind (value (event, LNS_COLUMN_MEMORY_KINDS));
  return kind == PINNED || kind == MANAGED || kind == MANAGED_STATIC;
}

static bool
is_wait_name (const char *name)
{
  static const char *const names[] = { "cudaDeviceSynchronize", "cudaStreamSynchronize",
                                       "cudaThreadSynchronize", "cuCtxSynchronize",
                                       "cuStreamSynchronize" };

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp (name, names[i], strlen (names[i])) == 0)
      return true;
  return false;
}

static bool
is_wait (const LnsRuleEvent *event)
{
  uint32_t name = event->chunk->name[event->i];

  if (name >= lns_report_n_strings (event->report))
    return false;
  if (event->is_wait[name] == 0)
    event->is_wait[name] = 1 + is_wait_name (lns_report_string (event->report, name, NULL));
  return event->is_wait[name] == 2;
}

/* What is looked for in the chunks of lanes. */
typedef struct
{
  LnsRuleResult *result;
  LnsRuleEvent event;
} Search;

static void
look_at (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Search *search = data;
  LnsRuleResult *result = search->result;
  LnsRuleEvent *event = &search->event;

  result->has_data = true;
  event->chunk = chunk;
  for (event->i = 0; event->i < chunk->n; event->i++)
    if (result->maker->is_asked (event))
      *lns_array_add (&result->rows) = (LnsRuleRow){ .start_ns = chunk->start_ns[event->i],
                                                     .duration_ns = chunk->duration_ns[event->i],
                                                     .ordinal = chunk->first + event->i,
                                                     .lane = chunk->lane,
                                                     .call_name = chunk->name[event->i] };
}

static bool
run (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  const LnsLaneKind kind = result->maker->kind;
  Search search = { .result = result,
                    .event = { .report = report,
                               .kind = kind,
                               .is_wait = lns_calloc (lns_report_n_strings (report), 1) } };
  const bool good = lns_read_lanes (report, kind, 0, look_at, &search, cancel, error);

  free (search.event.is_wait);
  return good;
}

/* ---- By which calls -------------------------------------------------------------------------- */

bool
_lns_rule_find_call (LnsRuleResult *result, LnsRuleRow *row, bool *ret_found, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  LnsEventRun *calls;
  LnsEvent call = { 0 }, other;
  size_t n;

  *ret_found = false;
  if (result->links == NULL)
    result->links = lns_cuda_links_new (report);
  if (!lns_cuda_links_find (result->links, row->lane, row->ordinal, &calls, &n, error))
    return false;
  bool good = true;
  /* Of nested ones the outermost. */
  for (size_t i = 0; good && i < n; i++)
    {
      good = lns_report_event (report, calls[i].lane, calls[i].ordinal, &other, error);
      if (good && (i == 0 || other.start_ns < call.start_ns))
        call = other;
    }
  if (n > 0 && good)
    {
      const char *name = lns_report_string (report, call.name, NULL);
      bool is_memory = strncmp (name, "cudaMemcpy", 10) == 0 ||
                       strncmp (name, "cudaMemset", 10) == 0 ||
                       strncmp (name, "cuMemcpy", 8) == 0 || strncmp (name, "cuMemset", 8) == 0;
      *ret_found = is_memory &&
                   (strstr (name, "Async") != NULL) == (result->maker->call == LNS_RULE_ASYNC_CALL);
      row->call_name = call.name;
    }
  free (calls);
  return good;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static LnsResultCell
text (const char *bytes)
{
  return _lns_stats_text (bytes, strlen (bytes));
}

/* What tables call the kind of memory. */
static LnsResultCell
memory_label (uint64_t kind)
{
  const char *label = lns_enum_label ("ENUM_CUDA_MEM_KIND", memory_kind (kind));

  return label != NULL ? text (label) : (LnsResultCell){ .is_empty = true };
}

/* Where the event of ROW ran, and by which call: PID to API Name. */
static void
make_place (const LnsRuleResult *result, const LnsRuleRow *row, LnsResultCell *cells)
{
  LnsReport *report = lns_tables_report (result->tables);
  const LnsTrack *track = lns_track_of (report, row->lane);

  for (unsigned i = 1; i < 5; i++)
    cells[i] = (LnsResultCell){ .is_empty = true };
  cells[0] = _lns_stats_pid (lns_tables_global_pid (result->tables, track->process));
  if (track->device != LNS_ID_NONE)
    cells[1] = _lns_stats_number (lns_report_devices (report, NULL)[track->device].number);
  if (track->stream != LNS_ID_NONE)
    {
      const LnsCudaStream *stream = &lns_report_streams (report, NULL)[track->stream];
      const LnsCudaContext *context = &lns_report_contexts (report, NULL)[stream->context];
      cells[2] = _lns_stats_number (context->number);
      if (context->is_green)
        cells[3] = cells[2];
      cells[4] = _lns_stats_number (stream->number);
    }
  cells[5] = text (lns_report_string (report, row->call_name, NULL));
}

/* The value of COLUMN in the event of ROW, which is of KIND. */
static uint64_t
event_value (const LnsEvent *event, LnsLaneKind kind, LnsColumnId column)
{
  int index = lns_lane_kind_extra (kind, column);
  return index >= 0 ? event->extra[index] : 0;
}

/* Copies have two kinds of memory. */
static bool
fill_memory (const LnsRuleResult *result, size_t i, LnsResultCell *cells, LnsError *error)
{
  const LnsLaneKind kind = result->maker->kind;
  const LnsRuleRow *row = &result->rows.items[i];
  LnsEvent event;

  if (!lns_report_event (lns_tables_report (result->tables), row->lane, row->ordinal, &event,
                         error))
    return false;
  const uint64_t kinds = event_value (&event, kind, LNS_COLUMN_MEMORY_KINDS);
  *cells++ = _lns_stats_number (row->duration_ns);
  *cells++ = _lns_stats_number (row->start_ns);
  *cells++ = memory_label (kinds);
  if (kind == LNS_LANE_CUDA_MEMCPY)
    *cells++ = memory_label (kinds >> 8);
  *cells++ = _lns_stats_megabytes ((double)event_value (&event, kind, LNS_COLUMN_BYTES));
  make_place (result, row, cells);
  return true;
}

static bool
fill_wait (const LnsRuleResult *result, size_t i, LnsResultCell *cells, LnsError *error)
{
  const LnsRuleRow *row = &result->rows.items[i];
  LnsReport *report = lns_tables_report (result->tables);
  const int64_t tid =
      lns_tables_global_tid (result->tables, lns_track_of (report, row->lane)->thread);

  cells[0] = _lns_stats_number (row->duration_ns);
  cells[1] = _lns_stats_number (row->start_ns);
  cells[2] = _lns_stats_pid (tid);
  cells[3] = _lns_stats_tid (tid);
  cells[4] = text (lns_report_string (report, row->call_name, NULL));
  return true;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

#define N(array) sizeof array / sizeof *array

#define PLACE                                                                                      \
 { "PID", LNS_RESULT_ID }, { "Device ID", LNS_RESULT_ID }, { "Context ID", LNS_RESULT_ID },        \
     { "Green Context ID", LNS_RESULT_ID }, { "Stream ID", LNS_RESULT_ID },                        \
 {                                                                                                 \
  "API Name", LNS_RESULT_TEXT                                                                      \
 }

static const LnsResultColumn copy_columns[] = {
  { "Duration", LNS_RESULT_TIME },           { "Start", LNS_RESULT_TIME },
  { "Src Kind", LNS_RESULT_TEXT },           { "Dst Kind", LNS_RESULT_TEXT },
  { "Bytes (MB)", LNS_RESULT_MEGABYTES, 3 }, PLACE,
};

static const LnsResultColumn set_columns[] = {
  { "Duration", LNS_RESULT_TIME },
  { "Start", LNS_RESULT_TIME },
  { "Memory Kind", LNS_RESULT_TEXT },
  { "Bytes (MB)", LNS_RESULT_MEGABYTES, 3 },
  PLACE,
};

static const LnsResultColumn wait_columns[] = {
  { "Duration", LNS_RESULT_TIME }, { "Start", LNS_RESULT_TIME },    { "PID", LNS_RESULT_ID },
  { "TID", LNS_RESULT_ID },        { "API Name", LNS_RESULT_TEXT },
};

const LnsRuleMaker _lns_rule_copies_async = {
  { "cuda_memcpy_async", "CUDA Async Memcpy with Pageable Memory", "[:rows=N]",
    N_ ("asynchronous copies that wait, as their host memory is pageable"),
    "These copies were asked for asynchronously, but their host memory is pageable: the driver "
    "stages them, and the call returns only when that is done. Use pinned memory "
    "(cudaMallocHost, cudaHostRegister; in PyTorch pin_memory).",
    "No asynchronous copy used pageable memory.", "copy memory with CUDA" },
  run,
  NULL,
  copy_columns,
  N (copy_columns),
  fill_memory,
  LNS_LANE_CUDA_MEMCPY,
  is_pageable,
  LNS_RULE_ASYNC_CALL,
};

const LnsRuleMaker _lns_rule_copies_sync = {
  { "cuda_memcpy_sync", "CUDA Synchronous Memcpy", "[:rows=N]", N_ ("copies that block the host"),
    "These copies block the host until they are done (those of 64 KiB or less to a device do "
    "not, "
    "and are left out). Use cudaMemcpyAsync in a stream, from pinned memory.",
    "No synchronous copy blocked the host.", "copy memory with CUDA" },
  run,
  NULL,
  copy_columns,
  N (copy_columns),
  fill_memory,
  LNS_LANE_CUDA_MEMCPY,
  is_of_host,
  LNS_RULE_SYNC_CALL,
};

const LnsRuleMaker _lns_rule_sets = {
  { "cuda_memset_sync", "CUDA Synchronous Memset", "[:rows=N]", N_ ("memsets that block the host"),
    "These memsets of pinned or managed memory block the host until they are done. Use "
    "cudaMemsetAsync in a stream.",
    "No synchronous memset blocked the host.", "set memory with CUDA" },
  run,
  NULL,
  set_columns,
  N (set_columns),
  fill_memory,
  LNS_LANE_CUDA_MEMSET,
  is_set_of_host,
  LNS_RULE_SYNC_CALL,
};

const LnsRuleMaker _lns_rule_waits = {
  { "cuda_api_sync", "CUDA Synchronization APIs", "[:rows=N]",
    N_ ("calls that wait for all work of a device or stream"),
    "These calls block the host until all work of a device or stream is done. Call them less "
    "often; let one stream wait for another by events (cudaStreamWaitEvent).",
    "No call waited for all work of a device or stream.", "call CUDA" },
  run,
  NULL,
  wait_columns,
  N (wait_columns),
  fill_wait,
  LNS_LANE_CUDA_API,
  is_wait,
  LNS_RULE_ANY_CALL,
};
