/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* make-report PATH [WORD…]: a small report of known content, for the tests of the interface.
 *
 * One process "train" (4711) with two threads. In thread "main" (4711) the default domain has 100
 * ranges "iteration 0" … "iteration 99" of 900 µs, one each millisecond from 0 on; each holds
 * "forward" (at 100 µs, for 300 µs) and "backward" (at 500 µs, for 300 µs, coloured 0xff2a7ae2).
 * In thread "loader" (4712) domain "io" has 50 ranges "read" of 1 ms, one each 2 ms from 500 µs on.
 * 350 events in all; the report reaches to 100 ms.
 *
 * WORDs: "diagnostics" adds an error, a warning and an information; "lost" adds 1,234 lost events;
 * "recording" commits, says "committed" and waits; "growing" does so too, and for each line that it reads adds a thread "late N" with ten
 * ranges "more", 1 ms each from N seconds on, until there are no more lines; "recovered" says so; "open" leaves "iteration 99" and its
 * "backward" open. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/store/write/writer.h"

#define US        1000
#define MS        (1000 * US)
#define N_STEPS   100
#define N_READS   50
#define LENGTH_NS (100 * MS)

static LnsWriter *writer;

static uint32_t
string (const char *text)
{
  return lns_writer_string (writer, text, strlen (text));
}

static uint32_t
add_thread (uint32_t process, int tid, const char *name)
{
  return lns_writer_add_thread (writer, &(LnsThread){ .process = process,
                                                      .tid = tid,
                                                      .target_tid = tid,
                                                      .name = string (name),
                                                      .start_ns = 0,
                                                      .end_ns = LNS_TIME_UNKNOWN });
}

/* The first lane of a new track for push/pop ranges of THREAD in DOMAIN. */
static uint32_t
add_track (uint32_t process, uint32_t thread, uint32_t domain, unsigned n_lanes)
{
  uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .device = LNS_ID_NONE,
                                                              .stream = LNS_ID_NONE,
                                                              .kind = LNS_TRACK_NVTX_RANGES,
                                                              .process = process,
                                                              .thread = thread,
                                                              .domain = domain });
  uint32_t first = LNS_ID_NONE;

  for (unsigned depth = 0; depth < n_lanes; depth++)
    {
      uint32_t lane = lns_writer_add_lane (
          writer, &(LnsLane){ .track = track, .ordinal = depth, .kind = LNS_LANE_NVTX_PUSH_POP });
      if (depth == 0)
        first = lane;
    }
  return first;
}

static void
add_range (uint32_t lane, int64_t start_ns, int64_t duration_ns, const char *name, uint32_t color)
{
  LnsEvent event = { .start_ns = start_ns, .duration_ns = duration_ns, .name = string (name) };

  event.extra[lns_lane_kind_extra (LNS_LANE_NVTX_PUSH_POP, LNS_COLUMN_COLOR)] = color;
  lns_writer_append (writer, lane, &event);
}

static void
add_steps (uint32_t lane, bool open)
{
  for (int64_t i = 0; i < N_STEPS; i++)
    {
      char name[32];
      snprintf (name, sizeof name, "iteration %d", (int)i);
      add_range (lane + 1, i * MS + 100 * US, 300 * US, "forward", 0);
      if (open && i == N_STEPS - 1)
        {
          lns_writer_set_open (writer, lane,
                               &(LnsEvent){ .start_ns = i * MS, .name = string (name) });
          lns_writer_set_open (
              writer, lane + 1,
              &(LnsEvent){ .start_ns = i * MS + 500 * US, .name = string ("backward") });
          continue;
        }
      add_range (lane, i * MS, 900 * US, name, 0);
      add_range (lane + 1, i * MS + 500 * US, 300 * US, "backward", 0xff2a7ae2);
    }
}

static void
add_diagnostic (const char *code, LnsSeverity severity, int64_t time_ns, const char *text)
{
  lns_writer_add_diagnostic (writer, &(LnsDiagnostic){ .code = string (code),
                                                       .severity = severity,
                                                       .time_ns = time_ns,
                                                       .process = 0,
                                                       .text = string (text) });
}

