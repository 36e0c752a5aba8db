/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Whose end a thread waited for, against the rule written plainly; child processes, and threads of other processes, which are nobody's. */

#include "src/analysis/facts/thread-ends.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N          40
#define N_CHILDREN 12
#define MS         INT64_C (1000000)
#define NOW        (1000 * MS)

static LnsReport *report;
static uint32_t first; /* of the threads that were added */

/* Threads of two processes; each third one is not known to have ended. */
static void
write_report (const char *path)
{
  LnsWriter *writer = fixture_writer (path);
  uint64_t seed = 7;

  const uint32_t other =
      lns_writer_add_process (writer, &(LnsProcess){ .pid = 99, .end_ns = LNS_TIME_UNKNOWN });
  for (uint32_t i = 0; i < N; i++)
    {
      const LnsThread thread = {
        .process = i % 4 == 0 ? other : 0,
        .tid = 1000 + (int32_t)i,
        .start_ns = 0,
        .end_ns = i % 3 == 0 ? LNS_TIME_UNKNOWN : (int64_t)(fixture_random (&seed) % NOW),
      };
      const uint32_t id = lns_writer_add_thread (writer, &thread);
      first = i == 0 ? id : first;
    }
  /* Child processes of two threads each; the end of each third one is not known. */
  for (uint32_t i = 0; i < N_CHILDREN; i++)
    {
      const uint32_t child = lns_writer_add_process (
          writer, &(LnsProcess){ .pid = 5000 + (int32_t)i, .end_ns = LNS_TIME_UNKNOWN });
      for (uint32_t k = 0; k < 2; k++)
        lns_writer_add_thread (
            writer, &(LnsThread){ .process = child,
                                  .tid = 5000 + 100 * (int32_t)k + (int32_t)i,
                                  .start_ns = 0,
                                  .end_ns = k == 1 && i % 3 == 0
                                                ? LNS_TIME_UNKNOWN
                                                : (int64_t)(fixture_random (&seed) % NOW) });
    }
  fixture_finish (writer, NOW);
}

/* Whether a thread of PROCESS may have waited for the end of thread I: of its own process, or the last one of a child. */
static bool
may_be_awaited (uint32_t process, uint32_t i)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (report, &n);
  const LnsProcess *processes = lns_report_processes (report, &(uint32_t){ 0 });

  if (threads[i].end_ns == LNS_TIME_UNKNOWN)
    return false;
  if (threads[i].process == process)
    return true;
  if (processes[threads[i].process].parent != process)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (threads[k].process == threads[i].process &&
        (threads[k].end_ns == LNS_TIME_UNKNOWN || threads[k].end_ns > threads[i].end_ns))
      return false;
  return true;
}

/* The rule, plainly. */
static uint32_t
expected (uint32_t thread, int64_t start_ns, int64_t end_ns)
{
  uint32_t n, last = LNS_ID_NONE;
  int64_t n_ends = 0;
  const LnsThread *threads = lns_report_threads (report, &n);
  const int64_t wait_ns = end_ns - start_ns;

  for (uint32_t i = 0; i < n; i++)
    if (may_be_awaited (threads[thread].process, i) && threads[i].end_ns <= end_ns &&
        threads[i].end_ns > start_ns)
      {
        n_ends++;
        if (last == LNS_ID_NONE || threads[i].end_ns > threads[last].end_ns)
          last = i;
      }
  const int64_t share_ns = n_ends > 0 ? wait_ns / 100 / n_ends : 0,
                near_ns = share_ns < 100 * MS ? share_ns : 100 * MS;
  return last != LNS_ID_NONE && last != thread && wait_ns >= MS &&
                 end_ns - threads[last].end_ns <= near_ns
             ? last
             : LNS_ID_NONE;
}

static void
the_end_of_a_thread_or_child_is_what_its_process_waited_for (void)
{
  LnsThreadEnds *ends = lns_thread_ends_new (report);
  uint64_t seed = 3;
  uint32_t n;
  unsigned n_found = 0, n_children = 0;
  const LnsThread *threads = lns_report_threads (report, &n);

  for (unsigned i = 0; i < 20000; i++)
    {
      const uint32_t thread = first + (uint32_t)(fixture_random (&seed) % N);
      const int64_t ended_ns =
                        threads[first + fixture_random (&seed) % (N + 2 * N_CHILDREN)].end_ns,
                    end_ns = (ended_ns != LNS_TIME_UNKNOWN ? ended_ns : NOW) +
                             (int64_t)(fixture_random (&seed) % (2 * MS)),
                    start_ns = end_ns - (int64_t)(fixture_random (&seed) % (300 * MS));
      const uint32_t found = lns_thread_ends_find (ends, thread, start_ns, end_ns);
      LNS_CHECK_INT (found, expected (thread, start_ns, end_ns));
      n_found += found != LNS_ID_NONE;
      n_children += found != LNS_ID_NONE && found >= first + N;
    }
  LNS_CHECK (n_found > 1000);
  LNS_CHECK (n_children > 100);
  LNS_CHECK_INT (lns_thread_ends_find (ends, n, 0, NOW), LNS_ID_NONE);
  lns_thread_ends_free (ends);
  lns_thread_ends_free (NULL);
}

int
main (void)
{
  const char *path = fixture_path ("ends.rep");

  write_report (path);
  report = fixture_open (path, NULL);
  LNS_TEST (the_end_of_a_thread_or_child_is_what_its_process_waited_for);
  lns_report_close (report);
  return lns_tap_done ();
}
