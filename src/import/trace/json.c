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
#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>
#include <zlib.h>

#include "src/import/nsys/queue.h"
#include "src/import/trace/mend.h"
#include "src/import/trace/text.h"

/* A thread of its own reads, inflates and parses, while the caller works on the events that came before. */

/* The chunk grows while one token fills it: the parser looks at a token from its beginning again with each chunk, which
 * would make a long one's cost quadratic. */
#define CHUNK_BYTES     ((size_t)256 << 10)
#define CHUNK_MAX_BYTES ((size_t)8 << 20)
#define BATCH_BYTES     ((size_t)128 << 10) /* of texts, and of items */

/* The parser takes a byte for each list or object that is open, and a compressed file says "[" for nothing. */
#define MAX_DEPTH 10000

/* The generator of "args" writes nothing deeper (YAJL_MAX_DEPTH, less one), and the commas that follow all the same. */
#define ARGUMENTS_MAX_DEPTH 127

typedef enum
{
  IN_NOTHING, /* that is looked at */
  IN_EVENT,
  IN_GPU
} Where;

/* What the next value is, as its key tells. */
typedef enum
{
  NEXT_NOTHING, /* that is looked at */
  NEXT_ARGUMENTS,
  NEXT_ID, /* "id2" */
  NEXT_EVENTS,
  NEXT_GPUS,
  NEXT_BASE
} Next;

/* A text in a batch; at 0 none is. */
typedef struct
{
  uint32_t at, size_bytes;
} Text;

/* An event, or a GPU. */
typedef struct
{
  Where where;
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
  LnsTraceMend mend;
  LnsBuffer mended;
  yajl_handle json;
  LnsTraceEnd *end;
  LnsError error;     /* of the thread that parses */
  yajl_gen generator; /* of "args" */
  LnsQueue queue;
  Batch batches[LNS_QUEUE_SLOTS];
  Batch *filling;
  bool has_begun;
  Item item;        /* this one */
  size_t begins_at; /* in the batch's texts */
  int depth;        /* open lists and objects */
  int events_depth; /* of the list of events; 0: not in it */
  int gpus_depth;
  Where where;
  int field; /* the next value is that; -1: of no interest */
  Next next;
  bool in_arguments, has_arguments, in_id;
  bool is_too_long;  /* what `item` is of */
  bool is_too_deep;  /* its "args" */
  LnsTraceText text; /* what the bytes that were parsed end in */
  bool is_skipping;  /* the rest of that text is not parsed */
  bool has_heard;    /* of these bytes */
  size_t heard_at;   /* so many of them when it did last */
} Parser;

typedef struct
{
  const char *name;
  size_t size_bytes;
  int field;
} Name;

#define NAME(text, field)                                                                          \
 {                                                                                                 \
  text, sizeof text - 1, field                                                                     \
 }

/* Fields of an event, of its "args", and of a GPU, which share the room. */
static const Name event_names[] = {
  NAME ("ph", LNS_TRACE_PHASE),     NAME ("name", LNS_TRACE_NAME), NAME ("cat", LNS_TRACE_CATEGORY),
  NAME ("pid", LNS_TRACE_PID),      NAME ("tid", LNS_TRACE_TID),   NAME ("ts", LNS_TRACE_START),
  NAME ("dur", LNS_TRACE_DURATION), NAME ("id", LNS_TRACE_ID),     NAME ("scope", LNS_TRACE_SCOPE),
};
static const Name id_names[] = {
  NAME ("local", LNS_TRACE_ID_LOCAL),
  NAME ("global", LNS_TRACE_ID),
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
  /* As our own export calls them: by the columns of the tables.                                  */
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
};
static const Name gpu_names[] = {
  NAME ("id", 0),           NAME ("name", 1),         NAME ("totalGlobalMem", 2),
  NAME ("computeMajor", 3), NAME ("computeMinor", 4), NAME ("numSms", 5),
};
#define N_NAMES(names) (sizeof names / sizeof *names)

