/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the decoder of records: every type as it is written, and bytes that are not records. */

#include "capture/wire/record.h"
#include "tests/tap.h"

#include <errno.h>

/* A record under construction; its size is kept in the place that long records have for it. */
typedef struct
{
  _Alignas(16) uint8_t bytes[8192];
  uint32_t n_bytes;
} Builder;

static void
add (Builder *builder, const void *bytes, uint32_t n_bytes)
{
  memcpy (builder->bytes + builder->n_bytes, bytes, n_bytes);
  builder->n_bytes += n_bytes;
}

static void
add_u64 (Builder *builder, uint64_t value)
{
  add (builder, &value, sizeof value);
}

static void
add_padded (Builder *builder, const char *text)
{
  add (builder, text, (uint32_t)strlen (text));
  while (builder->n_bytes % 8 != 0)
    add (builder, "", 1);
}

static void
finish (Builder *builder)
{
  while (builder->n_bytes % LNS_WIRE_ALIGN_BYTES != 0)
    add (builder, "", 1);
  memcpy (builder->bytes + sizeof (LnsWireHead), &builder->n_bytes, sizeof builder->n_bytes);
}

static LnsWireRecord
decode (const Builder *builder)
{
  LnsWireRecord record;
  LNS_CHECK_INT (lns_wire_record_decode (builder->bytes, builder->n_bytes, &record), 1);
  LNS_CHECK_INT (record.n_bytes, builder->n_bytes);
  return record;
}

#define CHECK_TEXT(text, expected)                                                                 \
 do                                                                                                \
  {                                                                                                \
   LNS_CHECK_INT ((text).n_bytes, strlen (expected));                                              \
   LNS_CHECK (memcmp ((text).bytes, (expected), (text).n_bytes) == 0);                             \
  }                                                                                                \
 while (0)

static void
test_short_events (void)
{
  LnsWireHead heads[] = {
    { .ticks = 5, .type = LNS_WIRE_PUSH, .depth = 254, .domain = 65535, .string = 7 },
    { .ticks = 6, .type = LNS_WIRE_POP, .depth = 3, .domain = 2 },
    { .ticks = 7, .type = LNS_WIRE_THREAD_END },
  };
  size_t at = 0;
  LnsWireRecord record;
  LNS_CHECK_INT (lns_wire_record_next (heads, sizeof heads, &at, &record), 1);
  LNS_CHECK_INT (record.type, LNS_WIRE_PUSH);
  LNS_CHECK_INT (record.ticks, 5);
  LNS_CHECK_INT (record.domain, 65535);
  LNS_CHECK_INT (record.event.depth, 254);
  LNS_CHECK_INT (record.event.string, 7);
  LNS_CHECK_INT (record.event.color_type, 0);
  LNS_CHECK_INT (lns_wire_record_next (heads, sizeof heads, &at, &record), 1);
  LNS_CHECK_INT (record.type, LNS_WIRE_POP);
  LNS_CHECK_INT (lns_wire_record_next (heads, sizeof heads, &at, &record), 1);
  LNS_CHECK_INT (record.type, LNS_WIRE_THREAD_END);
  LNS_CHECK_INT (lns_wire_record_next (heads, sizeof heads, &at, &record), 0);
  LNS_CHECK_INT (at, sizeof heads);
}

