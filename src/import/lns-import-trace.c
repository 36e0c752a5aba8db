/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Traces of PyTorch and Chrome: each event becomes a row of the nsys table that it belongs to, in an SQLite file
 * for the time being, which is then imported as those of nsys are. So there is one way from rows to lanes, and
 * memory stays bounded.
 *
 * Kernels, copies and sets go to their GPU's stream, calls of CUDA to their thread; all else is a range or mark of
 * NVTX, in a domain called as the event's category, or a sample of a counter. Arrows that are no correlation are marks
 * where they begin and end, with the arrow's id as payload. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

#include "src/base/lns-kernel-text.h"
#include "src/import/lns-import.h"
#include "src/import/lns-open-ranges.h"
#include "src/import/lns-trace-kind.h"
#include "src/import/lns-trace-tables.h"

typedef struct
{
  LnsTraceTables tables;
  LnsOpenRanges open; /* by B and b */
  int64_t first_ns;   /* the first time in the file: there the report begins */
  bool has_first;
  uint64_t n_bad;  /* events that do not tell when */
  double fraction; /* that is read */
  const LnsImportOptions *options;
} Trace;

/* --- What an event says ----------------------------------------------------------------------- */

static int64_t
integer_or (LnsTraceValue value, int64_t otherwise)
{
  int64_t number;
  return lns_trace_integer (value, &number) ? number : otherwise;
}

/* The thread of EVENT. What PyTorch shows on GPUs of its own annotations are threads called as their streams. */
static bool
thread_of (Trace *trace, const LnsTraceEvent *event, int64_t *ret_tid, LnsError *error)
{
  LnsTraceValue pid = event->fields[LNS_TRACE_PID], tid = event->fields[LNS_TRACE_TID];
  char gpu[40], stream[40];
  if (_lns_trace_kind (event) == LNS_TRACE_IS_GPU_ANNOTATION)
    {
      pid = (LnsTraceValue){ gpu, (size_t)snprintf (gpu, sizeof gpu, "GPU %lld",
                                                    (long long)integer_or (pid, 0)) };
      tid = (LnsTraceValue){ stream, (size_t)snprintf (stream, sizeof stream, "stream %lld",
                                                       (long long)integer_or (tid, 0)) };
    }
  return lns_trace_thread (&trace->tables, pid, tid, ret_tid, error);
}

static const LnsTraceValue no_value;

/* --- Ranges and marks ------------------------------------------------------------------------- */

enum
{
  NVTX_MARK = 34,
  NVTX_PUSH_POP = 59,
  NVTX_START_END = 60,
  NVTX_DOMAIN = 75
};

/* The domain that stands for EVENT's category in its process; 0, the default one, without one. */
static bool
domain_of (
    Trace *trace, const LnsTraceEvent *event, int64_t tid, int64_t *ret_domain, LnsError *error)
{
  const LnsTraceValue category = event->fields[LNS_TRACE_CATEGORY];
  char key[256];
  *ret_domain = 0;
  if (category.text == NULL || category.size_bytes == 0)
    return true;
  const int64_t process = tid >> LNS_TRACE_ID_BITS << LNS_TRACE_ID_BITS;
  const int n = snprintf (key, sizeof key, "%lld %.200s", (long long)process, category.text);
  const uint32_t id =
      lns_string_table_intern (trace->tables.domains, key, (size_t)n, trace->tables.n_domains);
  *ret_domain = id;
  if (id != trace->tables.n_domains)
    return true;
  trace->tables.n_domains++;
  sqlite3_stmt *row = trace->tables.statements[LNS_TRACE_ROW_RANGE];
  sqlite3_clear_bindings (row);
  sqlite3_bind_text64 (row, 4, category.text, category.size_bytes, SQLITE_STATIC, SQLITE_UTF8);
  sqlite3_bind_int64 (row, 7, id);
  sqlite3_bind_int64 (row, 5, tid);
  return lns_trace_put (&trace->tables, LNS_TRACE_ROW_RANGE, (int64_t[]){ 0, 0, NVTX_DOMAIN }, 3,
                        error);
}