/* The field that KEY names, -1 for none. */
static int
find_name (const Name *names, size_t n, const unsigned char *key, size_t size_bytes)
{
  for (size_t i = 0; i < n; i++)
    if (names[i].size_bytes == size_bytes && memcmp (names[i].name, key, size_bytes) == 0)
      return names[i].field;
  return -1;
}

static bool
equal (const unsigned char *text, size_t size_bytes, const char *other)
{
  return strlen (other) == size_bytes && memcmp (text, other, size_bytes) == 0;
}

/* --- One event -------------------------------------------------------------------------------- */

static void
begin_batch (Parser *parser)
{
  parser->filling = &parser->batches[parser->queue.n_filled % LNS_QUEUE_SLOTS];
  lns_buffer_reset (&parser->filling->texts);
  lns_buffer_reset (&parser->filling->items);
  lns_buffer_append (&parser->filling->texts, "", 1);
}

static void
begin (Parser *parser, Where where)
{
  parser->item = (Item){ .where = where };
  parser->begins_at = parser->filling->texts.size_bytes;
  yajl_gen_reset (parser->generator, NULL);
  yajl_gen_clear (parser->generator);
  parser->where = where;
  parser->in_arguments = parser->has_arguments = parser->in_id = false;
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

/* The event or GPU has ended. */
static bool
finish (Parser *parser)
{
  Batch *batch = parser->filling;
  const unsigned char *json = NULL;
  size_t size_bytes = 0;

  parser->where = IN_NOTHING;
  if (parser->is_too_long)
    {
      parser->end->n_too_long++;
      return true;
    }
  parser->end->n_too_deep += parser->is_too_deep;
  if (parser->has_arguments && !parser->is_too_deep &&
      yajl_gen_get_buf (parser->generator, &json, &size_bytes) == 0)
    parser->item.arguments = put_text (parser, json, size_bytes);
  lns_buffer_append (&batch->items, &parser->item, sizeof parser->item);
  if (batch->texts.failed || batch->items.failed)
    return lns_error_set (&parser->error, LNS_ERROR_NO_MEMORY, 0,
                          "%s: not enough memory to read it", parser->path);
  if (batch->texts.size_bytes < BATCH_BYTES && batch->items.size_bytes < BATCH_BYTES)
    return true;
  const bool goes_on = _lns_queue_fill (&parser->queue);
  begin_batch (parser);
  return goes_on;
}

/* Notes that what `item` is of has more text than is kept: all of it is left out. */
static void
drop_item (Parser *parser)
{
  parser->is_too_long = true;
  parser->filling->texts.size_bytes = parser->begins_at;
  yajl_gen_reset (parser->generator, NULL);
  yajl_gen_clear (parser->generator);
}

/* Looks whether what is kept of `item`, with N_MORE bytes, is too much. */
static void
check_length (Parser *parser, size_t n_more)
{
  const unsigned char *json;
  size_t n = 0;

  if (parser->where == IN_NOTHING || parser->is_too_long)
    return;
  if (parser->in_arguments)
    yajl_gen_get_buf (parser->generator, &json, &n);
  if (parser->filling->texts.size_bytes - parser->begins_at + n + n_more >
      LNS_TRACE_EVENT_MAX_BYTES)
    drop_item (parser);
}

/* The time that the file's times count from. */
static void
take_base (Parser *parser, const char *text, size_t size_bytes)
{
  char copy[32];
  const int n =
      snprintf (copy, sizeof copy, "%.*s", (int)(size_bytes < 31 ? size_bytes : 31), text);

  (void)lns_trace_integer ((LnsTraceValue){ copy, (size_t)n }, &parser->end->base_ns);
}

/* A number, text or true of the file. */
static void
take (Parser *parser, const char *text, size_t size_bytes)
{
  const int at = parser->where == IN_EVENT ? parser->events_depth + 1 : parser->gpus_depth + 1;
  if (parser->where == IN_NOTHING && parser->next == NEXT_BASE)
    take_base (parser, text, size_bytes);
  parser->next = NEXT_NOTHING;
  check_length (parser, parser->field >= 0 ? size_bytes : 0);
  if (parser->where == IN_NOTHING || parser->field < 0 || parser->is_too_long)
    return;
  const bool is_list = parser->depth == at + 2 && parser->in_arguments &&
                       (parser->field >= LNS_TRACE_GRID && parser->field < LNS_TRACE_REGISTERS);
  if (parser->depth != at + (parser->in_arguments || parser->in_id) && !is_list)
    return;
  const int field = parser->field;
  parser->item.fields[field] = put_text (parser, text, size_bytes);
  /* The second and third of a list are fields of their own. */
  parser->field =
      is_list && field != LNS_TRACE_GRID + 2 && field != LNS_TRACE_BLOCK + 2 ? field + 1 : -1;
}

/* --- What the parser hears -------------------------------------------------------------------- */

/* Notes that a token has ended. Whether it belongs to "args" that are kept. */
static bool
hear (Parser *parser)
{
  parser->has_heard = true;
  parser->heard_at = yajl_get_bytes_consumed (parser->json);
  return parser->in_arguments && !parser->is_too_long && !parser->is_too_deep;
}

static int
hear_null (void *data)
{
  Parser *parser = data;
  parser->field = -1;
  parser->next = NEXT_NOTHING;
  if (hear (parser))
    yajl_gen_null (parser->generator);
  check_length (parser, 0);
  return 1;
}

static int
hear_boolean (void *data, int value)
{
  Parser *parser = data;
  if (hear (parser))
    yajl_gen_bool (parser->generator, value);
  take (parser, value ? "1" : "0", 1);
  return 1;
}

static int
hear_number (void *data, const char *text, size_t size_bytes)
{
  Parser *parser = data;
  if (hear (parser))
    yajl_gen_number (parser->generator, text, size_bytes);
  take (parser, text, size_bytes);
  return 1;
}

static int
hear_string (void *data, const unsigned char *text, size_t size_bytes)
{
  Parser *parser = data;
  if (hear (parser))
    yajl_gen_string (parser->generator, text, size_bytes);
  take (parser, (const char *)text, size_bytes);
  return 1;
}

static int
hear_key (void *data, const unsigned char *key, size_t size_bytes)
{
  Parser *parser = data;
  const bool is_kept = hear (parser);
  parser->field = -1;
  parser->next = NEXT_NOTHING;
  if (parser->where == IN_NOTHING)
    {
      if (parser->depth == 1 && parser->events_depth == 0)
        parser->next = equal (key, size_bytes, "traceEvents")           ? NEXT_EVENTS
                       : equal (key, size_bytes, "deviceProperties")    ? NEXT_GPUS
                       : equal (key, size_bytes, "baseTimeNanoseconds") ? NEXT_BASE
                                                                        : NEXT_NOTHING;
    }
  else if (parser->where == IN_GPU && parser->depth == parser->gpus_depth + 1)
    parser->field = find_name (gpu_names, N_NAMES (gpu_names), key, size_bytes);
  else if (parser->in_arguments)
    {
      if (is_kept)
        yajl_gen_string (parser->generator, key, size_bytes);
      check_length (parser, 0);
      if (parser->depth == parser->events_depth + 2)
        parser->field = find_name (argument_names, N_NAMES (argument_names), key, size_bytes);
    }
  else if (parser->in_id && parser->depth == parser->events_depth + 2)
    parser->field = find_name (id_names, N_NAMES (id_names), key, size_bytes);
  else if (parser->where == IN_EVENT && parser->depth == parser->events_depth + 1)
    {
      parser->next = equal (key, size_bytes, "args")  ? NEXT_ARGUMENTS
                     : equal (key, size_bytes, "id2") ? NEXT_ID
                                                      : NEXT_NOTHING;
      parser->field = find_name (event_names, N_NAMES (event_names), key, size_bytes);
    }
  return 1;
}

/* Counts a list or an object that opens. 0, which ends the parsing, where there are too many. */
static int
deepen (Parser *parser)
{
  if (++parser->depth <= MAX_DEPTH)
    return 1;
  parser->end->is_cut_off = true;
  snprintf (parser->end->complaint, sizeof parser->end->complaint,
            "more than %d lists and objects are open in it", MAX_DEPTH);
  return 0;
}

/* Opens a list or an object in "args"; what is too deep is left out as a whole. */
static void
open_argument (Parser *parser, yajl_gen_status (*open) (yajl_gen))
{
  if (!parser->in_arguments || parser->is_too_long || parser->is_too_deep)
    return;
  parser->is_too_deep = parser->depth - parser->events_depth - 1 > ARGUMENTS_MAX_DEPTH;
  if (parser->is_too_deep)
    yajl_gen_clear (parser->generator);
  else
    open (parser->generator);
}

static int
hear_object (void *data)
{
  Parser *parser = data;
  hear (parser);
  if (!deepen (parser))
    return 0;
  if (parser->where == IN_NOTHING && parser->events_depth != 0 &&
      parser->depth == parser->events_depth + 1)
    begin (parser, IN_EVENT);
  else if (parser->where == IN_NOTHING && parser->gpus_depth != 0 &&
           parser->depth == parser->gpus_depth + 1)
    begin (parser, IN_GPU);
  else if (parser->where == IN_EVENT && parser->next == NEXT_ARGUMENTS)
    parser->in_arguments = parser->has_arguments = true;
  else if (parser->where == IN_EVENT && parser->next == NEXT_ID)
    parser->in_id = true;
  parser->next = NEXT_NOTHING;
  open_argument (parser, yajl_gen_map_open);
  check_length (parser, 0);
  return 1;
}

static int
hear_object_end (void *data)
{
  Parser *parser = data;
  parser->field = -1;
  if (hear (parser))
    yajl_gen_map_close (parser->generator);
  if (parser->depth == parser->events_depth + 2)
    parser->in_arguments = parser->in_id = false;
  parser->depth--;
  return parser->where == IN_NOTHING ||
         parser->depth != (parser->where == IN_EVENT ? parser->events_depth : parser->gpus_depth) ||
         finish (parser);
}

static int
hear_list (void *data)
{
  Parser *parser = data;
  hear (parser);
  if (!deepen (parser))
    return 0;
  if (parser->depth == 1 || parser->next == NEXT_EVENTS)
    parser->events_depth = parser->depth;
  else if (parser->next == NEXT_GPUS)
    parser->gpus_depth = parser->depth;
  parser->next = NEXT_NOTHING;
  open_argument (parser, yajl_gen_array_open);
  check_length (parser, 0);
  return 1;
}

static int
hear_list_end (void *data)
{
  Parser *parser = data;
  parser->field = -1;
  if (hear (parser))
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
  if (n > 3 && memcmp (head, "\xEF\xBB\xBF", 3) == 0)
    at = 3;
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
  end->is_mendable = text != NULL && strstr ((const char *)text, "lexical error") != NULL;
  snprintf (end->complaint, sizeof end->complaint, "%s",
            text == NULL ? "it is no JSON" : (const char *)text);
  end->complaint[strcspn (end->complaint, "\n")] = '\0';
  yajl_free_error (json, text);
}

/* Parses the N BYTES, but for the rest of a text that is too long to be kept. */
static yajl_status
parse_bytes (Parser *parser, const uint8_t *bytes, size_t n)
{
  if (parser->is_skipping)
    {
      const size_t n_rest = _lns_trace_text_rest (&parser->text, bytes, n);
      bytes += n_rest;
      n -= n_rest;
      if (n == 0)
        return yajl_status_ok;
      parser->is_skipping = false;
    }
  parser->has_heard = false;
  parser->heard_at = 0;
  yajl_status status = yajl_parse (parser->json, bytes, n);
  if (status != yajl_status_ok)
    return status;
  if (parser->has_heard)
    parser->text = (LnsTraceText){ 0 };
  _lns_trace_text_follow (&parser->text, bytes + parser->heard_at, n - parser->heard_at);
  if (!parser->text.in_text || parser->text.n_bytes <= LNS_TRACE_EVENT_MAX_BYTES)
    return status;
  if (parser->where != IN_NOTHING && !parser->is_too_long)
    drop_item (parser);
  const char *end = _lns_trace_text_escape_end (&parser->text);
  parser->is_skipping = true;
  return end[0] != '\0' ? yajl_parse (parser->json, (const uint8_t *)end, strlen (end)) : status;
}

/* Parses the next N bytes of the file. */
static yajl_status
parse (Parser *parser, const uint8_t *bytes, size_t n)
{
  static const uint8_t mark[] = { 0xEF, 0xBB, 0xBF }; /* of UTF-8, as Windows writes it           */
  const bool is_marked =
      !parser->has_begun && n >= sizeof mark && memcmp (bytes, mark, sizeof mark) == 0;

  parser->has_begun = true;
  bytes += is_marked ? sizeof mark : 0;
  n -= is_marked ? sizeof mark : 0;
  if (!parser->reader->mends)
    return parse_bytes (parser, bytes, n);
  lns_buffer_reset (&parser->mended);
  _lns_trace_mend (&parser->mend, bytes, n, &parser->mended);
  return parse_bytes (parser, parser->mended.bytes, parser->mended.size_bytes);
}

/* Reads the next bytes of the file into *CHUNK, which grows while a single token fills it. The number of bytes; 0 at
 * the end; -1 where they cannot be read. */
static int
read_chunk (Parser *parser, uint8_t **chunk, size_t *chunk_bytes)
{
  const size_t wanted = parser->text.n_bytes <= CHUNK_BYTES       ? CHUNK_BYTES
                        : parser->text.n_bytes >= CHUNK_MAX_BYTES ? CHUNK_MAX_BYTES
                                                                  : parser->text.n_bytes;
  uint8_t *larger = wanted > *chunk_bytes ? realloc (*chunk, wanted) : NULL;

  if (larger != NULL)
    {
      *chunk = larger;
      *chunk_bytes = wanted;
    }
  const int n =
      gzread (parser->file, *chunk, (unsigned)(wanted < *chunk_bytes ? wanted : *chunk_bytes));
  if (parser->size_bytes > 0)
    parser->filling->fraction =
        fmin ((double)gzoffset (parser->file) / (double)parser->size_bytes, 1);
  return n;
}

/* Notes what keeps the file from being read to its end. N is what gzread () returned last. */
static void
note_end (Parser *parser, int n, yajl_status status)
{
  LnsTraceEnd *end = parser->end;
  int code;

  gzerror (parser->file, &code);
  if (status == yajl_status_ok && (n < 0 || code == Z_BUF_ERROR))
    {
      /* gzread () tells of a stream without an end only here: it returns what was there, then 0.    */
      end->is_cut_off = true;
      snprintf (end->complaint, sizeof end->complaint, "its compressed data %s",
                code == Z_BUF_ERROR ? "end early" : "are damaged");
      return;
    }
  /* A list of events alone needs no end.                                                          */
  if (status == yajl_status_ok && (parser->depth != 1 || parser->events_depth != 1 ||
                                   parser->where != IN_NOTHING || parser->text.n_bytes > 0))
    status = yajl_complete_parse (parser->json);
  if (status != yajl_status_ok)
    complain (parser->json, end);
}

/* Feeds the file to JSON to its end. Leaves the parser's error where it cannot be read. */
static void
feed (Parser *parser)
{
  const atomic_bool *cancel = parser->reader->cancel;
  yajl_status status = yajl_status_ok;
  size_t chunk_bytes = CHUNK_BYTES;
  uint8_t *chunk = malloc (chunk_bytes);
  int n = chunk != NULL ? 1 : 0;

  if (chunk == NULL)
    lns_error_set (&parser->error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to read it",
                   parser->path);
  while (n > 0 && status == yajl_status_ok)
    {
      if (cancel != NULL && atomic_load (cancel))
        {
          lns_error_set (&parser->error, LNS_ERROR_CANCELLED, 0, "%s: cancelled", parser->path);
          break;
        }
      n = read_chunk (parser, &chunk, &chunk_bytes);
      if (n > 0)
        status = parse (parser, chunk, (size_t)n);
      if (!parser->text.in_text && parser->text.n_bytes > LNS_TRACE_EVENT_MAX_BYTES)
        {
          parser->end->is_cut_off = true;
          snprintf (parser->end->complaint, sizeof parser->end->complaint,
                    "it holds a number of more than %zu MiB", LNS_TRACE_EVENT_MAX_BYTES >> 20);
          break;
        }
      if (n <= 0 || (status != yajl_status_ok && status != yajl_status_client_canceled))
        note_end (parser, n, status);
    }
  free (chunk);
}

static void *
parse_thread (void *data)
{
  Parser *parser = data;

  feed (parser);
  _lns_queue_end (&parser->queue, parser->filling->items.size_bytes > 0);
  return NULL;
}

/* --- Who takes the events --------------------------------------------------------------------- */

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
  if (item->where == IN_EVENT)
    return reader->event (&event, reader->data, error);
  const LnsTraceValue *fields = event.fields;
  const LnsTraceGpu gpu = { fields[0], fields[1], fields[2], fields[3], fields[4], fields[5] };
  return reader->gpu (&gpu, reader->data, error);
}

