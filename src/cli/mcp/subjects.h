/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tools by the file that has them: open.c, why.c, what-if.c, steps.c, stats.c, sql.c, events.c,
 * diff.c. */

#pragma once

#include "src/cli/mcp/tool.h"

extern const LnsMcpTool lns_mcp_open;
extern const LnsMcpTool lns_mcp_why, lns_mcp_findings;
extern const LnsMcpTool lns_mcp_what_if;
extern const LnsMcpTool lns_mcp_steps;
extern const LnsMcpTool lns_mcp_stats;
extern const LnsMcpTool lns_mcp_sql;
extern const LnsMcpTool lns_mcp_events;
extern const LnsMcpTool lns_mcp_diff;