/* A range from START_NS to *END_NS (NULL: it has not ended), or a mark; with ID as payload, unless that is empty. */
static bool
put_range (Trace *trace,
           const LnsTraceEvent *event,
           int type,
           int64_t start_ns,
           const int64_t *end_ns,
           LnsTraceValue id,
           LnsError *error)
{
  int64_t tid, domain, name, payload;
  if (!thread_of (trace, event, &tid, error) || !domain_of (trace, event, tid, &domain, error) ||
      !lns_trace_intern_value (&trace->tables, event->fields[LNS_TRACE_NAME], &name, error))
    return false;
  sqlite3_stmt *row = trace->tables.statements[LNS_TRACE_ROW_RANGE];
  sqlite3_clear_bindings (row);
  sqlite3_bind_int64 (row, 1, start_ns);
  if (end_ns != NULL)
    sqlite3_bind_int64 (row, 2, *end_ns);
  sqlite3_bind_int64 (row, 3, type);
  sqlite3_bind_int64 (row, 5, tid);
  sqlite3_bind_int64 (row, 6, name);
  sqlite3_bind_int64 (row, 7, domain);
  if (event->arguments.size_bytes > 2)
    sqlite3_bind_text64 (row, 8, event->arguments.text, event->arguments.size_bytes, SQLITE_STATIC,
                         SQLITE_UTF8);
  if (lns_trace_integer (id, &payload))
    sqlite3_bind_int64 (row, 9, payload);
  return lns_trace_put (&trace->tables, LNS_TRACE_ROW_RANGE, NULL, 0, error);
}

/* What tells the range that EVENT begins or ends: its thread, or for asynchronous ones what they are called. */
static uint64_t
open_key (Trace *trace, const LnsTraceEvent *event, bool is_nested)
{
  static const LnsTraceField parts[] = { LNS_TRACE_PID, LNS_TRACE_CATEGORY, LNS_TRACE_ID,
                                         LNS_TRACE_NAME };
  uint64_t key = UINT64_C (1469598103934665603); /* FNV-1a */
  if (is_nested)
    return (uint64_t)lns_trace_id (&trace->tables, event->fields[LNS_TRACE_PID])
               << LNS_TRACE_ID_BITS |
           lns_trace_id (&trace->tables, event->fields[LNS_TRACE_TID]);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (size_t k = 0;
         k <= event->fields[parts[i]].size_bytes && event->fields[parts[i]].text != NULL; k++)
      key = (key ^ (unsigned char)event->fields[parts[i]].text[k]) * UINT64_C (1099511628211);
  return key |
         UINT64_C (1) << 63; /* no thread has that                                           */
}

static bool
begin_range (
    Trace *trace, const LnsTraceEvent *event, bool is_nested, int64_t start_ns, LnsError *error)
{
  return put_range (trace, event, is_nested ? NVTX_PUSH_POP : NVTX_START_END, start_ns, NULL,
                    no_value, error) &&
         (_lns_open_ranges_add (&trace->open, open_key (trace, event, is_nested),
                                sqlite3_last_insert_rowid (trace->tables.db)) ||
          lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to import it",
                         trace->tables.path));
}

/* Ends the last one that began with the same key; an end without a beginning is nothing. */
static bool
end_range (
    Trace *trace, const LnsTraceEvent *event, bool is_nested, int64_t end_ns, LnsError *error)
{
  int64_t row;
  return !_lns_open_ranges_take (&trace->open, open_key (trace, event, is_nested), &row) ||
         lns_trace_put (&trace->tables, LNS_TRACE_ROW_RANGE_END, (int64_t[]){ end_ns, row }, 2,
                        error);
}

/* --- Counters --------------------------------------------------------------------------------- */

