/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/lns-trace-json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>
#include <zlib.h>

#define CHUNK_BYTES     ((size_t)256 << 10)
#define EVENT_MAX_BYTES ((size_t)16 << 20) /* of one event's texts */

typedef enum
{
  IN_NOTHING, /* that is looked at */
  IN_EVENT,
  IN_GPU
} Where;

typedef struct
{
  const LnsTraceReader *reader;
  LnsTraceEnd *end;
  LnsError *error;
  yajl_gen generator; /* of "args" */
  LnsBuffer texts;    /* of this event, each terminated */
  size_t starts[LNS_TRACE_N_FIELDS], sizes[LNS_TRACE_N_FIELDS];
  bool is_set[LNS_TRACE_N_FIELDS];
  int depth;        /* open lists and objects */
  int events_depth; /* of the list of events; 0: not in it */
  int gpus_depth;
  Where where;
  int field; /* the next value is that; -1: of no interest */
  bool in_arguments, has_arguments;
  bool next_is_arguments, next_is_events, next_is_gpus, next_is_base;
} Parser;

/* Names of fields in an event and in its "args"; the GPU's share the room of the latter. */
static const char *const event_names[] = { "ph", "name", "cat", "pid", "tid", "ts", "dur", "id" };
static const struct
{
  const char *name;
  LnsTraceField field;
} argument_names[] = { { "correlation", LNS_TRACE_CORRELATION },
                       { "device", LNS_TRACE_DEVICE },
                       { "context", LNS_TRACE_CONTEXT },
                       { "stream", LNS_TRACE_STREAM },
                       { "grid", LNS_TRACE_GRID },
                       { "block", LNS_TRACE_BLOCK },
                       { "registers per thread", LNS_TRACE_REGISTERS },
                       { "shared memory", LNS_TRACE_SHARED_BYTES },
                       { "bytes", LNS_TRACE_BYTES },
                       { "name", LNS_TRACE_ARG_NAME },
                       { "labels", LNS_TRACE_LABELS } };
static const char *const gpu_names[] = { "id",           "name",         "totalGlobalMem",
                                         "computeMajor", "computeMinor", "numSms" };

static bool
equal (const unsigned char *text, size_t size_bytes, const char *other)
{
  return strlen (other) == size_bytes && memcmp (text, other, size_bytes) == 0;
}

/* --- One event -------------------------------------------------------------------------------- */

static void
begin (Parser *parser, Where where)
{
  memset (parser->is_set, 0, sizeof parser->is_set);
  lns_buffer_reset (&parser->texts);
  yajl_gen_reset (parser->generator, NULL);
  yajl_gen_clear (parser->generator);
  parser->where = where;
  parser->in_arguments = parser->has_arguments = false;
}

static LnsTraceValue
value_of (const Parser *parser, int field)
{
  return parser->is_set[field]
             ? (LnsTraceValue){ (const char *)parser->texts.bytes + parser->starts[field],
                                parser->sizes[field] }
             : (LnsTraceValue){ NULL, 0 };
}

static bool
finish_event (Parser *parser)
{
  LnsTraceEvent event;
  const unsigned char *json = NULL;
  size_t size_bytes = 0;
  for (int i = 0; i < LNS_TRACE_N_FIELDS; i++)
    event.fields[i] = value_of (parser, i);
  if (parser->has_arguments)
    yajl_gen_get_buf (parser->generator, &json, &size_bytes);
  event.arguments = (LnsTraceValue){ (const char *)json, size_bytes };
  parser->where = IN_NOTHING;
  parser->end->n_events++;
  return !parser->texts.failed &&
         parser->reader->event (&event, parser->reader->data, parser->error);
}

static bool
finish_gpu (Parser *parser)
{
  const LnsTraceGpu gpu = { value_of (parser, 0), value_of (parser, 1), value_of (parser, 2),
                            value_of (parser, 3), value_of (parser, 4), value_of (parser, 5) };
  parser->where = IN_NOTHING;
  return parser->reader->gpu (&gpu, parser->reader->data, parser->error);
}

