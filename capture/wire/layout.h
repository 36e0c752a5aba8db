/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The layout of the records in a chunk, by which a recorded process and the session communicate. This header is
 * for writers; record.h decodes.
 *
 * A chunk is a run of records, each a multiple of 16 bytes at a multiple of 16, none across the
 * chunk's end. Numbers are in the machine's own order: both sides run on one machine.
 *
 * Every record begins with LnsWireHead. Types below LNS_WIRE_LONG_TYPES are that head and nothing
 * else (16 bytes). In all others the four bytes after the head are the record's whole size, so that
 * a reader skips what it does not know.
 *
 * All chunks of one stream, in order of their sequence numbers, are one run of records. A stream is written by
 * one thread at a time; LNS_WIRE_THREAD says which thread writes from there on. Strings, open ranges and losses
 * belong to a stream, definitions to the process. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Every record's size and place are multiples of this. */
#define LNS_WIRE_ALIGN_BYTES 16u

/* The limit of a record, also of one that comes in pieces. Longer names and payloads are cut. */
#define LNS_WIRE_RECORD_MAX_BYTES (1u << 20)

typedef enum
{
  LNS_WIRE_NONE = 0x00, /* never written: what an untouched chunk holds */

  /* Events of 16 bytes. DOMAIN and STRING are set, DEPTH is below LNS_WIRE_DEPTH_LONG. */
  LNS_WIRE_PUSH = 0x01, /* opens the range of level DEPTH */
  LNS_WIRE_POP = 0x02,  /* closes the range of level DEPTH; deeper ones end at an unknown time */
  LNS_WIRE_POP_EMPTY = 0x03, /* a pop with nothing pushed: closes nothing */
  LNS_WIRE_MARK = 0x04,
  LNS_WIRE_THREAD_END = 0x05, /* the thread has ended: what it has open ends at an unknown time */
  LNS_WIRE_CALL_CHAIN = 0x06, /* cuda-layout.h: the callers of a call of CUDA that has ended */

  LNS_WIRE_LONG_TYPES = 0x20,

  /* Events with more fields: LnsWireLong. */
  LNS_WIRE_PUSH_LONG = 0x21,
  LNS_WIRE_POP_LONG = 0x22,
  LNS_WIRE_MARK_LONG = 0x24,
  LNS_WIRE_START = 0x25,  /* with LNS_WIRE_FIELD_RANGE */
  LNS_WIRE_END = 0x26,    /* with LNS_WIRE_FIELD_RANGE; its domain is 0 if the call names none */
  LNS_WIRE_SAMPLE = 0x28, /* LnsWireSampleBytes: one sample of a counter or a counter group */
  LNS_WIRE_SAMPLE_BATCH = 0x29, /* LnsWireBatchBytes */
  LNS_WIRE_DEFERRED = 0x2a,     /* LnsWireBatchBytes: events that carry their own times */

  /* About the stream. */
  LNS_WIRE_LOST = 0x30, /* LnsWireLostBytes: what is missing before the next record */
  LNS_WIRE_THREAD =
      0x31, /* LnsWireThreadBytes: the thread that writes this stream from here on. For the same thread again: it has a new name */
  LNS_WIRE_STRING = 0x32, /* LnsWireTextBytes: gives STRING, an id of this stream, a (new) text */
  LNS_WIRE_PIECE = 0x33,  /* LnsWirePieceBytes: part of a record that is too long for a chunk */

  /* Definitions: they belong to the process, have no time, may come after what uses them, in any
   * stream and more than once. The last one counts. */
  LNS_WIRE_REGISTERED = 0x40,   /* LnsWireTextBytes: STRING is a registered id */
  LNS_WIRE_DOMAIN = 0x41,       /* LnsWireTextBytes: the name of DOMAIN */
  LNS_WIRE_CATEGORY = 0x42,     /* LnsWireTextBytes: STRING is the number of a category of DOMAIN */
  LNS_WIRE_THREAD_NAME = 0x43,  /* LnsWireTextBytes: STRING is a thread id in the target's eyes */
  LNS_WIRE_RESOURCE = 0x44,     /* LnsWireResourceBytes */
  LNS_WIRE_SCHEMA = 0x45,       /* LnsWireSchemaBytes */
  LNS_WIRE_ENUM = 0x46,         /* LnsWireEnumBytes */
  LNS_WIRE_COUNTER = 0x47,      /* LnsWireCounterBytes */
  LNS_WIRE_DOMAIN_END = 0x49,   /* LnsWireTextBytes without text: DOMAIN was destroyed */
  LNS_WIRE_RESOURCE_END = 0x4a, /* LnsWireResourceBytes without text */
  LNS_WIRE_TIME_DOMAIN = 0x4c,  /* LnsWireTimeDomainBytes */
  LNS_WIRE_UNRECORDED =
      0x4b, /* LnsWireTextBytes: something that the program uses and that is not recorded */

  LNS_WIRE_PYTHON_SAID =
      0xe0, /* LnsWireTextBytes: a sentence about Python that says what is not recorded, or a text as below */

  /* cuda-layout.h */
  LNS_WIRE_CUDA_FIRST = 0x80,
  LNS_WIRE_CUDA_LAST = 0xbf,

  /* os-layout.h */
  LNS_WIRE_OS_FIRST = 0xc0,
  LNS_WIRE_OS_LAST = 0xdf,

  /* Kept free: 0x50-0x6f more of NVTX, 0xe1-0xef more of Python. */
} LnsWireType;