/* A sample of the counter "NAME: KEY", or NAME where KEY says nothing more. */
static bool
put_sample (
    Trace *trace,
    LnsTraceValue name,
    const char *key,
    yajl_val value,
    const int64_t *values, /* time, process, domain                                        */
    LnsError *error)
{
  char text[512];
  sqlite3_stmt *row = trace->tables.statements[LNS_TRACE_ROW_COUNTER];
  const bool says_more = strcmp (key, "value") != 0 && strcmp (key, name.text) != 0;
  int n = snprintf (text, sizeof text, says_more ? "%.300s: %.200s" : "%.300s", name.text, key);
  sqlite3_bind_int64 (row, 1, values[0]);
  sqlite3_bind_text (row, 2, text, n, SQLITE_STATIC);
  if (YAJL_IS_INTEGER (value))
    sqlite3_bind_int64 (row, 3, YAJL_GET_INTEGER (value));
  else
    sqlite3_bind_double (row, 3, YAJL_GET_DOUBLE (value));
  sqlite3_bind_int64 (row, 4, values[1]);
  sqlite3_bind_int64 (row, 5, values[2]);
  return lns_trace_put (&trace->tables, LNS_TRACE_ROW_COUNTER, NULL, 0, error);
}

/* "C": each number in "args" is a counter. */
static bool
put_samples (Trace *trace, const LnsTraceEvent *event, int64_t time_ns, LnsError *error)
{
  const LnsTraceValue name = event->fields[LNS_TRACE_NAME];
  int64_t tid, domain;
  char message[8];
  yajl_val all = event->arguments.text != NULL
                     ? yajl_tree_parse (event->arguments.text, message, sizeof message)
                     : NULL;
  if (name.text == NULL || !YAJL_IS_OBJECT (all))
    {
      yajl_tree_free (all);
      return true;
    }
  bool good =
      thread_of (trace, event, &tid, error) && domain_of (trace, event, tid, &domain, error);
  const int64_t process = tid >> LNS_TRACE_ID_BITS << LNS_TRACE_ID_BITS;
  for (size_t i = 0; good && i < YAJL_GET_OBJECT (all)->len; i++)
    if (YAJL_IS_NUMBER (YAJL_GET_OBJECT (all)->values[i]))
      good =
          put_sample (trace, name, YAJL_GET_OBJECT (all)->keys[i], YAJL_GET_OBJECT (all)->values[i],
                      (int64_t[]){ time_ns, process, domain }, error);
  yajl_tree_free (all);
  return good;
}

/* --- CUDA ------------------------------------------------------------------------------------- */

static bool
put_call (Trace *trace,
          const LnsTraceEvent *event,
          bool is_driver,
          int64_t start_ns,
          int64_t end_ns,
          LnsError *error)
{
  int64_t tid, name;
  if (!thread_of (trace, event, &tid, error) ||
      !lns_trace_intern_value (&trace->tables, event->fields[LNS_TRACE_NAME], &name, error))
    return false;
  lns_trace_count_call (&trace->tables, tid);
  return lns_trace_put (&trace->tables, LNS_TRACE_ROW_CALL,
                        (int64_t[]){ start_ns, end_ns, is_driver, tid,
                                     integer_or (event->fields[LNS_TRACE_CORRELATION], 0), name },
                        6, error);
}

/* ENUM_CUDA_MEM_KIND of the N bytes of TEXT, "Pageable" or the like. */
static int64_t
memory_kind (const char *text, size_t n)
{
  static const char *const names[] = { "Pageable", "Pinned", "Device", "Array", "Managed" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen (names[i]) == n && strncasecmp (names[i], text, n) == 0)
      return (int64_t)i;
  return strncasecmp (text, "Host", n) == 0 ? 0 : 0xffff;
}

/* ENUM_CUDA_MEMCPY_OPER and the kinds of memory that the name tells: "Memcpy HtoD (Pinned -> Device)". */
static void
read_copy (LnsTraceValue name, int64_t *ret_kind, int64_t *ret_from, int64_t *ret_to)
{
  static const struct
  {
    const char *name;
    int64_t kind;
  } kinds[] = { { "HtoD", 1 }, { "DtoH", 2 }, { "DtoD", 8 }, { "HtoH", 9 }, { "PtoP", 10 } };
  const char *text = name.text != NULL ? name.text : "", *from = strchr (text, '(');
  const char *arrow = from != NULL ? strstr (from, " -> ") : NULL;
  const char *end = arrow != NULL ? strchr (arrow, ')') : NULL;
  *ret_kind = 0;
  *ret_from = *ret_to = 0xffff;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strstr (text, kinds[i].name) != NULL)
      *ret_kind = kinds[i].kind;
  if (end == NULL)
    return;
  *ret_from = memory_kind (from + 1, (size_t)(arrow - from - 1));
  *ret_to = memory_kind (arrow + 4, (size_t)(end - arrow - 4));
}