static void
test_long_event_with_all_fields (void)
{
  LnsWireLong head = {
    .head = { .ticks = 9, .type = LNS_WIRE_PUSH_LONG, .depth = 255, .string = 4 },
    .fields = LNS_WIRE_FIELD_RANGE | LNS_WIRE_FIELD_DEPTH | LNS_WIRE_FIELD_COLOR |
              LNS_WIRE_FIELD_PAYLOAD | LNS_WIRE_FIELD_BLOBS,
    .payload_type = 3,
    .color_type = 1
  };
  Builder builder = { 0 };
  add (&builder, &head, sizeof head);
  add_u64 (&builder, 0x123456789a);
  add_u64 (&builder, 70000);
  add_u64 (&builder, 0xff00ff00 | UINT64_C (42) << 32);
  add_u64 (&builder, 0x4000000000000000);
  add_u64 (&builder, 2);
  LnsWireBlobBytes blob = { .schema = 1 << 24, .n_bytes = 3 };
  add (&builder, &blob, sizeof blob);
  add_padded (&builder, "abc");
  blob = (LnsWireBlobBytes){ .schema = 17, .n_bytes = 8 };
  add (&builder, &blob, sizeof blob);
  add_padded (&builder, "12345678");
  finish (&builder);

  LnsWireRecord record = decode (&builder);
  LNS_CHECK_INT (record.type, LNS_WIRE_PUSH);
  LNS_CHECK_INT (record.event.depth, 70000);
  LNS_CHECK_INT (record.event.range, 0x123456789a);
  LNS_CHECK_INT (record.event.color, 0xff00ff00);
  LNS_CHECK_INT (record.event.category, 42);
  LNS_CHECK_INT (record.event.payload_type, 3);
  LNS_CHECK_INT (record.event.payload, 0x4000000000000000);
  LnsWireBlob found;
  LNS_CHECK (lns_wire_blob_next (&record.event.blobs, &found));
  LNS_CHECK_INT (found.said.schema, 1 << 24);
  LNS_CHECK_INT (found.data.n_bytes, 3);
  LNS_CHECK (memcmp (found.data.bytes, "abc", 3) == 0);
  LNS_CHECK (lns_wire_blob_next (&record.event.blobs, &found));
  LNS_CHECK_INT (found.said.schema, 17);
  LNS_CHECK (memcmp (found.data.bytes, "12345678", 8) == 0);
  LNS_CHECK (!lns_wire_blob_next (&record.event.blobs, &found));
}

static void
test_texts (void)
{
  static const LnsWireType types[] = { LNS_WIRE_STRING,   LNS_WIRE_REGISTERED,
                                       LNS_WIRE_DOMAIN,   LNS_WIRE_DOMAIN_END,
                                       LNS_WIRE_CATEGORY, LNS_WIRE_THREAD_NAME };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    {
      LnsWireTextBytes head = { .head = { .type = (uint8_t)types[i], .domain = 3, .string = 99 },
                                .n_text_bytes = 5 };
      Builder builder = { 0 };
      add (&builder, &head, sizeof head);
      add (&builder, "h\xffllo", 5);
      finish (&builder);
      LnsWireRecord record = decode (&builder);
      LNS_CHECK_INT (record.type, types[i]);
      LNS_CHECK_INT (record.domain, 3);
      LNS_CHECK_INT (record.named.id, 99);
      CHECK_TEXT (record.named.text, "h\xffllo");
    }
}

static void
test_stream_records (void)
{
  LnsWireThreadBytes thread = {
    .head = { .ticks = 1, .type = LNS_WIRE_THREAD }, .tid = 77, .serial = 5, .name = "loader"
  };
  Builder builder = { 0 };
  add (&builder, &thread, sizeof thread);
  finish (&builder);
  LnsWireRecord record = decode (&builder);
  LNS_CHECK_INT (record.thread.said.tid, 77);
  LNS_CHECK_INT (record.thread.said.serial, 5);
  CHECK_TEXT (record.thread.name, "loader");

  LnsWireLostBytes lost = { .head = { .ticks = 20, .type = LNS_WIRE_LOST },
                            .first_ticks = 10,
                            .losses = { .events = { 1, 2, 3, 4, 5, 6, 7 }, .n_bytes = 448 } };
  builder.n_bytes = 0;
  add (&builder, &lost, sizeof lost);
  finish (&builder);
  record = decode (&builder);
  LNS_CHECK_INT (record.lost.first_ticks, 10);
  LNS_CHECK_INT (record.lost.head.ticks, 20);
  LNS_CHECK_INT (record.lost.losses.events[LNS_WIRE_LOSS_OTHER], 7);
  LNS_CHECK_INT (record.lost.losses.n_bytes, 448);
}

static void
test_resource_and_time_domain (void)
{
  LnsWireResourceBytes resource = { .head = { .type = LNS_WIRE_RESOURCE, .domain = 1 },
                                    .n_text_bytes = 5,
                                    .handle = 3,
                                    .identifier = 0xdeadbeef,
                                    .identifier_type = 0x10001 };
  Builder builder = { 0 };
  add (&builder, &resource, sizeof resource);
  add_padded (&builder, "mutex");
  finish (&builder);
  LnsWireRecord record = decode (&builder);
  LNS_CHECK_INT (record.resource.said.handle, 3);
  LNS_CHECK_INT (record.resource.said.identifier, 0xdeadbeef);
  LNS_CHECK_INT (record.resource.said.identifier_type, 0x10001);
  CHECK_TEXT (record.resource.name, "mutex");

  LnsWireTimeDomainBytes clock = { .head.type = LNS_WIRE_TIME_DOMAIN, .id = 11, .type = 12 };
  builder.n_bytes = 0;
  add (&builder, &clock, sizeof clock);
  finish (&builder);
  record = decode (&builder);
  LNS_CHECK_INT (record.time_domain.id, 11);
  LNS_CHECK_INT (record.time_domain.type, 12);
}

