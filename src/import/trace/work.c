/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/work.h"

#include <string.h>
#include <strings.h>

#include "src/base/kernel-text.h"

void
_lns_trace_put_call (LnsTraceTables *tables,
                     const LnsTraceEvent *event,
                     bool is_driver,
                     int64_t start_ns,
                     int64_t end_ns)
{
  const LnsTraceValue *fields = event->fields;
  const int64_t tid = lns_trace_thread (tables, fields[LNS_TRACE_PID], fields[LNS_TRACE_TID]),
                name = lns_trace_intern_value (tables, fields[LNS_TRACE_NAME]);

  lns_trace_count_call (tables, tid);
  lns_trace_put (tables, LNS_TRACE_ROW_CALL,
                 (int64_t[]){ start_ns, end_ns,
                              _lns_trace_integer_or (fields[LNS_TRACE_CLASS], is_driver), tid,
                              _lns_trace_integer_or (fields[LNS_TRACE_CORRELATION], 0), name,
                              _lns_trace_integer_or (fields[LNS_TRACE_RESULT], LNS_TRACE_NULL) },
                 7);
}

/* ENUM_CUDA_MEM_KIND of the N bytes of TEXT, "Pageable" or the like. */
static int64_t
memory_kind (const char *text, size_t n)
{
  static const char *const names[] = { "Pageable", "Pinned", "Device", "Array", "Managed" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen (names[i]) == n && strncasecmp (names[i], text, n) == 0)
      return (int64_t)i;
  return strncasecmp (text, "Host", n) == 0 ? 0 : LNS_TRACE_NULL;
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
  *ret_from = *ret_to = LNS_TRACE_NULL;
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

/* The columns that kernels have beyond those of all work, from VALUES[7] on. */
static void
describe_kernel (LnsTraceTables *tables, const LnsTraceValue *fields, int64_t *values)
{
  const LnsTraceValue name = fields[LNS_TRACE_NAME];
  size_t n_short;
  const char *text = lns_kernel_text_short (name.text != NULL ? name.text : "", &n_short);
  values[7] = lns_trace_intern_value (tables, name);
  values[8] = lns_trace_intern (tables, text, n_short);
  for (int i = 0; i < 6; i++)
    values[9 + i] = _lns_trace_integer_or (fields[LNS_TRACE_GRID + i], LNS_TRACE_NULL);
  values[15] = _lns_trace_integer_or (fields[LNS_TRACE_REGISTERS], LNS_TRACE_NULL);
  values[16] = _lns_trace_integer_or (fields[LNS_TRACE_SHARED_BYTES], LNS_TRACE_NULL);
  values[17] = _lns_trace_integer_or (fields[LNS_TRACE_DYNAMIC_BYTES], LNS_TRACE_NULL);
}

/* Those of copies. */
static void
describe_copy (const LnsTraceValue *fields, int64_t *values)
{
  values[7] = _lns_trace_integer_or (fields[LNS_TRACE_BYTES], LNS_TRACE_NULL);
  read_copy (fields[LNS_TRACE_NAME], &values[8], &values[9], &values[10]);
  for (int i = 0; i < 3; i++)
    values[8 + i] = _lns_trace_integer_or (fields[LNS_TRACE_COPY_KIND + i], values[8 + i]);
}

/* Those of sets. */
static void
describe_set (const LnsTraceValue *fields, int64_t *values)
{
  const char *name = fields[LNS_TRACE_NAME].text != NULL ? fields[LNS_TRACE_NAME].text : "";
  const char *place = strchr (name, '('), *end = place != NULL ? strchr (place, ')') : NULL;
  values[7] = _lns_trace_integer_or (fields[LNS_TRACE_BYTES], LNS_TRACE_NULL);
  values[8] = _lns_trace_integer_or (
      fields[LNS_TRACE_MEMORY_KIND],
      end != NULL ? memory_kind (place + 1, (size_t)(end - place - 1)) : LNS_TRACE_NULL);
}

void
_lns_trace_put_work (LnsTraceTables *tables,
                     const LnsTraceEvent *event,
                     LnsTraceRow which,
                     int64_t start_ns,
                     int64_t end_ns)
{
  static const int n_values[] = { [LNS_TRACE_ROW_KERNEL] = 18,
                                  [LNS_TRACE_ROW_COPY] = 11,
                                  [LNS_TRACE_ROW_SET] = 9,
                                  [LNS_TRACE_ROW_SYNC] = 8 };
  const LnsTraceValue *fields = event->fields;
  int64_t tid = 0;
  /* Where "pid" is no GPU, it is the process.                                                     */
  if (fields[LNS_TRACE_OWN_DEVICE].text != NULL)
    tid = lns_trace_thread (tables, fields[LNS_TRACE_PID], fields[LNS_TRACE_PID]);
  int64_t values[18] = { start_ns,
                         end_ns,
                         _lns_trace_integer_or (
                             fields[LNS_TRACE_OWN_DEVICE],
                             _lns_trace_integer_or (
                                 fields[LNS_TRACE_DEVICE],
                                 _lns_trace_integer_or (fields[LNS_TRACE_PID], 0))),
                         _lns_trace_integer_or (fields[LNS_TRACE_CONTEXT], 1),
                         _lns_trace_integer_or (fields[LNS_TRACE_STREAM],
                                                _lns_trace_integer_or (fields[LNS_TRACE_TID], 0)),
                         _lns_trace_integer_or (fields[LNS_TRACE_CORRELATION], 0),
                         tid >> LNS_TRACE_ID_BITS << LNS_TRACE_ID_BITS };
  if (which == LNS_TRACE_ROW_KERNEL)
    describe_kernel (tables, fields, values);
  else if (which == LNS_TRACE_ROW_COPY)
    describe_copy (fields, values);
  else if (which == LNS_TRACE_ROW_SET)
    describe_set (fields, values);
  else if (which == LNS_TRACE_ROW_SYNC)
    values[7] =
        _lns_trace_integer_or (fields[LNS_TRACE_SYNC_TYPE], sync_type (fields[LNS_TRACE_NAME]));
  lns_trace_put (tables, which, values, n_values[which]);
}
