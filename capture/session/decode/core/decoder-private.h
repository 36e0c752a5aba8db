/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The decoder's rooms: shared by its files alone. */

#pragma once

#include "capture/session/decode/core/clock-line.h"
#include "capture/session/decode/core/decoder.h"
#include "capture/session/decode/core/id-map.h"
#include "capture/session/decode/core/name.h"
#include "capture/wire/record.h"
#include "src/store/write/kept-table.h"
#include "src/store/write/overlap.h"

typedef struct LnsDecodedProcess LnsDecodedProcess;
typedef struct LnsDecodedThread LnsDecodedThread;
typedef struct LnsDecodedDomain LnsDecodedDomain;
typedef struct LnsRangeStack LnsRangeStack;
typedef struct LnsDecodedLaunch LnsDecodedLaunch;
typedef struct LnsDecodedCuda LnsDecodedCuda;

/* An id in the report whose serial is REPORT; of no use in another. */
typedef struct
{
  uint32_t report;
  uint32_t id;
} LnsReportRef;

/* What an event has besides its times. Holds its names. */
typedef struct
{
  LnsName *name;
  LnsName *typed; /* LNS_PAYLOAD_TYPED */
  uint64_t payload;
  uint32_t color;
  uint32_t category;
  uint32_t flags; /* LnsEventFlags */
  LnsPayloadType payload_type;
} LnsEventDetail;

/* An open range of a stack. A push that was lost leaves a frame that is not there. */
typedef struct
{
  bool is_there;
  bool is_shown; /* the writer knows that it is open */
  int64_t start_ns;
  LnsEventDetail detail;
} LnsFrame;

/* The push/pop ranges and the marks of one thread in one domain. */
struct LnsRangeStack
{
  LnsDecodedThread *thread;
  LnsDecodedDomain *domain;
  uint32_t n_frames, n_allocated;
  LnsFrame *frames;
  LnsReportRef *lanes; /* by depth; n_allocated of them */
  LnsReportRef track, mark_track, mark_lane;
  size_t changed_at; /* 1 + the place in the decoder's list of stacks with unshown frames, or 0 */
  LnsLoss refused;   /* pushes that are left out, and not yet told */
};

struct LnsDecodedThread
{
  LnsDecodedProcess *process;
  uint32_t id; /* instance in the session */
  uint64_t serial;
  int32_t tid, target_tid;
  int64_t start_ns, end_ns;
  LnsName *name;
  bool is_named;   /* by the program, through NVTX */
  LnsIdMap stacks; /* by domain number */
};

struct LnsDecodedDomain
{
  LnsDecodedProcess *process;
  uint32_t id; /* instance in the session */
  uint32_t number;
  LnsName *name;
  bool is_left_out; /* its events are not for reports */
  int64_t created_ns, destroyed_ns;
  LnsReportRef track;      /* of start/end ranges */
  LnsOverlap lanes;        /* of start/end ranges */
  LnsReportRef *lane_refs; /* one for each */
  uint32_t n_lane_refs;    /* that there is room for */
  LnsIdMap categories;     /* LnsDecodedCategory by number */
  LnsIdMap schemas;        /* LnsDecodedSchema by id */
  LnsIdMap enums;
  LnsIdMap clocks;   /* NVTX_TIMESTAMP_TYPE_… by time domain id */
  LnsIdMap counters; /* LnsDecodedCounter by id; see decode/nvtx/counters.c */
};

typedef struct
{
  uint32_t id; /* in the session */
  LnsDecodedDomain *domain;
  uint32_t number;
  LnsName *name;
} LnsDecodedCategory;

typedef struct
{
  uint32_t id; /* in the session */
  LnsDecodedDomain *domain;
  uint64_t identifier;
  uint32_t type;
  LnsName *name;
  int64_t created_ns, destroyed_ns;
} LnsDecodedResource;

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

/* One text of records. */
typedef struct
{
  LnsDecodedProcess *process;
  LnsDecodedThread *thread; /* who writes it; NULL: not known yet */
  LnsRangeStack *stack;     /* the last one used … */
  uint32_t stack_epoch;     /* … if no stack was freed since: compare with the decoder's */
  bool lost_before;
  uint32_t n_names;
  LnsName **names; /* by stream string id */
  LnsWireAssembler events, definitions;
  LnsDecodedLaunch **launches; /* by slot; NULL: none yet */
} LnsStream;

/* A START or END that waits for its batch to be whole. */
typedef struct
{
  int64_t time_ns;
  bool is_end;
  bool waited; /* once already: its start is not to come any more */
  uint64_t range;
  LnsDecodedThread *thread;
  LnsDecodedDomain *domain;
  LnsEventDetail detail;
} LnsStartEnd;