static void
test_schema (void)
{
  LnsWireSchemaBytes schema = { .head.type = LNS_WIRE_SCHEMA,
                                .n_text_bytes = 5,
                                .id = 1u << 24,
                                .type = 1,
                                .static_bytes = 12,
                                .n_entries = 2 };
  Builder builder = { 0 };
  add (&builder, &schema, sizeof schema);
  add_padded (&builder, "batch");
  LnsWireSchemaEntryBytes entry = { .flags = 16,
                                    .type = 17,
                                    .detail = 4,
                                    .offset_bytes = 8,
                                    .time_domain = 100,
                                    .n_name_bytes = 4,
                                    .n_description_bytes = 9,
                                    .n_unit_bytes = 2 };
  for (int i = 0; i < 2; i++)
    {
      add (&builder, &entry, sizeof entry);
      add_padded (&builder, "loss");
      add_padded (&builder, "of a step");
      add_padded (&builder, "ms");
    }
  finish (&builder);
  LnsWireRecord record = decode (&builder);
  LNS_CHECK_INT (record.schema.said.id, 1 << 24);
  LNS_CHECK_INT (record.schema.said.static_bytes, 12);
  CHECK_TEXT (record.schema.name, "batch");
  LnsWireSchemaEntry found;
  for (int i = 0; i < 2; i++)
    {
      LNS_CHECK (lns_wire_schema_entry_next (&record.schema.entries, &found));
      LNS_CHECK_INT (found.said.type, 17);
      LNS_CHECK_INT (found.said.offset_bytes, 8);
      LNS_CHECK_INT (found.said.time_domain, 100);
      CHECK_TEXT (found.name, "loss");
      CHECK_TEXT (found.description, "of a step");
      CHECK_TEXT (found.unit, "ms");
    }
  LNS_CHECK (!lns_wire_schema_entry_next (&record.schema.entries, &found));

  /* One entry more than there is. */
  uint64_t too_many = 3;
  memcpy (builder.bytes + offsetof (LnsWireSchemaBytes, n_entries), &too_many, sizeof too_many);
  LNS_CHECK_INT (lns_wire_record_decode (builder.bytes, builder.n_bytes, &record), -EBADMSG);
}

static void
test_enum (void)
{
  LnsWireEnumBytes enumeration = {
    .head.type = LNS_WIRE_ENUM, .n_text_bytes = 4, .id = 9, .value_bytes = 2, .n_entries = 1
  };
  LnsWireEnumEntryBytes entry = { .value = 5, .is_flag = 1, .n_name_bytes = 4 };
  Builder builder = { 0 };
  add (&builder, &enumeration, sizeof enumeration);
  add_padded (&builder, "mode");
  add (&builder, &entry, sizeof entry);
  add_padded (&builder, "fast");
  finish (&builder);
  LnsWireRecord record = decode (&builder);
  LNS_CHECK_INT (record.enumeration.said.id, 9);
  LNS_CHECK_INT (record.enumeration.said.value_bytes, 2);
  LnsWireEnumEntry found = { 0 };
  LNS_CHECK (lns_wire_enum_entry_next (&record.enumeration.entries, &found));
  LNS_CHECK_INT (found.said.value, 5);
  LNS_CHECK (found.said.is_flag);
  CHECK_TEXT (found.name, "fast");
  LNS_CHECK (!lns_wire_enum_entry_next (&record.enumeration.entries, &found));
}

