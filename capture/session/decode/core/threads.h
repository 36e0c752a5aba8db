/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The session's threads. A thread is known from its first record on, or from its name. */

#pragma once

#include "capture/session/decode/core/core.h"

typedef struct
{
  LnsDecodedProcess *process;
  uint32_t id; /* instance in the session */
  uint64_t serial;
  int32_t tid, target_tid;
  int64_t start_ns, end_ns;
  LnsName *name;
  bool is_named;              /* by the program, through NVTX */
  void *state[LNS_N_SOURCES]; /* what each source knows of it */
} LnsDecodedThread;

/* The thread that RECORD, made at TICKS, tells of; NULL if memory is short. */
LnsDecodedThread *_lns_decoder_thread (LnsDecoder *decoder,
                                       LnsDecodedProcess *process,
                                       const LnsWireThread *record,
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

/* THREAD ended at END_NS. */
void _lns_decoder_end_thread (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t end_ns);

/* Reads again what the operating system calls the living threads that the program gave no name itself. */
void _lns_decoder_read_thread_names (LnsDecoder *decoder);