struct LnsDecodedProcess
{
  uint32_t id; /* instance in the session */
  LnsProcessInfo info;
  int64_t start_ns, end_ns; /* report time */
  int exit_code, exit_signal;
  LnsIdMap streams;      /* by serial */
  LnsIdMap threads;      /* by serial */
  LnsIdMap domains;      /* by number */
  LnsIdMap registered;   /* LnsName by string id */
  LnsIdMap thread_names; /* LnsName by 1 + target tid: what the program said */
  LnsIdMap resources;    /* LnsDecodedResource by handle */
  uint64_t n_deferred;   /* deferred ranges: for their ids */
  LnsIdMap open_ranges;  /* LnsStartedRange by range id; see decode/nvtx/started.c */
  LnsStartEnd *start_ends;
  size_t n_start_ends, n_start_ends_allocated;
  LnsWireLosses told;      /* by LOST records */
  uint64_t n_lost_records; /* of the GPU, perhaps, that this report is told of as lost */
  LnsDecodedCuda *cuda;    /* NULL: no word of it yet */
};

typedef struct
{
  void **items;
  size_t n, n_allocated;
} LnsPointers;

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
  LnsPointers processes, threads, domains, categories, schemas,
      resources;          /* by id in the session */
  LnsPointers unrecorded; /* LnsUnrecorded */
  LnsIdMap python;        /* of them, by hash of the function's name: see decode/python/python.c */
  bool has_python;
  uint32_t stack_epoch; /* how many stacks were freed */
  LnsPointers changed;  /* LnsRangeStack with frames that the writer does not know; NULL: none */
  LnsDomainFilter filter;
  LnsDecoderCounters counters;
  LnsCudaState cuda_state; /* of all processes, without regard to events */
  uint64_t n_cuda_events;  /* in this report */
  bool is_double_told;
  uint64_t n_told;                                  /* lost events, in all processes */
  LnsKeptTableMaker *mpi_ranks, *mpi_communicators; /* of this report; NULL: none is known */
  LnsKeptTableMaker *mpi_rootless;                  /* what such calls have beside their event */
  uint8_t extra[LNS_N_LANE_KINDS][LNS_N_COLUMNS];   /* index in LnsEvent.extra */
  LnsClockLine clock;
};

/* --- decoder.c ---------------------------------------------------------------------------- */

/* Adds ITEM; false if memory is short. */
bool _lns_pointers_add (LnsPointers *pointers, void *item);

/* The string id of NAME (may be NULL) in the report there is. */
uint32_t _lns_decoder_string (LnsDecoder *decoder, LnsName *name);

/* Fills what DETAIL and the times say into RET_EVENT; false where the report began after END_NS. */
bool _lns_decoder_event (LnsDecoder *decoder,
                         LnsLaneKind kind,
                         const LnsEventDetail *detail,
                         int64_t start_ns,
                         int64_t end_ns,
                         LnsEvent *ret_event);

/* Sets REF to the lane ORDINAL of TRACK, made if the report has none. */
void _lns_decoder_lane (
    LnsDecoder *decoder, LnsReportRef *ref, uint32_t track, uint32_t ordinal, LnsLaneKind kind);

/* Takes what RECORD says of an event, as what it names is known to STREAM. RET_DETAIL holds its
 * names: _lns_event_detail_clear (). */
void _lns_decoder_detail (LnsDecoder *decoder,
                          LnsStream *stream,
                          const LnsWireEvent *event,
                          LnsEventDetail *ret_detail);
void _lns_event_detail_clear (LnsEventDetail *detail);

void _lns_stream_free (LnsStream *stream);

/* --- decode/nvtx/ranges.c --------------------------------------------------------------------- */

LnsRangeStack *_lns_decoder_stack (LnsDecoder *decoder, LnsStream *stream, uint32_t domain);
/* Takes over what DETAIL holds. */
void _lns_stack_push (LnsDecoder *decoder,
                      LnsRangeStack *stack,
                      uint32_t depth,
                      int64_t time_ns,
                      LnsEventDetail *detail);
void _lns_stack_pop (LnsDecoder *decoder, LnsRangeStack *stack, uint32_t depth, int64_t time_ns);
void _lns_stack_mark (LnsDecoder *decoder,
                      LnsRangeStack *stack,
                      int64_t time_ns,
                      const LnsEventDetail *detail);
/* Closes all: the thread or process ended at END_NS. */
void _lns_stack_end (LnsDecoder *decoder, LnsRangeStack *stack, int64_t end_ns);
/* Writes what is open as open, and keeps it. */
void _lns_stack_stop_report (LnsDecoder *decoder, LnsRangeStack *stack, int64_t end_ns);
void _lns_stack_show_open (LnsDecoder *decoder, LnsRangeStack *stack);
void _lns_stack_begin_report (LnsDecoder *decoder, LnsRangeStack *stack, int64_t start_ns);
void _lns_stack_free (LnsDecoder *decoder, LnsRangeStack *stack);

/* --- decode/nvtx/started.c -------------------------------------------------------------------- */

/* Puts START_END, whose detail it takes over, with those of its process's batch. */
void _lns_decoder_add_start_end (LnsDecoder *decoder,
                                 LnsDecodedProcess *process,
                                 LnsStartEnd *start_end);
