/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tools of `lanescope mcp`. To add one: write it in a file of this room, and add its row to the table in tools.c. */

#pragma once

#include "src/cli/mcp/tool.h"

/* All tools, ended by NULL, in the order in which tools/list has them. */
extern const LnsMcpTool *const lns_mcp_tools[];

/* The one called NAME, or NULL. */
const LnsMcpTool *lns_mcp_tool_find (const char *name);
