/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/json.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "src/base/json-reader.h"
#include "src/base/memory.h"
#include "src/import/nsys/queue.h"

/* A second thread reads, inflates and parses the file, while the caller's thread works on the events before. */

#define ZLIB_BYTES  ((size_t)256 << 10)
#define BATCH_BYTES ((size_t)128 << 10) /* of texts, and of items */

/* "args" whose lists and objects nest deeper than this are left out. */
#define ARGUMENTS_MAX_DEPTH 127

/* What a name can stand for besides an LnsTraceField. */
enum
{
  ARGUMENTS = LNS_TRACE_N_FIELDS,
  ID2,
  EVENTS,
  GPUS,
  BASE
};

/* A text in a batch. `at` is 0 if there is none. */
typedef struct
{
  uint32_t at, size_bytes;
} Text;

/* An event or a GPU. */
typedef struct
{
  bool is_gpu;
  Text fields[LNS_TRACE_N_FIELDS];
  Text arguments;
} Item;

typedef struct
{
  LnsBuffer texts; /* each terminated */
  LnsBuffer items; /* Item */
  double fraction; /* of the file */
} Batch;

typedef struct
{
  const LnsTraceReader *reader;
  const char *path;
  uint64_t size_bytes; /* of the file */
  gzFile file;
  LnsTraceEnd *end;
  LnsError error; /* of the thread that parses */
  LnsJsonReader json;
  LnsQueue queue;
  Batch batches[LNS_QUEUE_SLOTS];
  Batch *filling;
  bool is_ended; /* the caller wants no more */
  bool is_list;  /* the file is the list of events alone */

  Item item;           /* the one that is read */
  size_t begins_at;    /* in the batch's texts */
  LnsBuffer arguments; /* its "args", as JSON */
  bool is_too_long;    /* it is left out */
  bool is_too_deep;    /* its "args" are left out */
} Parser;

typedef struct
{
  const char *name;
  size_t size_bytes;
  int field;
} Name;

#define NO_NAME                                                                                    \
 {                                                                                                 \
  NULL, 0, -1                                                                                      \
 }
#define NAME(text, field)                                                                          \
 {                                                                                                 \
  text, sizeof text - 1, field                                                                     \
 }

/* The names of the fields of an event, of its "id2" and "args", and of a GPU, whose fields use the same array. */
static const Name event_names[] = {
  NAME ("ph", LNS_TRACE_PHASE),
  NAME ("name", LNS_TRACE_NAME),
  NAME ("cat", LNS_TRACE_CATEGORY),
  NAME ("pid", LNS_TRACE_PID),
  NAME ("tid", LNS_TRACE_TID),
  NAME ("ts", LNS_TRACE_START),
  NAME ("dur", LNS_TRACE_DURATION),
  NAME ("id", LNS_TRACE_ID),
  NAME ("scope", LNS_TRACE_SCOPE),
  NAME ("args", ARGUMENTS),
  NAME ("id2", ID2),
  NO_NAME,
};
static const Name id_names[] = {
  NAME ("local", LNS_TRACE_ID_LOCAL),
  NAME ("global", LNS_TRACE_ID),
  NO_NAME,
};
static const Name argument_names[] = {
  NAME ("correlation", LNS_TRACE_CORRELATION),
  NAME ("step", LNS_TRACE_STEP),
  NAME ("device", LNS_TRACE_DEVICE),
  NAME ("context", LNS_TRACE_CONTEXT),
  NAME ("stream", LNS_TRACE_STREAM),
  NAME ("grid", LNS_TRACE_GRID),
  NAME ("block", LNS_TRACE_BLOCK),
  NAME ("registers per thread", LNS_TRACE_REGISTERS),
  /* Our own export names fields after the columns of its tables. */
  NAME ("correlationId", LNS_TRACE_CORRELATION),
  NAME ("deviceId", LNS_TRACE_OWN_DEVICE),
  NAME ("contextId", LNS_TRACE_CONTEXT),
  NAME ("streamId", LNS_TRACE_STREAM),
  NAME ("gridX", LNS_TRACE_GRID),
  NAME ("gridY", LNS_TRACE_GRID + 1),
  NAME ("gridZ", LNS_TRACE_GRID + 2),
  NAME ("blockX", LNS_TRACE_BLOCK),
  NAME ("blockY", LNS_TRACE_BLOCK + 1),
  NAME ("blockZ", LNS_TRACE_BLOCK + 2),
  NAME ("registersPerThread", LNS_TRACE_REGISTERS),
  NAME ("staticSharedMemory", LNS_TRACE_SHARED_BYTES),
  NAME ("dynamicSharedMemory", LNS_TRACE_DYNAMIC_BYTES),
  NAME ("copyKind", LNS_TRACE_COPY_KIND),
  NAME ("srcKind", LNS_TRACE_SOURCE_KIND),
  NAME ("dstKind", LNS_TRACE_TARGET_KIND),
  NAME ("memKind", LNS_TRACE_MEMORY_KIND),
  NAME ("syncType", LNS_TRACE_SYNC_TYPE),
  NAME ("returnValue", LNS_TRACE_RESULT),
  NAME ("shared memory", LNS_TRACE_SHARED_BYTES),
  NAME ("bytes", LNS_TRACE_BYTES),
  NAME ("name", LNS_TRACE_ARG_NAME),
  NAME ("labels", LNS_TRACE_LABELS),
  NAME ("table", LNS_TRACE_TABLE),
  NAME ("domain", LNS_TRACE_DOMAIN),
  NAME ("eventClass", LNS_TRACE_CLASS),
  NO_NAME,
};
static const Name gpu_names[] = {
  NAME ("id", 0),
  NAME ("name", 1),
  NAME ("totalGlobalMem", 2),
  NAME ("computeMajor", 3),
  NAME ("computeMinor", 4),
  NAME ("numSms", 5),
  NO_NAME,
};
static const Name file_names[] = {
  NAME ("traceEvents", EVENTS),
  NAME ("deviceProperties", GPUS),
  NAME ("baseTimeNanoseconds", BASE),
  NO_NAME,
};

