/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/mcp/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/cli/mcp/message.h"

#define MAX_ROWS_BYTES  (24u << 10)
#define MAX_VALUE_BYTES 240
#define MAX_TEXT_BYTES  480

struct LnsMcpAnswer
{
  char *sentence, *report, *statement; /* owned; NULL until they are set                         */
  json_t *rows, *notes, *next;         /* owned; arrays                                          */
  uint64_t n_left_out;
  bool is_least;  /* … at least */
  size_t n_bytes; /* of the rows, roughly */
};

LnsMcpAnswer *
lns_mcp_answer_new (void)
{
  LnsMcpAnswer *answer = lns_calloc (1, sizeof *answer);

  answer->rows = lns_mcp_made (json_array ());
  answer->notes = lns_mcp_made (json_array ());
  answer->next = lns_mcp_made (json_array ());
  return answer;
}

void
lns_mcp_answer_free (LnsMcpAnswer *answer)
{
  if (answer == NULL)
    return;
  json_decref (answer->rows);
  json_decref (answer->notes);
  json_decref (answer->next);
  free (answer->sentence);
  free (answer->report);
  free (answer->statement);
  free (answer);
}

static char *
format_text (const char *format, va_list arguments)
{
  char *text;

  if (vasprintf (&text, format, arguments) < 0)
    lns_out_of_memory ();
  return text;
}

void
lns_mcp_answer_say (LnsMcpAnswer *answer, const char *report, const char *format, ...)
{
  va_list arguments;

  free (answer->sentence);
  free (answer->report);
  va_start (arguments, format);
  answer->sentence = format_text (format, arguments);
  va_end (arguments);
  answer->report = report != NULL ? lns_strdup (report) : NULL;
}

void
lns_mcp_answer_set_statement (LnsMcpAnswer *answer, const char *statement)
{
  free (answer->statement);
  answer->statement = lns_strdup (statement);
}

