/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/definition-codec.h"

#include "tests/tap.h"
#include "tests/unit/random.h"

static uint64_t random_state = 11;

/* Tests that every byte of every struct survives writing and reading, whatever its value; padding
 * does not count. */
static void
check_round_trip (LnsDefinitionKind kind, const LnsDefinition *definition)
{
  LnsBuffer out = { 0 };
  lns_definition_encode (&out, kind, 77, definition);
  uint8_t *exact = malloc (out.size_bytes);
  memcpy (exact, out.bytes, out.size_bytes);
  const uint8_t *at = exact;
  size_t left = out.size_bytes;
  LnsDefinitionKind back_kind;
  uint32_t id;
  LnsDefinition back;
  LNS_CHECK (lns_definition_decode (&at, &left, &back_kind, &id, &back));
  LNS_CHECK (left == 0 && at == exact + out.size_bytes);
  LNS_CHECK_INT (back_kind, kind);
  LNS_CHECK_INT (id, 77);
  LnsBuffer again = { 0 };
  lns_definition_encode (&again, kind, 77, &back);
  LNS_CHECK (again.size_bytes == out.size_bytes &&
             memcmp (again.bytes, exact, out.size_bytes) == 0);
  for (size_t cut = 0; cut < out.size_bytes; cut++)
    {
      at = exact;
      left = cut;
      LNS_CHECK (!lns_definition_decode (&at, &left, &back_kind, &id, &back));
    }
  free (exact);
  lns_buffer_clear (&out);
  lns_buffer_clear (&again);
}

static void
test_each_kind (void)
{
  for (LnsDefinitionKind kind = LNS_DEFINITION_PROCESS; kind < LNS_N_DEFINITION_KINDS; kind++)
    {
      LNS_CHECK (lns_definition_size (kind) > 0);
      LNS_CHECK (lns_definition_size (kind) <= sizeof (LnsDefinition));
      for (unsigned round = 0; round < 100; round++)
        {
          LnsDefinition definition;
          for (size_t i = 0; i < sizeof definition; i += 4)
            {
              uint32_t word =
                  (uint32_t)(test_random (&random_state) >> test_random (&random_state) % 64);
              memcpy ((uint8_t *)&definition + i, &word, 4);
            }
          if (round == 0)
            memset (&definition, 0xFF, sizeof definition);
          if (round == 1)
            memset (&definition, 0, sizeof definition);
          check_round_trip (kind, &definition);
        }
    }
  LNS_CHECK_INT (lns_definition_size ((LnsDefinitionKind)0), 0);
  LNS_CHECK_INT (lns_definition_size (LNS_N_DEFINITION_KINDS), 0);
}

/* Who subtracts two times of a report need not think of overflow. */
static void
test_times_are_bounded (void)
{
  static const int64_t times_ns[][2] = { { INT64_MAX, LNS_TIME_MAX },
                                         { INT64_MIN + 1, LNS_TIME_MIN },
                                         { LNS_TIME_UNKNOWN, LNS_TIME_UNKNOWN },
                                         { -5, -5 } };

  for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++)
    {
      /* Kind 1, id 0, 11 bytes: tag 8 is when the process ended. */
      uint8_t record[18] = { LNS_DEFINITION_PROCESS, 0, 0, 0, 0, 11, 0, 8 };
      const uint64_t folded = (uint64_t)times_ns[i][0] << 1 ^ (uint64_t)(times_ns[i][0] >> 63);
      for (unsigned k = 0; k < 10; k++)
        record[8 + k] = (uint8_t)(k < 9 ? (folded >> 7 * k & 0x7F) | 0x80 : folded >> 63);
      const uint8_t *at = record;
      size_t left = sizeof record;
      LnsDefinitionKind kind;
      uint32_t id;
      LnsDefinition definition;
      LNS_CHECK (lns_definition_decode (&at, &left, &kind, &id, &definition));
      LNS_CHECK_INT (definition.process.end_ns, times_ns[i][1]);
    }
}