/* ENUM_CUPTI_SYNC_TYPE by PyTorch's name. */
static int64_t
sync_type (LnsTraceValue name)
{
  static const char *const names[] = { "", "Event Sync", "Stream Wait Event", "Stream Sync",
                                       "Context Sync" };
  for (size_t i = 1; i < sizeof names / sizeof *names; i++)
    if (name.text != NULL && strcmp (name.text, names[i]) == 0)
      return (int64_t)i;
  return 0;
}

/* Work of a LNS_TRACE_ROW_GPU. It belongs to the process that makes the calls: which one that is, is known at the end. */
static bool
put_work (Trace *trace,
          const LnsTraceEvent *event,
          LnsTraceRow which,
          int64_t start_ns,
          int64_t end_ns,
          LnsError *error)
{
  const LnsTraceValue *fields = event->fields;
  int64_t values[16] = {
    start_ns,
    end_ns,
    integer_or (fields[LNS_TRACE_DEVICE], integer_or (fields[LNS_TRACE_PID], 0)),
    integer_or (fields[LNS_TRACE_CONTEXT], 1),
    integer_or (fields[LNS_TRACE_STREAM], integer_or (fields[LNS_TRACE_TID], 0)),
    integer_or (fields[LNS_TRACE_CORRELATION], 0)
  };
  const char *name = fields[LNS_TRACE_NAME].text != NULL ? fields[LNS_TRACE_NAME].text : "";
  int n = 6;
  if (which == LNS_TRACE_ROW_KERNEL)
    {
      size_t n_short;
      const char *text = lns_kernel_text_short (name, &n_short);
      if (!lns_trace_intern_value (&trace->tables, fields[LNS_TRACE_NAME], &values[6], error) ||
          !lns_trace_intern (&trace->tables, text, n_short, &values[7], error))
        return false;
      for (int i = 0; i < 6; i++)
        values[8 + i] = integer_or (fields[LNS_TRACE_GRID + i], 0);
      values[14] = integer_or (fields[LNS_TRACE_REGISTERS], 0);
      values[15] = integer_or (fields[LNS_TRACE_SHARED_BYTES], 0);
      n = 16;
    }
  else if (which == LNS_TRACE_ROW_COPY)
    {
      values[6] = integer_or (fields[LNS_TRACE_BYTES], 0);
      read_copy (fields[LNS_TRACE_NAME], &values[7], &values[8], &values[9]);
      n = 10;
    }
  else if (which == LNS_TRACE_ROW_SET)
    {
      const char *place = strchr (name, '('), *end = place != NULL ? strchr (place, ')') : NULL;
      values[6] = integer_or (fields[LNS_TRACE_BYTES], 0);
      values[7] = end != NULL ? memory_kind (place + 1, (size_t)(end - place - 1)) : 0xffff;
      n = 8;
    }
  else
    {
      values[6] = sync_type (fields[LNS_TRACE_NAME]);
      n = 7;
    }
  return lns_trace_put (&trace->tables, which, values, n, error);
}

/* --- Events ----------------------------------------------------------------------------------- */

/* "M": names of processes and threads; those of GPUs are not. */
static bool
take_metadata (Trace *trace, const LnsTraceEvent *event, LnsError *error)
{
  const LnsTraceValue what = event->fields[LNS_TRACE_NAME],
                      name = event->fields[LNS_TRACE_ARG_NAME];
  int64_t tid = (int64_t)lns_trace_id (&trace->tables, event->fields[LNS_TRACE_PID])
                    << LNS_TRACE_ID_BITS |
                lns_trace_id (&trace->tables, event->fields[LNS_TRACE_TID]),
          id;
  if (what.text == NULL || name.text == NULL)
    return true;
  if (strcmp (what.text, "thread_name") == 0)
    return lns_trace_intern_value (&trace->tables, name, &id, error) &&
           lns_trace_put (&trace->tables, LNS_TRACE_ROW_THREAD_NAME, (int64_t[]){ id, tid }, 2,
                          error);
  if (strcmp (what.text, "process_name") != 0)
    return true;
  return lns_trace_put_process (&trace->tables, (uint32_t)(tid >> LNS_TRACE_ID_BITS), name, error);
}

