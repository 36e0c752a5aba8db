/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* NVTX definitions of programs: domains, categories, schemas and resources besides threads: CUDA streams, locks, …
 * The session keeps them in order, so that each report gets them under the same ids. */

#pragma once

#include "capture/session/decode/core/source.h"
#include "capture/session/decode/nvtx/domain-filter.h"
#include "capture/session/decode/nvtx/event.h"
#include "src/store/write/overlap.h"

typedef struct LnsDecodedDomain LnsDecodedDomain;

/* A START or END that waits until its whole batch is there. */
typedef struct
{
  int64_t time_ns;
  bool is_end;
  bool waited; /* it has waited for a batch already: its start will not come */
  uint64_t range;
  LnsDecodedThread *thread;
  LnsDecodedDomain *domain;
  LnsEventDetail detail;
} LnsStartEnd;

/* The state of the session. */
typedef struct
{
  LnsDomainFilter filter;
  LnsPointers domains, categories, schemas, resources; /* by id in the session */
} LnsNvtxSession;

/* The state of a process. */
typedef struct
{
  LnsIdMap domains;     /* LnsDecodedDomain by number */
  LnsIdMap resources;   /* LnsDecodedResource by handle */
  LnsPointers changed;  /* LnsRangeStack with frames that the writer does not know, or NULL */
  uint64_t n_deferred;  /* number of deferred ranges, for their ids */
  LnsIdMap open_ranges; /* LnsStartedRange by range id; see ranges.c */
  LNS_ARRAY (LnsStartEnd) start_ends; /* of this batch */
} LnsNvtxProcess;

struct LnsDecodedDomain
{
  LnsDecodedProcess *process;
  uint32_t id; /* instance in the session */
  uint32_t number;
  LnsName *name;
  bool is_left_out; /* reports do without its events */
  int64_t created_ns, destroyed_ns;
  LnsReportRef track;                 /* of start/end ranges */
  LnsOverlap lanes;                   /* of start/end ranges */
  LNS_ARRAY (LnsReportRef) lane_refs; /* one for each */
  LnsIdMap categories;                /* LnsDecodedCategory by number */
  LnsIdMap schemas;                   /* LnsDecodedSchema by id */
  LnsIdMap enums;
  LnsIdMap clocks;   /* NVTX_TIMESTAMP_TYPE_… by time domain id */
  LnsIdMap counters; /* LnsDecodedCounter by id; see payloads.c */
};

typedef struct
{
  LnsName *name, *description, *unit;
  uint64_t flags, type, detail, offset_bytes; /* of an enum: type is the value */
  uint64_t time_domain;
} LnsDecodedEntry;

typedef struct
{
  uint32_t id; /* in the session */
  LnsDecodedDomain *domain;
  bool is_enum;
  uint64_t schema_id, type, flags, size_bytes, align_bytes;
  LnsName *name;
  LnsDecodedEntry *entries;
  uint32_t n_entries;
} LnsDecodedSchema;

static inline LnsNvtxSession *
_lns_nvtx_session (const LnsDecoder *decoder)
{
  return decoder->state[LNS_SOURCE_NVTX];
}

static inline LnsNvtxProcess *
_lns_nvtx_process (const LnsDecodedProcess *process)
{
  return process->state[LNS_SOURCE_NVTX];
}

/* Finds or makes the domain NUMBER of PROCESS. Returns NULL if memory is short. */
LnsDecodedDomain *
_lns_nvtx_domain (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number);

/* Takes one definition record of DOMAIN. */
void _lns_nvtx_define (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireRecord *record);

/* Writes all definitions to the report. */
void _lns_nvtx_replay (LnsDecoder *decoder);
void _lns_nvtx_free_definitions (LnsNvtxSession *session);
