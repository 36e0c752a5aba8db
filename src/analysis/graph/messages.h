/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Messages from one rank of MPI to another. What is sent with one tag comes in the order in which it was sent, so that the how many-th that one
 * sends is the how many-th that the other receives. What receives is over after what sends has begun, and a large message is sent only when
 * what receives has begun. Ranks of a communicator are taken to be those of MPI_COMM_WORLD; where one received what nobody had sent
 * yet, they are not, and nothing more is told of that pair. Of MPI_Waitall the report has one request alone: it is taken to wait for all that
 * its process has under way. */

#pragma once

#include "src/analysis/graph/points.h"
#include "src/analysis/graph/thread-pieces.h"

/* Stands for the channels of all messages that a process has under way. */
#define LNS_MESSAGES_UNDER_WAY UINT32_MAX

/* A call that sends or receives, or waits until that is over. Zero: it is none. */
typedef struct
{
  uint32_t channel; /* 1 + index, or LNS_MESSAGES_UNDER_WAY                                      */
  uint32_t number;  /* the how many-th of it, from 0; or the process                             */
  bool sends;
} LnsMessageCall;

/* A message that goes on in the background of a process. */
typedef struct
{
  uint32_t process;
  uint64_t request; /* that MPI gives to others once it is over                                  */
  LnsMessageCall call;
} LnsMessageUnderWay;

/* A message that was sent, and received: where each of them began, or LNS_POINT_NONE. */
typedef struct
{
  uint32_t sent, received;
} LnsMessage;

typedef struct
{
  LNS_ARRAY (LnsMessage) messages;
  uint32_t n_sent, n_received;
  bool is_broken;
} LnsMessageChannel;

/* Zero before first use. */
typedef struct
{
  LnsIdMap numbers; /* hash of a pair and tag -> 1 + index of the channel                        */
  LNS_ARRAY (LnsMessageChannel) channels;
  LNS_ARRAY (LnsMessageCall) requests;
  LNS_ARRAY (LnsMessageUnderWay) under_way; /* that nobody has waited for                         */
  LnsIdMap of_requests; /* hash of a process and a request -> 1 + index in `requests`            */
} LnsMessages;

void lns_messages_clear (LnsMessages *all);

/* When the thread of LANE, of calls of MPI of REPORT, finishes as a rank, INT64_MAX: it does not. What MPI does then, and waits for, is no part of
 * the program. O(log events). */
int64_t lns_messages_over (LnsReport *report, uint32_t lane);

/* PIECE, a call of MPI of REPORT, begins at point START in PROCESS. Returns what of a message it is, if it is over when that is. O(log events). */
LnsMessageCall lns_messages_begin (LnsMessages *all,
                                   LnsReport *report,
                                   const LnsThreadPiece *piece,
                                   uint32_t process,
                                   uint32_t start);

/* Adds the end, at END_NS, of CALL, which began at point START: after the other side, where it waited for that. LABEL is its piece's. Returns the
 * end. O(1). */
uint32_t lns_messages_end (LnsMessages *all,
                           const LnsMessageCall *call,
                           LnsPoints *points,
                           uint32_t start,
                           int64_t end_ns,
                           uint32_t label);