static void
test_fields (void)
{
  const LnsProcess process = { .pid = 1,
                               .target_pid = -2,
                               .parent = LNS_ID_NONE,
                               .name = 4,
                               .command_line = 5,
                               .executable = 6,
                               .start_ns = INT64_MIN,
                               .end_ns = LNS_TIME_MAX,
                               .exit_code = -1 };
  LnsBuffer out = { 0 };
  lns_definition_encode (&out, LNS_DEFINITION_PROCESS, 3, &process);
  const uint8_t *at = out.bytes;
  size_t left = out.size_bytes;
  LnsDefinitionKind kind;
  uint32_t id;
  LnsDefinition back;
  LNS_CHECK (lns_definition_decode (&at, &left, &kind, &id, &back));
  LNS_CHECK_INT (back.process.pid, 1);
  LNS_CHECK_INT (back.process.target_pid, -2);
  LNS_CHECK_INT (back.process.parent, LNS_ID_NONE);
  LNS_CHECK_INT (back.process.name, 4);
  LNS_CHECK_INT (back.process.command_line, 5);
  LNS_CHECK_INT (back.process.executable, 6);
  LNS_CHECK_INT (back.process.start_ns, INT64_MIN);
  LNS_CHECK_INT (back.process.end_ns, LNS_TIME_MAX);
  LNS_CHECK_INT (back.process.exit_code, -1);
  lns_buffer_clear (&out);
}

/* The bytes that FORMAT.md fixes, and what a newer writer may add to them. */
static void
test_bytes (void)
{
  LnsBuffer out = { 0 };
  const LnsLane lane = { .track = 300, .ordinal = 0, .kind = LNS_LANE_NVTX_MARK };
  lns_definition_encode (&out, LNS_DEFINITION_LANE, 0x01020304, &lane);
  static const uint8_t expected[] = { 8, 4, 3, 2, 1, 5, 0, 1, 0xAC, 0x02, 3, 6 };
  LNS_CHECK_INT (out.size_bytes, sizeof expected);
  LNS_CHECK (memcmp (out.bytes, expected, sizeof expected) == 0);
  lns_buffer_clear (&out);

  /* A tag that is not known, then a kind that is not known, then one more record. */
  static const uint8_t newer[] = { 8,  0, 0, 0, 0, 5, 0, 200, 0x80,
                                   1,  2, 9,                     /* lane, tag 200       */
                                   99, 1, 0, 0, 0, 2, 0, 1,   1, /* kind 99             */
                                   8,  2, 0, 0, 0, 0, 0 };
  const uint8_t *at = newer;
  size_t left = sizeof newer;
  LnsDefinitionKind kind;
  uint32_t id;
  LnsDefinition back;
  LNS_CHECK (lns_definition_decode (&at, &left, &kind, &id, &back));
  LNS_CHECK_INT (back.lane.ordinal, 9);
  LNS_CHECK (lns_definition_decode (&at, &left, &kind, &id, &back));
  LNS_CHECK_INT (kind, 99);
  LNS_CHECK (lns_definition_decode (&at, &left, &kind, &id, &back));
  LNS_CHECK_INT (id, 2);
  LNS_CHECK_INT (left, 0);
  LNS_CHECK (!lns_definition_decode (&at, &left, &kind, &id, &back));
}

static void
test_hostile_records (void)
{
  static const uint8_t endless[] = { 8,    0,    0,    0,    0,    12,   0,    1,    0xFF, 0xFF,
                                     0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF };
  const uint8_t *at = endless;
  size_t left = sizeof endless;
  LnsDefinitionKind kind;
  uint32_t id;
  LnsDefinition back;
  LNS_CHECK (!lns_definition_decode (&at, &left, &kind, &id, &back));
  for (unsigned round = 0; round < 100000; round++)
    {
      uint8_t bytes[64];
      for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random (&random_state);
      bytes[0] %= 14;
      bytes[5] %= 64;
      bytes[6] = 0;
      size_t size_bytes = test_random (&random_state) % sizeof bytes;
      uint8_t *exact = malloc (size_bytes + 1);
      memcpy (exact, bytes, size_bytes);
      at = exact;
      left = size_bytes;
      while (lns_definition_decode (&at, &left, &kind, &id, &back))
        LNS_CHECK (at + left == exact + size_bytes);
      free (exact);
    }
}

