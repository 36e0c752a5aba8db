/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The buffers of a pool that CUPTI fills. They lie behind the chunks, and each has a line of its own:
 *
 *   buffer_lines_offset   n_buffers × LnsWireBufferLine
 *   buffers_offset        n_buffers × buffer_bytes
 *
 * A buffer's life (T is the target, S the session; a buffer that is NONE or FREE is all zero):
 *
 *   | from            | to       | who | how           | before it            | after it           |
 *   |-----------------|----------|-----|---------------|----------------------|--------------------|
 *   | NONE            | FREE     | S   | store release |                      |                    |
 *   | FREE            | NONE     | S   | CAS           |                      | memory given back  |
 *   | FREE            | LENT     | T   | CAS acquire   |                      | claimed_ticks set; |
 *   |                 |          |     |               |                      | CUPTI writes to it |
 *   | LENT            | COMPLETE | T   | store release | valid: bytes that    | CUPTI never writes |
 *   |                 |          |     |               | CUPTI says it filled | to it again        |
 *   | COMPLETE        | COMPLETE | T   | compacted by  | the record's wire    |                    |
 *   |                 |          |     | store release | form is committed    |                    |
 *   | COMPLETE        | FREE     | T   | store release | bytes, valid,        |                    |
 *   |                 |          |     |               | compacted and        |                    |
 *   |                 |          |     |               | claimed_ticks zeroed |                    |
 *   | LENT, COMPLETE  | NONE     | S   | store release | the process is gone, | memory given back  |
 *   |                 |          |     |               | all was salvaged     |                    |
 *
 * A process that dies leaves LENT buffers, whose records end at a kind of 0, and COMPLETE buffers, whose
 * records from COMPACTED to VALID are nowhere else. The records are CUPTI's own structs;
 * LnsWireCuptiSizes has the size of each kind. A record whose times are 0 was not finished. */

#pragma once

#include <stdint.h>

/* CUPTI gives a buffer back only when the last of its records is complete, so records wait for each other in a large
 * one. */
#define LNS_WIRE_BUFFER_BYTES    (128u << 10)
#define LNS_WIRE_BUFFERS_DEFAULT 2048u /* 256 MiB of address space */
#define LNS_WIRE_BUFFERS_MAX     4096u
#define LNS_WIRE_CUPTI_KINDS     128u

typedef enum
{
  LNS_WIRE_BUFFER_NONE = 0, /* not lent to the target */
  LNS_WIRE_BUFFER_FREE = 1,
  LNS_WIRE_BUFFER_LENT = 2, /* CUPTI has it */
  LNS_WIRE_BUFFER_COMPLETE = 3
} LnsWireBufferState;

typedef struct
{
  _Alignas(64) uint32_t state; /* LnsWireBufferState */
  uint32_t valid;
  uint32_t compacted;
  uint32_t n_uses;        /* how many times it was lent to CUPTI */
  uint64_t claimed_ticks; /* when it was; 0: not set yet, or it is not lent */
  uint8_t reserved[40];
} LnsWireBufferLine;
_Static_assert(sizeof (LnsWireBufferLine) == 64, "a line of the cache");

/* Bytes of a record of each kind in the CUPTI that the process has loaded; 0: it has no such kind.
 * Written by the target before its first buffer is LENT. */
typedef struct
{
  uint32_t version; /* cuptiGetVersion(); 1: unknown; 0: the rest is not known, or not yet */
  uint32_t reserved;
  uint16_t record_bytes[LNS_WIRE_CUPTI_KINDS];
} LnsWireCuptiSizes;
