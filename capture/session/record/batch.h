/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The result of one drain: copies of records, and events of processes and reports since the drain before. The
 * collector makes batches, the recorder consumes them. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/session/decode/decoder.h"
#include "capture/session/decode/core/record-count.h"
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
  LNS_BATCH_PROCESS,      /* a process is there, or runs another program now: `info`; comes first */
  LNS_BATCH_SALVAGE,      /* `salvage`, of a process that is gone */
  LNS_BATCH_PROCESS_GONE, /* `time_ns`, `losses`; it has no records after this batch */
  LNS_BATCH_LOSSES,       /* `losses` by now, of a process that goes on when a report stops */
  LNS_BATCH_EXIT,         /* `time_ns`, `exit_code`, `exit_signal` */
  LNS_BATCH_FLUSHED,      /* CUPTI's records of the process's last range are here */
  LNS_BATCH_DIAGNOSTIC,   /* `code`, `severity`, `text` */
  LNS_BATCH_RANGES,       /* `ranges`: replace those before */
  LNS_BATCH_START,        /* `writer`: a report begins at `time_ns`; comes before the records */
  LNS_BATCH_STOP,  /* the report ends with this batch; `code` and `text` say why if it is empty */
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
  LnsProcessInfo info; /* owned */
  LnsWireLosses losses;
  LnsSalvage *salvage; /* owned */
  LnsWriter *writer;   /* owned */
  const char *code;    /* static */
  LnsSeverity severity;
  char *text;             /* owned */
  bool wants_cuda;        /* STOP: without CUDA events, a diagnostic says why */
  bool wants_python;      /* STOP: the same if no Python program traces functions */
  LnsRangeReports ranges; /* `create` is NULL: no ranges */
  int64_t keep_ns;        /* START, STOP: the report holds only its last keep_ns; 0: all of it */
} LnsBatchEvent;

typedef LNS_ARRAY (LnsBatchEvent) LnsBatchEvents;

typedef struct LnsBatch LnsBatch;

struct LnsBatch
{
  LnsBatch *next;
  LnsWireClockPair pair; /* read after the records were committed */
  LnsBatchPieces pieces;
  LnsBatchEvents events;
  LnsBlock *blocks; /* the last one first */
  size_t n_bytes;
  size_t n_queued_bytes; /* of n_bytes: those that the recorder still counts as queued */
  uint8_t *packed;       /* the bytes of the pieces, instead of blocks; see batch-pack.h */
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

/* Returns NULL if memory is short. */
LnsBatch *lns_batch_new (void);

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
bool lns_batch_add_event (LnsBatch *batch, LnsBatchEvent *event);
void lns_batch_events_clear (LnsBatchEvents *events);
void lns_batch_event_clear (LnsBatchEvent *event);