/* Plays the starts and ends of the batch in order of time. */
void _lns_process_settle (LnsDecoder *decoder, LnsDecodedProcess *process);
/* As the functions for stacks do. */
void _lns_process_end_ranges (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
void _lns_process_stop_report (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
void _lns_process_show_open (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_process_begin_report (LnsDecodedProcess *process);

/* --- definitions.c ---------------------------------------------------------------- */

LnsDecodedDomain *
_lns_decoder_domain (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number);
/* Takes in one definition record. */
void _lns_decoder_definition (LnsDecoder *decoder,
                              LnsDecodedProcess *process,
                              const LnsWireRecord *record);
void _lns_decoder_write_process (LnsDecoder *decoder, const LnsDecodedProcess *process, bool anew);
/* Gives the writer all definitions. */
void _lns_decoder_replay (LnsDecoder *decoder);
void _lns_decoder_free_definitions (LnsDecoder *decoder);

/* Puts ITEM, just made, on the list of its kind and into MAP. False, and ITEM freed, if memory is
 * short. */
bool
_lns_decoder_keep (LnsDecoder *decoder, LnsPointers *list, LnsIdMap *map, uint64_t key, void *item);
/* A name of TEXT, or NULL where that is empty. */
LnsName *_lns_decoder_name (LnsWireText text);
/* Keeps a warning of CODE (static) for the report. Returns it, the decoder's; NULL if memory is short. */
LnsUnrecorded *_lns_decoder_tell (LnsDecoder *decoder,
                                  const LnsDecodedProcess *process,
                                  const char *code,
                                  const char *format,
                                  ...) __attribute__ ((format (printf, 4, 5)));

/* --- threads.c -------------------------------------------------------------------- */

LnsDecodedThread *_lns_decoder_thread (LnsDecoder *decoder,
                                       LnsDecodedProcess *process,
                                       const LnsWireThread *thread,
                                       uint64_t ticks);
/* The program calls the thread TID of PROCESS so, now and to come. */
void _lns_decoder_name_thread (LnsDecoder *decoder,
                               LnsDecodedProcess *process,
                               uint32_t tid,
                               LnsName *name);
/* The thread TID of PROCESS at TIME_NS, which may not have been heard of; NULL if memory is short. */
LnsDecodedThread *_lns_decoder_thread_of (LnsDecoder *decoder,
                                          LnsDecodedProcess *process,
                                          uint32_t tid,
                                          int64_t time_ns);
void _lns_decoder_write_thread (LnsDecoder *decoder, const LnsDecodedThread *thread, bool anew);

/* --- decode/nvtx/resources.c ------------------------------------------------------------------ */

/* Takes in RESOURCE or RESOURCE_END. */
void _lns_decoder_resource (LnsDecoder *decoder,
                            LnsDecodedProcess *process,
                            LnsDecodedDomain *domain,
                            const LnsWireRecord *record);
void
_lns_decoder_write_resource (LnsDecoder *decoder, const LnsDecodedResource *resource, bool anew);

/* --- decode/nvtx/counters.c ------------------------------------------------------------------- */

void
_lns_decoder_counter (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireCounter *counter);
void _lns_decoder_sample (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);
void
_lns_decoder_sample_batch (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);
void _lns_domain_free_counters (LnsDecodedDomain *domain);

/* Whether the number TYPE (NVTX_PAYLOAD_ENTRY_TYPE_…) has is known, and its size in bytes. */
bool _lns_decoder_number_bytes (uint64_t type, unsigned *ret_n_bytes);

/* --- decode/nvtx/deferred.c ------------------------------------------------------------------- */

/* TIME of TIME_DOMAIN, an id of DOMAIN or NVTX_TIMESTAMP_TYPE_…, in report time. False where that
 * clock is not known. */
bool _lns_decoder_foreign_ns (LnsDecoder *decoder,
                              const LnsDecodedDomain *domain,
                              uint64_t time_domain,
                              int64_t time,
                              int64_t *ret_ns);
void _lns_decoder_deferred (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);

/* --- decode/cuda/cuda.c ----------------------------------------------------------------------- */

/* Takes in what RECORD says of devices, contexts, streams and problems. */
void _lns_decoder_cuda_definition (LnsDecoder *decoder,
                                   LnsDecodedProcess *process,
                                   const LnsWireRecord *record);
/* The stream of SOURCE, made where it is new; NULL if its process is unknown or memory is short. */
LnsStream *_lns_decoder_find_stream (LnsDecoder *decoder, const LnsDecoderSource *source);

/* Plays a record of CUDA's. */
void _lns_decoder_cuda (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);
/* Writes what is old enough that nothing earlier will come, or all. */
void _lns_cuda_settle (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_cuda_stop_report (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_cuda_begin_report (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_cuda_free (LnsDecodedProcess *process);

/* --- decode/python/python.c --------------------------------------------------------------------- */

void _lns_python_said (LnsDecoder *decoder, LnsDecodedProcess *process, LnsWireText said);

/* --- decode/mpi/mpi.c ------------------------------------------------------------------------ */

void _lns_mpi_stop_report (LnsDecoder *decoder);
