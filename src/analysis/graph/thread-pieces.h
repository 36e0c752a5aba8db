/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Goes through what a thread did, piece by piece: what the facts tell (src/analysis/facts/thread-facts.h), with each CUDA call whole and
 * with waits apart from what the thread does itself. */

#pragma once

#include "src/analysis/facts/thread-facts.h"
#include "src/analysis/graph/graph.h"

typedef struct
{
  int64_t start_ns, end_ns; /* pieces follow one another without a hole                          */
  LnsPieceKind kind;
  LnsCallClass class;
  uint32_t name;        /* string id of the call, or 0                                           */
  uint32_t waker;       /* of a wait: the thread that ended it, or LNS_ID_NONE                   */
  bool is_likely;       /* that is known by times alone                                          */
  int64_t woken_ns;     /* when it did                                                           */
  uint64_t correlation; /* of a CUDA call, or 0                                                  */
  uint32_t lane;        /* of the call, or of the event that tells, or LNS_ID_NONE               */
  uint64_t ordinal;
} LnsThreadPiece;

typedef struct LnsThreadPieces LnsThreadPieces;

/* The pieces of THREAD. FACTS are borrowed. To be freed. O(lanes of the thread). */
LnsThreadPieces *lns_thread_pieces_new (LnsReport *report, LnsThreadFacts *facts, uint32_t thread);
void lns_thread_pieces_free (LnsThreadPieces *pieces); /* NULL is fine                           */

/* The next piece; RET_FOUND gets whether there was one. False and ERROR where a chunk is damaged. Amortised O(1). */
bool lns_thread_pieces_next (LnsThreadPieces *pieces,
                             LnsThreadPiece *ret_piece,
                             bool *ret_found,
                             LnsError *error);

/* The address of the lock, or of the condition, that PIECE, of REPORT, waits for; 0: that was not recorded. O(log events). */
uint64_t lns_thread_piece_lock (LnsReport *report, const LnsThreadPiece *piece);

/* Whether nobody knows what PIECE, of REPORT, which is LNS_PIECE_OUTSIDE, waits for: neither a time nor data. O(1). */
bool lns_thread_piece_is_blind (LnsReport *report, const LnsThreadPiece *piece);

/* Whether PIECE, of REPORT, is in a call that waits for a time at most. O(1). */
bool lns_thread_piece_is_timed (LnsReport *report, const LnsThreadPiece *piece);