/* A number, text or true of the file. */
static bool
take (Parser *parser, const char *text, size_t size_bytes)
{
  const int at = parser->where == IN_EVENT ? parser->events_depth + 1 : parser->gpus_depth + 1;
  if (parser->where == IN_NOTHING && parser->next_is_base)
    {
      LnsTraceValue value = { text, size_bytes };
      char copy[32];
      snprintf (copy, sizeof copy, "%.*s", (int)(size_bytes < 31 ? size_bytes : 31), text);
      value.text = copy;
      (void)lns_trace_integer (value, &parser->end->base_ns);
    }
  parser->next_is_base = parser->next_is_events = parser->next_is_gpus = false;
  parser->next_is_arguments = false;
  if (parser->where == IN_NOTHING || parser->field < 0)
    return true;
  const bool is_list = parser->depth == at + 2 && parser->in_arguments &&
                       (parser->field >= LNS_TRACE_GRID && parser->field < LNS_TRACE_REGISTERS);
  if (parser->depth != at + parser->in_arguments && !is_list)
    return true;
  const int field = parser->field;
  parser->starts[field] = parser->texts.size_bytes;
  parser->sizes[field] = size_bytes;
  parser->is_set[field] = true;
  lns_buffer_append (&parser->texts, text, size_bytes);
  lns_buffer_append (&parser->texts, "", 1);
  /* The second and third of a list are fields of their own. */
  parser->field =
      is_list && field != LNS_TRACE_GRID + 2 && field != LNS_TRACE_BLOCK + 2 ? field + 1 : -1;
  return parser->texts.size_bytes <= EVENT_MAX_BYTES;
}

/* --- What the parser hears -------------------------------------------------------------------- */

static int
hear_null (void *data)
{
  Parser *parser = data;
  parser->field = -1;
  if (parser->in_arguments)
    yajl_gen_null (parser->generator);
  return 1;
}

static int
hear_boolean (void *data, int value)
{
  Parser *parser = data;
  if (parser->in_arguments)
    yajl_gen_bool (parser->generator, value);
  return take (parser, value ? "1" : "0", 1);
}

static int
hear_number (void *data, const char *text, size_t size_bytes)
{
  Parser *parser = data;
  if (parser->in_arguments)
    yajl_gen_number (parser->generator, text, size_bytes);
  return take (parser, text, size_bytes);
}

static int
hear_string (void *data, const unsigned char *text, size_t size_bytes)
{
  Parser *parser = data;
  if (parser->in_arguments)
    yajl_gen_string (parser->generator, text, size_bytes);
  return take (parser, (const char *)text, size_bytes);
}

static int
hear_key (void *data, const unsigned char *key, size_t size_bytes)
{
  Parser *parser = data;
  parser->field = -1;
  parser->next_is_arguments = false;
  if (parser->where == IN_NOTHING)
    {
      const bool is_top = parser->depth == 1 && parser->events_depth == 0;
      parser->next_is_events = is_top && equal (key, size_bytes, "traceEvents");
      parser->next_is_gpus = is_top && equal (key, size_bytes, "deviceProperties");
      parser->next_is_base = is_top && equal (key, size_bytes, "baseTimeNanoseconds");
    }
  else if (parser->where == IN_GPU)
    {
      for (int i = 0; i < (int)(sizeof gpu_names / sizeof *gpu_names); i++)
        if (parser->depth == parser->gpus_depth + 1 && equal (key, size_bytes, gpu_names[i]))
          parser->field = i;
    }
  else if (parser->in_arguments)
    {
      yajl_gen_string (parser->generator, key, size_bytes);
      for (size_t i = 0; i < sizeof argument_names / sizeof *argument_names; i++)
        if (parser->depth == parser->events_depth + 2 &&
            equal (key, size_bytes, argument_names[i].name))
          parser->field = (int)argument_names[i].field;
    }
  else if (parser->depth == parser->events_depth + 1)
    {
      parser->next_is_arguments = equal (key, size_bytes, "args");
      for (int i = 0; i < (int)(sizeof event_names / sizeof *event_names); i++)
        if (equal (key, size_bytes, event_names[i]))
          parser->field = i;
    }
  return 1;
}

