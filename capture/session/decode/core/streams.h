/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Streams. Each is a sequence of records, written by one thread at a time, with a table of names of its own. */

#pragma once

#include "capture/session/decode/core/threads.h"

typedef struct
{
  LnsDecodedProcess *process;
  uint32_t serial;
  uint32_t tid;                /* of the thread that claimed the chunk that is played */
  LnsDecodedThread *thread;    /* the thread that writes it; NULL: not known yet */
  bool lost_before;            /* records are missing before the next event */
  LNS_ARRAY (LnsName *) names; /* by stream string id */
  LnsWireAssembler events, definitions;
  LnsReportRef callers;       /* node of the callers of the call of the C library … */
  uint64_t callers_ticks;     /* … that began then; 0: none */
  void *state[LNS_N_SOURCES]; /* what each source has read in it */
} LnsStream;

/* Finds or makes the stream of SOURCE. Returns NULL if its process is unknown or memory is short. */
LnsStream *_lns_decoder_find_stream (LnsDecoder *decoder, const LnsDecoderSource *source);

/* The name of STRING in STREAM, owned by the tables; NULL if it is unknown. */
LnsName *_lns_stream_name (const LnsStream *stream, uint32_t string);
void _lns_stream_set_name (LnsDecoder *decoder, LnsStream *stream, const LnsWireNamed *named);

/* Makes sure that the thread of STREAM is known. If its THREAD record was lost, only the tid is. Returns false if
 * memory is short. */
bool _lns_stream_know_thread (LnsDecoder *decoder, LnsStream *stream, uint64_t ticks);

/* Notes that records of STREAM are missing, so that what follows is not joined to what came before. */
void _lns_stream_break (LnsStream *stream);
void _lns_stream_free (LnsStream *stream);
