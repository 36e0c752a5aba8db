/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files that compact CUPTI's records. */

#pragma once

#include "capture/wire/compact.h"

#include <cupti.h>
#include <string.h>

/* A record, at least as long as the newest struct of its kind. */
typedef union __attribute__ ((may_alias))
{
  CUpti_ActivityKind kind;
  CUpti_ActivityAPI api;
  CUpti_ActivityKernel10 kernel;
  CUpti_ActivityMemcpy6 copy;
  CUpti_ActivityMemcpyPtoP4 copy_between;
  CUpti_ActivityMemset4 set;
  CUpti_ActivitySynchronization2 sync;
  CUpti_ActivityCudaEvent2 event;
  CUpti_ActivityGraphTrace2 graph;
  CUpti_ActivityDeviceGraphTrace device_graph;
  CUpti_ActivityOverhead3 overhead;
  CUpti_ActivityMemory4 memory;
  CUpti_ActivityMemoryPool3 pool;
  CUpti_ActivityUnifiedMemoryCounter3 unified;
  CUpti_ActivityJit2 jit;
  CUpti_ActivityDevice5 device;
  CUpti_ActivityContext3 context;
  CUpti_ActivityStream stream;
  CUpti_ActivityMemDecompress decompress;
} LnsCuptiRecord;

/* One record on its way. */
typedef struct
{
  const LnsWireCuptiSink *sink;
  LnsWireCuptiCounts *counts;
  const LnsCuptiRecord *from;
  size_t n_bytes; /* that the loaded CUPTI has of it */
} LnsCuptiWork;

typedef enum
{
  LNS_CUPTI_DONE,
  LNS_CUPTI_SKIPPED,
  LNS_CUPTI_LOST,
  LNS_CUPTI_UNFINISHED
} LnsCuptiResult;

/* Whether the loaded CUPTI has FIELD: only for those whose absence is not 0. */
#define HAS(work, type, field)                                                                     \
 (offsetof (type, field) + sizeof (((type *)NULL)->field) <= (work)->n_bytes)

#define LNS_CUPTI_PADDED(n_bytes)                                                                  \
 (uint32_t) (((n_bytes) + LNS_WIRE_ALIGN_BYTES - 1) & ~(size_t)(LNS_WIRE_ALIGN_BYTES - 1))

/* Room for a record of N_BYTES, padded; null, and lost, where there is none. */
static inline void *
_lns_cupti_begin (const LnsCuptiWork *work, size_t n_bytes)
{
  uint8_t *at = work->sink->reserve (work->sink->context, LNS_CUPTI_PADDED (n_bytes));
  if (at == NULL)
    work->sink->lose (work->sink->context, LNS_CUPTI_PADDED (n_bytes));
  return at;
}

/* Writes the N_BYTES of RECORD, whose size is filled in, and padding. */
static inline LnsCuptiResult
_lns_cupti_put (const LnsCuptiWork *work, void *record, size_t n_bytes)
{
  uint32_t n_padded = LNS_CUPTI_PADDED (n_bytes);
  memcpy ((uint8_t *)record + sizeof (LnsWireHead), &n_padded, sizeof n_padded);
  uint8_t *at = _lns_cupti_begin (work, n_bytes);
  if (at == NULL)
    return LNS_CUPTI_LOST;
  memcpy (at, record, n_bytes);
  memset (at + n_bytes, 0, n_padded - n_bytes);
  work->sink->commit (work->sink->context, n_padded);
  return LNS_CUPTI_DONE;
}

/* The registered string of the text at ADDRESS. */
static inline uint32_t
_lns_cupti_text (const LnsCuptiWork *work, const char *address, bool is_lasting)
{
  return work->sink->text (work->sink->context, (uintptr_t)address, is_lasting);
}

/* END, but no earlier than START. */
static inline uint64_t
_lns_cupti_later (uint64_t start, uint64_t end)
{
  return end > start ? end : start;
}

/* --- What is around the device's work: compact-around.c. ------------------------------- */

LnsCuptiResult _lns_cupti_put_overhead (const LnsCuptiWork *work);
LnsCuptiResult _lns_cupti_put_memory (const LnsCuptiWork *work);
LnsCuptiResult _lns_cupti_put_pool (const LnsCuptiWork *work);
LnsCuptiResult _lns_cupti_put_unified (const LnsCuptiWork *work);
LnsCuptiResult _lns_cupti_put_jit (const LnsCuptiWork *work);
LnsCuptiResult _lns_cupti_put_device (const LnsCuptiWork *work);
LnsCuptiResult _lns_cupti_put_context (const LnsCuptiWork *work);
LnsCuptiResult _lns_cupti_put_stream (const LnsCuptiWork *work);
