/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/mcp/message.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/visible.h"

json_t *
lns_mcp_made (json_t *value)
{
  if (value == NULL)
    lns_out_of_memory ();
  return value;
}

json_t *
lns_mcp_bytes (const char *text, size_t size)
{
  json_t *plain = json_stringn (text, size);
  char *valid;
  size_t n;

  if (plain != NULL)
    return plain;
  FILE *stream = lns_memory_stream (&valid, &n);
  for (size_t i = 0; i < size;)
    {
      const size_t length = lns_utf8_sequence_length ((const uint8_t *)text + i, size - i);
      fwrite (length > 0 ? text + i : "\xEF\xBF\xBD", 1, length > 0 ? length : 3, stream);
      i += length > 0 ? length : 1;
    }
  lns_memory_stream_end (stream);
  json_t *string = lns_mcp_made (json_stringn (valid, n));
  free (valid);
  return string;
}

json_t *
lns_mcp_text (const char *text)
{
  return lns_mcp_bytes (text, strlen (text));
}

json_t *
lns_mcp_message_parse (const char *line, size_t size, const char **ret_problem)
{
  json_error_t error;
  json_t *value = json_loadb (line, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

  *ret_problem = value != NULL ? NULL
                 : json_error_code (&error) == json_error_stack_overflow
                     ? "the message nests too deep"
                 : json_error_code (&error) == json_error_duplicate_key
                     ? "the message names a member of an object twice"
                     : "the line is not JSON";
  return value;
}

static void
refuse (LnsMcpMessage *message, const char *problem)
{
  message->kind = LNS_MCP_INVALID;
  message->problem = problem;
}

void
lns_mcp_message_read (const json_t *value, LnsMcpMessage *ret_message)
{
  json_t *id = json_object_get (value, "id");
  const json_t *method = json_object_get (value, "method"),
               *params = json_object_get (value, "params");
  const char *version = json_string_value (json_object_get (value, "jsonrpc"));
  const bool is_answer =
      json_object_get (value, "result") != NULL || json_object_get (value, "error") != NULL;

  *ret_message =
      (LnsMcpMessage){ .kind = id != NULL ? LNS_MCP_REQUEST : LNS_MCP_NOTIFICATION,
                       .method = json_string_value (method),
                       .params = params,
                       .id =
                           json_is_string (id) || json_is_integer (id) ? json_incref (id) : NULL };
  if (!json_is_object (value))
    refuse (ret_message, "a message is an object");
  else if (version == NULL || strcmp (version, "2.0") != 0)
    refuse (ret_message, "jsonrpc is not \"2.0\"");
  else if (method == NULL && is_answer)
    ret_message->kind = LNS_MCP_RESPONSE;
  else if (ret_message->method == NULL)
    refuse (ret_message, "method is not a string");
  else if (id != NULL && ret_message->id == NULL)
    refuse (ret_message, "id is neither a string nor an integer");
  else if (params != NULL && !json_is_object (params))
    refuse (ret_message, "params is not an object");
  if (ret_message->kind == LNS_MCP_INVALID && ret_message->id == NULL)
    ret_message->id = json_null ();
}

void
lns_mcp_message_clear (LnsMcpMessage *message)
{
  json_decref (message->id);
  *message = (LnsMcpMessage){ 0 };
}

bool
lns_mcp_refuse (LnsError *error, const char *format, ...)
{
  va_list arguments;
  char *text;

  if (error->domain != LNS_ERROR_NONE)
    return false;
  va_start (arguments, format);
  const int n = vasprintf (&text, format, arguments);
  va_end (arguments);
  char *shown = n >= 0 ? lns_visible_text (text, (size_t)n) : NULL;
  if (shown == NULL)
    lns_out_of_memory ();
  error->domain = LNS_ERROR_USAGE;
  snprintf (error->message, sizeof error->message, "%s", shown);
  free (shown);
  free (text);
  return false;
}
