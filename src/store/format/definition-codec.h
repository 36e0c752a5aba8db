/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Definition records and string chunks (FORMAT.md, "Definitions", "Strings"). A record is its kind,
 * the object's id and tagged integers; fields that are 0 are left out, tags and kinds that a reader
 * does not know are skipped. Thread-safe, no state. */

#pragma once

#include "src/base/buffer.h"
#include "src/store/format/chunk-format.h"
#include "src/store/format/definitions.h"

/* The column of a definition chunk, in bytes: header.n records, one behind the other. */
#define LNS_DEFINITION_COLUMN_RECORDS 1

/* Any definition, by the kind that goes with it. */
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
} LnsDefinition;

/* Bytes of the struct of KIND; 0 where KIND is not known. */
size_t lns_definition_size (LnsDefinitionKind kind);

/* What a field of a definition is. All but U64, I64 and TIME take 32 bits. */
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
  uint8_t kind; /* LnsDefinitionKind of what a link or owner names */
  uint16_t offset;
} LnsDefinitionField;

/* The fields of the struct of KIND, which is known. */
const LnsDefinitionField *lns_definition_fields (LnsDefinitionKind kind);

/* Appends the record of object ID of KIND; DEFINITION points to the kind's struct. */
void
lns_definition_encode (LnsBuffer *out, LnsDefinitionKind kind, uint32_t id, const void *definition);

/* Takes the record at *BYTES, of the *SIZE_BYTES that are left, and moves both past it. Kinds that
 * are not known come back with an empty RET_DEFINITION. False where the bytes are damaged. */
bool lns_definition_decode (const uint8_t **bytes,
                            size_t *size_bytes,
                            LnsDefinitionKind *ret_kind,
                            uint32_t *ret_id,
                            LnsDefinition *ret_definition);

/* The columns of a string chunk: header.n strings with ids from header.lane on. */
typedef enum
{
  LNS_STRING_COLUMN_LENGTH = 1, /* bytes of each string, without a NUL                           */
  LNS_STRING_COLUMN_BYTES = 2,  /* as bytes: the strings, each followed by a NUL                 */
  LNS_STRING_COLUMN_TOTAL = 3   /* for pieces: bytes of the whole string, else absent            */
} LnsStringColumnId;

/* A string of more than this is cut into pieces of this many bytes (the last may be shorter): each
 * a chunk of its own with n = 1, under consecutive ids, of which only the first is handed out. Only
 * the first piece has the column TOTAL. */
#define LNS_STRING_PIECE_BYTES ((size_t)48 * 1024)

/* Strings in one chunk at most. */
#define LNS_STRING_CHUNK_MAX 4096

/* Builds the chunk of the N strings that lie, each with a NUL behind it, in the BYTES_SIZE bytes at
 * BYTES; LENGTHS without the NULs; TOTAL_BYTES = 0 but for a first piece. HEADER's kind, lane and n
 * are worked out here. */
void lns_strings_build (LnsBuffer *out,
                        LnsChunkHeader header,
                        uint32_t first_id,
                        uint32_t n,
                        const uint64_t *lengths,
                        const uint8_t *bytes,
                        size_t bytes_size,
                        uint64_t total_bytes);

/* Takes a string chunk apart: RET_OFFSETS (room for header.n + 1) gets where each string begins in
 * *RET_BYTES (string i has ret_offsets[i + 1] − ret_offsets[i] − 1 bytes and a NUL behind them) and
 * RET_TOTAL_BYTES the whole length where it is the first piece of a long string, else 0. */
bool lns_strings_parse (const LnsChunkView *view,
                        uint32_t *ret_offsets,
                        const uint8_t **ret_bytes,
                        uint64_t *ret_total_bytes,
                        LnsError *error);
