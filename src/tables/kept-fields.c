/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/kept-fields.h"

#include <stdlib.h>
#include <string.h>

#include "src/store/format/kept-codec.h"

/* The thread that a globalTid is about: pid << 24 | tid. */
static uint32_t
find_thread (LnsReport *report, int64_t global_tid)
{
  uint32_t n, n_processes;
  const LnsThread *threads = lns_report_threads (report, &n);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  for (uint32_t i = 0; i < n; i++)
    if ((threads[i].tid & 0xffffff) == (global_tid & 0xffffff) &&
        threads[i].process < n_processes &&
        (processes[threads[i].process].pid & 0xffffff) == (global_tid >> 24 & 0xffffff))
      return i;
  return LNS_ID_NONE;
}

/* Takes VALUE of the column NAME, which is a text. */
typedef void (*TakeFunc) (LnsReport *report,
                          void *data,
                          const LnsKeptValue *name,
                          const LnsKeptValue *value);

#define IS(text)                                                                                   \
 (name->size_bytes == strlen (text) && memcmp (name->bytes, text, strlen (text)) == 0)

static void
take_subject (LnsReport *report, void *data, const LnsKeptValue *name, const LnsKeptValue *value)
{
  LnsCallSubject *self = data;
  if (IS ("lockAddress") && value->type == LNS_KEPT_INTEGER)
    {
      self->has_lock = true;
      self->lock = (uint64_t)value->integer;
    }
  else if (IS ("lockHolder") && value->type == LNS_KEPT_INTEGER)
    self->holder = find_thread (report, value->integer);
  else if (IS ("filePath") && value->type == LNS_KEPT_TEXT)
    {
      self->has_file = true;
      self->path = value->bytes;
      self->path_bytes = value->size_bytes;
    }
  else if (IS ("fileBytes") && value->type == LNS_KEPT_INTEGER)
    self->n_bytes = (uint64_t)value->integer;
}

static void
take_waking (LnsReport *report, void *data, const LnsKeptValue *name, const LnsKeptValue *value)
{
  LnsWaking *self = data;
  if (IS ("wakerTid") && value->type == LNS_KEPT_INTEGER)
    self->thread = find_thread (report, value->integer);
  else if (IS ("wakeLatency") && value->type == LNS_KEPT_INTEGER)
    self->latency_ns = value->integer;
}

/* Has TAKE take what is kept at REMAINDER. */
static void
walk (LnsReport *report, uint64_t remainder, TakeFunc take, void *data)
{
  uint32_t n_rows, n_tables, n_columns = 0, n_fields = 0;
  const LnsKeptRows *rows = lns_report_kept_rows (report, &n_rows);
  const LnsKeptTable *tables = lns_report_kept_tables (report, &n_tables);
  if (remainder == 0 || remainder > n_rows || rows[remainder - 1].table >= n_tables)
    return;
  size_t size;
  const char *bytes = lns_report_string (report, tables[rows[remainder - 1].table].columns, &size);
  LnsKeptValue *columns = lns_kept_decode (bytes, size, &n_columns, &n_fields);
  bytes = lns_report_string (report, rows[remainder - 1].rows, &size);
  LnsKeptValue *values =
      columns != NULL && n_fields > 0 ? lns_kept_decode_as (bytes, size, 1, n_columns) : NULL;
  for (uint32_t i = 0; values != NULL && i < n_columns; i++)
    if (columns[(size_t)i * n_fields].type == LNS_KEPT_TEXT)
      take (report, data, &columns[(size_t)i * n_fields], &values[i]);
  free (columns);
  free (values);
}

bool
lns_call_subject_find (LnsReport *report, uint64_t remainder, LnsCallSubject *ret_subject)
{
  *ret_subject = (LnsCallSubject){ .holder = LNS_ID_NONE };
  walk (report, remainder, take_subject, ret_subject);
  return ret_subject->has_lock || ret_subject->has_file;
}

static uint64_t
sched_value (const LnsEvent *event, LnsColumnId column)
{
  return event->extra[lns_lane_kind_extra (LNS_LANE_SCHED, column)];
}

bool
lns_waking_find (
    LnsReport *report, uint32_t lane, uint64_t ordinal, LnsWaking *ret_waking, LnsEvent *ret_run)
{
  *ret_waking = (LnsWaking){ .thread = LNS_ID_NONE, .latency_ns = -1 };
  if (lns_report_lanes (report, NULL)[lane].kind != LNS_LANE_SCHED ||
      !lns_report_event (report, lane, ordinal, ret_run, NULL))
    return false;
  if (sched_value (ret_run, LNS_COLUMN_SCHED_IN) == 0 &&
      (ordinal + 1 >= lns_report_lane_info (report, lane)->n_events ||
       !lns_report_event (report, lane, ordinal + 1, ret_run, NULL)))
    return false;
  walk (report, sched_value (ret_run, LNS_COLUMN_REMAINDER), take_waking, ret_waking);
  return ret_waking->latency_ns >= 0;
}
