/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Messages of JSON-RPC 2.0 as the Model Context Protocol has them: one a line of UTF-8. Lines come from strangers. */

#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"

/* A longer line is not kept. */
#define LNS_MCP_LINE_MAX (1 << 20)

/* Codes of errors of JSON-RPC, and of the protocol. */
#define LNS_MCP_PARSE_ERROR         (-32700)
#define LNS_MCP_INVALID_REQUEST     (-32600)
#define LNS_MCP_METHOD_NOT_FOUND    (-32601)
#define LNS_MCP_INVALID_PARAMS      (-32602)
#define LNS_MCP_INTERNAL_ERROR      (-32603)
#define LNS_MCP_UNSUPPORTED_VERSION (-32022)

typedef enum
{
  LNS_MCP_REQUEST,
  LNS_MCP_NOTIFICATION,
  LNS_MCP_RESPONSE, /* to a request that was never made                                          */
  LNS_MCP_INVALID
} LnsMcpMessageKind;

typedef struct
{
  LnsMcpMessageKind kind;
  json_t *
      id; /* owned: of a request a string or an integer; of an invalid message what could be read, or null; else NULL */
  const char *method; /* of a request or notification; belongs to the value that was read        */
  const json_t *params; /* an object that belongs to the value that was read, or NULL            */
  const char *problem;  /* of an invalid message; static                                         */
} LnsMcpMessage;

/* The value that the SIZE bytes at LINE, without its newline, say: a message, or an array of them. Owned; NULL, and in
 * RET_PROBLEM (static) why, if they are not one JSON value, or name a member twice. Values nest 2,048 deep at most. O(size). */
json_t *lns_mcp_message_parse (const char *line, size_t size, const char **ret_problem)
    __attribute__ ((warn_unused_result));

/* What VALUE, which must outlive MESSAGE, is as a message. Free with lns_mcp_message_clear (). */
void lns_mcp_message_read (const json_t *value, LnsMcpMessage *ret_message);
void lns_mcp_message_clear (LnsMcpMessage *message);

/* A JSON string of the SIZE bytes at TEXT, or of TEXT up to its end: what is not UTF-8 becomes U+FFFD. Owned. */
json_t *lns_mcp_bytes (const char *text, size_t size) __attribute__ ((returns_nonnull));
json_t *lns_mcp_text (const char *text) __attribute__ ((returns_nonnull));

/* VALUE, which is stolen, where jansson cannot run out of memory: ends the process if it did. */
json_t *lns_mcp_made (json_t *value) __attribute__ ((returns_nonnull));

/* Sets ERROR, unless it is set already, to a sentence for a model, which is English in all languages. Returns false. */
bool lns_mcp_refuse (LnsError *error, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
