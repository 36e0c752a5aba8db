/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of answers whose values come from the statement that stands beside them, so that it gives them again. */

#pragma once

#include "src/cli/mcp/tool.h"

/* The limit of one statement that a tool runs on its own. */
#define LNS_MCP_STATEMENT_NS (INT64_C (60) * 1000000000)

/* Fills ERROR with the reason why the last statement in the report's query failed. Returns false. */
bool lns_mcp_statement_fail (LnsMcpReport *of, LnsError *error);

/* The value of COLUMN in the row of STATEMENT. Owned. */
json_t *lns_mcp_statement_value (sqlite3_stmt *statement, int column)
    __attribute__ ((returns_nonnull, warn_unused_result));

/* Adds a row with the columns of the only row of STATEMENT, one of SQL without parameters, as its values, and HANDLE and TEXT, which may
 * be NULL; nothing where the statement has no row. RET_ANY, which may be NULL, gets whether it has one whose first value is neither
 * NULL nor 0; only such a row is added where RET_ANY is not NULL. False and ERROR if the statement fails. */
bool lns_mcp_add_statement (LnsMcpCall *call,
                            LnsMcpReport *of,
                            const char *handle,
                            const char *text,
                            const char *statement,
                            bool *ret_any,
                            LnsError *error);

/* What a command would print as JSON: lns_mcp_printed_begin () gives the stream to print to, lns_mcp_printed_end () reads it. Owned;
 * NULL and ERROR if it is not JSON, which would be a defect. */
typedef struct
{
  FILE *stream;
  char *text;
  size_t n;
} LnsMcpPrinted;

FILE *lns_mcp_printed_begin (LnsMcpPrinted *printed);
json_t *lns_mcp_printed_end (LnsMcpPrinted *printed, LnsError *error)
    __attribute__ ((warn_unused_result));

/* Adds a row with those of the comma-separated KEYS that the object at the end of AT, a JSON pointer into ROOT, has numbers, texts or
 * null for. False if the answer is full, or there is no such object. */
bool lns_mcp_add_printed (LnsMcpCall *call,
                          const json_t *root,
                          const char *at,
                          const char *keys,
                          const char *handle,
                          const char *text);

/* What AT, a JSON pointer whose parts are names and numbers, leads to in ROOT; NULL: nothing. */
const json_t *lns_mcp_at (const json_t *root, const char *at);
