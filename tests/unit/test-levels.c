/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares each node of a report's level of detail with the events that it stands for. */

#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

#include "src/store/format/node.h"
#include "src/store/write/writer.h"

#include "tests/tap.h"
#include "tests/unit/random.h"

#define N_EVENTS 70000

static char path[] = "/tmp/lns-test-levels-XXXXXX.rep";
static LnsEvent events[N_EVENTS];
static uint64_t random_state = 5;

static void
make_events (LnsLaneKind kind)
{
  int64_t end_ns = -5000;
  for (uint32_t i = 0; i < N_EVENTS; i++)
    {
      LnsEvent *event = &events[i];
      *event =
          (LnsEvent){ .start_ns = end_ns + (int64_t)(test_random (&random_state) % 300),
                      .name = (uint32_t)(test_random (&random_state) % (i / 1000 % 2 ? 3 : 300)),
                      .flags = test_random (&random_state) % 50 == 0 ? LNS_EVENT_LOST_BEFORE : 0 };
      if (kind == LNS_LANE_NVTX_PUSH_POP)
        event->duration_ns =
            (int64_t)(test_random (&random_state) >> (40 + test_random (&random_state) % 24));
      if (kind == LNS_LANE_COUNTER)
        {
          double value = test_random (&random_state) % 20 == 0
                             ? NAN
                             : (double)(int64_t)test_random (&random_state);
          memcpy (&event->extra[0], &value, sizeof value);
        }
      else
        event->extra[0] = test_random (&random_state) % 3 == 0 ? event->name * 77 : 0;
      end_ns = event->start_ns + event->duration_ns;
    }
}

/* The dominant key (name << 32 | color) of consecutive events, and its time; 16 of them at most. */
static uint64_t
dominant_of_leaf (uint64_t first, uint64_t n, int64_t *ret_ns)
{
  uint64_t dominant = 0;
  *ret_ns = -1;
  for (uint64_t i = first; i < first + n; i++)
    {
      uint64_t key = (uint64_t)events[i].name << 32 | (uint32_t)events[i].extra[0];
      int64_t sum_ns = 0;
      for (uint64_t k = first; k < first + n; k++)
        if (((uint64_t)events[k].name << 32 | (uint32_t)events[k].extra[0]) == key)
          sum_ns += events[k].duration_ns > 0 ? events[k].duration_ns : 1;
      if (sum_ns > *ret_ns)
        {
          *ret_ns = sum_ns;
          dominant = key;
        }
    }
  return dominant;
}

/* The same for a node of LEVEL, by the rule of FORMAT.md. */
static uint64_t
dominant_of (unsigned level, uint64_t first, uint64_t n, int64_t *ret_ns)
{
  if (level == 1)
    return dominant_of_leaf (first, n, ret_ns);
  uint64_t keys[LNS_NODE_FANOUT], step = lns_node_events (level - 1), dominant = 0;
  int64_t times_ns[LNS_NODE_FANOUT];
  unsigned n_children = 0;
  for (uint64_t at = 0; at < n; at += step, n_children++)
    keys[n_children] =
        dominant_of (level - 1, first + at, n - at < step ? n - at : step, &times_ns[n_children]);
  *ret_ns = -1;
  for (unsigned i = 0; i < n_children; i++)
    {
      int64_t sum_ns = 0;
      for (unsigned k = 0; k < n_children; k++)
        sum_ns += keys[k] == keys[i] ? times_ns[k] : 0;
      if (sum_ns > *ret_ns)
        {
          *ret_ns = sum_ns;
          dominant = keys[i];
        }
    }
  return dominant;
}

static double
as_double (uint64_t bits)
{
  double value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

static void
check_samples (const LnsNode *node, uint64_t first, uint64_t n)
{
  double low = NAN, high = NAN;
  for (uint64_t i = first; i < first + n; i++)
    {
      low = fmin (low, as_double (events[i].extra[0]));
      high = fmax (high, as_double (events[i].extra[0]));
    }
  LNS_CHECK (as_double (node->min) == low || (isnan (low) && isnan (as_double (node->min))));
  LNS_CHECK (as_double (node->max) == high || (isnan (high) && isnan (as_double (node->max))));
  LNS_CHECK (node->last == events[first + n - 1].extra[0]);
}

static void
check_node (LnsLaneKind kind, unsigned level, const LnsNode *node, uint64_t first, uint64_t n)
{
  int64_t busy_ns = 0, longest_ns = -1;
  uint64_t longest_at = 0;
  int64_t hole_ns = 0, hole_at_ns = 0;
  uint32_t flags = 0;
  for (uint64_t i = first; i < first + n; i++)
    {
      busy_ns += events[i].duration_ns;
      flags |= events[i].flags;
      const int64_t end_ns = i > first ? events[i - 1].start_ns + events[i - 1].duration_ns : 0;
      if (i > first && events[i].start_ns - end_ns > hole_ns)
        {
          hole_ns = events[i].start_ns - end_ns;
          hole_at_ns = end_ns - events[first].start_ns;
        }
      if (events[i].duration_ns > longest_ns)
        {
          longest_ns = events[i].duration_ns;
          longest_at = i - first;
        }
    }
  LNS_CHECK_INT (node->start_ns, events[first].start_ns);
  LNS_CHECK_INT (node->end_ns, events[first + n - 1].start_ns + events[first + n - 1].duration_ns);
  LNS_CHECK_INT (node->busy_ns, busy_ns);
  LNS_CHECK_INT (node->flags, flags);
  if (kind == LNS_LANE_COUNTER)
    {
      check_samples (node, first, n);
      return;
    }
  LNS_CHECK_INT (node->longest_ns, longest_ns);
  LNS_CHECK_INT (node->longest_at, longest_at);
  const bool has_hole = hole_ns > 0 && hole_ns >= node->end_ns - node->start_ns - hole_ns;
  LNS_CHECK_INT (node->hole_ns, has_hole ? hole_ns : 0);
  LNS_CHECK_INT (node->hole_at_ns, has_hole ? hole_at_ns : 0);
  int64_t dominant_ns;
  uint64_t key = dominant_of (level, first, n, &dominant_ns);
  LNS_CHECK_INT (node->name, key >> 32);
  LNS_CHECK_INT (node->color, (uint32_t)key);
}

/* Checks the nodes of one blob, of which *NODE were before it. */
static void
check_blob (LnsLaneKind kind,
            sqlite3_stmt *row,
            int column,
            unsigned level,
            uint64_t n_events,
            uint64_t *node)
{
  static LnsNode nodes[LNS_CHUNK_MAX_EVENTS];
  LnsChunkView view;
  LnsError error = { 0 };
  if (!lns_chunk_parse (sqlite3_column_blob (row, column),
                        (size_t)sqlite3_column_bytes (row, column), &view, &error) ||
      !lns_nodes_decode (&view, nodes, &error))
    LNS_FAIL ("%s", error.message);
  LNS_CHECK_INT (view.header.level, level);
  LNS_CHECK_INT (view.header.first, *node);
  const uint64_t step = lns_node_events (level);
  for (uint32_t i = 0; i < view.header.n; i++, ++*node)
    {
      uint64_t first = *node * step;
      LNS_CHECK (first < n_events);
      check_node (kind, level, &nodes[i], first, n_events - first < step ? n_events - first : step);
    }
}

static sqlite3_stmt *
query (sqlite3 *database, const char *sql)
{
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2 (database, sql, -1, &statement, NULL) != SQLITE_OK)
    LNS_FAIL ("%s", sqlite3_errmsg (database));
  return statement;
}

