/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/messages.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

void
lns_messages_clear (LnsMessages *all)
{
  for (size_t i = 0; i < all->channels.n; i++)
    lns_array_clear (&all->channels.items[i].messages);
  lns_array_clear (&all->channels);
  lns_array_clear (&all->requests);
  lns_array_clear (&all->under_way);
  lns_id_map_clear (&all->numbers);
  lns_id_map_clear (&all->of_requests);
}

int64_t
lns_messages_over (LnsReport *report, uint32_t lane)
{
  const uint64_t n = lns_report_lane_info (report, lane)->n_events;
  LnsEvent last;

  return n > 0 && lns_report_event (report, lane, n - 1, &last, NULL) &&
                 strcmp (lns_report_string (report, last.name, NULL), "MPI_Finalize") == 0
             ? last.start_ns
             : INT64_MAX;
}

/* What an event of MPI says. */
typedef struct
{
  uint64_t communicator, request;
  int64_t peer, tag;
} Call;

static Call
read_call (LnsReport *report, const LnsThreadPiece *piece)
{
  LnsEvent event;
  Call call = { .peer = -1, .tag = -1 };

  if (piece->lane == LNS_ID_NONE ||
      lns_report_lanes (report, NULL)[piece->lane].kind != LNS_LANE_MPI_CALL ||
      !lns_report_event (report, piece->lane, piece->ordinal, &event, NULL))
    return call;
  const uint64_t class =
      event.extra[lns_lane_kind_extra (LNS_LANE_MPI_CALL, LNS_COLUMN_EVENT_CLASS)];
  if (class == LNS_MPI_P2P)
    {
      call.peer =
          (int64_t)event.extra[lns_lane_kind_extra (LNS_LANE_MPI_CALL, LNS_COLUMN_PEER_RANK)];
      call.tag = (int64_t)event.extra[lns_lane_kind_extra (LNS_LANE_MPI_CALL, LNS_COLUMN_TAG)];
    }
  call.communicator =
      event.extra[lns_lane_kind_extra (LNS_LANE_MPI_CALL, LNS_COLUMN_COMMUNICATOR_UID)];
  call.request = event.extra[lns_lane_kind_extra (LNS_LANE_MPI_CALL, LNS_COLUMN_REQUEST)];
  return call;
}

/* The number of the channel of CALL, from rank FROM to rank TO. */
static uint32_t
channel_of (LnsMessages *all, const Call *call, int64_t from, int64_t to)
{
  const uint64_t key[] = { call->communicator, (uint64_t)from, (uint64_t)to, (uint64_t)call->tag };
  const uint64_t hash = lns_hash (key, sizeof key);
  const uint64_t found = lns_id_map_number (&all->numbers, hash);

  if (found != 0)
    return (uint32_t)found;
  *lns_array_add (&all->channels) = (LnsMessageChannel){ 0 };
  lns_id_map_set_number (&all->numbers, hash, all->channels.n);
  return (uint32_t)all->channels.n;
}

static uint64_t
request_key (uint32_t process, uint64_t request)
{
  const uint64_t key[] = { process, request };
  return lns_hash (key, sizeof key);
}

/* Adds what begins at point START to the messages of its channel. */
static LnsMessageCall
take_turn (LnsMessages *all, uint32_t channel, bool sends, uint32_t start)
{
  LnsMessageChannel *self = &all->channels.items[channel - 1];
  const uint32_t number = sends ? self->n_sent++ : self->n_received++;

  while (self->messages.n <= number)
    *lns_array_add (&self->messages) = (LnsMessage){ LNS_POINT_NONE, LNS_POINT_NONE };
  *(sends ? &self->messages.items[number].sent : &self->messages.items[number].received) = start;
  return (LnsMessageCall){ channel, number, sends };
}

/* CALL of PROCESS is under way as REQUEST. What was so before is over, though nobody waited for it: others tested whether it is.
 * O(messages under way). */
static void
note_under_way (LnsMessages *all, uint32_t process, uint64_t request, const LnsMessageCall *call)
{
  const LnsMessageUnderWay noted = { process, request, *call };

  for (size_t i = 0; i < all->under_way.n; i++)
    if (all->under_way.items[i].process == process && all->under_way.items[i].request == request)
      {
        all->under_way.items[i] = noted;
        return;
      }
  *lns_array_add (&all->under_way) = noted;
}

/* Somebody has waited for CALL of PROCESS, or, if it is NULL, for all of its messages. O(messages under way). */
static void
forget_under_way (LnsMessages *all, uint32_t process, const LnsMessageCall *call)
{
  size_t n = 0;

  for (size_t i = 0; i < all->under_way.n; i++)
    {
      const LnsMessageUnderWay *it = &all->under_way.items[i];
      if (it->process != process ||
          (call != NULL && (it->call.channel != call->channel || it->call.number != call->number ||
                            it->call.sends != call->sends)))
        all->under_way.items[n++] = *it;
    }
  all->under_way.n = n;
}

