/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Streams: one text of records each, written by one thread at a time, with names of its own. */

#pragma once

#include "capture/session/decode/core/threads.h"

typedef struct
{
  LnsDecodedProcess *process;
  uint32_t serial;
  uint32_t tid;                /* of the one who claimed the chunk that is played */
  LnsDecodedThread *thread;    /* who writes it; NULL: not known yet */
  bool lost_before;            /* of the next event */
  LNS_ARRAY (LnsName *) names; /* by stream string id */
  LnsWireAssembler events, definitions;
  void *state[LNS_N_SOURCES]; /* what each source has read in it */
} LnsStream;

/* The stream of SOURCE, made where it is new; NULL if its process is unknown or memory is short. */
LnsStream *_lns_decoder_find_stream (LnsDecoder *decoder, const LnsDecoderSource *source);

/* What STRING is called in STREAM; NULL where nobody said so. Held by the tables. */
LnsName *_lns_stream_name (const LnsStream *stream, uint32_t string);
void _lns_stream_set_name (LnsDecoder *decoder, LnsStream *stream, const LnsWireNamed *named);

/* The thread that writes STREAM: where its THREAD record is lost, one of which only the tid is
 * known. False if memory is short. */
bool _lns_stream_know_thread (LnsDecoder *decoder, LnsStream *stream, uint64_t ticks);

/* Records of STREAM are missing: what follows must not be taken for what belongs to those before. */
void _lns_stream_break (LnsStream *stream);
void _lns_stream_free (LnsStream *stream);
