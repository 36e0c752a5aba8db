/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/thread-pieces.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/kept-fields.h"
#include "src/tables/lanes.h"

/* So many deeds are asked for at a time. */
#define N_DEEDS 128

/* A thread that was woken has a CPU within so long, unless others have them: it is part of the wait. */
#define WAKING_NS INT64_C (1000000)

/* In so short a time a thread hardly waits, if nothing tells what it does: it is on its way from one call to the next. */
#define SHORT_NS INT64_C (20000)

struct LnsThreadPieces
{
  LnsReport *report;
  LnsThreadFacts *facts;
  uint32_t thread;
  int64_t at_ns, end_ns; /* what is not asked for yet                                            */
  LnsLaneCursor calls;   /* of CUDA                                                              */
  LnsDeed deeds[N_DEEDS];
  unsigned n, i;
  bool has_piece; /* the next one is begun                                                       */
  LnsThreadPiece piece;
};

LnsThreadPieces *
lns_thread_pieces_new (LnsReport *report, LnsThreadFacts *facts, uint32_t thread)
{
  LnsThreadPieces *pieces = lns_calloc (1, sizeof *pieces);

  pieces->report = report;
  pieces->facts = facts;
  pieces->thread = thread;
  pieces->calls = (LnsLaneCursor){ .report = report,
                                   .lane = LNS_ID_NONE,
                                   .columns = LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) };
  if (lns_thread_facts_span (facts, thread, &pieces->at_ns, &pieces->end_ns) == 0)
    pieces->end_ns = pieces->at_ns;
  return pieces;
}

void
lns_thread_pieces_free (LnsThreadPieces *pieces)
{
  if (pieces == NULL)
    return;
  lns_lane_cursor_clear (&pieces->calls);
  free (pieces);
}

static bool
take_deed (void *data, const LnsDeed *deed)
{
  LnsThreadPieces *pieces = data;

  pieces->deeds[pieces->n++] = *deed;
  return pieces->n < N_DEEDS;
}

/* Has deeds at hand, if there are more. */
static bool
fill (LnsThreadPieces *pieces, LnsError *error)
{
  if (pieces->i < pieces->n || pieces->at_ns >= pieces->end_ns)
    return true;
  pieces->i = pieces->n = 0;
  if (!lns_thread_facts_walk (pieces->facts, pieces->thread, pieces->at_ns, pieces->end_ns, false,
                              take_deed, pieces, error))
    return false;
  pieces->at_ns = pieces->n > 0 ? pieces->deeds[pieces->n - 1].end_ns : pieces->end_ns;
  return true;
}

/* What DEED, which is in no CUDA call, is. */
static LnsPieceKind
kind_of (const LnsDeed *deed)
{
  switch (deed->doing)
    {
    case LNS_DOING_MPI:
      return LNS_PIECE_MPI;
    case LNS_DOING_RUNNABLE:
      return LNS_PIECE_NO_CPU;
    case LNS_DOING_BLOCKED:
      return deed->waker != LNS_ID_NONE ? LNS_PIECE_WAIT : LNS_PIECE_OUTSIDE;
    case LNS_DOING_OS:
      if (deed->class == LNS_CALL_LOCK)
        return LNS_PIECE_WAIT;
      if (deed->class == LNS_CALL_IO || deed->class == LNS_CALL_OUTPUT)
        return deed->waker != LNS_ID_NONE ? LNS_PIECE_WAIT : LNS_PIECE_OUTSIDE;
      return deed->class == LNS_CALL_SLEEP ? LNS_PIECE_OUTSIDE : LNS_PIECE_RUN;
    case LNS_DOING_UNKNOWN:
      return deed->end_ns - deed->start_ns < SHORT_NS ? LNS_PIECE_RUN : LNS_PIECE_UNKNOWN;
    default:
      return LNS_PIECE_RUN;
    }
}

/* Makes PIECE of the CUDA call of DEED, all of it that is not told yet. */
static bool
take_call (LnsThreadPieces *pieces, const LnsDeed *deed, LnsThreadPiece *piece, LnsError *error)
{
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);
  LnsLaneCursor *cursor = &pieces->calls;

  cursor->lane = deed->lane;
  if (!lns_lane_cursor_go (cursor, deed->ordinal, error))
    return false;
  piece->kind = deed->class == LNS_CALL_SYNC || deed->class == LNS_CALL_SYNC_COPY ? LNS_PIECE_SYNC
                                                                                  : LNS_PIECE_CALL;
  if (!lns_lane_cursor_has (cursor))
    return true;
  if (lns_lane_cursor_end (cursor) > piece->end_ns)
    piece->end_ns = lns_lane_cursor_end (cursor) < pieces->end_ns ? lns_lane_cursor_end (cursor)
                                                                  : pieces->end_ns;
  piece->correlation = lns_chunk_extra (cursor->chunk, column, cursor->i);
  return true;
}

