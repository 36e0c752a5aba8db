/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The result of one drain: copies of records, and events of processes and reports since the drain before. The
 * collector makes batches, the recorder consumes them. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/session/decode/decoder.h"
#include "capture/session/decode/core/record-count.h"
#include "capture/wire/gpu.h"
#include "src/base/array.h"
#include "src/store/write/writer.h"

#define LNS_BLOCK_BYTES (1u << 20)

typedef struct LnsBlock LnsBlock;

struct LnsBlock
{
  LnsBlock *next;
  size_t n_bytes; /* used */
  _Alignas(16) uint8_t bytes[LNS_BLOCK_BYTES];
};

/* Whole records of one stream. */
typedef struct
{
  LnsDecoderSource source;
  LnsBegun begun;
  const uint8_t *bytes; /* in one of the batch's blocks */
  size_t n_bytes;
  bool
      is_copy; /* CUPTI hands these records over later: only ends of ranges that wait for this batch take from it */
} LnsBatchPiece;

typedef LNS_ARRAY (LnsBatchPiece) LnsBatchPieces;

/* How reports of capture ranges are made. */
typedef struct
{
  /* Makes the report of the NUMBERth range, from 1 on. RET_PATH gets its path, or the path that was tried, owned by
   * whoever takes the news. Returns NULL and ERROR if it cannot be made. Called on the recorder's thread. */
  LnsWriter *(*create) (void *data, unsigned number, char **ret_path, LnsError *error);
  void *data;
  unsigned n_max; /* 0: as many as come */
} LnsRangeReports;

typedef enum
{
  LNS_BATCH_NOTHING,
  LNS_BATCH_PROCESS, /* a process is there, or runs another program now: `info`; comes first */
  LNS_BATCH_SALVAGE, /* `salvage`, of a process that is gone */
  LNS_BATCH_WITHHELD_COPY, /* `salvage`: a copy of what CUPTI still holds of a range that is not waited for any longer */
  LNS_BATCH_PROCESS_GONE, /* `time_ns`, `losses`; it has no records after this batch */
  LNS_BATCH_LOSSES,       /* `losses` by now, of a process that goes on when a report stops */
  LNS_BATCH_WITHHELD,     /* `withheld_ticks` */
  LNS_BATCH_EXIT,         /* `time_ns`, `exit_code`, `exit_signal`, `on_cpu_ns`, `waited_ns` */
  LNS_BATCH_FLUSHED,      /* CUPTI's records of the process's last range are here */
  LNS_BATCH_DIAGNOSTIC,   /* `code`, `severity`, `text` */
  LNS_BATCH_GPU,          /* `gpu`; `time_ns` of its samples, INT64_MIN if it has none */
  LNS_BATCH_CPU,          /* `cpu`; `time_ns` of the first of its records */
  LNS_BATCH_PYTHON,       /* the same with records of Python samples */
  LNS_BATCH_RANGES,       /* `ranges`: replace those before */
  LNS_BATCH_KEEP,         /* the report keeps the time around `time_ns`, if it does not keep all */
  LNS_BATCH_START,        /* `writer`: a report begins at `time_ns`; comes before the records */
  LNS_BATCH_STOP, /* the report ends with this batch; `code`, `severity` and `text` say why if it is empty */
  LNS_BATCH_CANCEL /* the report is discarded */
} LnsBatchEventKind;

/* An event applies after the records of its batch, except LNS_BATCH_PROCESS, _RANGES and _START, which come before
 * them. _STOP and _CANCEL apply last. */
typedef struct
{
  LnsBatchEventKind kind;
  uint32_t process; /* instance in the session, or LNS_ID_NONE */
  int64_t time_ns;  /* CLOCK_MONOTONIC */
  int exit_code, exit_signal;
  int64_t on_cpu_ns, waited_ns; /* of the main thread in all; both 0: not known */
  LnsProcessInfo info;          /* owned */
  LnsWireLosses losses;
  LnsSalvage *salvage;     /* owned */
  uint64_t withheld_ticks; /* CUPTI holds records back since then; 0: none */
  LnsWireGpuMessage *gpu;  /* owned; N_GPU_BYTES, which may be less than the type has */
  size_t n_gpu_bytes;
  uint8_t *cpu; /* owned; N_CPU_BYTES of records (decode/cpu/cpu.h, decode/python/samples.h) */
  size_t n_cpu_bytes;
  atomic_size_t *waiting; /* NULL, or what counts these bytes until they are played or kept */
  LnsWriter *writer;      /* owned */
  const char *code;       /* static */
  LnsSeverity severity;
  char *text;             /* owned */
  bool wants_cuda;        /* STOP: without CUDA events, a diagnostic says why */
  bool wants_python;      /* STOP: the same if no Python program traces functions */
  LnsRangeReports ranges; /* `create` is NULL: no ranges */
  int64_t keep_ns;        /* START, STOP: the report holds only its last keep_ns; 0: all of it */
  LnsStepRule *steps;     /* owned; START: the report keeps only steps that it says; NULL: all */
} LnsBatchEvent;

typedef LNS_ARRAY (LnsBatchEvent) LnsBatchEvents;

typedef struct LnsBatch LnsBatch;

struct LnsBatch
{
  LnsBatch *next;
  LnsWireClockPair pair; /* read after the records were committed */
  int64_t
      sampled_ns; /* samples of CPUs up to here are in this batch or one before; INT64_MAX: all; 0: there are none */
  LnsBatchPieces pieces;
  LnsBatchEvents events;
  LnsBlock *blocks; /* the last one first */
  size_t n_bytes;
  size_t n_queued_bytes; /* of n_bytes: those that the recorder still counts as queued */
  uint8_t
      *packed; /* slices, each behind its size (uint32_t), instead of blocks; see batch-pack.h */
  size_t n_packed_bytes;
  uint64_t n_packed_begun; /* events that begin in the packed pieces */
};

/* A LNS_BATCH_DIAGNOSTIC about PROCESS (or LNS_ID_NONE) with CODE (static) and the text that FORMAT gives. If memory is
 * short, it has no text and says nothing. */
LnsBatchEvent lns_batch_diagnostic (uint32_t process,
                                    const char *code,
                                    LnsSeverity severity,
                                    const char *format,
                                    ...) __attribute__ ((format (printf, 4, 5)));

/* Frees BATCH (may be NULL) and what its events own. */
void lns_batch_free (LnsBatch *batch);

/* Frees the bytes of BATCH's pieces, which stay. */
void lns_batch_free_blocks (LnsBatch *batch);

/* Returns room for N_BYTES (up to LNS_BLOCK_BYTES) of records, or NULL if memory is short. lns_batch_add () takes
 * the part that was used. */
uint8_t *lns_batch_reserve (LnsBatch *batch, size_t n_bytes);

/* Adds the first N_BYTES of the last reserved room as a piece, in which BEGUN events begin. Returns false if memory
 * is short. */
bool
lns_batch_add (LnsBatch *batch, const LnsDecoderSource *source, size_t n_bytes, LnsBegun begun);

/* Takes over EVENT. If memory is short, frees what EVENT owns and returns false. */
bool lns_batch_events_add (LnsBatchEvents *events, LnsBatchEvent *event);
void lns_batch_events_clear (LnsBatchEvents *events);
void lns_batch_event_clear (LnsBatchEvent *event);

/* Takes what EVENT has of GPUs or CPUs off the count of what waits. */
void lns_batch_event_count_off (LnsBatchEvent *event);
