/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Decodes typed NVTX payloads, which are bytes that a schema describes. Layouts are those of the program's machine
 * (64-bit, little-endian). Numbers, arrays, strings inside the bytes, nested schemas, unions and enums are decoded;
 * pointers are shown as addresses. The bytes are hostile: an entry that reaches beyond their end is left out. */

#pragma once

#include <stdio.h>

#include "src/store/read/report.h"

typedef struct LnsPayloadDecoder LnsPayloadDecoder;

/* A decoder for the schemas of REPORT, which is borrowed. The caller frees it. O(n log n) in schemas and entries. A
 * decoder never changes: any thread may use it. */
LnsPayloadDecoder *lns_payload_decoder_new (LnsReport *report)
    __attribute__ ((returns_nonnull, warn_unused_result));
void lns_payload_decoder_free (LnsPayloadDecoder *decoder); /* NULL is fine                     */

typedef enum
{
  LNS_PAYLOAD_AS_JSON, /* one JSON value, an array where there are several payloads            */
  LNS_PAYLOAD_AS_TEXT, /* for people: a line "name: value" for each field, nested ones indented by two spaces */
  /* As nsys exports have it in binaryData: for each part a header of four 64-bit numbers (domain number, schema id,
   * length, distance of the bytes from the header's start) and the bytes. */
  LNS_PAYLOAD_AS_BINARY,
} LnsPayloadForm;

/* Writes the payload BYTES (the string of an LNS_PAYLOAD_TYPED event) of an event of DOMAIN (an id, or LNS_ID_NONE) to
 * STREAM. A payload whose schema is not known is written as hexadecimal digits. */
void lns_payload_write (const LnsPayloadDecoder *decoder,
                        LnsPayloadForm form,
                        uint32_t domain,
                        const void *bytes,
                        size_t size_bytes,
                        FILE *stream);

/* "uint64", "typed", …: a name for people and for `info`. Static. */
const char *lns_payload_type_name (LnsPayloadType type);