static void
test_counters (void)
{
  LnsWireCounterBytes counter = { .head = { .type = LNS_WIRE_COUNTER, .domain = 4 },
                                  .n_text_bytes = 4,
                                  .id = 6,
                                  .schema = 17,
                                  .time_domain = 1024,
                                  .n_unit_bytes = 1 };
  Builder builder = { 0 };
  add (&builder, &counter, sizeof counter);
  add_padded (&builder, "heap");
  add_padded (&builder, "B");
  finish (&builder);
  LnsWireRecord record = decode (&builder);
  LNS_CHECK_INT (record.counter.said.id, 6);
  LNS_CHECK_INT (record.counter.said.schema, 17);
  LNS_CHECK_INT (record.counter.said.time_domain, 1024);
  CHECK_TEXT (record.counter.name, "heap");
  CHECK_TEXT (record.counter.unit, "B");

  int64_t value = -5;
  LnsWireSampleBytes sample = { .head = { .ticks = 3, .type = LNS_WIRE_SAMPLE },
                                .n_data_bytes = 8,
                                .counter = 6 };
  builder.n_bytes = 0;
  add (&builder, &sample, sizeof sample);
  add (&builder, &value, sizeof value);
  finish (&builder);
  record = decode (&builder);
  LNS_CHECK_INT (record.sample.said.kind, LNS_WIRE_SAMPLE_INT64);
  LNS_CHECK (memcmp (record.sample.data.bytes, &value, sizeof value) == 0);

  /* A kind that does not exist, and a number of four bytes. */
  builder.bytes[offsetof (LnsWireSampleBytes, kind)] = 4;
  LNS_CHECK_INT (lns_wire_record_decode (builder.bytes, builder.n_bytes, &record), -EBADMSG);
  builder.bytes[offsetof (LnsWireSampleBytes, kind)] = LNS_WIRE_SAMPLE_FLOAT64;
  builder.bytes[offsetof (LnsWireSampleBytes, n_data_bytes)] = 4;
  LNS_CHECK_INT (lns_wire_record_decode (builder.bytes, builder.n_bytes, &record), -EBADMSG);

  LnsWireBatchBytes batch = {
    .head.type = LNS_WIRE_SAMPLE_BATCH, .n_data_bytes = 3, .counter = 6, .n_times_bytes = 16
  };
  builder.n_bytes = 0;
  add (&builder, &batch, sizeof batch);
  add_padded (&builder, "xyz");
  add_u64 (&builder, 100);
  add_u64 (&builder, 200);
  finish (&builder);
  record = decode (&builder);
  LNS_CHECK_INT (record.batch.data.n_bytes, 3);
  LNS_CHECK_INT (record.batch.times.n_bytes, 16);
  LNS_CHECK_INT (record.batch.times.bytes[8], 200);
}

/* A text record of N_TEXT bytes, cut in pieces of N_DATA. */
static LnsWireRecord
piece_of (Builder *builder, const Builder *whole, uint32_t offset, uint32_t n_data)
{
  LnsWirePieceBytes piece = { .head.type = LNS_WIRE_PIECE,
                              .n_data_bytes = n_data,
                              .n_whole_bytes = whole->n_bytes,
                              .offset_bytes = offset };
  builder->n_bytes = 0;
  add (builder, &piece, sizeof piece);
  add (builder, whole->bytes + offset, n_data);
  finish (builder);
  return decode (builder);
}

static void
test_assembler (void)
{
  char text[1000];
  memset (text, 'x', sizeof text);
  LnsWireTextBytes head = { .head = { .type = LNS_WIRE_STRING, .string = 8 },
                            .n_text_bytes = 1000 };
  Builder whole = { 0 }, part;
  add (&whole, &head, sizeof head);
  add (&whole, text, sizeof text);
  finish (&whole);

  LnsWireAssembler assembler = { 0 };
  LnsWireRecord record, piece;
  uint32_t offset = 0;
  for (; offset + 100 < whole.n_bytes; offset += 100)
    {
      piece = piece_of (&part, &whole, offset, 100);
      LNS_CHECK_INT (lns_wire_assembler_add (&assembler, &piece, &record), 0);
    }
  piece = piece_of (&part, &whole, offset, whole.n_bytes - offset);
  LNS_CHECK_INT (lns_wire_assembler_add (&assembler, &piece, &record), 1);
  LNS_CHECK_INT (record.type, LNS_WIRE_STRING);
  LNS_CHECK_INT (record.named.text.n_bytes, 1000);
  LNS_CHECK (memcmp (record.named.text.bytes, text, 1000) == 0);

  /* A gap, and then a new beginning. */
  piece = piece_of (&part, &whole, 0, 100);
  LNS_CHECK_INT (lns_wire_assembler_add (&assembler, &piece, &record), 0);
  piece = piece_of (&part, &whole, 200, 100);
  LNS_CHECK_INT (lns_wire_assembler_add (&assembler, &piece, &record), -EBADMSG);
  piece = piece_of (&part, &whole, 100, 100); /* what would have fitted, fits no longer */
  LNS_CHECK_INT (lns_wire_assembler_add (&assembler, &piece, &record), -EBADMSG);
  piece = piece_of (&part, &whole, 0, whole.n_bytes);
  LNS_CHECK_INT (lns_wire_assembler_add (&assembler, &piece, &record), 1);
  /* What is whole has no further piece. */
  piece = piece_of (&part, &whole, 100, 100);
  LNS_CHECK_INT (lns_wire_assembler_add (&assembler, &piece, &record), -EBADMSG);
  lns_wire_assembler_clear (&assembler);
  LNS_CHECK (assembler.bytes == NULL);
}

