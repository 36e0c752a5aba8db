/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* State and functions shared by all sources of records: the session's processes, the clock, the present report, and
 * ways to add strings, lanes and warnings to it. The core knows no source. What a source knows about the session, a
 * process, a thread or a stream lies in a slot of that struct. */

#pragma once

#include "capture/session/decode/core/call-nodes.h"
#include "capture/session/decode/core/clock-line.h"
#include "capture/session/decode/core/counters.h"
#include "capture/session/decode/core/name.h"
#include "capture/session/decode/core/step-rule.h"
#include "src/base/array.h"
#include "src/base/id-map.h"
#include "capture/session/system/process-info.h"
#include "capture/wire/record.h"
#include "src/store/write/writer.h"

/* Each source has a folder beside this one and a line in the table of decoder.c. */
typedef enum
{
  LNS_SOURCE_NVTX,
  LNS_SOURCE_CUDA,
  LNS_SOURCE_TOPOLOGY,
  LNS_SOURCE_MPI,
  LNS_SOURCE_PYTHON,
  LNS_SOURCE_GPU,
  LNS_SOURCE_OS,
  LNS_SOURCE_CPU,
  LNS_SOURCE_PYTHON_SAMPLES,
  LNS_N_SOURCES
} LnsSourceId;

/* An id that is valid only in the report with the serial REPORT. */
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
  LnsIdMap streams;        /* LnsStream by serial */
  LnsIdMap threads;        /* LnsDecodedThread by serial */
  LnsIdMap tids;           /* the latest LnsDecodedThread by 1 + target tid; stays after its end */
  LnsIdMap registered;     /* LnsName by string id */
  LnsIdMap thread_names;   /* LnsName by 1 + target tid: names that the program gave */
  LnsIdMap tracks;         /* LnsDecodedTrack by kind << 56 | a number; see tracks.h */
  LnsWireLosses told;      /* by LOST records */
  uint64_t n_lost_records; /* lost records, perhaps of the GPU, that this report was told of */
  uint64_t withheld_ticks; /* since then, CUPTI holds records back; 0: it does not */
  LnsCallNodes call_nodes; /* by correlation | 1 << 32 for calls of CUDA's runtime */
  bool has_state;          /* it has records and has not ended */
  void *state[LNS_N_SOURCES]; /* what each source knows about it */
} LnsDecodedProcess;

/* A device in a report that no process told of: samples of a GPU lie under it. The process that tells of it takes it over. */
typedef struct
{
  LnsReportRef ref;
  uint32_t process;
  bool is_taken;
  char bus[32];
} LnsSpareDevice;

typedef struct LnsSieve LnsSieve;

struct LnsDecoder
{
  LnsWriter *writer; /* NULL: there is no report; definitions and open ranges are remembered */
  LnsSieve *sieve;   /* of the report, if that keeps only some steps; else NULL */
  LnsStepRule *rule; /* which ones the next report keeps; NULL: it keeps all */
  uint32_t report;   /* serial, from 1 */
  int64_t report_start_ns;
  int64_t report_end_ns;  /* as sources stop the report */
  uint64_t report_ticks;  /* of a call that is in the report; later calls are, too */
  int64_t first_start_ns; /* start of the first report */
  int64_t ended_ns;       /* end of the last report if it was followed, else INT64_MIN */
  bool is_followed;       /* records of the report that come after its end are counted */
  LnsDecoderBetween between;
  LnsPointers processes, threads; /* by id in the session */
  LnsPointers unrecorded;         /* LnsUnrecorded */
  LnsDecoderCounters counters;
  uint64_t n_told;                                /* lost events of all processes */
  uint8_t extra[LNS_N_LANE_KINDS][LNS_N_COLUMNS]; /* index in LnsEvent.extra */
  uint8_t source_of[256];                         /* by type of record; LNS_N_SOURCES: none */
  void *state[LNS_N_SOURCES];                     /* what each source knows about the session */
  LNS_ARRAY (LnsSpareDevice) spare_devices;
  LnsClockLine clock;
};

/* Adds ITEM. Returns false if memory is short. */
bool _lns_pointers_add (LnsPointers *pointers, void *item);

/* Adds ITEM (NULL: there was no memory for it), which is new, to LIST, if that is not NULL, and to MAP. Frees ITEM and
 * returns false if memory is short. */
bool
_lns_decoder_keep (LnsDecoder *decoder, LnsPointers *list, LnsIdMap *map, uint64_t key, void *item);

/* Copies RECORD into the N_BYTES at RET_STRUCT. What a shorter record lacks is 0. */
void _lns_record_take (const LnsWireRecord *record, void *ret_struct, size_t n_bytes);

/* A name of TEXT, or NULL if TEXT is empty. */
LnsName *_lns_decoder_name (LnsWireText text);

/* Releases the names that NAMES holds, and empties it. */
void _lns_names_clear (LnsIdMap *names);

/* The string id of NAME (may be NULL) in the present report. */
uint32_t _lns_decoder_string (LnsDecoder *decoder, LnsName *name);

/* The string id of TEXT in the present report; 0 if TEXT is NULL. */
uint32_t _lns_decoder_text (LnsDecoder *decoder, const char *text);

/* Adds the track of DEFINITION to the report, and returns its id. */
uint32_t _lns_decoder_add_track (LnsDecoder *decoder, const LnsTrack *definition);

/* Sets REF to the track of DEFINITION, which is added to the report if need be, and returns its id. */
uint32_t _lns_decoder_track (LnsDecoder *decoder, LnsReportRef *ref, const LnsTrack *definition);

/* Sets REF to the lane ORDINAL of TRACK, which is added to the report if need be. */
void _lns_decoder_lane (
    LnsDecoder *decoder, LnsReportRef *ref, uint32_t track, uint32_t ordinal, LnsLaneKind kind);

/* Adds EVENT to LANE of the report, and the other two likewise, as the functions of the writer do; but if the report keeps only some
 * steps, what is in none of them is counted and left out. There is a report. */
void _lns_decoder_append (LnsDecoder *decoder, uint32_t lane, const LnsEvent *event);
void _lns_decoder_set_open (LnsDecoder *decoder, uint32_t lane, const LnsEvent *event);
void _lns_decoder_close_lane (LnsDecoder *decoder, uint32_t lane);

/* Writes the definition of PROCESS to the report, if there is one: as a new process (ANEW) or as a change. */
void _lns_decoder_write_process (LnsDecoder *decoder, const LnsDecodedProcess *process, bool anew);

/* Sets the text of a registered string of PROCESS. */
void
_lns_decoder_register (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireNamed *named);

/* Keeps a warning with CODE (static) for the report. Returns it, owned by the decoder; NULL if memory is short. */
LnsUnrecorded *_lns_decoder_tell (LnsDecoder *decoder,
                                  const LnsDecodedProcess *process,
                                  const char *code,
                                  const char *format,
                                  ...) __attribute__ ((format (printf, 4, 5)));

/* The same of the whole session, with a sentence that is made already. Does nothing if it is kept already. */
void _lns_decoder_tell_once (LnsDecoder *decoder, const char *code, const char *text);

/* Notes that a record, or the pool of PROCESS, has told of LOSSES. */
void _lns_decoder_count_told (LnsDecoder *decoder,
                              LnsDecodedProcess *process,
                              const LnsWireLosses *losses);

/* Writes LOSSES of PROCESS to the report, if there is one. LOSS says when and of which thread. */
void _lns_decoder_write_loss (LnsDecoder *decoder,
                              LnsDecodedProcess *process,
                              const LnsWireLosses *losses,
                              LnsLoss loss);
