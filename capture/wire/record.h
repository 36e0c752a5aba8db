/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Decodes records. The bytes come from another process and are not trusted: every size and count is checked, and no
 * pointer in a result leaves the given bytes. The functions change nothing but the cursor or assembler that they are
 * given, and are thread-safe on different ones. */

#pragma once

#include "capture/wire/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of text, in UTF-8 as far as the program wrote it so, not terminated. Points into the bytes
 * that were decoded. n_bytes 0: no text, and bytes may be NULL. */
typedef struct
{
  const char *bytes;
  uint32_t n_bytes;
} LnsWireText;

/* Data of a payload or a sample; points into the bytes that were decoded. */
typedef struct
{
  const uint8_t *bytes;
  uint32_t n_bytes;
} LnsWireData;

/* Things that follow one another in a record and are taken out one by one: blobs, entries. Private
 * to the lns_wire_…_next() functions. */
typedef struct
{
  const uint8_t *bytes;
  size_t n_bytes;
  uint64_t n_left;
} LnsWireList;

/* PUSH, POP, POP_EMPTY, MARK, START, END. Fields that the record lacks are 0. */
typedef struct
{
  uint32_t depth;  /* PUSH, POP: level, 0 is the outermost */
  uint32_t string; /* id; 0: no message */
  uint64_t range;  /* START, END: id, unique in the process */
  uint32_t color;
  uint32_t category;
  uint8_t color_type;   /* nvtxColorType_t: 0 none, 1 ARGB */
  uint8_t payload_type; /* nvtxPayloadType_t; 0: none */
  uint64_t payload;     /* the value's bytes; types of 32 bits are in the low half */
  LnsWireList blobs;    /* for lns_wire_blob_next() */
} LnsWireEvent;

/* What a record says in its fixed part (layout.h), and what follows that. */

typedef struct
{
  LnsWireBlobBytes said;
  LnsWireData data;
} LnsWireBlob;

typedef struct
{
  LnsWireThreadBytes said;
  LnsWireText name;
} LnsWireThread;

/* STRING, REGISTERED, DOMAIN, DOMAIN_END, CATEGORY, THREAD_NAME, UNRECORDED, PYTHON_SAID. */
typedef struct
{
  uint32_t id; /* string id, category or tid */
  LnsWireText text;
} LnsWireNamed;

typedef struct
{
  LnsWireResourceBytes said;
  LnsWireText name; /* where the head has no string */
} LnsWireResource;

typedef struct
{
  LnsWireSampleBytes said;
  LnsWireData data; /* 8 bytes of LNS_WIRE_SAMPLE_INT64 and _FLOAT64 */
} LnsWireSample;

typedef struct
{
  LnsWireBatchBytes said;
  LnsWireData data;
  LnsWireData times; /* i64 each; not aligned by promise */
} LnsWireBatch;

typedef struct
{
  LnsWireCounterBytes said;
  LnsWireText name, unit;
} LnsWireCounter;

typedef struct
{
  LnsWireSchemaBytes said;
  LnsWireText name;
  LnsWireList entries; /* for lns_wire_schema_entry_next() */
} LnsWireSchema;

typedef struct
{
  LnsWireSchemaEntryBytes said;
  LnsWireText name, description, unit;
} LnsWireSchemaEntry;

typedef struct
{
  LnsWireEnumBytes said;
  LnsWireText name;
  LnsWireList entries; /* for lns_wire_enum_entry_next() */
} LnsWireEnum;

typedef struct
{
  LnsWireEnumEntryBytes said;
  LnsWireText name;
} LnsWireEnumEntry;

typedef struct
{
  LnsWirePieceBytes said;
  LnsWireData data;
} LnsWirePiece;

/* One record. Which member of the union is set follows from type; of types that this version does
 * not know, none. The …_LONG types are given as their short ones: there are no LONG types here. */
typedef struct
{
  LnsWireType type;
  uint32_t n_bytes;
  uint64_t ticks;
  uint32_t domain;
  union
  {
    LnsWireEvent event;
    LnsWireLostBytes lost;
    LnsWireThread thread;
    LnsWireNamed named;
    LnsWireResource resource;
    LnsWireSample sample;
    LnsWireBatch batch;
    LnsWireCounter counter;
    LnsWireTimeDomainBytes time_domain;
    LnsWireSchema schema;
    LnsWireEnum enumeration;
    LnsWirePiece piece;
    LnsWireData raw; /* the whole record, of types that have a header of their own */
  };
} LnsWireRecord;

/* Decodes the record at the start of BYTES (not null, any alignment).
 * Returns 1 and fills RET_RECORD; 0 when N_BYTES is 0; -EBADMSG when the bytes are no record: then
 * nothing after them can be read either, and what RET_RECORD holds is undefined. O(1) but for LnsWireList, which are checked as a whole. */
int lns_wire_record_decode (const void *bytes, size_t n_bytes, LnsWireRecord *ret_record);

/* Takes the next record off BYTES, N_BYTES long, at *AT, and moves *AT behind it. Returns as
 * lns_wire_record_decode() does; after -EBADMSG *AT stands at the bad record. */
int lns_wire_record_next (const void *bytes, size_t n_bytes, size_t *at, LnsWireRecord *ret_record);

/* Each takes the next item off a list and returns true, or returns false at its end. */
bool lns_wire_blob_next (LnsWireList *list, LnsWireBlob *ret_blob);
bool lns_wire_schema_entry_next (LnsWireList *list, LnsWireSchemaEntry *ret_entry);
bool lns_wire_enum_entry_next (LnsWireList *list, LnsWireEnumEntry *ret_entry);

/* Puts the pieces of one stream together again. Zero-initialise; one a stream. */
typedef struct
{
  uint8_t *bytes;
  uint32_t n_whole_bytes;
  uint32_t n_bytes;
} LnsWireAssembler;

/* Adds PIECE (a record of type LNS_WIRE_PIECE).
 * Returns 1 when it was the last: RET_RECORD is the whole record, whose pointers lead into the
 * assembler until its next use. 0: more are to come. -EBADMSG: it does not follow the piece before,
 * or the whole is no record or itself a piece; what was gathered is dropped. -ENOMEM. */
int lns_wire_assembler_add (LnsWireAssembler *assembler,
                            const LnsWireRecord *piece,
                            LnsWireRecord *ret_record);

/* Drops what was gathered: to be called at LNS_WIRE_LOST and at a stream's end. */
void lns_wire_assembler_clear (LnsWireAssembler *assembler);
