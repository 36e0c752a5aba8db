/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the decoder knows of a process's CUDA: shared by the lns-decoder-cuda files alone. */

#pragma once

#include "capture/session/decode/core/decoder-private.h"
#include "capture/wire/cuda-layout.h"
#include "src/store/write/reorder.h"

/* Ids are those in the report whose serial they bear: definitions are written when a report first
 * needs them. */
typedef struct
{
  LnsReportRef ref;
  LnsWireCudaDeviceBytes said; /* all 0 but for the number where nothing was said */
  uint64_t used_bytes[256];    /* of memory, by CUpti_ActivityMemoryKind */
  LnsReportRef counters[256];  /* lanes of what is in use, by kind */
} LnsDecodedDevice;

typedef struct
{
  LnsReportRef ref;
  LnsDecodedDevice *device;
  LnsWireCudaContextBytes said;
  uint32_t name; /* registered string of what NVTX named it, or 0 */
} LnsDecodedContext;

typedef struct
{
  LnsReportRef ref;
  LnsDecodedContext *context;
  LnsWireCudaStreamBytes said;
  uint32_t name; /* registered string of what NVTX named it, or 0 */
} LnsDecodedCudaStream;

/* Which kernel in which shape; one for all streams of records that tell of it. */
struct LnsDecodedLaunch
{
  LnsReportRef ref;
  LnsDecodedLaunch *next;      /* of the same hash */
  LnsWireCudaLaunchBytes said; /* head, sizes and padding zero */
  LnsName *mangled, *demangled, *short_name;
};

/* What is known of the launches with the last ids of correlation, which CUPTI counts up: two bits each. See
 * flight.c. */
typedef struct
{
  uint64_t *words; /* NULL until the first launch */
  uint32_t newest; /* id */
} LnsFlights;

/* The events of one row, on their way into order. */
typedef struct
{
  LnsTrackKind kind;
  LnsLaneKind lane_kind;
  LnsDecodedThread *thread;     /* or NULL */
  LnsDecodedDevice *device;     /* or NULL */
  LnsDecodedCudaStream *stream; /* or NULL */
  LnsReorder *reorder;
  LnsReportRef track;
  LnsReportRef *lanes; /* by ordinal */
  uint32_t n_lanes;
} LnsCudaTrack;

/* A communicator of MPI, as this process has it. */
typedef struct
{
  LnsWireMpiCommunicatorBytes said;
  int64_t made_ns;
  char *members; /* owned */
} LnsDecodedCommunicator;

struct LnsDecodedCuda
{
  LnsIdMap devices;      /* LnsDecodedDevice by number */
  LnsIdMap contexts;     /* LnsDecodedContext by number */
  LnsIdMap streams;      /* LnsDecodedCudaStream by number | context << 32 */
  LnsIdMap launches;     /* LnsDecodedLaunch by hash */
  LnsIdMap threads;      /* LnsDecodedThread by 1 + tid: the last that made a call */
  LnsIdMap tracks;       /* LnsCudaTrack by kind << 56 | what it is of */
  LnsIdMap texts;        /* registered string ids by the address of the text in the process */
  LnsIdMap public_calls; /* LnsName of the public function by string id of an entry point */
  LnsIdMap calls;        /* registered string ids by callback id | 1 << 32 for the runtime's */
  LnsIdMap problems;     /* what was told, by problem and detail */
  bool is_told;          /* what CUDA this is, in the report's meta data */
  LnsWireCudaInfoBytes info;
  uint64_t n_dropped_between; /* by CUPTI, as it told while there was no report */
  LnsFlights flights;         /* what is known of launches */
  LnsIdMap capturing;         /* by 1 + tid: this thread's launches go into a graph */
  uint32_t last_call; /* the greatest correlation id of calls in reports, which CUPTI counts … */
  uint32_t settled_call;  /* … when the last report ended, if it was followed; else 0 */
  LnsReportRef rank;      /* told in that report */
  LnsIdMap communicators; /* LnsDecodedCommunicator by uid */
};

/* Whether PROCESS has room for what is known of its CUDA; where not, that is counted. */
bool _lns_decoder_has_cuda (LnsDecoder *decoder, LnsDecodedProcess *process);

/* --- definitions.c ----------------------------------------------------------- */

/* Copies RECORD into the N_BYTES at RET_STRUCT; what a shorter one lacks is 0. */
void _lns_cuda_take (const LnsWireRecord *record, void *ret_struct, size_t n_bytes);