/* Makes PIECE, which is in a call of MPI, all of that is not told yet: a thread that loses its CPU in it is in the same call afterwards. */
static void
take_whole (const LnsThreadPieces *pieces, LnsThreadPiece *piece)
{
  LnsEvent event;

  if (piece->lane == LNS_ID_NONE ||
      lns_report_lanes (pieces->report, NULL)[piece->lane].kind != LNS_LANE_MPI_CALL ||
      !lns_report_event (pieces->report, piece->lane, piece->ordinal, &event, NULL))
    return;
  const int64_t end_ns = lns_sum (event.start_ns, event.duration_ns);
  if (end_ns > piece->end_ns)
    piece->end_ns = end_ns < pieces->end_ns ? end_ns : pieces->end_ns;
}

/* The next deed as a piece, from where the one before ended. */
static bool
take_one (LnsThreadPieces *pieces, LnsThreadPiece *ret_piece, bool *ret_found, LnsError *error)
{
  const int64_t told_ns = pieces->has_piece ? pieces->piece.end_ns : INT64_MIN;

  for (*ret_found = false; !*ret_found; pieces->i++)
    {
      if (!fill (pieces, error))
        return false;
      if (pieces->i >= pieces->n)
        return true;
      const LnsDeed *deed = &pieces->deeds[pieces->i];
      if (deed->end_ns <= told_ns)
        continue;
      *ret_found = true;
      *ret_piece =
          (LnsThreadPiece){ .start_ns = deed->start_ns > told_ns ? deed->start_ns : told_ns,
                            .end_ns = deed->end_ns,
                            .class = deed->class,
                            .name = deed->name,
                            .waker = deed->waker,
                            .is_likely = deed->is_likely,
                            .lane = deed->lane,
                            .ordinal = deed->ordinal,
                            .woken_ns = deed->end_ns };
      if (deed->doing != LNS_DOING_CUDA)
        ret_piece->kind = kind_of (deed);
      else if (!take_call (pieces, deed, ret_piece, error))
        return false;
      if (ret_piece->kind == LNS_PIECE_RUN && deed->doing != LNS_DOING_OS)
        ret_piece->name = 0;
      if (ret_piece->kind == LNS_PIECE_MPI)
        take_whole (pieces, ret_piece);
    }
  return true;
}

/* Whether NEXT goes on with what PIECE began. */
static bool
goes_on (const LnsThreadPiece *piece, const LnsThreadPiece *next)
{
  /* A wait lasts until the thread runs. */
  if (piece->kind == LNS_PIECE_WAIT && piece->waker != LNS_ID_NONE)
    return next->kind == LNS_PIECE_NO_CPU && next->end_ns - next->start_ns < WAKING_NS;
  return piece->kind == next->kind && piece->name == next->name && piece->class == next->class &&
         piece->kind != LNS_PIECE_CALL && piece->kind != LNS_PIECE_SYNC &&
         piece->kind != LNS_PIECE_MPI;
}

bool
lns_thread_pieces_next (LnsThreadPieces *pieces,
                        LnsThreadPiece *ret_piece,
                        bool *ret_found,
                        LnsError *error)
{
  LnsThreadPiece next;
  bool has_next = true;

  if (!pieces->has_piece)
    {
      if (!take_one (pieces, &next, &has_next, error))
        return false;
      if (has_next)
        pieces->piece = next;
      pieces->has_piece = has_next;
    }
  *ret_found = pieces->has_piece;
  if (!*ret_found)
    return true;
  *ret_piece = pieces->piece;
  for (;;)
    {
      if (!take_one (pieces, &next, &has_next, error))
        return false;
      const bool is_same = has_next && goes_on (ret_piece, &next);
      if (is_same)
        {
          ret_piece->end_ns = pieces->piece.end_ns = next.end_ns;
          if (ret_piece->waker == LNS_ID_NONE && next.kind == ret_piece->kind)
            {
              ret_piece->waker = next.waker;
              ret_piece->is_likely = next.is_likely;
              ret_piece->woken_ns = next.woken_ns;
            }
          continue;
        }
      pieces->piece = next;
      pieces->has_piece = has_next;
      return true;
    }
}

uint64_t
lns_thread_piece_lock (LnsReport *report, const LnsThreadPiece *piece)
{
  const int column = lns_lane_kind_extra (LNS_LANE_OS_CALL, LNS_COLUMN_REMAINDER);
  LnsCallSubject subject;
  LnsEvent event;

  if (piece->lane == LNS_ID_NONE ||
      lns_report_lanes (report, NULL)[piece->lane].kind != LNS_LANE_OS_CALL ||
      !lns_report_event (report, piece->lane, piece->ordinal, &event, NULL) ||
      !lns_call_subject_find (report, event.extra[column], &subject))
    return 0;
  return subject.has_lock ? subject.lock : 0;
}

bool
lns_thread_piece_is_blind (LnsReport *report, const LnsThreadPiece *piece)
{
  return piece->name == 0 ||
         (piece->class != LNS_CALL_SLEEP &&
          lns_call_only_waits (LNS_LANE_OS_CALL, lns_report_string (report, piece->name, NULL)));
}

bool
lns_thread_piece_is_timed (LnsReport *report, const LnsThreadPiece *piece)
{
  const char *name = lns_report_string (report, piece->name, NULL);

  return strstr (name, "timed") != NULL || strstr (name, "clock") != NULL;
}