LnsMessageCall
lns_messages_begin (LnsMessages *all,
                    LnsReport *report,
                    const LnsThreadPiece *piece,
                    uint32_t process,
                    uint32_t start)
{
  const char *name = lns_report_string (report, piece->name, NULL);
  const Call call = read_call (report, piece);
  const int64_t rank = (int64_t)lns_report_processes (report, NULL)[process].mpi_rank - 1;
  const bool is_made = strstr (name, "_init") == NULL,
             sends = is_made && strstr (name, "end") != NULL,
             receives = is_made && strstr (name, "ecv") != NULL;

  if (strcmp (name, "MPI_Wait") == 0 && call.request != 0)
    {
      const uint64_t found =
          lns_id_map_number (&all->of_requests, request_key (process, call.request));
      if (found == 0)
        return (LnsMessageCall){ 0 };
      forget_under_way (all, process, &all->requests.items[found - 1]);
      return all->requests.items[found - 1];
    }
  if (strcmp (name, "MPI_Waitall") == 0 && call.request != 0)
    return (LnsMessageCall){ .channel = LNS_MESSAGES_UNDER_WAY, .number = process };
  /* What does both has two other sides, what is to be started later has none yet; any rank and any tag are below 0. */
  if (rank < 0 || call.peer < 0 || call.tag < 0 || call.communicator == 0 || sends == receives)
    return (LnsMessageCall){ 0 };
  const LnsMessageCall turn =
      take_turn (all, channel_of (all, &call, sends ? rank : call.peer, sends ? call.peer : rank),
                 sends, start);
  if (call.request == 0)
    return turn;
  /* It goes on in the background, until it is waited for. */
  *lns_array_add (&all->requests) = turn;
  note_under_way (all, process, call.request, &turn);
  lns_id_map_set_number (&all->of_requests, request_key (process, call.request), all->requests.n);
  return (LnsMessageCall){ 0 };
}

/* Where the other side of CALL began, or LNS_POINT_NONE: it is not known, or CALL does not wait for it, from START_NS on. */
static uint32_t
other_side (LnsMessages *all, const LnsMessageCall *call, const LnsPoints *points, int64_t start_ns)
{
  LnsMessageChannel *channel = &all->channels.items[call->channel - 1];
  const LnsMessage *message = &channel->messages.items[call->number];
  const uint32_t other = call->sends ? message->received : message->sent;

  channel->is_broken |= !call->sends && other == LNS_POINT_NONE;
  if (channel->is_broken || other == LNS_POINT_NONE)
    return LNS_POINT_NONE;
  /* A small message is sent whether somebody waits for it or not. */
  return call->sends && lns_points_time (points, other) <= start_ns ? LNS_POINT_NONE : other;
}

/* The same of all that PROCESS has under way, and that is over now: the other side that began last. */
static uint32_t
last_other_side (LnsMessages *all, uint32_t process, const LnsPoints *points, int64_t start_ns)
{
  uint32_t last = LNS_POINT_NONE;

  for (size_t i = 0; i < all->under_way.n; i++)
    if (all->under_way.items[i].process == process)
      {
        const uint32_t other = other_side (all, &all->under_way.items[i].call, points, start_ns);
        if (other != LNS_POINT_NONE &&
            (last == LNS_POINT_NONE ||
             lns_points_time (points, other) > lns_points_time (points, last)))
          last = other;
      }
  forget_under_way (all, process, NULL);
  return last;
}

uint32_t
lns_messages_end (LnsMessages *all,
                  const LnsMessageCall *call,
                  LnsPoints *points,
                  uint32_t start,
                  int64_t end_ns,
                  uint32_t label)
{
  const int64_t start_ns = lns_points_time (points, start);
  const uint32_t other = call->channel == LNS_MESSAGES_UNDER_WAY
                             ? last_other_side (all, call->number, points, start_ns)
                             : other_side (all, call, points, start_ns);

  if (other == LNS_POINT_NONE)
    return lns_points_add (points, start, end_ns, label);
  const int64_t other_ns = lns_points_time (points, other);
  const bool is_late = other_ns > start_ns;
  const int64_t own_ns = lns_difference (end_ns, is_late ? other_ns : start_ns);
  const uint32_t point = lns_points_add (points, start, start_ns + own_ns, label);
  points->times.items[point] = end_ns;
  points->graph->labels.items[label].ns += end_ns - start_ns - own_ns;
  lns_graph_set_source (points->graph, point, other, own_ns,
                        LNS_EDGE_COLLECTIVE | LNS_POINT_INFERRED |
                            (is_late ? LNS_POINT_BY_SOURCE : LNS_POINT_NOT_BOUND));
  return point;
}
