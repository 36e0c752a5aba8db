/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The answer of a tool: a sentence, rows of values, notes, and what to ask next. Beside the values of a row stands the statement that
 * gives them again: SQL for the tool sql, or `lanescope sql REPORT STATEMENT`, whose only row has the same columns; or a command of
 * lanescope that prints JSON, in which `at` (a JSON pointer, RFC 6901) leads to the same values. One answer has at most 24 KiB of
 * rows, whatever is asked. */

#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LnsMcpAnswer LnsMcpAnswer;

LnsMcpAnswer *lns_mcp_answer_new (void) __attribute__ ((returns_nonnull, warn_unused_result));
void lns_mcp_answer_free (LnsMcpAnswer *answer); /* NULL is fine                                */

/* Sets the sentence, which is one line, and the handle of the report that it is about (may be NULL: of several). */
void lns_mcp_answer_say (LnsMcpAnswer *answer, const char *report, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* Sets the statement of all rows that have none of their own. */
void lns_mcp_answer_set_statement (LnsMcpAnswer *answer, const char *statement);

/* A row; each text may be NULL and is copied. */
typedef struct
{
  const char *handle, *text, *statement, *at;
} LnsMcpRow;

/* Adds ROW with VALUES, an object, which is taken. False if the answer is full: then the row is counted as left out. Texts in VALUES
 * are cut to 240 bytes, that of the row and notes to 480. */
bool lns_mcp_answer_add (LnsMcpAnswer *answer, const LnsMcpRow *row, json_t *values);

/* Says that N more rows were left out. */
void lns_mcp_answer_leave_out (LnsMcpAnswer *answer, uint64_t n);

/* Says that there are more rows, and nobody knows how many. */
void lns_mcp_answer_leave_out_some (LnsMcpAnswer *answer);

void lns_mcp_answer_note (LnsMcpAnswer *answer, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Adds the proposal to call TOOL with ARGUMENTS, an object, which is taken, because of WHY. */
void
lns_mcp_answer_next (LnsMcpAnswer *answer, const char *tool, json_t *arguments, const char *why);

/* The answer as the result of a call: `content` for a model, and `structuredContent` for programs, which says the same. Owned. */
json_t *lns_mcp_answer_result (const LnsMcpAnswer *answer)
    __attribute__ ((returns_nonnull, warn_unused_result));

/* The schema of `structuredContent`. Owned. */
json_t *lns_mcp_answer_schema (void) __attribute__ ((returns_nonnull, warn_unused_result));
