/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mpi_event_sum, mpi_event_trace and mpi_msg_size_sum: calls of MPI and the sizes of their messages. */

#include "src/analysis/stats/maker.h"

/* Calls whose end was not seen are left out. */
#define ENDED "typeof(end) = 'integer'"

static const LnsResultColumn columns[] = {
  { "Start", LNS_RESULT_TIME },
  { "End", LNS_RESULT_TIME },
  { "Duration", LNS_RESULT_TIME },
  { "Event", LNS_RESULT_TEXT },
  { "Pid", LNS_RESULT_ID },
  { "Tid", LNS_RESULT_ID },
  { "Tag", LNS_RESULT_ID },
  { "Rank", LNS_RESULT_ID },
  { "PeerRank", LNS_RESULT_ID },
  { "RootRank", LNS_RESULT_ID },
  { "Size", LNS_RESULT_BYTES },
  { "CollSendSize", LNS_RESULT_BYTES },
  { "CollRecvSize", LNS_RESULT_BYTES },
};

/* Two processes with one id that have said different ranks have those that they were started with. */
const LnsStatsWay _lns_stats_mpi = LNS_STATS_QUERY (
    columns,

    "WITH calls AS ("
    " SELECT start, end, globalTid, textId, tag, remoteRank AS peer, NULL AS root, size,"
    "  NULL AS sent, NULL AS received, mpi_rank('MPI_P2P_EVENTS', rowid) AS started_as,"
    "  'MPI_P2P_EVENTS' AS event_table, rowid AS event"
    "  FROM MPI_P2P_EVENTS"
    " UNION ALL SELECT start, end, globalTid, textId, NULL, NULL, rootRank, NULL, size, recvSize,"
    "  mpi_rank('MPI_COLLECTIVES_EVENTS', rowid), 'MPI_COLLECTIVES_EVENTS', rowid"
    "  FROM MPI_COLLECTIVES_EVENTS"
    " UNION ALL SELECT start, end, globalTid, textId, NULL, NULL, NULL, NULL, NULL, NULL,"
    "  mpi_rank('MPI_START_WAIT_EVENTS', rowid), 'MPI_START_WAIT_EVENTS', rowid"
    "  FROM MPI_START_WAIT_EVENTS"
    " UNION ALL SELECT start, end, globalTid, textId, NULL, NULL, NULL, NULL, NULL, NULL,"
    "  mpi_rank('MPI_OTHER_EVENTS', rowid), 'MPI_OTHER_EVENTS', rowid"
    "  FROM MPI_OTHER_EVENTS),"
    " ranks AS MATERIALIZED ("
    " SELECT globalTid >> 24 AS process, min(rank) AS rank FROM MPI_RANKS"
    " GROUP BY 1 HAVING min(rank) = max(rank))"
    "SELECT start, end, difference(end, start), text(textId), globalTid >> 24 & 0xFFFFFF,"
    " globalTid & 0xFFFFFF, tag, ifnull(rank, started_as), peer, root, size, sent, received,"
    " event_table, event, start, end"
    " FROM calls LEFT JOIN ranks ON process = globalTid >> 24"
    " WHERE " ENDED " ORDER BY start, globalTid");

/* What a sum takes of each call of a table: the number of its source, its name, a value, and where it is. */
#define DURATIONS "textId, difference(end, start)"

static const char *const tables[] = { "p2p", "coll", "start_wait", "other" };

const LnsStatsWay _lns_stats_mpi_sums = {
  _lns_stats_run_query_sums,
  NULL,
  _lns_stats_write_sums,
  .sql = "SELECT 0, " DURATIONS ", 'MPI_P2P_EVENTS', rowid"
         " FROM MPI_P2P_EVENTS WHERE " ENDED " UNION ALL SELECT 1, " DURATIONS
         ", 'MPI_COLLECTIVES_EVENTS', rowid"
         " FROM MPI_COLLECTIVES_EVENTS WHERE " ENDED " UNION ALL SELECT 2, " DURATIONS
         ", 'MPI_START_WAIT_EVENTS', rowid"
         " FROM MPI_START_WAIT_EVENTS WHERE " ENDED " UNION ALL SELECT 3, " DURATIONS
         ", 'MPI_OTHER_EVENTS', rowid"
         " FROM MPI_OTHER_EVENTS WHERE " ENDED,
  .sources = tables,
};

static const char *const directions[] = { "p2p", "coll_send", "coll_recv" };

const LnsStatsWay _lns_stats_mpi_sizes = {
  _lns_stats_run_query_sums,
  NULL,
  _lns_stats_write_sums,
  .sql = "SELECT 0, textId, size, 'MPI_P2P_EVENTS', rowid FROM MPI_P2P_EVENTS"
         " WHERE " ENDED " AND typeof(size) = 'integer'"
         " UNION ALL SELECT 1, textId, size, 'MPI_COLLECTIVES_EVENTS', rowid"
         " FROM MPI_COLLECTIVES_EVENTS WHERE " ENDED " AND typeof(size) = 'integer'"
         " UNION ALL SELECT 2, textId, recvSize, 'MPI_COLLECTIVES_EVENTS', rowid"
         " FROM MPI_COLLECTIVES_EVENTS WHERE " ENDED " AND typeof(recvSize) = 'integer'",
  .sources = directions,
};
