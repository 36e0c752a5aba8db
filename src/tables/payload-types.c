/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/payload-types.h"
#include "src/tables/payload.h"

#define SIGNED(size)   LNS_READ_SIGNED, size
#define UNSIGNED(size) LNS_READ_UNSIGNED, size
#define FLOAT(size)    LNS_READ_FLOAT, size
#define CHAR(size)     LNS_READ_CHAR, size
#define STRING         LNS_READ_STRING, 8

/* By NVTX_PAYLOAD_ENTRY_TYPE_*; C's own types as the System V ABI of 64-bit machines has them. */
static const LnsPayloadTypeInfo types[] = {
  [1] = { CHAR (1) },
  [2] = { UNSIGNED (1) },
  [3] = { SIGNED (2) },
  [4] = { UNSIGNED (2) },
  [5] = { SIGNED (4) },
  [6] = { UNSIGNED (4) },
  [7] = { SIGNED (8) },
  [8] = { UNSIGNED (8) },
  [9] = { SIGNED (8) },
  [10] = { UNSIGNED (8) },
  [11] = { SIGNED (1) },
  [12] = { UNSIGNED (1) },
  [13] = { SIGNED (2) },
  [14] = { UNSIGNED (2) },
  [15] = { SIGNED (4) },
  [16] = { UNSIGNED (4) },
  [17] = { SIGNED (8) },
  [18] = { UNSIGNED (8) },
  [19] = { FLOAT (4) },
  [20] = { FLOAT (8) },
  [21] = { FLOAT (16) },
  [22] = { UNSIGNED (8) },
  [23] = { LNS_READ_ADDRESS, 8 },
  [24] = { CHAR (4) },
  [25] = { CHAR (1) },
  [26] = { CHAR (2) },
  [27] = { CHAR (4) },
  [32] = { UNSIGNED (1) },
  [33] = { SIGNED (16) },
  [34] = { UNSIGNED (16) },
  [42] = { FLOAT (2) },
  [43] = { FLOAT (4) },
  [44] = { FLOAT (8) },
  [50] = { LNS_READ_BFLOAT, 2 },
  [52] = { FLOAT (4) },
  [68] = { UNSIGNED (4) },
  [69] = { LNS_READ_COLOR, 4 },
  [70] = { UNSIGNED (8) },
  [71] = { UNSIGNED (4) },
  [72] = { UNSIGNED (8) },
  [73] = { UNSIGNED (4) },
  [74] = { UNSIGNED (8) },
  [75] = { STRING },
  [76] = { STRING },
  [77] = { STRING },
  [78] = { STRING },
  [80] = { LNS_READ_ADDRESS, 8 },
};

LnsPayloadTypeInfo
lns_payload_type_info (uint64_t type)
{
  return type < sizeof types / sizeof types[0] ? types[type]
                                               : (LnsPayloadTypeInfo){ LNS_READ_NONE, 0 };
}

const char *
lns_payload_type_name (LnsPayloadType type)
{
  static const char *const names[] = {
    "none", "uint64", "int64", "double", "uint32", "int32", "float", "typed", "JSON",
  };
  return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}
