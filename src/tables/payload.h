/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Typed NVTX payloads: bytes that a schema describes. Layouts are those of the program's machine
 * (64-bit, little-endian); numbers, arrays, strings inside the bytes, nested schemas, unions and
 * enums are decoded, pointers are shown as addresses. Bytes are hostile: what reaches beyond them
 * is left out. */

#pragma once

#include <stdio.h>

#include "src/store/read/report.h"

typedef struct LnsPayloadDecoder LnsPayloadDecoder;

/* Learns the schemas of REPORT, which is borrowed. NULL without memory. O(n log n) in schemas and
 * entries. A decoder never changes: any thread may use it. */
LnsPayloadDecoder *lns_payload_decoder_new (LnsReport *report);
void lns_payload_decoder_free (LnsPayloadDecoder *decoder); /* NULL is fine                     */

/* Writes the payload BYTES (what the string of a LNS_PAYLOAD_TYPED event holds) of an event of
 * DOMAIN (an id, or LNS_ID_NONE) to STREAM: as one JSON value, an array where there are several
 * payloads. A payload whose schema is not known is a string of hexadecimal digits. */
void lns_payload_write_json (const LnsPayloadDecoder *decoder,
                             uint32_t domain,
                             const void *bytes,
                             size_t size_bytes,
                             FILE *stream);

/* The same for people: one line a field, "name: value", nested ones indented by two spaces. */
void lns_payload_write_text (const LnsPayloadDecoder *decoder,
                             uint32_t domain,
                             const void *bytes,
                             size_t size_bytes,
                             FILE *stream);

/* Writes the payload as the reference's exports hold it in binaryData: for each part a header of
 * four 64-bit numbers (domain number, schema id, length, distance of the bytes from the header's
 * start) and the bytes. */
void lns_payload_write_binary (const LnsPayloadDecoder *decoder,
                               uint32_t domain,
                               const void *bytes,
                               size_t size_bytes,
                               FILE *stream);

/* "uint64", "typed", …: a name for people and for `info`. Static. */
const char *lns_payload_type_name (LnsPayloadType type);
