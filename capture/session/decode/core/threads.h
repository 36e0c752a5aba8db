/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The session's threads. A thread is known from its first record, or from the first time it is named. */

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
  bool is_named;              /* the program named it through NVTX */
  bool is_of_python;          /* `name` is the one that Python has, not the operating system's */
  void *state[LNS_N_SOURCES]; /* what each source knows about it */
} LnsDecodedThread;

/* Finds or makes the thread of RECORD, written at TICKS. Returns NULL if memory is short. */
LnsDecodedThread *_lns_decoder_thread (LnsDecoder *decoder,
                                       LnsDecodedProcess *process,
                                       const LnsWireThread *record,
                                       uint64_t ticks);
/* Notes the name that the program gives to the thread TID of PROCESS, now and in the future. */
void _lns_decoder_name_thread (LnsDecoder *decoder,
                               LnsDecodedProcess *process,
                               uint32_t tid,
                               LnsName *name);
/* Finds or makes the thread TID of PROCESS at TIME_NS. Returns NULL if memory is short. */
LnsDecodedThread *_lns_decoder_thread_of (LnsDecoder *decoder,
                                          LnsDecodedProcess *process,
                                          uint32_t tid,
                                          int64_t time_ns);
/* Gives THREAD the name that the operating system has for it, unless the program named it. The name of its process, which each
 * thread has at first, does not replace one of Python's. */
void _lns_decoder_rename_thread (LnsDecoder *decoder, LnsDecodedThread *thread, LnsWireText text);

/* Gives THREAD the name that Python has for it, unless the program gave it another one: in the operating system or through NVTX. */
void _lns_decoder_name_thread_of_python (LnsDecoder *decoder,
                                         LnsDecodedThread *thread,
                                         LnsWireText text);

/* Writes the definition of THREAD to the report, if there is one: as a new thread (ANEW) or as a change. */
void _lns_decoder_write_thread (LnsDecoder *decoder, const LnsDecodedThread *thread, bool anew);

/* Notes that THREAD was there at TIME_NS. Its library tells of it with its first event, which may be the end of a long call. */
void _lns_decoder_see_thread (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t time_ns);

/* Notes that THREAD ended at END_NS. */
void _lns_decoder_end_thread (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t end_ns);

/* Reads the operating system's names of living threads again, except of those that the program named. O(living
 * threads), with a file of /proc for each. */
void lns_decoder_read_thread_names (LnsDecoder *decoder);
