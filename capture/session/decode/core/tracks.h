/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Events of which one record has everything, written when they have ended. They come in any order; each track sorts
 * them and puts those that overlap into lanes of their own. */

#pragma once

#include "capture/session/decode/core/streams.h"
#include "src/store/write/reorder.h"

typedef struct LnsTrackOps LnsTrackOps;

/* The events of one row, while they are sorted. */
typedef struct
{
  LnsTrackKind kind;
  LnsLaneKind lane_kind;
  const LnsTrackOps *ops;
  LnsDecodedThread *thread; /* or NULL */
  void *on;                 /* what else it belongs to, as its source knows it, or NULL */
  LnsReorder *reorder;
  LnsReportRef track;
  LNS_ARRAY (LnsReportRef) lanes; /* by ordinal */
} LnsDecodedTrack;

/* Callbacks of a source for its tracks. All may be NULL. */
struct LnsTrackOps
{
  bool is_sequence; /* one event begins when the one before has ended */
  /* Fills in DEFINITION what TRACK belongs to. */
  void (*place) (LnsDecoder *decoder, const LnsDecodedTrack *track, LnsTrack *definition);
  /* Whether that is known for sure. A track waits for it as for events that come late. */
  bool (*is_placed) (const LnsDecodedTrack *track);
  /* Called with each event in turn, before it is written to LANE, where it may write others. Returns false if EVENT is not
   * to be written. */
  bool (*writing) (LnsDecoder *decoder,
                   const LnsDecodedTrack *track,
                   uint32_t lane,
                   LnsEvent *event);
  /* Called when EVENT was written to the report. */
  void (*written) (LnsDecoder *decoder, const LnsDecodedTrack *track, const LnsEvent *event);
};

/* An event that is being made. */
typedef struct
{
  LnsDecoder *decoder;
  LnsStream *stream; /* in which it was told */
  LnsLaneKind kind;
  LnsEvent event;
} LnsEventMaker;

static inline void
_lns_maker_set (LnsEventMaker *maker, LnsColumnId column, uint64_t value)
{
  maker->event.extra[maker->decoder->extra[maker->kind][column]] = value;
}

void _lns_maker_name (LnsEventMaker *maker, const char *text);
/* Names the event by the process's string id STRING, or by OTHERWISE if that is unknown. */
void _lns_maker_name_registered (LnsEventMaker *maker, uint32_t string, const char *otherwise);

/* Adds the event, from TICKS to END_TICKS, to TRACK. Returns false if it belongs before the report. */
bool _lns_maker_finish (LnsEventMaker *maker,
                        LnsDecodedTrack *track,
                        uint64_t ticks,
                        uint64_t end_ticks);

/* Finds the track of the process that is like LIKE and has the number NUMBER, or makes it, for lanes of the event's kind.
 * Returns NULL if memory is short. */
LnsDecodedTrack *
_lns_maker_track (LnsEventMaker *maker, const LnsDecodedTrack *like, uint64_t number);

/* Writes the events of PROCESS that are old enough that earlier ones are unlikely to come, as with lns_decoder_settle ();
 * or all events. The first returns the time up to which all are written. */
int64_t _lns_tracks_settle (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t drained_ns);
/* Counts the events of PROCESS that were played and are not written. Lowers INOUT_START_NS to the start of the earliest. */
uint64_t _lns_tracks_waiting (const LnsDecodedProcess *process, int64_t *inout_start_ns);

void _lns_tracks_write_all (LnsDecoder *decoder, LnsDecodedProcess *process);
void _lns_tracks_clear (LnsDecodedProcess *process);
