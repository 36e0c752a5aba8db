/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/mcp/tools.h"

#include <string.h>

#include "src/cli/mcp/subjects.h"

const LnsMcpTool *const lns_mcp_tools[] = {
  &lns_mcp_open,  &lns_mcp_why, &lns_mcp_findings, &lns_mcp_what_if, &lns_mcp_steps,
  &lns_mcp_stats, &lns_mcp_sql, &lns_mcp_events,   &lns_mcp_diff,    NULL,
};

const LnsMcpTool *
lns_mcp_tool_find (const char *name)
{
  for (const LnsMcpTool *const *tool = lns_mcp_tools; *tool != NULL; tool++)
    if (strcmp ((*tool)->name, name) == 0)
      return *tool;
  return NULL;
}
