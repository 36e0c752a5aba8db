/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The kinds of events that the tables of a report have, and how SQL asks for them. */

#pragma once

#include "src/tables/tables.h"

typedef struct
{
  const char *kind;   /* what one is called: "kernel"                                            */
  const char *plural; /* "kernels"                                                               */
  const char *other;  /* other names of the kind, with commas between them, or ""                 */
  const char *table;
  const char *only;   /* which rows are of the kind, or NULL: all                                */
  const char *name;   /* an expression for its name, as text                                     */
  const char *ids[2]; /* the columns that have ids of strings: its name; or NULL …               */
  const char *text;  /* … and the one that has the name itself, or NULL; without any, `name`    */
  bool is_on_device; /* it has deviceId, streamId and globalPid, else globalTid                 */
  bool has_bytes;
} LnsMcpKind;

/* The kind number I, or NULL behind the last. */
const LnsMcpKind *lns_mcp_kind_at (size_t i);

/* Whether TABLES have rows of KIND's table. O(tables). */
bool lns_mcp_kind_is_there (const LnsMcpKind *kind, LnsTables *tables);