/* Gives the reader all that is parsed. False and ERROR where it ended that. */
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
          parser->end->n_events += items[i].where == IN_EVENT;
          goes_on = give_item (parser->reader, batch, &items[i], error);
        }
      if (parser->reader->progress != NULL && batch->fraction > 0)
        parser->reader->progress (batch->fraction, parser->reader->data);
      _lns_queue_empty (&parser->queue, goes_on);
    }
  return goes_on;
}

/* Parses in a thread of its own. */
static bool
read_all (Parser *parser, LnsError *error)
{
  pthread_t thread;

  _lns_queue_init (&parser->queue);
  begin_batch (parser);
  const int code = pthread_create (&thread, NULL, parse_thread, parser);
  bool good = code == 0 ? give_all (parser, error)
                        : lns_error_set_errno (
                              error, code, "%s: no thread can be started to read it", parser->path);
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
  Parser parser = { .reader = reader, .path = path, .end = ret_end, .field = -1 };

  *ret_end = (LnsTraceEnd){ 0 };
  parser.file = gzopen (path, "rbe");
  if (parser.file == NULL)
    return lns_error_set_errno (error, errno, "%s cannot be read", path);
  gzbuffer (parser.file, CHUNK_BYTES);
  parser.size_bytes = stat (path, &status) == 0 ? (uint64_t)status.st_size : 0;
  parser.generator = yajl_gen_alloc (NULL);
  parser.json = yajl_alloc (&callbacks, NULL, &parser);
  bool good = parser.generator != NULL && parser.json != NULL;
  if (good)
    {
      yajl_config (parser.json, yajl_dont_validate_strings, 1); /* names may hold any bytes */
      yajl_gen_config (parser.generator, yajl_gen_validate_utf8, 0);
      good = read_all (&parser, error);
    }
  else
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to read it", path);
  if (good && ret_end->n_events == 0)
    good =
        lns_error_set (error, LNS_ERROR_FORMAT, 0,
                       "%s: no trace events are in it%s%s; give a trace that PyTorch's profiler or "
                       "Chrome wrote",
                       path, ret_end->is_cut_off ? ": " : "", ret_end->complaint);
  if (parser.json != NULL)
    yajl_free (parser.json);
  if (parser.generator != NULL)
    yajl_gen_free (parser.generator);
  lns_buffer_clear (&parser.mended);
  gzclose (parser.file);
  return good;
}