static void
test_unknown_types_are_skipped (void)
{
  Builder builder = { 0 };
  LnsWireTextBytes head = { .head.type = 0x81 };
  add (&builder, &head, sizeof head);
  add (&builder, "0123456789012345678901234567890", 31);
  finish (&builder);
  uint32_t first = builder.n_bytes;
  LnsWireHead push = { .type = LNS_WIRE_PUSH };
  add (&builder, &push, sizeof push);
  size_t at = 0;
  LnsWireRecord record;
  LNS_CHECK_INT (lns_wire_record_next (builder.bytes, builder.n_bytes, &at, &record), 1);
  LNS_CHECK_INT (record.type, 0x81);
  LNS_CHECK_INT (at, first);
  LNS_CHECK_INT (lns_wire_record_next (builder.bytes, builder.n_bytes, &at, &record), 1);
  LNS_CHECK_INT (record.type, LNS_WIRE_PUSH);
}

static void
test_bad_bytes (void)
{
  LnsWireRecord record;
  uint8_t zeros[64] = { 0 };
  LNS_CHECK_INT (lns_wire_record_decode (zeros, 0, &record), 0);
  LNS_CHECK_INT (lns_wire_record_decode (zeros, sizeof zeros, &record), -EBADMSG);
  LnsWireHead push = { .type = LNS_WIRE_PUSH };
  LNS_CHECK_INT (lns_wire_record_decode (&push, 15, &record), -EBADMSG);
  push.depth = LNS_WIRE_DEPTH_LONG;
  LNS_CHECK_INT (lns_wire_record_decode (&push, 16, &record), -EBADMSG);

  /* Sizes that are too small, too large or crooked. */
  static const uint32_t sizes[] = { 0, 16, 24, 33, 64, UINT32_MAX };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    {
      _Alignas(16) uint8_t bytes[48] = { [8] = LNS_WIRE_STRING };
      memcpy (bytes + 16, &sizes[i], 4);
      LNS_CHECK_INT (lns_wire_record_decode (bytes, sizeof bytes, &record), -EBADMSG);
    }
  /* A text longer than its record. */
  LnsWireTextBytes head = { .head.type = LNS_WIRE_STRING, .n_bytes = 32, .n_text_bytes = 9 };
  _Alignas(16) uint8_t bytes[48] = { 0 };
  memcpy (bytes, &head, sizeof head);
  LNS_CHECK_INT (lns_wire_record_decode (bytes, sizeof bytes, &record), -EBADMSG);
}

/* Random bytes and random sizes: the decoder stays inside (the sanitizers watch) and always ends. */
static void
test_noise (void)
{
  uint64_t seed = 42;
  uint8_t *bytes = malloc (512);
  int n_decoded = 0;
  for (int round = 0; round < 200000; round++)
    {
      for (int i = 0; i < 512; i += 8)
        {
          seed = seed * 6364136223846793005u + 1442695040888963407u;
          uint64_t word = seed >> 32 | seed << 32;
          /* Small numbers are the likelier sizes. */
          if (seed >> 63)
            word &= 0x0000003f000000ff;
          memcpy (bytes + i, &word, 8);
        }
      uint32_t size = (uint32_t)(seed >> 40) & 0x1f0;
      memcpy (bytes + 16, &size, 4);
      bytes[8] = (uint8_t)(0x20 + round % 0x30);
      size_t at = 0;
      LnsWireRecord record;
      while (lns_wire_record_next (bytes, 512, &at, &record) > 0)
        {
          n_decoded++;
          LNS_CHECK (at <= 512);
        }
    }
  free (bytes);
  LNS_CHECK (n_decoded > 1000);
}

int
main (void)
{
  LNS_TEST (test_short_events);
  LNS_TEST (test_long_event_with_all_fields);
  LNS_TEST (test_texts);
  LNS_TEST (test_stream_records);
  LNS_TEST (test_resource_and_time_domain);
  LNS_TEST (test_schema);
  LNS_TEST (test_enum);
  LNS_TEST (test_counters);
  LNS_TEST (test_assembler);
  LNS_TEST (test_unknown_types_are_skipped);
  LNS_TEST (test_bad_bytes);
  LNS_TEST (test_noise);
  return lns_tap_done ();
}