/* "X": it has a beginning and a duration. */
static bool
take_complete (Trace *trace, const LnsTraceEvent *event, int64_t start_ns, LnsError *error)
{
  int64_t duration_ns = 0;
  const bool has_end =
      lns_trace_time (event->fields[LNS_TRACE_DURATION], &duration_ns) && duration_ns >= 0;
  const int64_t end_ns = start_ns + duration_ns;
  switch (_lns_trace_kind (event))
    {
    case LNS_TRACE_IS_KERNEL:
      return put_work (trace, event, LNS_TRACE_ROW_KERNEL, start_ns, end_ns, error);
    case LNS_TRACE_IS_COPY:
      return put_work (trace, event, LNS_TRACE_ROW_COPY, start_ns, end_ns, error);
    case LNS_TRACE_IS_SET:
      return put_work (trace, event, LNS_TRACE_ROW_SET, start_ns, end_ns, error);
    case LNS_TRACE_IS_SYNC:
      return put_work (trace, event, LNS_TRACE_ROW_SYNC, start_ns, end_ns, error);
    case LNS_TRACE_IS_RUNTIME_CALL:
    case LNS_TRACE_IS_DRIVER_CALL:
      return put_call (trace, event, _lns_trace_kind (event) == LNS_TRACE_IS_DRIVER_CALL, start_ns,
                       end_ns, error);
    default:
      return put_range (trace, event, NVTX_PUSH_POP, start_ns, has_end ? &end_ns : NULL, no_value,
                        error);
    }
}

static bool
take_event (const LnsTraceEvent *event, void *data, LnsError *error)
{
  Trace *trace = data;
  const char *phase = event->fields[LNS_TRACE_PHASE].text;
  int64_t start_ns;
  if (phase == NULL)
    return true;
  if (phase[0] == 'M')
    return take_metadata (trace, event, error);
  if (!lns_trace_time (event->fields[LNS_TRACE_START], &start_ns))
    {
      trace->n_bad++;
      return true;
    }
  if (!trace->has_first)
    trace->first_ns = start_ns;
  trace->has_first = true;
  start_ns -= trace->first_ns;
  switch (phase[0])
    {
    case 'X':
      return take_complete (trace, event, start_ns, error);
    case 'B':
    case 'b':
      return begin_range (trace, event, phase[0] == 'B', start_ns, error);
    case 'E':
    case 'e':
      return end_range (trace, event, phase[0] == 'E', start_ns, error);
    case 'i':
    case 'I':
    case 'R':
    case 'n':
      return put_range (trace, event, NVTX_MARK, start_ns, NULL, no_value, error);
    case 'C':
      return put_samples (trace, event, start_ns, error);
    case 's':
    case 't':
    case 'f':
      /* Arrows from calls to the LNS_TRACE_ROW_GPU's work are what their common correlation says. */
      return _lns_trace_kind (event) == LNS_TRACE_IS_CORRELATION ||
             put_range (trace, event, NVTX_MARK, start_ns, NULL, event->fields[LNS_TRACE_ID],
                        error);
    default:
      return true;
    }
}