/* The first character of a text of PYTHON_SAID that is not a sentence: this process traces functions; it has found
 * the function that follows; or it has not, for the reason after a tab. */
#define LNS_WIRE_PYTHON_BEGAN  '='
#define LNS_WIRE_PYTHON_FOUND  '+'
#define LNS_WIRE_PYTHON_MISSED '-'

/* DEPTH of a head whose real depth is in LNS_WIRE_FIELD_DEPTH. */
#define LNS_WIRE_DEPTH_LONG 255u

/* STRING ids: 0 is no message; with this bit the id is one that the process registered; without it,
 * one that the stream has defined by LNS_WIRE_STRING and may define anew. Stream ids stay below
 * LNS_WIRE_STREAM_STRINGS. After LNS_WIRE_LOST no stream id has a meaning until defined again. */
#define LNS_WIRE_STRING_REGISTERED 0x80000000u
#define LNS_WIRE_STREAM_STRINGS    4096u

/* DOMAIN ids: 0 is the default domain, which has no definition. */
#define LNS_WIRE_DOMAINS 65536u

typedef struct
{
  uint64_t ticks; /* by the clock that the pool's header names; 0 in records without a time */
  uint8_t type;   /* LnsWireType */
  uint8_t depth;
  uint16_t domain;
  uint32_t string;
} LnsWireHead;
_Static_assert(sizeof (LnsWireHead) == 16, "a head is 16 bytes");

/* Which 8-byte fields follow an LnsWireLong, in this order. */
enum
{
  LNS_WIRE_FIELD_RANGE = 1 << 0, /* u64 id, unique in the process, of a start/end range */
  LNS_WIRE_FIELD_DEPTH = 1 << 1, /* u32 depth, u32 zero */
  LNS_WIRE_FIELD_COLOR = 1 << 2, /* u32 color (valid if color_type is not 0), u32 category */
  LNS_WIRE_FIELD_PAYLOAD =
      1 << 3,                    /* 8 bytes, read as payload_type says; shorter types zero-padded */
  LNS_WIRE_FIELD_BLOBS = 1 << 4, /* u64 count, then as many LnsWireBlobBytes, each with its data */
};

/* Events with more than a name. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;     /* of the whole record, a multiple of 16 */
  uint16_t fields;      /* LNS_WIRE_FIELD_… */
  uint8_t payload_type; /* nvtxPayloadType_t: 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float */
  uint8_t color_type;   /* nvtxColorType_t: 0 none, 1 ARGB */
} LnsWireLong;
_Static_assert(sizeof (LnsWireLong) == 24, "fields begin at a multiple of 8");

/* A typed payload: its data follow, zero-padded to 8 bytes. */
typedef struct
{
  uint64_t schema; /* id of a schema of the domain, or a predefined entry type */
  uint32_t n_bytes;
  uint32_t reserved;
} LnsWireBlobBytes;

/* A definition that is an id and a text. The text follows, without a terminator. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t n_text_bytes;
} LnsWireTextBytes;

typedef struct
{
  LnsWireHead head; /* STRING: id of its name, or 0: the text is */
  uint32_t n_bytes;
  uint32_t n_text_bytes;
  uint64_t handle;     /* the process's own id of the resource */
  uint64_t identifier; /* pointer or handle */
  uint64_t identifier_type;
  /* text: the resource's name */
} LnsWireResourceBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t n_data_bytes;  /* of the whole record that is this piece */
  uint32_t n_whole_bytes; /* of the record that the pieces make together */
  uint32_t offset_bytes;  /* where this piece lies in it; 0 begins a new one */
  /* data */
} LnsWirePieceBytes;

typedef struct
{
  LnsWireHead head; /* ticks: when the thread was first seen */
  uint32_t n_bytes;
  uint32_t tid;    /* in the target's pid namespace */
  uint64_t serial; /* of the thread in the process: 1 and up, never used twice */
  char name[16];   /* of the operating system, zero-padded; "" where unknown */
} LnsWireThreadBytes;

/* What can be lost; the order of LnsWireLosses.events. */
typedef enum
{
  LNS_WIRE_LOSS_PUSH,
  LNS_WIRE_LOSS_POP,
  LNS_WIRE_LOSS_MARK,
  LNS_WIRE_LOSS_START,
  LNS_WIRE_LOSS_END,
  LNS_WIRE_LOSS_SAMPLE,
  LNS_WIRE_LOSS_OTHER,
  LNS_WIRE_LOSS_KINDS
} LnsWireLossKind;

