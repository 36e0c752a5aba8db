/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What all sources of records share: the session's processes, the clock, the report that there is, and how strings,
 * lanes and warnings get into it. Knows no source: what one knows of the session, a process, a thread or a stream
 * lies in a slot of that. */

#pragma once

#include "capture/session/decode/core/clock-line.h"
#include "capture/session/decode/core/counters.h"
#include "src/base/array.h"
#include "src/base/id-map.h"
#include "capture/session/decode/core/name.h"
#include "capture/session/system/process-info.h"
#include "capture/wire/record.h"
#include "src/store/write/writer.h"

/* Each has a folder beside this one, and a line in the table of decoder.c. */
typedef enum
{
  LNS_SOURCE_NVTX,
  LNS_SOURCE_CUDA,
  LNS_SOURCE_MPI,
  LNS_SOURCE_PYTHON,
  LNS_N_SOURCES
} LnsSourceId;

/* An id in the report whose serial is REPORT; of no use in another. */
typedef struct
{
  uint32_t report;
  uint32_t id;
} LnsReportRef;

typedef LNS_ARRAY (void *) LnsPointers;

typedef struct
{
  uint32_t id; /* instance in the session */
  LnsProcessInfo info;
  int64_t start_ns, end_ns; /* report time */
  int exit_code, exit_signal;
  LnsIdMap streams;           /* LnsStream by serial */
  LnsIdMap threads;           /* LnsDecodedThread by serial */
  LnsIdMap registered;        /* LnsName by string id */
  LnsIdMap thread_names;      /* LnsName by 1 + target tid: what the program said */
  LnsWireLosses told;         /* by LOST records */
  uint64_t n_lost_records;    /* of the GPU, perhaps, that this report is told of as lost */
  bool has_state;             /* it has records, and has not ended */
  void *state[LNS_N_SOURCES]; /* what each source knows of it */
} LnsDecodedProcess;

struct LnsDecoder
{
  LnsWriter *writer; /* NULL: no report; what happens now is only remembered */
  uint32_t report;   /* serial, from 1 */
  int64_t report_start_ns;
  uint64_t report_ticks;  /* of a call that is known to be in the report: later ones are, too */
  int64_t first_start_ns; /* where the first report began */
  int64_t ended_ns;       /* where the last one ended, if it was followed; else INT64_MIN */
  bool is_followed;       /* what comes of the report when it has ended is counted */
  LnsDecoderBetween between;
  LnsPointers processes, threads; /* by id in the session */
  LnsPointers unrecorded;         /* LnsUnrecorded */
  LnsDecoderCounters counters;
  uint64_t n_told;                                /* lost events, in all processes */
  uint8_t extra[LNS_N_LANE_KINDS][LNS_N_COLUMNS]; /* index in LnsEvent.extra */
  uint8_t source_of[256];                         /* by type of record; LNS_N_SOURCES: none */
  void *state[LNS_N_SOURCES];                     /* what each source knows of the session */
  LnsClockLine clock;
};

/* Adds ITEM. Returns false if memory is short. */
bool _lns_pointers_add (LnsPointers *pointers, void *item);

/* Puts ITEM, just made, on the list of its kind and into MAP. False, and ITEM freed, if memory is
 * short. */
bool
_lns_decoder_keep (LnsDecoder *decoder, LnsPointers *list, LnsIdMap *map, uint64_t key, void *item);

/* Copies RECORD into the N_BYTES at RET_STRUCT; what a shorter one lacks is 0. */
void _lns_record_take (const LnsWireRecord *record, void *ret_struct, size_t n_bytes);

/* A name of TEXT, or NULL where that is empty. */
LnsName *_lns_decoder_name (LnsWireText text);

/* The string id of NAME (may be NULL) in the report there is. */
uint32_t _lns_decoder_string (LnsDecoder *decoder, LnsName *name);

/* Sets REF to the lane ORDINAL of TRACK, made if the report has none. */
void _lns_decoder_lane (
    LnsDecoder *decoder, LnsReportRef *ref, uint32_t track, uint32_t ordinal, LnsLaneKind kind);

/* Tells the report, if there is one, of PROCESS: as a new one or as it is now. */
void _lns_decoder_write_process (LnsDecoder *decoder, const LnsDecodedProcess *process, bool anew);

/* Gives string id NAMED of PROCESS its text. */
void
_lns_decoder_register (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireNamed *named);

/* Keeps a warning of CODE (static) for the report. Returns it, the decoder's; NULL if memory is short. */
LnsUnrecorded *_lns_decoder_tell (LnsDecoder *decoder,
                                  const LnsDecodedProcess *process,
                                  const char *code,
                                  const char *format,
                                  ...) __attribute__ ((format (printf, 4, 5)));

/* How many events LOSSES are: ends are none, as their ranges are kept. */
uint64_t _lns_lost_events (const LnsWireLosses *losses);

/* LOSSES are told of, by a record or by the pool of PROCESS. */
void _lns_decoder_count_told (LnsDecoder *decoder,
                              LnsDecodedProcess *process,
                              const LnsWireLosses *losses);

/* Tells the report, if there is one, of LOSSES of PROCESS, as LOSS says when and of which thread. */
void _lns_decoder_write_loss (LnsDecoder *decoder,
                              LnsDecodedProcess *process,
                              const LnsWireLosses *losses,
                              LnsLoss loss);
