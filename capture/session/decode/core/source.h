/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A source of records (NVTX, CUDA, MPI, …) as the decoder sees it. A source keeps its state in its slot (LnsSourceId)
 * of the session and of each process, thread and stream. */

#pragma once

#include "capture/session/decode/core/streams.h"

typedef struct
{
  uint8_t first, last;
} LnsRecordTypes;

/* All functions may be NULL. */
typedef struct
{
  LnsRecordTypes types
      [4]; /* types of the records that it plays or that define something for it, up to the first 0 */

  /* Sizes of its state of the session and of a process, which the decoder allocates, zeroed, and frees. */
  size_t session_bytes, process_bytes;

  /* Takes what RECORD defines, before any event of its batch, and of the batch before, is played. */
  void (*define) (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);
  void (*play) (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);

  /* Called when the whole batch is played. */
  void (*settle) (LnsDecoder *decoder, LnsDecodedProcess *process);

  /* Called when a report begins, which has all processes and threads: for the session, then for each process. */
  void (*begin_report) (LnsDecoder *decoder);
  void (*begin_process) (LnsDecoder *decoder, LnsDecodedProcess *process);
  /* Each writes what is open, before the report is committed: of the session, and of each process that has records. */
  void (*show_session) (LnsDecoder *decoder);
  void (*show_process) (LnsDecoder *decoder, LnsDecodedProcess *process);
  /* Counts what is missing, as the report or the process ends and all events of tracks are written. May be called
   * again. */
  void (*count_missing) (LnsDecoder *decoder, LnsDecodedProcess *process);
  /* Called when the report ends: for each process, then for the session. */
  void (*stop_process) (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
  void (*stop_report) (LnsDecoder *decoder);

  /* Called when records of STREAM are lost, or when it is freed. */
  void (*forget_stream) (LnsStream *stream);
  /* Each closes what is open, and frees what the slot holds, but not the slot of a process. */
  void (*end_thread) (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t end_ns);
  void (*end_process) (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
  /* Frees what its slot of the session holds, but not the slot. */
  void (*free_session) (LnsDecoder *decoder);
} LnsDecoderOps;

/* Each is defined in the folder of its source. */
extern const LnsDecoderOps _lns_nvtx_ops, _lns_cuda_ops, _lns_topology_ops, _lns_mpi_ops,
    _lns_python_ops, _lns_gpu_ops, _lns_os_ops, _lns_cpu_ops, _lns_python_samples_ops;
