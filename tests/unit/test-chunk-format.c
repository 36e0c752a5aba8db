/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/chunk-format.h"

#include "src/base/hash.h"
#include "src/store/write/chunk-builder.h"
#include "src/store/format/event-codec.h"
#include "src/store/format/node.h"

#include "tests/tap.h"
#include "tests/unit/random.h"

static uint64_t random_state = 3;

static const LnsChunkHeader sample_header = { .uuid = { 1, 2, 3 },
                                              .kind = LNS_CHUNK_EVENTS,
                                              .lane_kind = LNS_LANE_NVTX_MARK,
                                              .lane = 0x01020304,
                                              .level = 0,
                                              .sequence = 5,
                                              .revision = 0x1122334455,
                                              .first = 4096,
                                              .n = 2,
                                              .start_ns = -9 };

/* Puts the right checksum into a chunk whose bytes were changed. */
static void
seal (uint8_t *bytes, size_t size_bytes)
{
  memset (bytes + 64, 0, 8);
  uint64_t checksum =
      XXH3_64bits_withSeed (bytes + LNS_CHUNK_HEADER_BYTES, size_bytes - LNS_CHUNK_HEADER_BYTES,
                            lns_hash (bytes, LNS_CHUNK_HEADER_BYTES));
  memcpy (bytes + 64, &checksum, 8);
}

static void
test_build_and_parse (void)
{
  const LnsChunkColumn columns[] = { { 7, LNS_ENCODING_BYTES, (const uint8_t *)"abc", 3 },
                                     { 8, LNS_ENCODING_BYTES, NULL, 0 },
                                     { 9, LNS_ENCODING_BYTES, (const uint8_t *)"defgh", 5 } };
  LnsBuffer out = { 0 };
  LnsChunkView view;
  LnsError error = { 0 };
  lns_chunk_build (&out, &sample_header, columns, 3);
  LNS_CHECK_INT (out.size_bytes, 80 + 2 * 12 + 8);
  LNS_CHECK (lns_chunk_parse (out.bytes, out.size_bytes, &view, &error));
  LNS_CHECK_INT (view.header.kind, LNS_CHUNK_EVENTS);
  LNS_CHECK_INT (view.header.lane_kind, LNS_LANE_NVTX_MARK);
  LNS_CHECK_INT (view.header.lane, 0x01020304);
  LNS_CHECK_INT (view.header.n_columns, 2);
  LNS_CHECK_INT (view.header.sequence, 5);
  LNS_CHECK_INT (view.header.revision, 0x1122334455);
  LNS_CHECK_INT (view.header.first, 4096);
  LNS_CHECK_INT (view.header.n, 2);
  LNS_CHECK_INT (view.header.length_bytes, out.size_bytes);
  LNS_CHECK_INT (view.header.start_ns, -9);
  LNS_CHECK (memcmp (view.header.uuid, sample_header.uuid, 16) == 0);
  LNS_CHECK (lns_chunk_column (&view, 8) == NULL);
  const LnsChunkColumn *column = lns_chunk_column (&view, 9);
  LNS_CHECK_INT (column->size_bytes, 5);
  LNS_CHECK (memcmp (column->bytes, "defgh", 5) == 0);
  /* A column that is not there is zeros; one of plain bytes cannot be decoded. */
  uint64_t wide[2] = { 1, 1 };
  uint32_t narrow[2] = { 1, 1 };
  LNS_CHECK (lns_chunk_decode_u64 (&view, 8, wide) && wide[0] == 0 && wide[1] == 0);
  LNS_CHECK (lns_chunk_decode_u32 (&view, 8, narrow) && narrow[0] == 0 && narrow[1] == 0);
  LNS_CHECK (!lns_chunk_decode_u64 (&view, 7, wide));
  LNS_CHECK (!lns_chunk_decode_u32 (&view, 7, narrow));
  lns_buffer_clear (&out);
}

