/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which records count of threads that began while events of a running program were opened, and how such a program's threads and
 * descendants are found. */

#include "capture/session/cpu/owners.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/system/process-list.h"
#include "tests/tap.h"

enum
{
  FIRST = 10, /* tids */
  SECOND,
  NEW,
  NEWER
};

#define EVENT_OF(tid) (100 + (uint64_t)(tid))
#define MS            INT64_C (1000000)

/* Makes TID an owner, whose events were opened at OPENED_NS. */
static void
own (LnsCpuOwners *owners, uint32_t tid, int64_t opened_ns)
{
  static const LnsCpuEvents none = { 0 };
  lns_cpu_owners_add (owners, &none, (int32_t)tid);
  owners->opened_ns.items[owners->opened_ns.n - 1] = opened_ns;
  lns_id_map_set_number (&owners->of_events, EVENT_OF (tid), owners->opened_ns.n);
}

typedef struct
{
  struct perf_event_header header;
  uint32_t ids[4]; /* of a fork or an end: pid, parent's pid, tid, parent's tid */
} Record;

static Record
fork_of (uint32_t tid, uint32_t parent)
{
  return (Record){ { .type = PERF_RECORD_FORK, .size = sizeof (Record) }, { 1, 1, tid, parent } };
}

/* Whether the record of kind TYPE counts that the event of OWNER made of TID at TIME_NS. */
static bool
counts (LnsCpuOwners *owners, uint32_t type, uint32_t tid, uint32_t owner, int64_t time_ns)
{
  const Record record = { .header = { .type = type, .size = sizeof record } };
  const LnsCpuRecordIds ids = { .time_ns = time_ns, .tid = tid, .event = EVENT_OF (owner) };
  return lns_cpu_owners_admit (owners, &record.header, &ids);
}

static bool
forks (LnsCpuOwners *owners, uint32_t tid, uint32_t parent, uint32_t owner, int64_t time_ns)
{
  const Record record = fork_of (tid, parent);
  const LnsCpuRecordIds ids = { .time_ns = time_ns, .tid = parent, .event = EVENT_OF (owner) };
  return lns_cpu_owners_admit (owners, &record.header, &ids);
}

static void
test_a_thread_with_events_of_two_owners_counts_once (void)
{
  LnsCpuOwners owners = { 0 };
  own (&owners, FIRST, 1 * MS);
  own (&owners, SECOND, 20 * MS); /* it inherited some of FIRST's, too */
  LNS_CHECK (!forks (&owners, SECOND, FIRST, FIRST, 2 * MS)); /* it is known */
  LNS_CHECK (counts (&owners, PERF_RECORD_SAMPLE, SECOND, SECOND, 21 * MS));
  LNS_CHECK (!counts (&owners, PERF_RECORD_SAMPLE, SECOND, FIRST, 21 * MS));
  LNS_CHECK (counts (&owners, PERF_RECORD_SAMPLE, FIRST, FIRST, 21 * MS));
  /* So do threads that it starts. */
  LNS_CHECK (!forks (&owners, NEW, SECOND, FIRST, 30 * MS));
  LNS_CHECK (forks (&owners, NEW, SECOND, SECOND, 30 * MS));
  LNS_CHECK (counts (&owners, PERF_RECORD_SAMPLE, NEW, SECOND, 31 * MS));
  LNS_CHECK (!counts (&owners, PERF_RECORD_SAMPLE, NEW, FIRST, 31 * MS));
  LNS_CHECK (counts (&owners, PERF_RECORD_EXIT, NEW, SECOND, 32 * MS));
  LNS_CHECK (!counts (&owners, PERF_RECORD_EXIT, NEW, FIRST, 32 * MS));
  /* Another thread with the same tid */
  LNS_CHECK (forks (&owners, NEW, FIRST, FIRST, 40 * MS));
  LNS_CHECK (counts (&owners, PERF_RECORD_SAMPLE, NEW, FIRST, 41 * MS));
  /* Losses always count, and events of which only some could be opened never do. */
  LNS_CHECK (counts (&owners, PERF_RECORD_LOST, SECOND, FIRST, 42 * MS));
  LNS_CHECK (!counts (&owners, PERF_RECORD_SAMPLE, NEWER, NEWER, 42 * MS));
  lns_cpu_owners_clear (&owners);
}

