/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/record-text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
add (RecordText *text, const void *bytes, size_t n_bytes)
{
  if (n_bytes > sizeof text->bytes - text->n_bytes)
    {
      fprintf (stderr, "record-text: the text is full\n");
      abort ();
    }
  memcpy (text->bytes + text->n_bytes, bytes, n_bytes);
  text->n_bytes += n_bytes;
}

/* Pads the record that began at START and writes its size. */
static void
finish (RecordText *text, size_t start)
{
  static const uint8_t zeros[16];
  add (text, zeros, (16 - (text->n_bytes - start) % 16) % 16);
  uint32_t n_bytes = (uint32_t)(text->n_bytes - start);
  memcpy (text->bytes + start + sizeof (LnsWireHead), &n_bytes, sizeof n_bytes);
}

static void
add_head (RecordText *text,
          LnsWireType type,
          uint64_t ticks,
          unsigned domain,
          unsigned depth,
          uint32_t string)
{
  LnsWireHead head = { .ticks = ticks,
                       .type = (uint8_t)type,
                       .depth = (uint8_t)depth,
                       .domain = (uint16_t)domain,
                       .string = string };
  add (text, &head, sizeof head);
}

void
record_push (RecordText *text, uint64_t ticks, unsigned domain, unsigned depth, uint32_t string)
{
  add_head (text, LNS_WIRE_PUSH, ticks, domain, depth, string);
}

void
record_pop (RecordText *text, uint64_t ticks, unsigned domain, unsigned depth)
{
  add_head (text, LNS_WIRE_POP, ticks, domain, depth, 0);
}

void
record_mark (RecordText *text, uint64_t ticks, unsigned domain, uint32_t string)
{
  add_head (text, LNS_WIRE_MARK, ticks, domain, 0, string);
}

void
record_thread_end (RecordText *text, uint64_t ticks)
{
  add_head (text, LNS_WIRE_THREAD_END, ticks, 0, 0, 0);
}

static void
add_range (RecordText *text, const LnsWireHead *head, uint64_t range)
{
  size_t start = text->n_bytes;
  LnsWireLong record = { .head = *head, .fields = LNS_WIRE_FIELD_RANGE };
  add (text, &record, sizeof record);
  add (text, &range, sizeof range);
  finish (text, start);
}

void
record_start (RecordText *text, uint64_t ticks, unsigned domain, uint32_t string, uint64_t range)
{
  LnsWireHead head = {
    .ticks = ticks, .type = LNS_WIRE_START, .domain = (uint16_t)domain, .string = string
  };
  add_range (text, &head, range);
}

void
record_end (RecordText *text, uint64_t ticks, uint64_t range)
{
  LnsWireHead head = { .ticks = ticks, .type = LNS_WIRE_END };
  add_range (text, &head, range);
}

void
record_push_long (RecordText *text,
                  uint64_t ticks,
                  uint32_t depth,
                  uint32_t string,
                  uint32_t color,
                  uint32_t category,
                  uint8_t payload_type,
                  uint64_t payload)
{
  size_t start = text->n_bytes;
  LnsWireLong record = {
    .head = { .ticks = ticks, .type = LNS_WIRE_PUSH_LONG, .string = string },
    .fields = LNS_WIRE_FIELD_DEPTH | LNS_WIRE_FIELD_COLOR | LNS_WIRE_FIELD_PAYLOAD,
    .payload_type = payload_type,
    .color_type = 1,
  };
  record.head.depth = depth < LNS_WIRE_DEPTH_LONG ? (uint8_t)depth : LNS_WIRE_DEPTH_LONG;
  uint64_t depth_field = depth;
  uint32_t color_field[2] = { color, category };
  add (text, &record, sizeof record);
  add (text, &depth_field, sizeof depth_field);
  add (text, color_field, sizeof color_field);
  add (text, &payload, sizeof payload);
  finish (text, start);
}

void
record_named (RecordText *text, LnsWireType type, unsigned domain, uint32_t id, const char *name)
{
  size_t start = text->n_bytes;
  LnsWireTextBytes record = {
    .head = { .type = (uint8_t)type, .domain = (uint16_t)domain, .string = id },
    .n_text_bytes = (uint32_t)strlen (name)
  };
  add (text, &record, sizeof record);
  add (text, name, strlen (name));
  finish (text, start);
}

void
record_thread (RecordText *text, uint64_t ticks, uint32_t tid, uint64_t serial, const char *name)
{
  size_t start = text->n_bytes;
  LnsWireThreadBytes record = { .head = { .ticks = ticks, .type = LNS_WIRE_THREAD },
                                .tid = tid,
                                .serial = serial };
  memcpy (record.name, name, strnlen (name, sizeof record.name));
  add (text, &record, sizeof record);
  finish (text, start);
}

void
record_lost (
    RecordText *text, uint64_t first_ticks, uint64_t last_ticks, uint64_t n_pushes, uint64_t n_pops)
{
  size_t start = text->n_bytes;
  LnsWireLostBytes record = { .head = { .ticks = last_ticks, .type = LNS_WIRE_LOST },
                              .first_ticks = first_ticks };
  record.losses.events[LNS_WIRE_LOSS_PUSH] = n_pushes;
  record.losses.events[LNS_WIRE_LOSS_POP] = n_pops;
  record.losses.n_bytes = (n_pushes + n_pops) * 16;
  add (text, &record, sizeof record);
  finish (text, start);
}

void
record_counter (RecordText *text, unsigned domain, uint64_t id, uint64_t schema, const char *name)
{
  size_t start = text->n_bytes;
  LnsWireCounterBytes record = { .head = { .type = LNS_WIRE_COUNTER, .domain = (uint16_t)domain },
                                 .n_text_bytes = (uint32_t)strlen (name),
                                 .id = id,
                                 .schema = schema };
  add (text, &record, sizeof record);
  add (text, name, strlen (name));
  finish (text, start);
}

void
record_sample (RecordText *text, uint64_t ticks, unsigned domain, uint64_t counter, int64_t value)
{
  size_t start = text->n_bytes;
  LnsWireSampleBytes record = {
    .head = { .ticks = ticks, .type = LNS_WIRE_SAMPLE, .domain = (uint16_t)domain },
    .n_data_bytes = sizeof value,
    .counter = counter,
    .kind = LNS_WIRE_SAMPLE_INT64
  };
  add (text, &record, sizeof record);
  add (text, &value, sizeof value);
  finish (text, start);
}