static void
test_strings (void)
{
  LnsBuffer bytes = { 0 }, blob = { 0 };
  uint64_t lengths[300];
  for (unsigned i = 0; i < 300; i++)
    {
      lengths[i] = i % 7 * i % 50;
      for (unsigned k = 0; k < lengths[i]; k++)
        lns_buffer_append_int (&bytes, k == 3 ? 0 : i + k, 1);
      lns_buffer_append_int (&bytes, 0, 1);
    }
  const LnsChunkHeader header = { .sequence = 9, .revision = 3 };
  lns_strings_build (&blob, header, 1000, 300, lengths, bytes.bytes, bytes.size_bytes, 0);
  LnsChunkView view;
  LnsError error = { 0 };
  LNS_CHECK (lns_chunk_parse (blob.bytes, blob.size_bytes, &view, &error));
  LNS_CHECK_INT (view.header.kind, LNS_CHUNK_STRINGS);
  LNS_CHECK_INT (view.header.lane, 1000);
  uint32_t offsets[301];
  const uint8_t *back;
  uint64_t total_bytes;
  LNS_CHECK (lns_strings_parse (&view, offsets, &back, &total_bytes, &error));
  LNS_CHECK_INT (total_bytes, 0);
  LNS_CHECK_INT (offsets[300], bytes.size_bytes);
  LNS_CHECK (memcmp (back, bytes.bytes, bytes.size_bytes) == 0);
  for (unsigned i = 0; i < 300; i++)
    LNS_CHECK_INT (offsets[i + 1] - offsets[i] - 1, lengths[i]);

  /* Lengths that leave the bytes, a NUL that is not there, a wrong kind. */
  lengths[299] += 1;
  lns_strings_build (&blob, header, 1000, 300, lengths, bytes.bytes, bytes.size_bytes, 0);
  LNS_CHECK (lns_chunk_parse (blob.bytes, blob.size_bytes, &view, &error));
  LNS_CHECK (!lns_strings_parse (&view, offsets, &back, &total_bytes, NULL));
  lengths[0] = UINT64_MAX;
  lns_strings_build (&blob, header, 1000, 1, lengths, bytes.bytes, 1, 0);
  LNS_CHECK (lns_chunk_parse (blob.bytes, blob.size_bytes, &view, &error));
  LNS_CHECK (!lns_strings_parse (&view, offsets, &back, &total_bytes, NULL));
  lengths[0] = 2;
  lns_strings_build (&blob, header, 1000, 1, lengths, (const uint8_t *)"abc", 3, 0);
  LNS_CHECK (lns_chunk_parse (blob.bytes, blob.size_bytes, &view, &error));
  LNS_CHECK (!lns_strings_parse (&view, offsets, &back, &total_bytes, NULL));
  lns_strings_build (&blob, header, 1000, 1, lengths, (const uint8_t *)"ab", 3, 123456);
  LNS_CHECK (lns_chunk_parse (blob.bytes, blob.size_bytes, &view, &error));
  LNS_CHECK (lns_strings_parse (&view, offsets, &back, &total_bytes, NULL));
  LNS_CHECK_INT (total_bytes, 123456);
  view.header.kind = LNS_CHUNK_DEFINITIONS;
  LNS_CHECK (!lns_strings_parse (&view, offsets, &back, &total_bytes, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_FORMAT);
  lns_buffer_clear (&bytes);
  lns_buffer_clear (&blob);
}

int
main (void)
{
  LNS_TEST (test_each_kind);
  LNS_TEST (test_times_are_bounded);
  LNS_TEST (test_fields);
  LNS_TEST (test_bytes);
  LNS_TEST (test_hostile_records);
  LNS_TEST (test_strings);
  return lns_tap_done ();
}
