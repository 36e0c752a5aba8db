/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Events that one record tells whole, when they have ended: they come in any order, so each track puts them into
 * order first, and those that overlap go to lanes of their own. */

#pragma once

#include "capture/session/decode/core/threads.h"
#include "src/store/write/reorder.h"

typedef struct LnsTrackOps LnsTrackOps;

/* The events of one row, on their way into order. */
typedef struct
{
  LnsTrackKind kind;
  LnsLaneKind lane_kind;
  const LnsTrackOps *ops;
  LnsDecodedThread *thread; /* or NULL */
  void *on;                 /* what else it is of, as its source knows it, or NULL */
  LnsReorder *reorder;
  LnsReportRef track;
  LNS_ARRAY (LnsReportRef) lanes; /* by ordinal */
} LnsDecodedTrack;

/* What a source does about its tracks. All functions may be NULL. */
struct LnsTrackOps
{
  /* Says in DEFINITION what TRACK is on. */
  void (*place) (LnsDecoder *decoder,
                 LnsDecodedProcess *process,
                 const LnsDecodedTrack *track,
                 LnsTrack *definition);
  /* EVENT has gone to the report. */
  void (*written) (LnsDecoder *decoder,
                   LnsDecodedProcess *process,
                   const LnsDecodedTrack *track,
                   const LnsEvent *event);
};

/* An event in the making. */
typedef struct
{
  LnsDecoder *decoder;
  LnsDecodedProcess *process;
  LnsLaneKind kind;
  LnsEvent event;
} LnsEventMaker;

static inline void
_lns_maker_set (LnsEventMaker *maker, LnsColumnId column, uint64_t value)
{
  maker->event.extra[maker->decoder->extra[maker->kind][column]] = value;
}

void _lns_maker_name (LnsEventMaker *maker, const char *text);
/* Names the event by the process's string id STRING; where that is not known, OTHERWISE. */
void _lns_maker_name_registered (LnsEventMaker *maker, uint32_t string, const char *otherwise);

/* Puts the event, begun at TICKS and ended at END_TICKS, into TRACK. False where it is from before the report. */
bool _lns_maker_finish (LnsEventMaker *maker,
                        LnsDecodedTrack *track,
                        uint64_t ticks,
                        uint64_t end_ticks);

/* The track of TRACKS that is like LIKE, which is the NUMBERth on which there are such, made where it is new; NULL if
 * memory is short. */
LnsDecodedTrack *_lns_tracks_find (LnsDecoder *decoder,
                                   LnsIdMap *tracks,
                                   const LnsDecodedTrack *like,
                                   uint64_t number);

/* Writes what is old enough that nothing earlier is likely to come, or all. */
void _lns_tracks_settle (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsIdMap *tracks);
void
_lns_tracks_write_all (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsIdMap *tracks);
void _lns_tracks_clear (LnsIdMap *tracks);