static void
test_a_thread_that_calls_exec_gets_the_first_ones_tid (void)
{
  LnsCpuOwners owners = { 0 };
  own (&owners, FIRST, 1 * MS);
  own (&owners, SECOND, 1 * MS);
  LNS_CHECK (counts (&owners, PERF_RECORD_EXIT, FIRST, FIRST, 2 * MS));
  const Record exec = { .header = { .type = PERF_RECORD_COMM,
                                    .misc = PERF_RECORD_MISC_COMM_EXEC } };
  const LnsCpuRecordIds ids = { .time_ns = 3 * MS, .tid = FIRST, .event = EVENT_OF (SECOND) };
  LNS_CHECK (lns_cpu_owners_admit (&owners, &exec.header, &ids));
  LNS_CHECK (counts (&owners, PERF_RECORD_SAMPLE, FIRST, SECOND, 4 * MS));
  lns_cpu_owners_clear (&owners);
}

/* Has OWNERS look at the beginning of TID, which waits in a ring. */
static bool
is_seen (LnsCpuOwners *owners, uint32_t tid, uint32_t parent, uint32_t owner, int64_t time_ns)
{
  const Record record = fork_of (tid, parent);
  const LnsCpuRecordIds ids = { .time_ns = time_ns, .tid = parent, .event = EVENT_OF (owner) };
  lns_cpu_owners_look (owners, &record.header, &ids);
  return lns_cpu_owners_have (owners, (int32_t)tid);
}

static void
test_a_thread_needs_no_events_if_it_inherited_all (void)
{
  LnsCpuOwners owners = { 0 };
  own (&owners, FIRST, 1 * MS);
  LNS_CHECK (lns_cpu_owners_have (&owners, FIRST) && !lns_cpu_owners_have (&owners, NEW));
  LNS_CHECK (!is_seen (&owners, NEW, FIRST, FIRST, 2 * MS)); /* perhaps events were being opened */
  LNS_CHECK (
      !is_seen (&owners, NEWER, NEW, FIRST, 500 * MS)); /* nor is its child sure to have all */
  LNS_CHECK (is_seen (&owners, SECOND, FIRST, FIRST, 500 * MS));
  LNS_CHECK (is_seen (&owners, NEWER, SECOND, FIRST, 600 * MS));
  lns_cpu_owners_clear (&owners);
}

static pid_t
child_that_waits (void)
{
  const pid_t pid = fork ();
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      for (;;)
        pause ();
    }
  return pid;
}

static void
test_processes_are_listed (void)
{
  LnsPids pids = { 0 }, tids = { 0 }, own_family = { 0 };
  uid_t user = (uid_t)-1;
  int32_t process = 0;
  const pid_t child = child_that_waits ();
  lns_process_list (&pids);
  LNS_CHECK (lns_pids_have (&pids, child) && lns_pids_have (&pids, getpid ()));
  LNS_CHECK (!lns_pids_have (&pids, -1));
  lns_process_list_threads (child, &tids);
  LNS_CHECK (tids.n == 1 && tids.items[0] == child);
  LNS_CHECK (lns_process_owner (child, &user, &process) && user == getuid () && process == child);
  LNS_CHECK (!lns_process_is_of_kernel (child));
  /* This process and what it started are left out, unless they are asked for. */
  *lns_array_add (&own_family) = getppid ();
  lns_process_list_descendants (&own_family);
  LNS_CHECK (own_family.items[0] == getppid () && !lns_pids_have (&own_family, getpid ()) &&
             !lns_pids_have (&own_family, child));
  own_family.n = 0;
  *lns_array_add (&own_family) = getpid ();
  lns_process_list_descendants (&own_family);
  LNS_CHECK (own_family.n == 2 && own_family.items[1] == child);
  kill (child, SIGKILL);
  waitpid (child, NULL, 0);
  LNS_CHECK (!lns_process_owner (child, &user, &process));
  tids.n = 0;
  lns_process_list_threads (child, &tids);
  LNS_CHECK (tids.n == 0);
  lns_array_clear (&pids);
  lns_array_clear (&tids);
  lns_array_clear (&own_family);
}

int
main (void)
{
  LNS_TEST (test_a_thread_with_events_of_two_owners_counts_once);
  LNS_TEST (test_a_thread_that_calls_exec_gets_the_first_ones_tid);
  LNS_TEST (test_a_thread_needs_no_events_if_it_inherited_all);
  LNS_TEST (test_processes_are_listed);
  return lns_tap_done ();
}
