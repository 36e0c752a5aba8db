/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The definitions of a report: what events refer to. Each kind has dense ids from 0 in the order of
 * definition; a later definition with the same id replaces the earlier one. The structs are plain
 * values: strings are ids of the report's string table (0 = none), so nothing here is owned. */

#pragma once

#include <stdint.h>

#include "src/store/lns-lane-kind.h"

#define LNS_ID_NONE      UINT32_MAX
#define LNS_TIME_UNKNOWN INT64_MIN

/* One process instance of the session: a pid that came back is another instance. */
typedef struct
{
  int32_t pid;        /* in the session's pid namespace                                         */
  int32_t target_pid; /* as the process itself sees it                                          */
  uint32_t parent;    /* process instance, or LNS_ID_NONE                                       */
  uint32_t name;      /* the comm or file name                                                  */
  uint32_t command_line; /* arguments, shell-quoted, or 0                                       */
  uint32_t executable;   /* path, or 0                                                          */
  int64_t start_ns;  /* report clock, or LNS_TIME_UNKNOWN                                      */
  int64_t end_ns;    /* LNS_TIME_UNKNOWN while it runs                                         */
  int32_t exit_code; /* 0–255; 128+N after signal N; -1 = not known                            */
} LnsProcess;

typedef struct
{
  uint32_t process; /* process instance                                                         */
  int32_t tid;      /* in the session's pid namespace, or 0 where it could not be read          */
  int32_t target_tid;
  uint32_t name;    /* what the program named it (NVTX, else the OS)                            */
  int64_t start_ns; /* LNS_TIME_UNKNOWN where not known                                         */
  int64_t end_ns;
  uint32_t is_named; /* 1: the program named it through NVTX                                    */
} LnsThread;

/* An NVTX domain of one process. The default domain has name 0 and number 0. */
typedef struct
{
  uint32_t process;
  uint32_t number; /* the nsys domainId: 0 = default, then in order of creation in its process   */
  uint32_t name;
  int64_t created_ns;
  int64_t destroyed_ns; /* LNS_TIME_UNKNOWN = lives                                             */
  uint32_t thread;      /* thread that created it, or LNS_ID_NONE                               */
} LnsDomain;

typedef struct
{
  uint32_t domain;   /* domain id                                                               */
  uint32_t category; /* the program's number                                                    */
  uint32_t name;
} LnsCategory;

/* Something that the program named through NVTX: a CUDA stream, a lock, … */
typedef struct
{
  uint32_t domain;     /* domain id                                                             */
  uint32_t type;       /* NVTX_RESOURCE_TYPE_*: what the identifier is                          */
  uint64_t identifier; /* the pointer, handle or number that the program knows it by            */
  uint32_t name;
  int64_t created_ns;
  int64_t destroyed_ns; /* LNS_TIME_UNKNOWN = lives                                             */
} LnsResource;

/* A typed payload's description (NVTX payload extension). Entries refer to it by `schema`. */
typedef struct
{
  uint32_t domain;
  uint64_t schema_id; /* as the program got it                                                  */
  uint32_t name;
  uint32_t type;  /* NVTX_PAYLOAD_SCHEMA_TYPE_*                                                 */
  uint32_t flags; /* NVTX_PAYLOAD_SCHEMA_FLAG_*                                                 */
  uint32_t size_bytes;
  uint32_t align_bytes;
  uint32_t is_enum; /* 1: entries are (name, value)                                             */
} LnsSchema;

typedef struct
{
  uint32_t schema;   /* index of its LnsSchema                                                    */
  uint32_t position; /* 0, 1, … within the schema                                               */
  uint32_t name;
  uint32_t description;
  uint32_t flags; /* NVTX_PAYLOAD_ENTRY_FLAG_*                                               */
  uint64_t type;  /* NVTX_PAYLOAD_ENTRY_TYPE_* or a schema id; an enum entry's value         */
  uint64_t offset_bytes;
  uint64_t array_or_union_detail;
} LnsSchemaEntry;

typedef enum
{
  LNS_TRACK_NVTX_RANGES = 1, /* push/pop ranges of (thread, domain)                             */
  LNS_TRACK_NVTX_START_END,  /* start/end ranges of (process, domain)                           */
  LNS_TRACK_NVTX_MARKS,      /* marks of (thread, domain)                                       */
  LNS_TRACK_COUNTER,         /* samples of one counter of (process, domain)                     */
  LNS_N_TRACK_KINDS
} LnsTrackKind;

/* What a person sees as one row; its lanes hold the events. */
typedef struct
{
  LnsTrackKind kind;
  uint32_t process;    /* process instance, or LNS_ID_NONE                                      */
  uint32_t thread;     /* thread instance, or LNS_ID_NONE                                       */
  uint32_t domain;     /* domain id, or LNS_ID_NONE                                             */
  uint32_t name;       /* a counter's name; else 0                                              */
  uint32_t value_type; /* LNS_TRACK_COUNTER: LnsPayloadType of the samples                      */
  uint32_t unit;       /* LNS_TRACK_COUNTER: string id, or 0                                    */
  uint64_t number;     /* LNS_TRACK_COUNTER: the program's counter id; else 0                   */
} LnsTrack;

typedef struct
{
  uint32_t track;
  uint32_t ordinal; /* 0, 1, …: the depth of push/pop lanes                                     */
  LnsLaneKind kind;
} LnsLane;

typedef enum
{
  LNS_SEVERITY_INFO,
  LNS_SEVERITY_WARNING,
  LNS_SEVERITY_ERROR
} LnsSeverity;

/* Something that a person should know. CODE is stable: "LNS-NVTX-003". */
typedef struct
{
  uint32_t code;
  LnsSeverity severity;
  int64_t time_ns;  /* LNS_TIME_UNKNOWN = of the whole session                                  */
  uint32_t process; /* or LNS_ID_NONE                                                           */
  uint32_t text;
} LnsDiagnostic;

/* Records that a thread (or a whole process) made and nobody has. Counts are of API calls; how many
 * events that are, is lns_loss_events ().                                                         */
typedef struct
{
  uint32_t process;
  uint32_t thread;  /* LNS_ID_NONE = not known which                                            */
  int64_t first_ns; /* the gap's ends, report clock; LNS_TIME_UNKNOWN = not known               */
  int64_t last_ns;
  uint64_t pushes, pops, marks, starts, ends, others;
  uint64_t bytes;
} LnsLoss;

/* Events that nobody has because of LOSS: kept and lost together are those that were made. A lost pop
 * or end loses no event: its range is kept, with an end that is not known. */
static inline uint64_t
lns_loss_events (const LnsLoss *loss)
{
  return loss->pushes + loss->marks + loss->starts + loss->others;
}
