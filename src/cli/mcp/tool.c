/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/mcp/tool.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/cli/mcp/message.h"

/* --- Describing ------------------------------------------------------------------------------- */

static json_t *
describe_parameter (const LnsMcpParameter *parameter)
{
  json_t *schema = lns_mcp_made (json_pack ("{s:s,s:s}", "type",
                                            parameter->is_number ? "integer"
                                            : parameter->is_list ? "array"
                                                                 : "string",
                                            "description", parameter->help));

  if (parameter->is_list)
    {
      json_object_set_new (schema, "items", lns_mcp_made (json_pack ("{s:s}", "type", "string")));
      json_object_set_new (schema, "minItems", json_integer (parameter->least));
      json_object_set_new (schema, "maxItems", json_integer (parameter->most));
    }
  if (parameter->is_number)
    {
      json_object_set_new (schema, "minimum", json_integer (parameter->least));
      json_object_set_new (schema, "maximum", json_integer (parameter->most));
      json_object_set_new (schema, "default", json_integer (parameter->otherwise));
    }
  if (parameter->choices != NULL)
    {
      json_t *choices = lns_mcp_made (json_array ());
      for (const char *at = parameter->choices; *at != '\0'; at += at[0] == ',')
        {
          const size_t n = strcspn (at, ",");
          json_array_append_new (choices, lns_mcp_bytes (at, n));
          at += n;
        }
      json_object_set_new (schema, "enum", choices);
    }
  return schema;
}

json_t *
lns_mcp_tool_describe (const LnsMcpTool *tool)
{
  json_t *properties = lns_mcp_made (json_object ()), *required = lns_mcp_made (json_array ());

  for (const LnsMcpParameter *parameter = tool->parameters; parameter->name != NULL; parameter++)
    {
      json_object_set_new (properties, parameter->name, describe_parameter (parameter));
      if (parameter->is_required)
        json_array_append_new (required, lns_mcp_text (parameter->name));
    }
  json_t *input =
      lns_mcp_made (json_pack ("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties,
                               "required", required, "additionalProperties", 0));
  json_t *annotations =
      lns_mcp_made (json_pack ("{s:s,s:b,s:b,s:b,s:b}", "title", tool->title, "readOnlyHint", 1,
                               "destructiveHint", 0, "idempotentHint", 1, "openWorldHint", 0));
  return lns_mcp_made (json_pack ("{s:s,s:s,s:s,s:o,s:o,s:o}", "name", tool->name, "title",
                                  tool->title, "description", tool->help, "inputSchema", input,
                                  "outputSchema", lns_mcp_answer_schema (), "annotations",
                                  annotations));
}

/* --- Arguments -------------------------------------------------------------------------------- */

static const LnsMcpParameter *
find_parameter (const LnsMcpTool *tool, const char *name)
{
  for (const LnsMcpParameter *parameter = tool->parameters; parameter->name != NULL; parameter++)
    if (strcmp (parameter->name, name) == 0)
      return parameter;
  return NULL;
}

static bool
is_choice (const char *choices, const char *text)
{
  const size_t n = strlen (text);

  for (const char *at = choices; *at != '\0'; at += at[0] == ',')
    {
      const size_t length = strcspn (at, ",");
      if (length == n && memcmp (at, text, n) == 0)
        return true;
      at += length;
    }
  return false;
}

static bool
check_list (const LnsMcpParameter *parameter, const json_t *value, LnsError *error)
{
  const size_t n = json_array_size (value);
  size_t i;
  const json_t *item;
  bool good = n >= (size_t)parameter->least && n <= (size_t)parameter->most;

  json_array_foreach (value, i, item) good &= json_is_string (item);
  return good || lns_mcp_refuse (error, "%s must be an array of %" PRId64 " to %" PRId64 " strings",
                                 parameter->name, parameter->least, parameter->most);
}

static bool
check_value (const LnsMcpParameter *parameter, const json_t *value, LnsError *error)
{
  if (parameter->is_list)
    return check_list (parameter, value, error);
  if (!parameter->is_number && !json_is_string (value))
    return lns_mcp_refuse (error, "%s must be a string", parameter->name);
  if (!parameter->is_number && parameter->choices != NULL &&
      !is_choice (parameter->choices, json_string_value (value)))
    return lns_mcp_refuse (error, "%s must be one of %s", parameter->name, parameter->choices);
  if (parameter->is_number &&
      (!json_is_integer (value) || json_integer_value (value) < parameter->least ||
       json_integer_value (value) > parameter->most))
    return lns_mcp_refuse (error, "%s must be a whole number from %" PRId64 " to %" PRId64,
                           parameter->name, parameter->least, parameter->most);
  return true;
}

bool
lns_mcp_tool_check (const LnsMcpTool *tool, const json_t *arguments, LnsError *error)
{
  const char *name;
  json_t *value;

  if (arguments != NULL && !json_is_object (arguments))
    return lns_mcp_refuse (error, "arguments must be an object");
  json_object_foreach ((json_t *)arguments, name, value)
  {
    const LnsMcpParameter *parameter = find_parameter (tool, name);
    if (parameter == NULL)
      return lns_mcp_refuse (error, "%s has no parameter “%s”", tool->name, name);
    if (!check_value (parameter, value, error))
      return false;
  }
  for (const LnsMcpParameter *parameter = tool->parameters; parameter->name != NULL; parameter++)
    if (parameter->is_required && json_object_get (arguments, parameter->name) == NULL)
      return lns_mcp_refuse (error, "%s needs %s: %s", tool->name, parameter->name,
                             parameter->help);
  return true;
}

const char *
lns_mcp_text_of (const LnsMcpCall *call, const char *name)
{
  return json_string_value (json_object_get (call->arguments, name));
}

const json_t *
lns_mcp_list_of (const LnsMcpCall *call, const char *name)
{
  return json_object_get (call->arguments, name);
}

int64_t
lns_mcp_number_of (const LnsMcpCall *call, const char *name)
{
  const json_t *value = json_object_get (call->arguments, name);
  return value != NULL ? json_integer_value (value) : find_parameter (call->tool, name)->otherwise;
}

LnsMcpReport *
lns_mcp_report_of (const LnsMcpCall *call, const char *name, LnsError *error)
{
  return lns_mcp_reports_find (call->reports, lns_mcp_text_of (call, name), error);
}
