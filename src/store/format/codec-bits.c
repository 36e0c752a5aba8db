/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Bit packing, one function for each width, so that every shift and mask is a constant and the
 * loops have no branch. 64 values of w bits are exactly w words. */

#include "src/store/format/codec.h"

#include <endian.h>
#include <string.h>

#define INLINE static inline __attribute__ ((always_inline))

INLINE uint64_t
load_word (const uint8_t *bytes, unsigned i)
{
  uint64_t word;
  memcpy (&word, bytes + 8 * (size_t)i, sizeof word);
  return le64toh (word);
}

INLINE void
unpack_half (const uint8_t *bytes, uint64_t *ret_values, const unsigned width)
{
  const uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
#pragma GCC unroll 64
  for (unsigned i = 0; i < 64; i++)
    {
      const unsigned word = i * width / 64, shift = i * width % 64;
      uint64_t value = load_word (bytes, word) >> shift;
      if (shift + width > 64)
        value |= load_word (bytes, word + 1) << (64 - shift);
      ret_values[i] = value & mask;
    }
}

INLINE void
pack_half (const uint64_t *values, uint8_t *ret_bytes, const unsigned width)
{
  uint64_t word = 0;
#pragma GCC unroll 64
  for (unsigned i = 0; i < 64; i++)
    {
      const unsigned at = i * width / 64, shift = i * width % 64;
      word |= values[i] << shift;
      if (shift + width >= 64)
        {
          const uint64_t full = htole64 (word);
          memcpy (ret_bytes + 8 * (size_t)at, &full, sizeof full);
          word = shift + width > 64 ? values[i] >> (64 - shift) : 0;
        }
    }
}

static void
unpack_0 (const uint8_t *bytes, uint64_t *ret_values)
{
  memset (ret_values, 0, LNS_BLOCK * sizeof *ret_values);
}

static void
pack_0 (const uint64_t *values, uint8_t *ret_bytes)
{
}

#define WIDTH(w)                                                                                   \
 static void unpack_##w (const uint8_t *bytes, uint64_t *ret_values)                               \
 {                                                                                                 \
  _Pragma ("GCC unroll 1") for (unsigned half = 0; half < 2; half++)                               \
      unpack_half (bytes + half * 8 * (w), ret_values + half * 64, w);                             \
 }                                                                                                 \
 static void pack_##w (const uint64_t *values, uint8_t *ret_bytes)                                 \
 {                                                                                                 \
  _Pragma ("GCC unroll 1") for (unsigned half = 0; half < 2; half++)                               \
      pack_half (values + half * 64, ret_bytes + half * 8 * (w), w);                               \
 }

/* clang-format off */
#define EACH_WIDTH(X)                                                                              \
 X (1) X (2) X (3) X (4) X (5) X (6) X (7) X (8) X (9) X (10) X (11) X (12) X (13) X (14) X (15)   \
 X (16) X (17) X (18) X (19) X (20) X (21) X (22) X (23) X (24) X (25) X (26) X (27) X (28) X (29) \
 X (30) X (31) X (32) X (33) X (34) X (35) X (36) X (37) X (38) X (39) X (40) X (41) X (42) X (43) \
 X (44) X (45) X (46) X (47) X (48) X (49) X (50) X (51) X (52) X (53) X (54) X (55) X (56) X (57) \
 X (58) X (59) X (60) X (61) X (62) X (63) X (64)

EACH_WIDTH (WIDTH)
/* clang-format on */

#define UNPACK(w) unpack_##w,
#define PACK(w)   pack_##w,

const LnsUnpackFunc lns_codec_unpack[65] = { unpack_0, EACH_WIDTH (UNPACK) };
const LnsPackFunc lns_codec_pack[65] = { pack_0, EACH_WIDTH (PACK) };