/* How many bytes of TEXT, at most MOST, are whole characters. */
static size_t
cut_at (const char *text, size_t most)
{
  size_t n = strnlen (text, most + 1);

  for (n = n > most ? most : n; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
    n--;
  return n;
}

/* The first MOST bytes of TEXT, with "…" where there are more. */
static json_t *
cut_text (const char *text, size_t most)
{
  const size_t n = cut_at (text, most);
  char *cut = text[n] != '\0' ? lns_asprintf ("%.*s…", (int)n, text) : NULL;
  json_t *string = lns_mcp_text (cut != NULL ? cut : text);

  free (cut);
  return string;
}

/* The same as one line. */
static json_t *
cut_line (const char *text, size_t most)
{
  char *line = lns_strdup (text);

  for (char *c = line; *c != '\0'; c++)
    *c = (unsigned char)*c < ' ' ? ' ' : *c;
  json_t *string = cut_text (line, most);
  free (line);
  return string;
}

/* Cuts the long texts in VALUES. */
static void
cut_values (json_t *values)
{
  const char *key;
  json_t *value;
  void *safe;

  json_object_foreach_safe (values, safe, key, value)
  {
    const char *text = json_string_value (value);
    if (text != NULL && json_string_length (value) > MAX_VALUE_BYTES)
      json_object_set_new (values, key, cut_text (text, MAX_VALUE_BYTES));
  }
}

static void
set_text (json_t *object, const char *key, const char *text)
{
  if (text != NULL)
    json_object_set_new (object, key, lns_mcp_text (text));
}

bool
lns_mcp_answer_add (LnsMcpAnswer *answer, const LnsMcpRow *row, json_t *values)
{
  json_t *object = lns_mcp_made (json_object ());

  cut_values (values);
  set_text (object, "handle", row->handle);
  if (row->text != NULL)
    json_object_set_new (object, "text", cut_line (row->text, MAX_TEXT_BYTES));
  json_object_set_new (object, "values", lns_mcp_made (values));
  set_text (object, "statement", row->statement);
  set_text (object, "at", row->at);
  const size_t n = json_dumpb (object, NULL, 0, JSON_COMPACT);
  if (answer->n_left_out > 0 ||
      (answer->n_bytes + n > MAX_ROWS_BYTES && json_array_size (answer->rows) > 0))
    {
      answer->n_left_out++;
      json_decref (object);
      return false;
    }
  answer->n_bytes += n;
  json_array_append_new (answer->rows, object);
  return true;
}

void
lns_mcp_answer_leave_out (LnsMcpAnswer *answer, uint64_t n)
{
  answer->n_left_out += n;
}

void
lns_mcp_answer_leave_out_some (LnsMcpAnswer *answer)
{
  answer->n_left_out = 1;
  answer->is_least = true;
}

void
lns_mcp_answer_note (LnsMcpAnswer *answer, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  char *text = format_text (format, arguments);
  va_end (arguments);
  json_array_append_new (answer->notes, cut_line (text, MAX_TEXT_BYTES));
  free (text);
}

void
lns_mcp_answer_next (LnsMcpAnswer *answer, const char *tool, json_t *arguments, const char *why)
{
  json_t *next = lns_mcp_made (json_object ());

  set_text (next, "tool", tool);
  json_object_set_new (next, "arguments", lns_mcp_made (arguments));
  set_text (next, "why", why);
  json_array_append_new (answer->next, next);
}

/* --- As text ---------------------------------------------------------------------------------- */

static bool
ends_with (const char *text, const char *end)
{
  const size_t n = strlen (text), n_end = strlen (end);
  return n >= n_end && strcmp (text + n - n_end, end) == 0;
}

/* Writes a value: times with a unit, shares in percent, all else as it is. */
static void
put_value (const char *key, const json_t *value, FILE *stream)
{
  char text[LNS_FORMAT_SIZE];
  const bool is_time = strcmp (key, "ns") == 0 || ends_with (key, "_ns");

  if (is_time && json_is_integer (value))
    fprintf (stream, "%.*s%s", (int)(strlen (key) - (strlen (key) > 2 ? 3 : 2)), key,
             strlen (key) > 2 ? " " : "");
  else
    fprintf (stream, "%s ", key);
  if (is_time && json_is_integer (value))
    fputs (lns_format_duration (json_integer_value (value), text), stream);
  else if (json_is_real (value) && (ends_with (key, "share") || strcmp (key, "change") == 0))
    fprintf (stream, "%.1f %%", 100 * json_real_value (value));
  else if (json_is_integer (value))
    fprintf (stream, "%" JSON_INTEGER_FORMAT, json_integer_value (value));
  else if (json_is_real (value))
    fprintf (stream, "%.6g", json_real_value (value));
  else if (json_is_string (value))
    fputs (json_string_value (value), stream);
  else
    fputs ("null", stream);
}

static void
put_row (const json_t *row, FILE *stream)
{
  const char *handle = json_string_value (json_object_get (row, "handle")),
             *text = json_string_value (json_object_get (row, "text")),
             *statement = json_string_value (json_object_get (row, "statement")),
             *at = json_string_value (json_object_get (row, "at")), *key, *separator = "";
  json_t *values = json_object_get (row, "values"), *value;

  fprintf (stream, "- %s%s%s%s", handle != NULL ? handle : "", handle != NULL ? " " : "",
           text != NULL ? text : "", text != NULL && json_object_size (values) > 0 ? ": " : "");
  json_object_foreach (values, key, value)
  {
    fputs (separator, stream);
    put_value (key, value, stream);
    separator = ", ";
  }
  /* An empty pointer is to all of what the statement of the answer gives. */
  if (statement != NULL || (at != NULL && *at != '\0'))
    fprintf (stream, " [%s%s%s]", statement != NULL ? statement : "",
             statement != NULL && at != NULL ? " at " : "", at != NULL ? at : "");
  putc ('\n', stream);
}

static json_t *
text_of (const LnsMcpAnswer *answer)
{
  char *text;
  size_t n, i;
  const json_t *item;
  FILE *stream = lns_memory_stream (&text, &n);

  fprintf (stream, "%s\n", answer->sentence != NULL ? answer->sentence : "");
  json_array_foreach (answer->rows, i, item) put_row (item, stream);
  if (answer->n_left_out > 0)
    fprintf (stream, answer->is_least ? "More rows left out.\n" : "%" PRIu64 " more left out.\n",
             answer->n_left_out);
  if (answer->statement != NULL)
    fprintf (stream, "Statement: %s\n", answer->statement);
  json_array_foreach (answer->notes, i, item)
      fprintf (stream, "Note: %s\n", json_string_value (item));
  json_array_foreach (answer->next, i, item)
  {
    char *arguments = json_dumps (json_object_get (item, "arguments"), JSON_COMPACT);
    fprintf (stream, "Next: %s %s to %s\n", json_string_value (json_object_get (item, "tool")),
             arguments != NULL ? arguments : "", json_string_value (json_object_get (item, "why")));
    free (arguments);
  }
  lns_memory_stream_end (stream);
  json_t *string = lns_mcp_bytes (text, n - 1); /* without the last newline */
  free (text);
  return string;
}

/* --- As data ---------------------------------------------------------------------------------- */

json_t *
lns_mcp_answer_result (const LnsMcpAnswer *answer)
{
  json_t *data = lns_mcp_made (json_object ());

  set_text (data, "report", answer->report);
  set_text (data, "answer", answer->sentence != NULL ? answer->sentence : "");
  set_text (data, "statement", answer->statement);
  json_object_set (data, "rows", answer->rows);
  if (answer->n_left_out > 0)
    json_object_set_new (data, "left_out", json_integer ((json_int_t)answer->n_left_out));
  if (json_array_size (answer->notes) > 0)
    json_object_set (data, "notes", answer->notes);
  if (json_array_size (answer->next) > 0)
    json_object_set (data, "next", answer->next);
  return lns_mcp_made (json_pack ("{s:[{s:s,s:o}],s:o,s:b}", "content", "type", "text", "text",
                                  text_of (answer), "structuredContent", data, "isError", 0));
}

json_t *
lns_mcp_answer_schema (void)
{
  static const char schema[] =
      "{\"type\":\"object\",\"required\":[\"answer\",\"rows\"],\"additionalProperties\":false,"
      "\"properties\":{"
      "\"report\":{\"type\":\"string\",\"description\":\"the report's handle\"},"
      "\"answer\":{\"type\":\"string\"},"
      "\"statement\":{\"type\":\"string\",\"description\":\"gives the values of the rows that have "
      "no statement of their own\"},"
      "\"rows\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"values\"],"
      "\"additionalProperties\":false,\"properties\":{"
      "\"handle\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"},"
      "\"values\":{\"type\":\"object\",\"description\":\"numbers; _ns are nanoseconds, share is 0 "
      "to "
      "1\"},"
      "\"statement\":{\"type\":\"string\",\"description\":\"gives the values again: SQL for the "
      "tool "
      "sql, or a command that prints JSON\"},"
      "\"at\":{\"type\":\"string\",\"description\":\"JSON pointer to the values in what the "
      "command "
      "prints\"}}}},"
      "\"left_out\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"so many more rows, or "
      "more, are left "
      "out\"},"
      "\"notes\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
      "\"next\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"tool\","
      "\"arguments\",\"why\"],\"additionalProperties\":false,\"properties\":{"
      "\"tool\":{\"type\":\"string\"},\"arguments\":{\"type\":\"object\"},\"why\":{\"type\":"
      "\"string\"}}}}}}";

  return lns_mcp_made (json_loads (schema, 0, NULL));
}
