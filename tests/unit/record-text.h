/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes records as a recorded process does, for the tests of their readers. */

#pragma once

#include "capture/wire/layout.h"

#include <stddef.h>
#include <stdint.h>

typedef struct
{
  size_t n_bytes;
  _Alignas(16) uint8_t bytes[65536 - 128];
} RecordText;

/* Each adds a record. TEXT is UTF-8, terminated. */
void
record_push (RecordText *text, uint64_t ticks, unsigned domain, unsigned depth, uint32_t string);
void record_pop (RecordText *text, uint64_t ticks, unsigned domain, unsigned depth);
void record_mark (RecordText *text, uint64_t ticks, unsigned domain, uint32_t string);
void record_thread_end (RecordText *text, uint64_t ticks);
void
record_start (RecordText *text, uint64_t ticks, unsigned domain, uint32_t string, uint64_t range);
void record_end (RecordText *text, uint64_t ticks, uint64_t range);

/* A push with COLOR, CATEGORY and a PAYLOAD of PAYLOAD_TYPE (nvtxPayloadType_t). */
void record_push_long (RecordText *text,
                       uint64_t ticks,
                       uint32_t depth,
                       uint32_t string,
                       uint32_t color,
                       uint32_t category,
                       uint8_t payload_type,
                       uint64_t payload);

/* TYPE is LNS_WIRE_STRING, _REGISTERED, _DOMAIN, _CATEGORY or _THREAD_NAME. */
void
record_named (RecordText *text, LnsWireType type, unsigned domain, uint32_t id, const char *name);
void
record_thread (RecordText *text, uint64_t ticks, uint32_t tid, uint64_t serial, const char *name);
void record_lost (RecordText *text,
                  uint64_t first_ticks,
                  uint64_t last_ticks,
                  uint64_t n_pushes,
                  uint64_t n_pops);

/* A counter whose numbers are of SCHEMA (0: none), and one of its samples. */
void
record_counter (RecordText *text, unsigned domain, uint64_t id, uint64_t schema, const char *name);
void
record_sample (RecordText *text, uint64_t ticks, unsigned domain, uint64_t counter, int64_t value);
