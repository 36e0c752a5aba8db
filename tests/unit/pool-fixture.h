/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the tests of the pool: a small pool, and a record in it. */

#pragma once

#include "capture/wire/pool-session.h"
#include "capture/wire/record.h"
#include "tests/tap.h"

static inline LnsWirePool *
new_pool (uint32_t n_chunks)
{
  LnsWirePoolOptions options = { .serial = 3,
                                 .clock = LNS_WIRE_CLOCK_MONOTONIC,
                                 .chunk_bytes = 4096,
                                 .n_chunks = n_chunks,
                                 .recording = true };
  LnsWirePool *pool = NULL;
  LNS_CHECK_INT (lns_wire_pool_new (&options, &pool), 0);
  return pool;
}

static inline LnsWirePoolUsage
usage_of (const LnsWirePool *pool)
{
  LnsWirePoolUsage usage;
  lns_wire_pool_usage (pool, &usage);
  return usage;
}

/* Adds a push of STRING to chunk INDEX, as its owner. */
static inline void
write_push (const LnsWirePoolView *view, int index, uint32_t string)
{
  LnsWireLine *line = &view->lines[index];
  LnsWireHead *at = (LnsWireHead *)(lns_wire_pool_chunk (view, (uint32_t)index) + line->committed);
  *at = (LnsWireHead){ .type = LNS_WIRE_PUSH, .string = string };
  lns_wire_pool_commit (line, line->committed + sizeof *at);
}
