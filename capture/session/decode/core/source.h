/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A source of records: what the decoder asks of NVTX, CUDA, MPI, … A source keeps what it knows in its slot
 * (LnsSourceId) of the session, of each process, thread and stream. */

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
      [4]; /* of records that it plays or that define something for it; up to the first that is 0 */

  /* Of what it knows of the session and of a process: made and freed by the decoder, zero at first. */
  size_t session_bytes, process_bytes;

  /* Takes what RECORD defines; before any event of its batch is played, and of the one before. */
  void (*define) (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);
  void (*play) (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);

  /* The whole batch is played. */
  void (*settle) (LnsDecoder *decoder, LnsDecodedProcess *process);

  /* A report begins, which has all processes and threads: for the session first, then for each process. */
  void (*begin_report) (LnsDecoder *decoder);
  void (*begin_process) (LnsDecoder *decoder, LnsDecodedProcess *process);
  /* The report is to have what is open, before it is committed. */
  void (*show_open) (LnsDecoder *decoder, LnsDecodedProcess *process);
  /* The report is to have what waits for its order. */
  void (*write_held) (LnsDecoder *decoder, LnsDecodedProcess *process);
  /* The report ends: for each process first, then for the session. */
  void (*stop_process) (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
  void (*stop_report) (LnsDecoder *decoder);

  /* Records of STREAM are lost, or it is freed. */
  void (*forget_stream) (LnsStream *stream);
  /* Each closes what is open, and frees what the slot holds, but not the slot of a process. */
  void (*end_thread) (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t end_ns);
  void (*end_process) (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns);
  /* Frees what it knows of the session but the slot. */
  void (*free_session) (LnsDecoder *decoder);
} LnsDecoderOps;