static bool
take_gpu (const LnsTraceGpu *gpu, void *data, LnsError *error)
{
  Trace *trace = data;
  const int64_t id = integer_or (gpu->id, 0);
  sqlite3_stmt *row = trace->tables.statements[LNS_TRACE_ROW_GPU];
  sqlite3_clear_bindings (row);
  sqlite3_bind_int64 (row, 1, id);
  if (gpu->name.text != NULL)
    sqlite3_bind_text64 (row, 2, gpu->name.text, gpu->name.size_bytes, SQLITE_STATIC, SQLITE_UTF8);
  sqlite3_bind_int64 (row, 3, id);
  sqlite3_bind_int64 (row, 4, integer_or (gpu->total_bytes, 0));
  sqlite3_bind_int64 (row, 5, integer_or (gpu->n_processors, 0));
  sqlite3_bind_int64 (row, 6, integer_or (gpu->major, 0));
  sqlite3_bind_int64 (row, 7, integer_or (gpu->minor, 0));
  return lns_trace_put (&trace->tables, LNS_TRACE_ROW_GPU, NULL, 0, error);
}

/* --- The whole -------------------------------------------------------------------------------- */

#define SHARE_OF_READING 0.6 /* of the time that an import takes */

static void
report_reading (double fraction, void *data)
{
  Trace *trace = data;
  trace->fraction = fraction > trace->fraction ? fraction : trace->fraction;
  if (trace->options->progress != NULL)
    trace->options->progress (trace->fraction * SHARE_OF_READING, trace->options->progress_data);
}

static void
report_importing (double fraction, void *data)
{
  const LnsImportOptions *options = ((Trace *)data)->options;
  if (options->progress != NULL)
    options->progress (SHARE_OF_READING + fraction * (1 - SHARE_OF_READING),
                       options->progress_data);
}

/* Makes the tables of the trace at PATH in FILE, anew. */
static bool
make_tables (Trace *trace,
             const char *path,
             const char *file,
             bool mends,
             LnsTraceEnd *ret_end,
             LnsError *error)
{
  const LnsTraceReader reader = { .event = take_event,
                                  .gpu = take_gpu,
                                  .progress = report_reading,
                                  .data = trace,
                                  .cancel = trace->options->cancel,
                                  .mends = mends };
  trace->has_first = false;
  trace->n_bad = 0;
  *ret_end = (LnsTraceEnd){ 0 };
  const bool good =
      (truncate (file, 0) == 0 ||
       lns_error_set_errno (error, errno, "%s: the temporary file cannot be emptied", file)) &&
      lns_trace_tables_open (&trace->tables, file, path, error) &&
      lns_trace_read (path, &reader, ret_end, error) &&
      lns_trace_tables_finish (&trace->tables, ret_end->base_ns + trace->first_ns, error);
  lns_trace_tables_close (&trace->tables);
  _lns_open_ranges_clear (&trace->open);
  return good;
}

bool
lns_import_trace (const char *path,
                  const char *out_path,
                  const LnsImportOptions *options,
                  LnsImportResult *ret_result,
                  LnsError *error)
{
  static const LnsImportOptions none = { 0 };
  Trace trace = { .options = options != NULL ? options : &none };
  const char *folder = getenv ("TMPDIR");
  LnsError local = { 0 };
  LnsTraceEnd end;
  char *file = NULL;
  int fd = asprintf (&file, "%s/lanescope-import-XXXXXX",
                     folder != NULL && folder[0] == '/' ? folder : "/var/tmp") >= 0
               ? mkstemp (file)
               : -1;
  if (fd < 0)
    {
      lns_error_set_errno (error, errno, "%s: no temporary file can be made (%s)", path,
                           file != NULL ? file : "no memory");
      free (file);
      return false;
    }
  close (fd);
  bool good = make_tables (&trace, path, file, false, &end, &local);
  if (end.is_mendable)
    {
      local = (LnsError){ 0 };
      good = make_tables (&trace, path, file, true, &end, &local);
    }
  if (good)
    {
      LnsImportOptions own = *trace.options;
      own.origin = path;
      own.complaint = end.is_cut_off ? end.complaint : NULL;
      own.progress = report_importing;
      own.progress_data = &trace;
      good = lns_import_sqlite (file, out_path, &own, ret_result, &local);
      if (good && ret_result != NULL)
        ret_result->n_bad += trace.n_bad;
    }
  if (!good)
    lns_error_set (error, local.domain, local.code, "%s", local.message);
  unlink (file);
  free (file);
  return good;
}