static int
hear_object (void *data)
{
  Parser *parser = data;
  parser->depth++;
  if (parser->where == IN_NOTHING && parser->events_depth != 0 &&
      parser->depth == parser->events_depth + 1)
    begin (parser, IN_EVENT);
  else if (parser->where == IN_NOTHING && parser->gpus_depth != 0 &&
           parser->depth == parser->gpus_depth + 1)
    begin (parser, IN_GPU);
  else if (parser->where == IN_EVENT && parser->next_is_arguments)
    parser->in_arguments = parser->has_arguments = true;
  parser->next_is_arguments = parser->next_is_base = false;
  parser->next_is_events = parser->next_is_gpus = false;
  if (parser->in_arguments)
    yajl_gen_map_open (parser->generator);
  return 1;
}

static int
hear_object_end (void *data)
{
  Parser *parser = data;
  parser->field = -1;
  if (parser->in_arguments)
    {
      yajl_gen_map_close (parser->generator);
      parser->in_arguments = parser->depth != parser->events_depth + 2;
    }
  parser->depth--;
  if (parser->where == IN_EVENT && parser->depth == parser->events_depth)
    return finish_event (parser);
  if (parser->where == IN_GPU && parser->depth == parser->gpus_depth)
    return finish_gpu (parser);
  return 1;
}

static int
hear_list (void *data)
{
  Parser *parser = data;
  parser->depth++;
  if (parser->depth == 1 || parser->next_is_events)
    parser->events_depth = parser->depth;
  else if (parser->next_is_gpus)
    parser->gpus_depth = parser->depth;
  parser->next_is_arguments = parser->next_is_base = false;
  parser->next_is_events = parser->next_is_gpus = false;
  if (parser->in_arguments)
    yajl_gen_array_open (parser->generator);
  return 1;
}

static int
hear_list_end (void *data)
{
  Parser *parser = data;
  parser->field = -1;
  if (parser->in_arguments)
    yajl_gen_array_close (parser->generator);
  if (parser->depth == parser->events_depth)
    parser->events_depth = 0;
  if (parser->depth == parser->gpus_depth)
    parser->gpus_depth = 0;
  parser->depth--;
  return 1;
}

static const yajl_callbacks callbacks = {
  .yajl_null = hear_null,
  .yajl_boolean = hear_boolean,
  .yajl_number = hear_number,
  .yajl_string = hear_string,
  .yajl_start_map = hear_object,
  .yajl_map_key = hear_key,
  .yajl_end_map = hear_object_end,
  .yajl_start_array = hear_list,
  .yajl_end_array = hear_list_end,
};

/* --- The file --------------------------------------------------------------------------------- */

bool
lns_trace_is_one (const char *path)
{
  char head[64] = "";
  gzFile file = gzopen (path, "rbe");
  int n = file == NULL ? -1 : gzread (file, head, sizeof head);
  int at = 0;
  if (file != NULL)
    gzclose (file);
  while (at < n && strchr (" \t\r\n", head[at]) != NULL && head[at] != '\0')
    at++;
  return at < n && (head[at] == '{' || head[at] == '[');
}

/* What is wrong with the JSON, in the words of its parser: one line. */
static void
complain (yajl_handle json, LnsTraceEnd *end)
{
  unsigned char *text = yajl_get_error (json, 0, NULL, 0);
  end->is_cut_off = true;
  snprintf (end->complaint, sizeof end->complaint, "%s",
            text == NULL ? "it is no JSON" : (const char *)text);
  end->complaint[strcspn (end->complaint, "\n")] = '\0';
  yajl_free_error (json, text);
}

/* Feeds the file to JSON to its end. False and ERROR where it cannot be read, or the reader ended it. */
static bool
feed (Parser *parser, gzFile file, yajl_handle json, const char *path, uint64_t size_bytes)
{
  const LnsTraceReader *reader = parser->reader;
  uint8_t *chunk = malloc (CHUNK_BYTES);
  yajl_status status = yajl_status_ok;
  int n = 1;
  if (chunk == NULL)
    return lns_error_set (parser->error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to read it",
                          path);
  while (n > 0 && status == yajl_status_ok)
    {
      if (reader->cancel != NULL && atomic_load (reader->cancel))
        {
          free (chunk);
          return lns_error_set (parser->error, LNS_ERROR_CANCELLED, 0, "%s: cancelled", path);
        }
      n = gzread (file, chunk, CHUNK_BYTES);
      if (n > 0)
        status = yajl_parse (json, chunk, (size_t)n);
      if (reader->progress != NULL && size_bytes > 0)
        reader->progress (fmin ((double)gzoffset (file) / (double)size_bytes, 1), reader->data);
    }
  free (chunk);
  if (status == yajl_status_ok && n == 0)
    status = yajl_complete_parse (json);
  if (status == yajl_status_client_canceled)
    return parser->error->message[0] != '\0' ||
           lns_error_set (parser->error, LNS_ERROR_FORMAT, 0,
                          "%s: an event of more than %zu MiB is none", path, EVENT_MAX_BYTES >> 20);
  if (n < 0)
    {
      parser->end->is_cut_off = true;
      snprintf (parser->end->complaint, sizeof parser->end->complaint, "%s",
                "its compressed data are damaged or end early");
    }
  else if (status != yajl_status_ok)
    complain (json, parser->end);
  return true;
}