static void
test_every_bit_counts (void)
{
  const LnsChunkColumn column = { 7, LNS_ENCODING_BYTES, (const uint8_t *)"abcdefgh", 8 };
  LnsBuffer out = { 0 };
  LnsChunkView view;
  lns_chunk_build (&out, &sample_header, &column, 1);
  for (size_t bit = 0; bit < 8 * out.size_bytes; bit++)
    {
      LnsError error = { 0 };
      out.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
      LNS_CHECK (!lns_chunk_parse (out.bytes, out.size_bytes, &view, &error));
      LNS_CHECK_INT (error.domain, LNS_ERROR_FORMAT);
      out.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
  for (size_t size_bytes = 0; size_bytes < out.size_bytes; size_bytes++)
    {
      uint8_t *exact = malloc (size_bytes + 1);
      memcpy (exact, out.bytes, size_bytes);
      LNS_CHECK (!lns_chunk_parse (exact, size_bytes, &view, NULL));
      LnsChunkHeader header;
      LNS_CHECK_INT (lns_chunk_parse_header (exact, size_bytes, &header), size_bytes >= 80);
      free (exact);
    }
  lns_buffer_clear (&out);
}

/* Fields out of bounds under a right checksum: what only a forger makes. */
static void
test_forged_chunks (void)
{
  static const struct
  {
    size_t at;
    uint64_t value;
    unsigned width_bytes;
  } forgeries[] = {
    { 24, 2, 2 },                  /* header version                                              */
    { 26, 0, 1 },                  /* kind                                                        */
    { 26, 6, 1 },                  /* kind                                                        */
    { 26, 5, 1 },                  /* an open event that is two                                   */
    { 34, 33, 2 },                 /* columns                                                     */
    { 34, 9, 2 },                  /* more columns than there is room for                         */
    { 48, UINT64_C (1) << 63, 8 }, /* first ordinal                                               */
    { 56, 4097, 4 },               /* events                                                      */
    { 60, 99, 4 },                 /* length                                                      */
    { 80 + 4, 91, 4 },             /* a column within the directory                               */
    { 80 + 4, 1000, 4 },           /* a column behind the end                                     */
    { 80 + 8, 9, 4 },              /* a column that is too long                                   */
    { 80 + 4, UINT32_MAX, 4 },
    { 80 + 8, UINT32_MAX, 4 },
  };
  const LnsChunkColumn column = { 7, LNS_ENCODING_BYTES, (const uint8_t *)"abcdefgh", 8 };
  LnsBuffer out = { 0 };
  LnsChunkView view;
  for (unsigned i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++)
    {
      lns_chunk_build (&out, &sample_header, &column, 1);
      seal (out.bytes, out.size_bytes);
      LNS_CHECK (lns_chunk_parse (out.bytes, out.size_bytes, &view, NULL));
      memcpy (out.bytes + forgeries[i].at, &forgeries[i].value, forgeries[i].width_bytes);
      seal (out.bytes, out.size_bytes);
      if (lns_chunk_parse (out.bytes, out.size_bytes, &view, NULL))
        LNS_FAIL ("forgery %u was taken", i);
    }
  lns_buffer_clear (&out);
}

/* What the builder's chunks are compared with. */
typedef struct
{
  uint64_t rows[20000][3];
  int64_t start_ns[20000], end_ns[20000];
  uint32_t n_added, n_seen, n_chunks;
} Stream;

static void
check_chunk (Stream *stream, const uint8_t *bytes, size_t size_bytes, int64_t end_ns)
{
  LnsChunkView view;
  LnsError error = { 0 };
  static uint64_t values[LNS_CHUNK_MAX_EVENTS];
  if (!lns_chunk_parse (bytes, size_bytes, &view, &error))
    LNS_FAIL ("%s", error.message);
  LNS_CHECK_INT (view.header.first, stream->n_seen);
  LNS_CHECK_INT (view.header.sequence, stream->n_chunks);
  LNS_CHECK_INT (view.header.start_ns, stream->start_ns[stream->n_seen]);
  LNS_CHECK_INT (end_ns, stream->end_ns[stream->n_seen + view.header.n - 1]);
  for (unsigned column = 0; column < 3; column++)
    {
      LNS_CHECK (lns_chunk_decode_u64 (&view, column + 1, values));
      for (uint32_t i = column == 0; i < view.header.n; i++)
        LNS_CHECK_INT (values[i], stream->rows[stream->n_seen + i][column]);
    }
  stream->n_seen += view.header.n;
  stream->n_chunks++;
}

static void
take_chunk (void *data, const LnsChunkHeader *header, int64_t end_ns, LnsBuffer *blob)
{
  LNS_CHECK (blob->size_bytes <= LNS_CHUNK_MAX_CLOSED_BYTES);
  LNS_CHECK_INT (header->n % LNS_BLOCK, 0);
  check_chunk (data, blob->bytes, blob->size_bytes, end_ns);
}

/* Adds rows whose column 1 has WIDTH random bits and whose column 2 is often 0 for long. */
static void
check_builder (unsigned width, bool with_remove)
{
  static Stream stream;
  stream.n_added = stream.n_seen = stream.n_chunks = 0;
  LnsChunkBuilder builder;
  LnsBuffer tail = { 0 };
  const LnsBuilderColumnKind columns[] = { { 1, 0 },
                                           { 2, LNS_CODEC_TRY_DELTA },
                                           { 3, LNS_CODEC_TRY_DICTIONARY } };
  const LnsChunkHeader header = { .kind = LNS_CHUNK_EVENTS, .lane = 4 };
  lns_chunk_builder_init (&builder, &header, columns, 3);
  int64_t end_ns = -1000;
  for (uint32_t i = 0; i < 20000; i++)
    {
      int64_t start_ns = end_ns + (int64_t)(test_random (&random_state) % 100);
      uint64_t *row = stream.rows[i];
      row[1] = width == 0 ? 0 : test_random (&random_state) >> (64 - width);
      row[2] = i / 1500 % 3 == 1 ? test_random (&random_state) % 7 : 0;
      row[0] = (uint64_t)(start_ns - end_ns);
      if (with_remove)
        {
          uint64_t other[3] = { 0, 5, i % 777 == 0 };
          LNS_CHECK (lns_chunk_builder_add (&builder, start_ns + 5, start_ns + 9, other));
          lns_chunk_builder_remove (&builder, end_ns);
        }
      end_ns = start_ns + 10;
      stream.start_ns[i] = start_ns;
      stream.end_ns[i] = end_ns;
      stream.n_added++;
      uint64_t values[3] = { 0, row[1], row[2] };
      LNS_CHECK (lns_chunk_builder_add (&builder, start_ns, end_ns, values));
      if (i % 1009 == 0)
        {
          uint32_t n_seen = stream.n_seen;
          lns_chunk_builder_tail (&builder, 1, &tail);
          check_chunk (&stream, tail.bytes, tail.size_bytes, end_ns);
          LNS_CHECK_INT (stream.n_seen, i + 1);
          stream.n_seen = n_seen;
          stream.n_chunks--;
        }
      if (lns_chunk_builder_block_is_full (&builder))
        lns_chunk_builder_close_block (&builder, 1, take_chunk, &stream);
    }
  LNS_CHECK (!builder.failed);
  LNS_CHECK_INT (stream.n_seen + lns_chunk_builder_n (&builder), 20000);
  LNS_CHECK (stream.n_chunks >= 4);
  lns_chunk_builder_clear (&builder);
  lns_buffer_clear (&tail);
}

static void
test_builder (void)
{
  for (unsigned width = 0; width <= 64; width += 8)
    check_builder (width, width % 16 == 0);
}

/* Random gaps and durations, of which some overflow, as a forged but well-formed chunk. */
static void
test_events_are_checked (void)
{
  unsigned n_good = 0;
  for (unsigned round = 0; round < 20000; round++)
    {
      LnsBuffer gaps = { 0 }, durations = { 0 }, out = { 0 };
      uint64_t gap[8], duration[8];
      unsigned n = 1 + test_random (&random_state) % 8, shift = test_random (&random_state) % 66;
      for (unsigned i = 0; i < n; i++)
        {
          gap[i] = shift > 63 ? 0 : test_random (&random_state) >> shift;
          duration[i] =
              shift > 63 ? test_random (&random_state) % 3 : test_random (&random_state) >> shift;
        }
      lns_codec_encode_block (&gaps, gap, n, 0);
      lns_codec_encode_block (&durations, duration, n, 0);
      LnsChunkHeader header = sample_header;
      header.n = n;
      header.start_ns = (int64_t)test_random (&random_state);
      const LnsChunkColumn columns[] = {
        { LNS_COLUMN_START, LNS_ENCODING_BLOCKS, gaps.bytes, gaps.size_bytes },
        { LNS_COLUMN_DURATION, LNS_ENCODING_BLOCKS, durations.bytes, durations.size_bytes }
      };
      lns_chunk_build (&out, &header, columns, 2);

      LnsChunkView view;
      int64_t start_ns[8], duration_ns[8];
      uint64_t color[8];
      uint32_t name[8], flags[8];
      const LnsEventColumns decoded = { start_ns, duration_ns, name, flags, { color } };
      LNS_CHECK (lns_chunk_parse (out.bytes, out.size_bytes, &view, NULL));
      bool good = lns_events_decode (&view, &decoded, NULL);
      __int128 end = header.start_ns;
      bool expected = true;
      for (unsigned i = 0; i < n; i++)
        {
          __int128 begin = end + (i == 0 ? 0 : (int64_t)gap[i]);
          expected = expected && (i == 0 || (int64_t)gap[i] >= 0) && (int64_t)duration[i] >= 0;
          end = begin + (int64_t)duration[i];
          expected = expected && begin >= LNS_TIME_MIN && end <= LNS_TIME_MAX;
          if (good)
            {
              LNS_CHECK_INT (start_ns[i], (int64_t)begin);
              LNS_CHECK_INT (duration_ns[i], duration[i]);
              LNS_CHECK (name[i] == 0 && flags[i] == 0 && color[i] == 0);
            }
        }
      LNS_CHECK_INT (good, expected);
      n_good += good;
      view.header.lane_kind = LNS_N_LANE_KINDS;
      LNS_CHECK (!lns_events_decode (&view, &decoded, NULL));
      view.header = header;
      view.header.kind = LNS_CHUNK_NODES;
      LNS_CHECK (!lns_events_decode (&view, &decoded, NULL));
      lns_buffer_clear (&gaps);
      lns_buffer_clear (&durations);
      lns_buffer_clear (&out);
    }
  LNS_CHECK (n_good > 1000 && n_good < 19000);
}

/* One field of a node out of its bounds at a time. */
static void
test_nodes_are_checked (void)
{
  static const struct
  {
    uint64_t span, idle, longest, longest_at;
    unsigned level;
    bool good;
  } cases[] = {
    { 100, 40, 60, 15, 1, true },
    { 100, 101, 0, 0, 1, false },
    { 100, 0, 101, 0, 1, false },
    { 100, 0, 50, 16, 1, false },
    { 100, 0, 50, 16, 2, true },
    { 100, 0, 50, 64, 2, false },
    { 100, 40, 60, 15, 0, false },
    { 100, 40, 60, 15, 31, false },
    { 100, 40, 60, 15, 30, true },
    { UINT64_MAX, 0, 0, 0, 1, false },
    { 100, 0, UINT64_MAX, 0, 1, false },
    { INT64_MAX, 0, 0, 0, 1, false }, /* start + span overflows                                  */
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      const uint64_t values[] = { cases[i].span, cases[i].idle, cases[i].longest,
                                  cases[i].longest_at };
      LnsBuffer encoded[4] = { 0 }, out = { 0 };
      LnsChunkColumn columns[4];
      for (unsigned k = 0; k < 4; k++)
        {
          lns_codec_encode_block (&encoded[k], &values[k], 1, 0);
          columns[k] = (LnsChunkColumn){ (uint16_t)(LNS_NODE_COLUMN_SPAN + k), LNS_ENCODING_BLOCKS,
                                         encoded[k].bytes, encoded[k].size_bytes };
        }
      LnsChunkHeader header = sample_header;
      header.kind = LNS_CHUNK_NODES;
      header.level = (uint16_t)cases[i].level;
      header.start_ns = 7;
      header.n = 1;
      lns_chunk_build (&out, &header, columns, 4);
      LnsChunkView view;
      LnsNode node;
      LNS_CHECK (lns_chunk_parse (out.bytes, out.size_bytes, &view, NULL));
      if (lns_nodes_decode (&view, &node, NULL) != cases[i].good)
        LNS_FAIL ("case %u", i);
      if (cases[i].good)
        {
          LNS_CHECK_INT (node.start_ns, 7);
          LNS_CHECK_INT (node.end_ns, 107);
          LNS_CHECK_INT (node.busy_ns, 100 - cases[i].idle);
        }
      for (unsigned k = 0; k < 4; k++)
        lns_buffer_clear (&encoded[k]);
      lns_buffer_clear (&out);
    }
}

static void
test_lane_kinds (void)
{
  LNS_CHECK (lns_lane_kind_info (LNS_LANE_NONE) == NULL);
  LNS_CHECK (lns_lane_kind_info (LNS_N_LANE_KINDS) == NULL);
  LNS_CHECK (lns_lane_kind_info ((LnsLaneKind)-1) == NULL);
  for (LnsLaneKind kind = LNS_LANE_NVTX_PUSH_POP; kind < LNS_N_LANE_KINDS; kind++)
    {
      const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
      unsigned n_extra = 0;
      for (; info->extra[n_extra] != 0; n_extra++)
        LNS_CHECK (n_extra < LNS_EXTRA_MAX);
      LNS_CHECK_INT (info->extra[n_extra - 1], LNS_COLUMN_REMAINDER);
      for (unsigned i = 0; i < n_extra; i++)
        LNS_CHECK_INT (lns_lane_kind_extra (kind, info->extra[i]), i);
      LNS_CHECK_INT (lns_lane_kind_extra (kind, LNS_COLUMN_START), -1);
    }
  LNS_CHECK_INT (lns_lane_kind_extra (LNS_LANE_NONE, LNS_COLUMN_COLOR), -1);
  LNS_CHECK_INT (lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE), 0);
}

int
main (void)
{
  LNS_TEST (test_build_and_parse);
  LNS_TEST (test_every_bit_counts);
  LNS_TEST (test_forged_chunks);
  LNS_TEST (test_builder);
  LNS_TEST (test_events_are_checked);
  LNS_TEST (test_nodes_are_checked);
  LNS_TEST (test_lane_kinds);
  return lns_tap_done ();
}