/* Every level from 1 to the top covers all of the N_EVENTS, each node exactly its own. */
static unsigned
check_levels (LnsLaneKind kind, uint64_t n_events)
{
  sqlite3 *database;
  LNS_CHECK_INT (sqlite3_open_v2 (path, &database, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
  sqlite3_stmt *lane = query (database, "SELECT top_level, top FROM lns_lane WHERE lane = 0");
  LNS_CHECK_INT (sqlite3_step (lane), SQLITE_ROW);
  const unsigned top_level = (unsigned)sqlite3_column_int (lane, 0);
  for (unsigned level = 1; level <= top_level; level++)
    {
      const uint64_t step = lns_node_events (level), n_nodes = (n_events + step - 1) / step;
      uint64_t node = 0;
      LNS_CHECK_INT (level == top_level, n_nodes <= LNS_NODE_TOP);
      if (level == top_level)
        check_blob (kind, lane, 1, level, n_events, &node);
      else
        {
          sqlite3_stmt *rows =
              query (database, "SELECT data FROM lns_chunk WHERE level = ? ORDER BY seq");
          sqlite3_bind_int (rows, 1, (int)level);
          while (sqlite3_step (rows) == SQLITE_ROW)
            check_blob (kind, rows, 0, level, n_events, &node);
          sqlite3_finalize (rows);
          rows = query (database, "SELECT data FROM lns_tail WHERE id = ?");
          sqlite3_bind_int (rows, 1, (int)level + 1);
          if (sqlite3_step (rows) == SQLITE_ROW)
            check_blob (kind, rows, 0, level, n_events, &node);
          sqlite3_finalize (rows);
        }
      LNS_CHECK_INT (node, n_nodes);
    }
  sqlite3_finalize (lane);
  sqlite3_close (database);
  return top_level;
}

static void
check_kind (LnsLaneKind kind)
{
  LnsError error = { 0 };
  const LnsWriterOptions options = { .overwrite = true };
  make_events (kind);
  LnsWriter *writer = lns_writer_create (path, &options, &error);
  LNS_CHECK (writer != NULL);
  const LnsTrack track = { .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE,
                           .kind = LNS_TRACK_COUNTER,
                           .value_type = LNS_PAYLOAD_DOUBLE };
  const LnsLane lane = { .track = lns_writer_add_track (writer, &track), .kind = kind };
  lns_writer_add_lane (writer, &lane);
  unsigned top_level = 0;
  /* Around every boundary of a block, a node and a level, and then some. */
  static const uint32_t stops[] = { 1,    15,   16,   17,   64,    127,   128,   129,     1023,
                                    1024, 1025, 4096, 4097, 16384, 16385, 50001, N_EVENTS };
  for (uint32_t i = 0, stop = 0; i < N_EVENTS; i++)
    {
      lns_writer_append (writer, 0, &events[i]);
      if (i + 1 != stops[stop])
        continue;
      LNS_CHECK (lns_writer_commit (writer, 0, &error));
      top_level = check_levels (kind, stops[stop++]);
    }
  LNS_CHECK_INT (top_level, 5);
  LNS_CHECK (lns_writer_finish (writer, LNS_STATE_COMPLETE, 0, &error));
  LNS_CHECK_INT (check_levels (kind, N_EVENTS), 5);
}

static void
test_ranges (void)
{
  check_kind (LNS_LANE_NVTX_PUSH_POP);
}

static void
test_marks (void)
{
  check_kind (LNS_LANE_NVTX_MARK);
}

static void
test_counters (void)
{
  check_kind (LNS_LANE_COUNTER);
}

int
main (void)
{
  int fd = mkstemps (path, 4);
  if (fd < 0)
    return 1;
  close (fd);
  LNS_TEST (test_ranges);
  LNS_TEST (test_marks);
  LNS_TEST (test_counters);
  unlink (path);
  return lns_tap_done ();
}
