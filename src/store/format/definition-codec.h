/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Definition records and string chunks (FORMAT.md, "Definitions", "Strings"). A record consists of a kind, the object's
 * id and tagged integers. Fields that are 0 are left out. Readers skip unknown tags and kinds. Thread-safe, no state. */

#pragma once

#include "src/base/buffer.h"
#include "src/store/format/chunk-format.h"
#include "src/store/format/definitions.h"

/* The only column of a definition chunk, in bytes: header.n records, one after the other. */
#define LNS_DEFINITION_COLUMN_RECORDS 1

/* A definition of any kind. */
typedef union
{
  LnsProcess process;
  LnsThread thread;
  LnsDomain domain;
  LnsCategory category;
  LnsSchema schema;
  LnsSchemaEntry schema_entry;
  LnsTrack track;
  LnsLane lane;
  LnsDiagnostic diagnostic;
  LnsLoss loss;
  LnsMetaDefinition meta;
  LnsResource resource;
  LnsCudaDevice device;
  LnsCudaContext context;
  LnsCudaStream stream;
  LnsCudaLaunch launch;
  LnsKeptTable kept_table;
  LnsKeptRows kept_rows;
  LnsModule module;
  LnsStackFrame frame;
  LnsCallNode call_node;
} LnsDefinition;

/* The size of the struct of KIND in bytes; 0 if KIND is unknown. */
size_t lns_definition_size (LnsDefinitionKind kind);

/* Types of fields. All but U64, I64 and TIME take 32 bits. */
typedef enum
{
  LNS_FIELD_U32,
  LNS_FIELD_I32, /* also an enum */
  LNS_FIELD_U64,
  LNS_FIELD_I64,
  LNS_FIELD_TIME,   /* int64 of the report's clock, or LNS_TIME_UNKNOWN */
  LNS_FIELD_STRING, /* a string id, or 0 */
  LNS_FIELD_LINK,   /* the id of another definition, or LNS_ID_NONE */
  LNS_FIELD_OWNER   /* the id of another definition, which must be there */
} LnsFieldType;

typedef struct
{
  uint8_t tag;  /* 1–255; 0 ends the list */
  uint8_t type; /* LnsFieldType */
  uint8_t kind; /* of links and owners: LnsDefinitionKind that they point to */
  uint16_t offset;
} LnsDefinitionField;

/* The fields of the struct of KIND, which is known. */
const LnsDefinitionField *lns_definition_fields (LnsDefinitionKind kind);

/* Appends the record of object ID of KIND; DEFINITION points to the kind's struct. */
void
lns_definition_encode (LnsBuffer *out, LnsDefinitionKind kind, uint32_t id, const void *definition);

/* Decodes the record at *BYTES, of the remaining *SIZE_BYTES, and moves both past it. For an unknown kind
 * RET_DEFINITION is empty. Returns false if the bytes are damaged. */
bool lns_definition_decode (const uint8_t **bytes,
                            size_t *size_bytes,
                            LnsDefinitionKind *ret_kind,
                            uint32_t *ret_id,
                            LnsDefinition *ret_definition);

/* The columns of a string chunk: header.n strings with ids from header.lane on. */
typedef enum
{
  LNS_STRING_COLUMN_LENGTH = 1, /* bytes of each string, without a NUL */
  LNS_STRING_COLUMN_BYTES = 2,  /* not encoded: the strings, each followed by a NUL */
  LNS_STRING_COLUMN_TOTAL = 3   /* for pieces: bytes of the whole string, else absent */
} LnsStringColumnId;

/* A longer string is cut into pieces of this size (the last may be shorter). Each piece is a chunk of its own with n = 1.
 * The pieces have consecutive ids, of which only the first is handed out. Only the first piece has the column TOTAL. */
#define LNS_STRING_PIECE_BYTES ((size_t)48 * 1024)

/* Strings in one chunk at most. */
#define LNS_STRING_CHUNK_MAX 4096

/* Builds the chunk of the N strings in the BYTES_SIZE bytes at BYTES, where a NUL follows each of them. LENGTHS do not
 * count the NULs. TOTAL_BYTES is 0 unless this is a first piece. HEADER's kind, lane and n are computed here. */
void lns_strings_build (LnsBuffer *out,
                        LnsChunkHeader header,
                        uint32_t first_id,
                        uint32_t n,
                        const uint64_t *lengths,
                        const uint8_t *bytes,
                        size_t bytes_size,
                        uint64_t total_bytes);

/* Parses a string chunk. RET_OFFSETS (room for header.n + 1) gets where each string begins in *RET_BYTES: string i has
 * ret_offsets[i + 1] − ret_offsets[i] − 1 bytes, followed by a NUL. RET_TOTAL_BYTES gets the length of the whole string if
 * the chunk is the first piece of a long one, else 0. */
bool lns_strings_parse (const LnsChunkView *view,
                        uint32_t *ret_offsets,
                        const uint8_t **ret_bytes,
                        uint64_t *ret_total_bytes,
                        LnsError *error);