bool
lns_trace_read (const char *path,
                const LnsTraceReader *reader,
                LnsTraceEnd *ret_end,
                LnsError *error)
{
  LnsError local = { 0 };
  Parser parser = { .reader = reader, .end = ret_end, .error = &local, .field = -1 };
  gzFile file = gzopen (path, "rbe");
  *ret_end = (LnsTraceEnd){ 0 };
  if (file == NULL)
    return lns_error_set_errno (error, errno, "%s cannot be read", path);
  gzbuffer (file, CHUNK_BYTES);
  struct stat status;
  const uint64_t size_bytes = stat (path, &status) == 0 ? (uint64_t)status.st_size : 0;
  parser.generator = yajl_gen_alloc (NULL);
  yajl_handle json = yajl_alloc (&callbacks, NULL, &parser);
  bool good = parser.generator != NULL && json != NULL;
  if (good)
    {
      yajl_config (json, yajl_dont_validate_strings, 1); /* names may hold any bytes */
      yajl_gen_config (parser.generator, yajl_gen_validate_utf8, 0);
      good = feed (&parser, file, json, path, size_bytes) && local.message[0] == '\0';
    }
  else
    lns_error_set (&local, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to read it", path);
  if (good && ret_end->n_events == 0)
    good =
        lns_error_set (&local, LNS_ERROR_FORMAT, 0,
                       "%s: no trace events are in it%s%s; give a trace that PyTorch's profiler or "
                       "Chrome wrote",
                       path, ret_end->is_cut_off ? ": " : "", ret_end->complaint);
  if (!good)
    lns_error_set (error, local.domain, local.code, "%s", local.message);
  if (json != NULL)
    yajl_free (json);
  if (parser.generator != NULL)
    yajl_gen_free (parser.generator);
  lns_buffer_clear (&parser.texts);
  gzclose (file);
  return good;
}

/* --- Values ----------------------------------------------------------------------------------- */

bool
lns_trace_integer (LnsTraceValue value, int64_t *ret_number)
{
  char *end;
  if (value.text == NULL || value.size_bytes == 0)
    return false;
  errno = 0;
  const bool is_hex = value.text[0] == '0' && (value.text[1] | 0x20) == 'x';
  long long number =
      is_hex ? (long long)strtoull (value.text, &end, 16) : strtoll (value.text, &end, 10);
  if (errno != 0 || end == value.text)
    return false;
  if (*end == '.' || *end == 'e' || *end == 'E')
    {
      double real = strtod (value.text, &end);
      if (!(real > -9e18 && real < 9e18))
        return false;
      number = (long long)real;
    }
  *ret_number = number;
  return *end == '\0';
}

bool
lns_trace_time (LnsTraceValue value, int64_t *ret_ns)
{
  char *end;
  if (value.text == NULL || value.size_bytes == 0)
    return false;
  errno = 0;
  const bool is_negative = value.text[0] == '-';
  long long whole = strtoll (value.text, &end, 10);
  if (errno != 0 || end == value.text || whole > INT64_MAX / 4000 || whole < -INT64_MAX / 4000)
    return false;
  int64_t ns = (int64_t)whole * 1000;
  if (*end == '.')
    {
      int64_t unit = 100;
      for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
        ns += (is_negative ? -1 : 1) * unit * (*end - '0');
    }
  if (*end == 'e' || *end == 'E')
    {
      double real = strtod (value.text, &end) * 1000;
      if (!(real > -2e18 && real < 2e18))
        return false;
      ns = (int64_t)llround (real);
    }
  *ret_ns = ns;
  return *end == '\0';
}