/* Why, where it is not for want of room in the pool. */
typedef enum
{
  LNS_WIRE_CAUSE_STRAY,   /* the process, a fork's child, could not join the session */
  LNS_WIRE_CAUSE_HANDLER, /* a signal handler made it while it interrupted another event */
  LNS_WIRE_CAUSE_MEMORY,  /* its thread could get no stream */
  LNS_WIRE_CAUSE_UNREAD, /* the session had no memory to read it before its report or process ended */
  LNS_WIRE_CAUSE_UNANSWERED, /* the session had not answered its process yet */
  LNS_WIRE_CAUSES
} LnsWireLossCause;

/* Whether a lost event of KIND is missing in the report. A lost pop or end is not: its range is kept. */
static inline bool
lns_wire_loss_is_missed (LnsWireLossKind kind)
{
  return kind != LNS_WIRE_LOSS_POP && kind != LNS_WIRE_LOSS_END;
}

typedef struct
{
  uint64_t events[LNS_WIRE_LOSS_KINDS];
  uint64_t n_bytes;                   /* that the lost records would have taken */
  uint64_t by_cause[LNS_WIRE_CAUSES]; /* of the events that are missed */
} LnsWireLosses;

/* The number of events in LOSSES that are missing in the report. */
static inline uint64_t
lns_wire_losses_missed (const LnsWireLosses *losses)
{
  uint64_t n = 0;
  for (int kind = 0; kind < LNS_WIRE_LOSS_KINDS; kind++)
    n += lns_wire_loss_is_missed (kind) ? losses->events[kind] : 0;
  return n;
}

/* The losses of one gap of one stream. They are also in the pool's counters, which hold those as
 * well that no record could tell of: add up the counters, never the records. */
typedef struct
{
  LnsWireHead head; /* ticks: of the last loss */
  uint32_t n_bytes;
  uint32_t reserved;
  uint64_t first_ticks;
  LnsWireLosses losses; /* for want of room */
  uint64_t reserved_too;
} LnsWireLostBytes;

/* How a sample's data are read. */
typedef enum
{
  LNS_WIRE_SAMPLE_INT64 = 0,
  LNS_WIRE_SAMPLE_FLOAT64 = 1,
  LNS_WIRE_SAMPLE_DATA = 2, /* as the counter's schema says */
  LNS_WIRE_SAMPLE_NO_VALUE = 3
} LnsWireSampleKind;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t n_data_bytes;
  uint64_t counter; /* id, unique in the domain */
  uint8_t kind;     /* LnsWireSampleKind */
  uint8_t reserved[7];
  /* data */
} LnsWireSampleBytes;

typedef struct
{
  LnsWireHead head; /* ticks: when the batch was handed in */
  uint32_t n_bytes;
  uint32_t n_data_bytes;  /* the samples, one after the other */
  uint64_t counter;       /* of deferred events: id of their schema */
  uint64_t n_times_bytes; /* i64 each, in the counter's time domain; they follow the padded data */
  /* data, zero-padded to 8 bytes; times */
} LnsWireBatchBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t n_text_bytes;
  uint64_t id; /* unique in the domain */
  uint64_t schema;
  uint64_t time_domain; /* id, or NVTX_TIMESTAMP_TYPE_…, from nvtxSemanticsTime_t; 0: not given */
  uint32_t n_unit_bytes;
  uint32_t reserved;
  /* text (name), unit, each zero-padded to 8 bytes */
} LnsWireCounterBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t reserved;
  uint64_t id;   /* unique in the domain */
  uint64_t type; /* of its clock: NVTX_TIMESTAMP_TYPE_… */
} LnsWireTimeDomainBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t n_text_bytes;
  uint64_t id;    /* unique in the domain */
  uint64_t type;  /* NVTX_PAYLOAD_SCHEMA_TYPE_… */
  uint64_t flags; /* NVTX_PAYLOAD_SCHEMA_FLAG_… */
  uint64_t static_bytes;
  uint64_t pack_align_bytes;
  uint64_t n_entries;
  /* text (name), zero-padded to 8 bytes; as many LnsWireSchemaEntryBytes, each with its texts */
} LnsWireSchemaBytes;

typedef struct
{
  uint64_t flags;  /* NVTX_PAYLOAD_ENTRY_FLAG_… */
  uint64_t type;   /* NVTX_PAYLOAD_ENTRY_TYPE_… or the id of a schema or an enum */
  uint64_t detail; /* length of an array or a string, or member of a union */
  uint64_t offset_bytes;
  uint64_t time_domain; /* as of a counter */
  uint32_t n_name_bytes;
  uint32_t n_description_bytes;
  uint32_t n_unit_bytes;
  uint32_t reserved;
  /* name, description, unit, each zero-padded to 8 bytes */
} LnsWireSchemaEntryBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t n_text_bytes;
  uint64_t id;          /* unique in the domain, apart from the schemas' */
  uint64_t value_bytes; /* of a value: 1, 2, 4 or 8 */
  uint64_t n_entries;
  /* text (name), zero-padded to 8 bytes; as many LnsWireEnumEntryBytes, each with its name */
} LnsWireEnumBytes;

typedef struct
{
  uint64_t value;
  uint32_t is_flag; /* 0 or 1: the value is a set of bits */
  uint32_t n_name_bytes;
  /* name, zero-padded to 8 bytes */
} LnsWireEnumEntryBytes;
