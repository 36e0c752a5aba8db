/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A tool: what it is called with, and what it does. One file of this room has the tools of one subject; tools.c lists them. */

#pragma once

#include "src/cli/mcp/answer.h"
#include "src/cli/mcp/reports.h"

/* What a tool is called with. */
typedef struct
{
  const char *name, *help;
  bool is_number, is_list, is_required; /* else a text; a list is of texts                       */
  /* Of numbers; `otherwise` stands where none is given. Of lists, how many texts there may be.   */
  int64_t least, most, otherwise;
  const char *choices; /* of texts: words with commas between them, or NULL: any      */
} LnsMcpParameter;

#define LNS_MCP_MAX_PARAMETERS 8

typedef struct LnsMcpTool LnsMcpTool;

/* One call. */
typedef struct
{
  const LnsMcpTool *tool;
  const json_t *arguments; /* checked                                                            */
  LnsMcpReports *reports;
  const atomic_bool *cancel; /* becomes true if the client does not want the answer any more     */
  LnsMcpAnswer *answer;
} LnsMcpCall;

struct LnsMcpTool
{
  const char *name, *title, *help; /* English: a model reads them                                */
  LnsMcpParameter parameters[LNS_MCP_MAX_PARAMETERS]; /* up to one without a name               */
  /* Fills CALL's answer. False and ERROR, a sentence that says what to do, if there is none. */
  bool (*run) (LnsMcpCall *call, LnsError *error);
};

/* TOOL as tools/list has it. Owned. */
json_t *lns_mcp_tool_describe (const LnsMcpTool *tool)
    __attribute__ ((returns_nonnull, warn_unused_result));

/* Whether ARGUMENTS, an object or NULL, fit the parameters of TOOL. False and ERROR, which names the one that does not. */
bool lns_mcp_tool_check (const LnsMcpTool *tool, const json_t *arguments, LnsError *error);

/* The argument NAME of CALL, a text, or NULL where it is not given. */
const char *lns_mcp_text_of (const LnsMcpCall *call, const char *name);

/* The argument NAME of CALL, an array of texts, or NULL where it is not given. */
const json_t *lns_mcp_list_of (const LnsMcpCall *call, const char *name);

/* The argument NAME of CALL, a number, or what stands for it. */
int64_t lns_mcp_number_of (const LnsMcpCall *call, const char *name);

/* The open report that the argument NAME of CALL is the handle of. NULL and ERROR where there is none. */
LnsMcpReport *lns_mcp_report_of (const LnsMcpCall *call, const char *name, LnsError *error);

/* The parameter of most tools. */
#define LNS_MCP_REPORT                                                                             \
 {                                                                                                 \
  .name = "report", .help = "handle of a report, as open gives it", .is_required = true            \
 }

/* A parameter that says how many rows are given. */
#define LNS_MCP_TOP(otherwise_, most_)                                                             \
 {                                                                                                 \
  .name = "top", .help = "at most this many rows", .is_number = true, .least = 1, .most = most_,   \
  .otherwise = otherwise_                                                                          \
 }
