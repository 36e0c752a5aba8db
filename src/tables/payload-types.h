/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The constants of the NVTX payload extension that the decoder needs, from its public header nvToolsExtPayload.h. They
 * are repeated here so that Lanescope builds without that header. */

#pragma once

#include <stdint.h>

/* How a value of a predefined entry type is read. */
typedef enum
{
  LNS_READ_NONE, /* not a predefined type                                                        */
  LNS_READ_SIGNED,
  LNS_READ_UNSIGNED,
  LNS_READ_FLOAT, /* binary16, 32, 64 or x87's 80 bits in 16 bytes, by size                     */
  LNS_READ_BFLOAT,
  LNS_READ_CHAR,    /* arrays of it are strings                                                  */
  LNS_READ_STRING,  /* a pointer, or with a fixed length the characters                         */
  LNS_READ_ADDRESS, /* shown in hexadecimal                                                     */
  LNS_READ_COLOR,   /* ARGB, shown as #AARRGGBB                                                 */
} LnsPayloadReading;

typedef struct
{
  LnsPayloadReading reading;
  unsigned size_bytes;
} LnsPayloadTypeInfo;

/* What predefined TYPE is (reading LNS_READ_NONE where it is none). O(1). */
LnsPayloadTypeInfo lns_payload_type_info (uint64_t type);

/* Entry flags. */
#define LNS_PAYLOAD_ENTRY_POINTER       (1u << 1)
#define LNS_PAYLOAD_ENTRY_OFFSET        (3u << 2) /* from base, or from here                   */
#define LNS_PAYLOAD_ENTRY_ARRAY_KIND(f) (((f) >> 4) & 15u)
#define LNS_PAYLOAD_ARRAY_FIXED         1u
#define LNS_PAYLOAD_ARRAY_ZERO          2u
#define LNS_PAYLOAD_ARRAY_LENGTH_INDEX  3u
#define LNS_PAYLOAD_ENTRY_HIDE          (1u << 9)
#define LNS_PAYLOAD_TYPE_UNION_SELECTOR 100u
#define LNS_PAYLOAD_SCHEMA_UNION        3u
#define LNS_PAYLOAD_SCHEMA_UNION_TAGGED 4u /* its first entry is the selector                  */
#define LNS_PAYLOAD_FIRST_SCHEMA_ID     (UINT64_C (1) << 24)