static void
add_diagnostics (void)
{
  add_diagnostic ("LNS-TEST-001", LNS_SEVERITY_INFO, LNS_TIME_UNKNOWN, "All went well.");
  add_diagnostic ("LNS-TEST-002", LNS_SEVERITY_WARNING, 12 * MS,
                  "Thread “loader” popped a range that it had not pushed: the pop was ignored.");
  add_diagnostic ("LNS-TEST-003", LNS_SEVERITY_ERROR, 34 * MS,
                  "The disk is full: nothing was recorded until there was room again.");
}

static bool
has_word (char **words, const char *word)
{
  for (; *words != NULL; words++)
    if (strcmp (*words, word) == 0)
      return true;
  return false;
}

/* Commits with the end at END_NS, and says so. */
static bool
commit (int64_t end_ns)
{
  if (!lns_writer_commit (writer, end_ns, NULL))
    return false;
  puts ("committed");
  fflush (stdout);
  return true;
}

/* Adds to the report of PROCESS what each line asks for. Returns where it ends, or -1 if that fails. */
static int64_t
grow (uint32_t process, uint32_t domain)
{
  char line[16], name[32];
  int64_t end_ns = LENGTH_NS;

  if (!commit (end_ns))
    return -1;
  for (int n = 1; fgets (line, sizeof line, stdin) != NULL; n++)
    {
      snprintf (name, sizeof name, "late %d", n);
      const uint32_t lane = add_track (process, add_thread (process, 4800 + n, name), domain, 1);
      for (int64_t i = 0; i < 10; i++, end_ns = n * INT64_C (1000) * MS + i * MS)
        lns_writer_append (writer, lane,
                           &(LnsEvent){ .start_ns = n * INT64_C (1000) * MS + i * MS,
                                        .duration_ns = MS,
                                        .name = string ("more") });
      if (!commit (end_ns))
        return -1;
    }
  return end_ns;
}

int
main (int argc, char **argv)
{
  LnsWriterOptions options = { .overwrite = true, .t0_realtime_ns = 1700000000000000000 };
  LnsError error = { 0 };

  writer = argc > 1 ? lns_writer_create (argv[1], &options, &error) : NULL;
  if (writer == NULL)
    {
      fprintf (stderr, "make-report: %s\n", argc > 1 ? error.message : "no path given");
      return 1;
    }
  uint32_t process =
      lns_writer_add_process (writer, &(LnsProcess){ .pid = 4711,
                                                     .target_pid = 4711,
                                                     .parent = LNS_ID_NONE,
                                                     .name = string ("train"),
                                                     .command_line = string ("train --steps=100"),
                                                     .end_ns = LNS_TIME_UNKNOWN,
                                                     .exit_code = 0 });
  uint32_t main_thread = add_thread (process, 4711, "main");
  uint32_t loader = add_thread (process, 4712, "loader");
  LnsDomain domain = { .process = process, .destroyed_ns = LNS_TIME_UNKNOWN, .thread = loader };
  uint32_t plain = lns_writer_add_domain (writer, &domain);
  domain.number = 1;
  domain.name = string ("io");
  uint32_t io = lns_writer_add_domain (writer, &domain);

  add_steps (add_track (process, main_thread, plain, 2), has_word (argv, "open"));
  uint32_t reads = add_track (process, loader, io, 1);
  for (int64_t i = 0; i < N_READS; i++)
    add_range (reads, i * 2 * MS + 500 * US, MS, "read", 0);
  if (has_word (argv, "diagnostics"))
    add_diagnostics ();
  if (has_word (argv, "lost"))
    lns_writer_add_loss (writer, &(LnsLoss){ .process = process,
                                             .thread = loader,
                                             .first_ns = 60 * MS,
                                             .last_ns = 70 * MS,
                                             .pushes = 1234 });
  if (has_word (argv, "recording"))
    {
      if (!lns_writer_commit (writer, LENGTH_NS, &error))
        return 1;
      puts ("committed");
      fflush (stdout);
      pause (); /* until it is killed */
    }
  const int64_t end_ns = has_word (argv, "growing") ? grow (process, io) : LENGTH_NS;
  if (end_ns < 0)
    return 1;
  LnsState state = has_word (argv, "recovered") ? LNS_STATE_RECOVERED : LNS_STATE_COMPLETE;
  if (!lns_writer_finish (writer, state, end_ns, &error))
    {
      fprintf (stderr, "make-report: %s\n", error.message);
      return 1;
    }
  return 0;
}
