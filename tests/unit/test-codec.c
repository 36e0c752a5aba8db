/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/codec.h"

#include <endian.h>

#include "tests/tap.h"

static uint64_t random_state = 1;

/* splitmix64 */
static uint64_t
next_random (void)
{
  uint64_t z = random_state += UINT64_C (0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C (0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C (0x94D049BB133111EB);
  return z ^ z >> 31;
}

static const LnsCodecTries every_try[] = { LNS_CODEC_PLAIN, LNS_CODEC_TRY_DELTA,
                                           LNS_CODEC_TRY_DICTIONARY,
                                           LNS_CODEC_TRY_DELTA | LNS_CODEC_TRY_DICTIONARY };

/* Encodes and decodes N values in both widths; returns the encoded size. */
static size_t
round_trip (const uint64_t *values, size_t n, LnsCodecTries tries)
{
  LnsBuffer out = { 0 };
  for (size_t i = 0; i < n; i += LNS_BLOCK)
    {
      size_t before = out.size_bytes;
      lns_codec_encode_block (&out, values + i, n - i < LNS_BLOCK ? (unsigned)(n - i) : LNS_BLOCK,
                              tries);
      LNS_CHECK (out.size_bytes - before <= LNS_BLOCK_MAX_BYTES);
    }
  LNS_CHECK (!out.failed);
  /* In a room of its own, so that a sanitizer sees each byte read past the end. */
  uint8_t *exact = malloc (out.size_bytes);
  uint64_t *wide = malloc (n * sizeof *wide);
  uint32_t *narrow = malloc (n * sizeof *narrow);
  memcpy (exact, out.bytes, out.size_bytes);
  LNS_CHECK (lns_codec_decode_u64 (exact, out.size_bytes, wide, n));
  LNS_CHECK (lns_codec_decode_u32 (exact, out.size_bytes, narrow, n));
  for (size_t i = 0; i < n; i++)
    {
      LNS_CHECK_INT (wide[i], values[i]);
      LNS_CHECK_INT (narrow[i], (uint32_t)values[i]);
    }
  size_t size_bytes = out.size_bytes;
  LNS_CHECK (!lns_codec_decode_u64 (exact, size_bytes - 1, wide, n));
  LNS_CHECK (!lns_codec_decode_u32 (exact, size_bytes - 1, narrow, n));
  lns_buffer_append_int (&out, 0, 1);
  LNS_CHECK (!lns_codec_decode_u64 (out.bytes, out.size_bytes, wide, n));
  free (exact);
  free (wide);
  free (narrow);
  lns_buffer_clear (&out);
  return size_bytes;
}

/* Packs by the definition: bit b of value i is bit i × width + b. */
static void
test_pack_each_width (void)
{
  for (unsigned width = 0; width <= 64; width++)
    {
      uint64_t values[LNS_BLOCK], back[LNS_BLOCK];
      uint8_t packed[16 * 64], expected[16 * 64] = { 0 };
      for (unsigned i = 0; i < LNS_BLOCK; i++)
        {
          values[i] = width == 0 ? 0 : next_random () >> (64 - width);
          for (unsigned b = 0; b < width; b++)
            if (values[i] >> b & 1)
              expected[(i * width + b) / 8] |= (uint8_t)(1 << (i * width + b) % 8);
        }
      memset (packed, 0xAA, sizeof packed);
      lns_codec_pack[width](values, packed);
      LNS_CHECK (memcmp (packed, expected, 16 * width) == 0);
      LNS_CHECK (width == 64 || packed[16 * width] == 0xAA);
      lns_codec_unpack[width](packed, back);
      LNS_CHECK (memcmp (back, values, sizeof values) == 0);
    }
}

static void
test_each_width_and_length (void)
{
  uint64_t values[3 * LNS_BLOCK];
  for (unsigned width = 0; width <= 64; width++)
    for (size_t n = 1; n <= sizeof values / sizeof values[0]; n += 1 + n / 3)
      {
        uint64_t base = next_random ();
        for (size_t i = 0; i < n; i++)
          values[i] = base + (width == 0 ? 0 : next_random () >> (64 - width));
        for (unsigned i = 0; i < 4; i++)
          round_trip (values, n, every_try[i]);
      }
}

static void
test_extremes (void)
{
  static const int64_t edges[] = { INT64_MIN,     INT64_MAX,    0,    -1,  1,   INT32_MIN,
                                   INT32_MAX,     UINT32_MAX,   -128, 127, 128, -129,
                                   INT64_MIN + 1, INT64_MAX - 1 };
  const unsigned n_edges = sizeof edges / sizeof edges[0];
  uint64_t values[2 * LNS_BLOCK];
  for (unsigned a = 0; a < n_edges; a++)
    for (unsigned b = 0; b < n_edges; b++)
      {
        for (unsigned i = 0; i < 2 * LNS_BLOCK; i++)
          values[i] = (uint64_t)(next_random () & 1 ? edges[a] : edges[b]);
        for (unsigned i = 0; i < 4; i++)
          round_trip (values, 1 + next_random () % (2 * LNS_BLOCK), every_try[i]);
      }
  for (unsigned i = 0; i < 2 * LNS_BLOCK; i++)
    values[i] = (uint64_t)edges[next_random () % n_edges];
  for (unsigned i = 0; i < 4; i++)
    round_trip (values, 2 * LNS_BLOCK, every_try[i]);
}

/* Each way pays where it should. */
static void
test_sizes (void)
{
  uint64_t values[LNS_BLOCK];
  for (unsigned i = 0; i < LNS_BLOCK; i++)
    values[i] = 0;
  LNS_CHECK_INT (round_trip (values, LNS_BLOCK, LNS_CODEC_PLAIN), 2);
  for (unsigned i = 0; i < LNS_BLOCK; i++)
    values[i] = 1000 + i % 16;
  LNS_CHECK_INT (round_trip (values, LNS_BLOCK, LNS_CODEC_PLAIN), 2 + 2 + 64);
  for (unsigned i = 0; i < LNS_BLOCK; i++)
    values[i] = UINT64_C (1) << 40 | i * 1000;
  LNS_CHECK_INT (round_trip (values, LNS_BLOCK, LNS_CODEC_TRY_DELTA), 2 + 2 + 8);
  for (unsigned i = 0; i < LNS_BLOCK; i++)
    values[i] = 0xFF000000 | (i % 4 * 0x123457);
  LNS_CHECK_INT (round_trip (values, LNS_BLOCK, LNS_CODEC_TRY_DICTIONARY),
                 2 + 32 + 1 + 2 + 5 + (4 * 22 + 7) / 8);
}

static void
test_hostile_bytes (void)
{
  uint64_t wide[300];
  uint32_t narrow[300];
  uint8_t *bytes = malloc (4096);
  for (unsigned round = 0; round < 200000; round++)
    {
      size_t size_bytes = next_random () % 600, n = 1 + next_random () % 300;
      uint8_t *exact = bytes + 4096 - size_bytes;
      for (size_t i = 0; i < size_bytes; i += 8)
        {
          uint64_t word = next_random ();
          memcpy (exact + i, &word, size_bytes - i < 8 ? size_bytes - i : 8);
        }
      /* Widths and modes that come near to right ones. */
      if (size_bytes >= 2)
        {
          exact[0] %= 70;
          exact[1] &= 0x3F;
        }
      bool a = lns_codec_decode_u64 (exact, size_bytes, wide, n);
      bool b = lns_codec_decode_u32 (exact, size_bytes, narrow, n);
      LNS_CHECK (a == b);
    }
  /* A width above 64, a base above 8 bytes, an unknown mode, a dictionary word that is not there.
   */
  static const uint8_t wide_width[40] = { 65, 0 }, long_base[11] = { 0, 9 }, mode[2] = { 0, 0x30 },
                       place[] = { 1, 0x20, 1, 1, 0, 0 };
  LNS_CHECK (!lns_codec_decode_u64 (wide_width, 2 + 9, wide, 1));
  LNS_CHECK (!lns_codec_decode_u64 (long_base, 11, wide, 1));
  LNS_CHECK (!lns_codec_decode_u64 (mode, 2, wide, 1));
  LNS_CHECK (!lns_codec_decode_u64 (place, sizeof place, wide, 1));
  free (bytes);
}

int
main (void)
{
  LNS_TEST (test_pack_each_width);
  LNS_TEST (test_each_width_and_length);
  LNS_TEST (test_extremes);
  LNS_TEST (test_sizes);
  LNS_TEST (test_hostile_bytes);
  return lns_tap_done ();
}