/* Returns what the key stands for among NAMES, which end with NO_NAME; -1 if it is not among them. */
static int
find_name (const Name *names, const LnsJsonReader *json)
{
  while (names->name != NULL && (names->size_bytes != json->size_bytes ||
                                 memcmp (names->name, json->text, json->size_bytes) != 0))
    names++;
  return names->field;
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

int64_t
_lns_trace_integer_or (LnsTraceValue value, int64_t otherwise)
{
  int64_t number;
  return lns_trace_integer (value, &number) ? number : otherwise;
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

/* --- Events and GPUs -------------------------------------------------------------------------- */

static void
begin_batch (Parser *parser)
{
  parser->filling = &parser->batches[parser->queue.n_filled % LNS_QUEUE_SLOTS];
  lns_buffer_reset (&parser->filling->texts);
  lns_buffer_reset (&parser->filling->items);
  lns_buffer_append (&parser->filling->texts, "", 1);
}

static void
begin (Parser *parser, bool is_gpu)
{
  parser->item = (Item){ .is_gpu = is_gpu };
  parser->begins_at = parser->filling->texts.size_bytes;
  lns_buffer_reset (&parser->arguments);
  parser->is_too_long = parser->is_too_deep = false;
}

/* Puts a copy of TEXT into the batch. */
static Text
put_text (Parser *parser, const void *text, size_t size_bytes)
{
  LnsBuffer *texts = &parser->filling->texts;
  const Text result = { (uint32_t)texts->size_bytes, (uint32_t)size_bytes };

  lns_buffer_append (texts, text, size_bytes);
  lns_buffer_append (texts, "", 1);
  return result;
}

/* Hands over the event or GPU, which has ended. */
static void
finish (Parser *parser)
{
  Batch *batch = parser->filling;

  if (parser->is_too_long)
    {
      parser->end->n_too_long++;
      return;
    }
  parser->end->n_too_deep += parser->is_too_deep;
  if (parser->arguments.size_bytes > 0)
    parser->item.arguments =
        put_text (parser, parser->arguments.bytes, parser->arguments.size_bytes);
  lns_buffer_append (&batch->items, &parser->item, sizeof parser->item);
  if (batch->texts.failed || batch->items.failed || parser->arguments.failed)
    lns_out_of_memory ();
  if (batch->texts.size_bytes >= BATCH_BYTES || batch->items.size_bytes >= BATCH_BYTES)
    {
      parser->is_ended = !_lns_queue_fill (&parser->queue);
      begin_batch (parser);
    }
}

/* Returns whether the last token can be kept too. If the item's texts become too long, the whole item is left out. */
static bool
has_room (Parser *parser)
{
  LnsBuffer *texts = &parser->filling->texts;

  if (!parser->is_too_long &&
      (parser->json.is_too_long || texts->size_bytes - parser->begins_at +
                                           parser->arguments.size_bytes + parser->json.size_bytes >
                                       LNS_TRACE_EVENT_MAX_BYTES))
    {
      parser->is_too_long = true;
      texts->size_bytes = parser->begins_at;
      lns_buffer_reset (&parser->arguments);
    }
  return !parser->is_too_long;
}

/* Keeps TOKEN, the last one, as FIELD. Returns false if it is not a value that a field can have. */
static bool
put_field (Parser *parser, int field, LnsJsonToken token)
{
  const LnsJsonReader *json = &parser->json;
  const bool is_boolean = token == LNS_JSON_TRUE || token == LNS_JSON_FALSE;

  if (!is_boolean && token != LNS_JSON_NUMBER && token != LNS_JSON_STRING)
    return false;
  if (has_room (parser))
    parser->item.fields[field] = is_boolean
                                     ? put_text (parser, token == LNS_JSON_TRUE ? "1" : "0", 1)
                                     : put_text (parser, json->text, json->size_bytes);
  return true;
}

/* Keeps TOKEN, in N_OPEN lists and objects of "args", as FIELD if a field can have it. Returns the field of the next
 * token, or -1: the second and third number of a list have fields of their own. */
static int
put_argument (Parser *parser, int field, LnsJsonToken token, unsigned n_open)
{
  const bool is_list = field >= LNS_TRACE_GRID && field < LNS_TRACE_REGISTERS && n_open == 1;

  if (is_list && token == LNS_JSON_LIST)
    return field;
  if (field < 0 || !put_field (parser, field, token) || !is_list)
    return -1;
  return field != LNS_TRACE_GRID + 2 && field != LNS_TRACE_BLOCK + 2 ? field + 1 : -1;
}

/* Reads "args", which is kept whole as JSON, and keeps some of its members as fields too. */
static void
read_arguments (Parser *parser)
{
  LnsJsonReader *json = &parser->json;
  const unsigned depth = json->depth;
  int field = -1;

  lns_buffer_reset (&parser->arguments);
  for (LnsJsonToken token = LNS_JSON_OBJECT; token != LNS_JSON_END; token = lns_json_next (json))
    {
      parser->is_too_deep |= json->depth >= depth + ARGUMENTS_MAX_DEPTH;
      if (has_room (parser) && !parser->is_too_deep)
        lns_json_append (json, token, &parser->arguments);
      if (json->depth < depth)
        break;
      if (token == LNS_JSON_KEY && json->depth == depth)
        field = find_name (argument_names, json);
      else
        field = put_argument (parser, field, token, json->depth - depth);
    }
  if (parser->is_too_deep)
    lns_buffer_reset (&parser->arguments);
}

/* Reads the rest of an object and keeps the members that NAMES name. */
static void
read_object (Parser *parser, const Name *names)
{
  LnsJsonReader *json = &parser->json;

  while (lns_json_next (json) == LNS_JSON_KEY)
    {
      const int field = find_name (names, json);
      const LnsJsonToken token = lns_json_next (json);
      if (field == ARGUMENTS && token == LNS_JSON_OBJECT)
        read_arguments (parser);
      else if (field == ID2 && token == LNS_JSON_OBJECT)
        read_object (parser, id_names);
      else
        {
          if (field >= 0 && field < LNS_TRACE_N_FIELDS)
            put_field (parser, field, token);
          lns_json_skip (json, token);
        }
    }
}

/* Reads the rest of a list whose objects are events or GPUs. */
static void
read_list (Parser *parser, bool is_of_gpus)
{
  LnsJsonReader *json = &parser->json;
  LnsJsonToken token;

  while (!parser->is_ended && (token = lns_json_next (json)) != LNS_JSON_LIST_END &&
         token != LNS_JSON_END)
    if (token == LNS_JSON_OBJECT)
      {
        begin (parser, is_of_gpus);
        read_object (parser, is_of_gpus ? gpu_names : event_names);
        if (json->end == LNS_JSON_READING)
          finish (parser);
      }
    else
      lns_json_skip (json, token);
}

/* --- The file --------------------------------------------------------------------------------- */

/* Reads the file to its end, also behind the last member that is of interest, to learn whether the file is whole. */
static void
read_file (Parser *parser)
{
  LnsJsonReader *json = &parser->json;
  const LnsJsonToken first = lns_json_next (json);

  parser->is_list = first == LNS_JSON_LIST;
  if (parser->is_list)
    read_list (parser, false);
  while (!parser->is_ended && lns_json_next (json) == LNS_JSON_KEY)
    {
      const int field = find_name (file_names, json);
      const LnsJsonToken token = lns_json_next (json);
      if (field == EVENTS && token == LNS_JSON_LIST)
        read_list (parser, false);
      else if (field == GPUS && token == LNS_JSON_LIST)
        read_list (parser, true);
      else
        {
          if (field == BASE)
            (void)lns_trace_integer ((LnsTraceValue){ json->text, json->size_bytes },
                                     &parser->end->base_ns);
          lns_json_skip (json, token);
        }
    }
  if (!parser->is_ended)
    lns_json_next (json);
}

bool
lns_trace_is_one (const char *path)
{
  char head[64] = "";
  gzFile file = gzopen (path, "rbe");
  int n = file == NULL ? -1 : gzread (file, head, sizeof head);
  int at = 0;
  if (file != NULL)
    gzclose (file);
  if (n > 3 && memcmp (head, "\xEF\xBB\xBF", 3) == 0)
    at = 3;
  while (at < n && strchr (" \t\r\n", head[at]) != NULL && head[at] != '\0')
    at++;
  return at < n && (head[at] == '{' || head[at] == '[');
}

/* Traces compress by a factor of 10 to 40. A file that is made to take long may have a factor of 1,000: a MiB with 25
 * million events. Such a file is refused unless it is small. */
#define INFLATION_MAX      100
#define INFLATED_MIN_BYTES (UINT64_C (64) << 20)

/* Reads more of the file for the JSON reader. */
static size_t
read_bytes (void *data, uint8_t *bytes, size_t size_bytes)
{
  Parser *parser = data;
  const atomic_bool *cancel = parser->reader->cancel;

  if (cancel != NULL && atomic_load (cancel))
    {
      lns_error_set (&parser->error, LNS_ERROR_CANCELLED, 0, "%s: cancelled", parser->path);
      return 0;
    }
  const int n = gzread (parser->file, bytes, (unsigned)size_bytes);
  const uint64_t n_inflated = (uint64_t)gztell (parser->file);
  if (n_inflated > INFLATED_MIN_BYTES &&
      n_inflated / INFLATION_MAX > (uint64_t)gzoffset (parser->file))
    {
      lns_error_set (
          &parser->error, LNS_ERROR_FORMAT, 0,
          "%s holds over %d times its compressed size, which traces do not; if you trust "
          "it, decompress it with gunzip first",
          parser->path, INFLATION_MAX);
      return 0;
    }
  if (parser->size_bytes > 0)
    parser->filling->fraction =
        fmin ((double)gzoffset (parser->file) / (double)parser->size_bytes, 1);
  return n > 0 ? (size_t)n : 0;
}

/* Notes what keeps the file from being read to its end. */
static void
note_end (Parser *parser)
{
  const LnsJsonReader *json = &parser->json;
  LnsTraceEnd *end = parser->end;
  int code;

  gzerror (parser->file, &code);
  /* A file that is only a list of events is whole without the list's end. */
  const bool is_whole = json->end == LNS_JSON_COMPLETE ||
                        (json->end == LNS_JSON_CUT_OFF && parser->is_list && json->depth == 1);
  /* zlib reports a stream without an end only here: before, it returns the bytes that were there, then none. */
  const bool is_damaged = code < 0 && json->end != LNS_JSON_INVALID;
  end->is_cut_off = is_damaged || !is_whole;
  if (is_damaged)
    snprintf (end->complaint, sizeof end->complaint, "its compressed data %s",
              code == Z_BUF_ERROR ? "end early" : "are damaged");
  else if (!is_whole)
    snprintf (end->complaint, sizeof end->complaint, "%s", json->complaint);
}

static void *
parse_thread (void *data)
{
  Parser *parser = data;

  read_file (parser);
  if (!parser->is_ended && parser->error.domain == LNS_ERROR_NONE)
    note_end (parser);
  _lns_queue_end (&parser->queue, parser->filling->items.size_bytes > 0);
  return NULL;
}

/* --- The caller's thread ---------------------------------------------------------------------- */

static LnsTraceValue
value_of (const Batch *batch, Text text)
{
  return text.at != 0
             ? (LnsTraceValue){ (const char *)batch->texts.bytes + text.at, text.size_bytes }
             : (LnsTraceValue){ NULL, 0 };
}

static bool
give_item (const LnsTraceReader *reader, const Batch *batch, const Item *item, LnsError *error)
{
  LnsTraceEvent event;

  for (int i = 0; i < LNS_TRACE_N_FIELDS; i++)
    event.fields[i] = value_of (batch, item->fields[i]);
  event.arguments = value_of (batch, item->arguments);
  if (!item->is_gpu)
    return reader->event (&event, reader->data, error);
  const LnsTraceValue *fields = event.fields;
  const LnsTraceGpu gpu = { fields[0], fields[1], fields[2], fields[3], fields[4], fields[5] };
  return reader->gpu (&gpu, reader->data, error);
}

/* Passes all that is parsed to the reader. Returns false and fills ERROR if the reader ended that. */
static bool
give_all (Parser *parser, LnsError *error)
{
  bool goes_on = true;

  while (goes_on && _lns_queue_wait (&parser->queue))
    {
      const Batch *batch = &parser->batches[parser->queue.n_emptied % LNS_QUEUE_SLOTS];
      const Item *items = (const Item *)batch->items.bytes;
      const size_t n = batch->items.size_bytes / sizeof *items;
      for (size_t i = 0; i < n && goes_on; i++)
        {
          parser->end->n_events += !items[i].is_gpu;
          goes_on = give_item (parser->reader, batch, &items[i], error);
        }
      if (parser->reader->progress != NULL && batch->fraction > 0)
        parser->reader->progress (batch->fraction, parser->reader->data);
      _lns_queue_empty (&parser->queue, goes_on);
    }
  return goes_on;
}

/* Parses the file in a second thread. */
static bool
read_all (Parser *parser, LnsError *error)
{
  pthread_t thread;

  _lns_queue_init (&parser->queue);
  begin_batch (parser);
  const int code = pthread_create (&thread, NULL, parse_thread, parser);
  bool good = code == 0 ? give_all (parser, error)
                        : lns_error_set_errno (error, code, "cannot start a thread to read %s",
                                               parser->path);
  if (code == 0)
    pthread_join (thread, NULL);
  _lns_queue_clear (&parser->queue);
  for (int i = 0; i < LNS_QUEUE_SLOTS; i++)
    {
      lns_buffer_clear (&parser->batches[i].texts);
      lns_buffer_clear (&parser->batches[i].items);
    }
  if (good && parser->error.domain != LNS_ERROR_NONE)
    good = lns_error_set (error, parser->error.domain, parser->error.code, "%s",
                          parser->error.message);
  return good;
}

bool
lns_trace_read (const char *path,
                const LnsTraceReader *reader,
                LnsTraceEnd *ret_end,
                LnsError *error)
{
  struct stat status;
  Parser parser = { .reader = reader, .path = path, .end = ret_end };

  *ret_end = (LnsTraceEnd){ 0 };
  parser.file = gzopen (path, "rbe");
  if (parser.file == NULL)
    return lns_error_set_errno (error, errno, "%s cannot be read", path);
  gzbuffer (parser.file, ZLIB_BYTES);
  parser.size_bytes = stat (path, &status) == 0 ? (uint64_t)status.st_size : 0;
  lns_json_reader_init (&parser.json, read_bytes, &parser, LNS_TRACE_EVENT_MAX_BYTES);
  bool good = read_all (&parser, error);
  if (good && ret_end->n_events + ret_end->n_too_long == 0)
    good = lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s has no trace events%s%s; give a trace that PyTorch's profiler or "
                          "Chrome wrote",
                          path, ret_end->is_cut_off ? ": " : "", ret_end->complaint);
  lns_json_reader_clear (&parser.json);
  lns_buffer_clear (&parser.arguments);
  gzclose (parser.file);
  return good;
}