/* What is known of NUMBER in PROCESS, made up where nothing is; NULL if memory is short. */
LnsDecodedDevice *
_lns_cuda_device (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number);
LnsDecodedContext *_lns_cuda_context (LnsDecoder *decoder,
                                      LnsDecodedProcess *process,
                                      uint32_t number,
                                      uint32_t device);
LnsDecodedCudaStream *
_lns_cuda_stream (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaPlace *place);

/* What is known of them, in terms of the report there is. */
LnsCudaDevice _lns_cuda_device_definition (LnsDecoder *decoder,
                                           LnsDecodedProcess *process,
                                           const LnsDecodedDevice *device);
LnsCudaContext _lns_cuda_context_definition (LnsDecoder *decoder,
                                             LnsDecodedProcess *process,
                                             const LnsDecodedContext *context);
LnsCudaStream _lns_cuda_stream_definition (LnsDecoder *decoder,
                                           LnsDecodedProcess *process,
                                           const LnsDecodedCudaStream *stream);

/* Their ids in the report there is. */
uint32_t
_lns_cuda_device_id (LnsDecoder *decoder, LnsDecodedProcess *process, LnsDecodedDevice *device);
uint32_t
_lns_cuda_stream_id (LnsDecoder *decoder, LnsDecodedProcess *process, LnsDecodedCudaStream *stream);
uint32_t _lns_cuda_launch_id (LnsDecoder *decoder, LnsDecodedLaunch *launch);

/* Gives a slot of STREAM the meaning that LAUNCH says. */
void
_lns_cuda_set_launch (LnsDecoder *decoder, LnsStream *stream, const LnsWireCudaLaunchBytes *launch);

/* --- decode/mpi/mpi.c ------------------------------------------------------------------------ */

/* Tells the report, once, which rank of MPI the process of THREAD has. */
void _lns_mpi_tell_rank (LnsDecoder *decoder, const LnsDecodedThread *thread, int32_t rank);

/* Takes in what RECORD, which is played, says of a communicator of PROCESS. */
void _lns_mpi_communicator (LnsDecoder *decoder,
                            LnsDecodedProcess *process,
                            const LnsWireRecord *record);

/* The LNS_COLUMN_REMAINDER of a collective call without a root; 0 without memory. */
uint64_t _lns_mpi_rootless (LnsDecoder *decoder);

/* Tells a report that begins what is known of PROCESS. */
void _lns_mpi_begin_report (LnsDecoder *decoder, const LnsDecodedProcess *process);
void _lns_mpi_free (LnsDecodedProcess *process);

/* --- said.c ------------------------------------------------------------------ */

/* Writes which CUPTI and driver PROCESS has into the report's meta data, if there is a report. */
void _lns_cuda_write_info (LnsDecoder *decoder, LnsDecodedProcess *process);

/* Takes in what RECORD, which is played, says of the capture; and what it defines, once more: by now the
 * strings that it names are known, whichever stream told them. */
void _lns_cuda_said (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);

/* Tells the report that CUPTI dropped N records of PROCESS, the last by LAST_NS. */
void _lns_cuda_add_dropped (LnsDecoder *decoder,
                            LnsDecodedProcess *process,
                            uint64_t n,
                            int64_t last_ns);

/* --- flight.c ---------------------------------------------------------------- */

/* Whether RECORD, an event of PROCESS, has a place in the report there is; where it belongs to one that
 * has ended it is counted, unless it has been. O(1) on the average */
bool
_lns_flight_admits (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);

/* Counts N operations that had not ended when their process did. */
void _lns_flight_unfinished (LnsDecoder *decoder, uint64_t n);

/* The report ends, or PROCESS has: counts the launches whose kernels are not there. To be called again
 * without harm. */
void _lns_flight_settle (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_flight_free (LnsDecodedProcess *process);

/* --- tracks.c ---------------------------------------------------------------- */

/* The track KIND of what is given (others NULL), or NULL if memory is short. */
LnsCudaTrack *_lns_cuda_track (LnsDecoder *decoder,
                               LnsDecodedProcess *process,
                               LnsTrackKind kind,
                               LnsLaneKind lane_kind,
                               LnsDecodedThread *thread,
                               LnsDecodedDevice *device,
                               LnsDecodedCudaStream *stream);

/* Puts EVENT from START_NS to END_NS into TRACK, unless it is from before the report. */
void _lns_cuda_add (LnsDecoder *decoder,
                    LnsDecodedProcess *process,
                    LnsCudaTrack *track,
                    LnsEvent *event,
                    int64_t start_ns,
                    int64_t end_ns);

/* Writes what starts at WATERMARK_NS or before. */
void _lns_cuda_write (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t watermark_ns);
void _lns_cuda_free_tracks (LnsDecodedProcess *process);
