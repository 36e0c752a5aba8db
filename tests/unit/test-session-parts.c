/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the small parts of the session: lines of the clock, maps of ids, environments, /proc,
 * batches. */

#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/record/batch.h"
#include "capture/session/decode/core/clock-line.h"
#include "capture/session/decode/nvtx/domain-filter.h"
#include "src/base/id-map.h"
#include "capture/session/control/launch.h"
#include "capture/session/system/build-id.h"
#include "capture/session/system/cupti.h"
#include "capture/session/system/memory-limit.h"
#include "capture/session/decode/core/core.h"
#include "capture/session/collect/peer.h"
#include "capture/session/system/process-info.h"
#include "capture/wire/pool-session.h"
#include "tests/tap.h"
#include "tests/unit/record-text.h"

static LnsClockLine line;

static LnsWireClockPair
pair_of (uint64_t ticks, int64_t ns)
{
  return (LnsWireClockPair){ .ticks = ticks, .monotonic_ns = ns };
}

static void
times_lie_on_the_lines_between_pairs (void)
{
  LnsWireClockPair a = pair_of (1000, 5000), b = pair_of (4000, 6000), c = pair_of (5000, 8000);
  lns_clock_line_init (&line, &a);
  LNS_CHECK_INT (lns_clock_line_ns (&line, 2000), 0); /* nothing is known of later times yet */
  lns_clock_line_add (&line, &b);
  lns_clock_line_add (&line, &c);
  LNS_CHECK_INT (lns_clock_line_ns (&line, 1000), 0);
  LNS_CHECK_INT (lns_clock_line_ns (&line, 2500), 500);
  LNS_CHECK_INT (lns_clock_line_ns (&line, 4500), 2000);
  LNS_CHECK_INT (lns_clock_line_ns (&line, 1600), 200);
  LNS_CHECK_INT (lns_clock_line_ns (&line, 5000), 3000);
  LNS_CHECK_INT (lns_clock_line_ns (&line, 10), 0);
  LNS_CHECK_INT (lns_clock_line_ns (&line, UINT64_MAX), 3000);
  LNS_CHECK_INT (lns_clock_line_last_ns (&line), 3000);
}

static void
a_pair_that_goes_back_is_no_pair (void)
{
  LnsWireClockPair a = pair_of (1000, 5000), same = pair_of (1000, 6000),
                   back = pair_of (2000, 4000);
  lns_clock_line_init (&line, &a);
  lns_clock_line_add (&line, &same);
  lns_clock_line_add (&line, &back);
  LNS_CHECK_INT (line.n, 1);
}

/* The line from A to B at TICKS, by a plain division. */
static int64_t
divided_ns (const LnsWireClockPair *a, const LnsWireClockPair *b, uint64_t ticks)
{
  return a->monotonic_ns +
         (int64_t)((unsigned __int128)(ticks - a->ticks) *
                   (uint64_t)(b->monotonic_ns - a->monotonic_ns) / (b->ticks - a->ticks));
}

/* At both ends of the line and at places between them. */
static void
check_line (const LnsWireClockPair *a, const LnsWireClockPair *b)
{
  lns_clock_line_init (&line, a);
  lns_clock_line_add (&line, b);
  LNS_CHECK_INT (line.n, 2);
  const uint64_t span = b->ticks - a->ticks;
  for (uint64_t i = 0; i <= 1000; i++)
    {
      const uint64_t offset = i <= 500 ? i * 7 : span - (1000 - i) * 7,
                     middle = span / 1000 * i + i * i % 1000;
      if (offset <= span)
        LNS_CHECK_INT (lns_clock_line_ns (&line, a->ticks + offset),
                       divided_ns (a, b, a->ticks + offset) - a->monotonic_ns);
      if (middle <= span)
        LNS_CHECK_INT (lns_clock_line_ns (&line, a->ticks + middle),
                       divided_ns (a, b, a->ticks + middle) - a->monotonic_ns);
    }
}

static void
times_are_exact (void)
{
  const LnsWireClockPair a = pair_of (UINT64_C (1) << 60, 12345);
  const uint64_t ticks[] = { 1, 3, 149718605,                  /* 50 ms at 3 GHz */
                             UINT64_C (107797401234567),       /* ten hours */
                             UINT64_C (1576800000000000001) }; /* ten years at 5 GHz */
  const int64_t ns[] = { 1, 50000000, 36000000000001, 315360000000000000 };
  for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++)
    for (size_t k = 0; k < sizeof ns / sizeof *ns; k++)
      {
        const LnsWireClockPair b = pair_of (a.ticks + ticks[i], a.monotonic_ns + ns[k]);
        check_line (&a, &b);
      }
}

/* Ten hours of pairs as the collector reads them. Where the older half was dropped, one line of hours meets those
 * of 50 ms. */
static void
times_do_not_go_back_where_pairs_were_dropped (void)
{
  const uint64_t n = 10 * 3600 * 20;
  LnsWireClockPair pair = pair_of (1000, 5000);
  lns_clock_line_init (&line, &pair);
  uint32_t n_before = 1;
  for (uint64_t i = 1; i < n; i++)
    {
      /* 2.994 GHz; each reading is some ns off. */
      pair = pair_of (1000 + i * 149718605 + i * 7919 % 97,
                      (int64_t)(5000 + 50000000 * i + i * 31 % 13));
      lns_clock_line_add (&line, &pair);
      const bool is_trimmed = line.n < n_before;
      n_before = line.n;
      if (!is_trimmed && i < n - 1)
        continue;
      const uint64_t joint = line.pairs[1].ticks;
      const int64_t at_joint = lns_clock_line_ns (&line, joint);
      LNS_CHECK_INT (at_joint, line.pairs[1].monotonic_ns - 5000);
      for (uint64_t back = 1; back < 1000; back++)
        {
          const int64_t before = lns_clock_line_ns (&line, joint - back);
          LNS_CHECK (before <= at_joint && at_joint - before <= (int64_t)back);
        }
    }
}

/* Hours of pairs: the order of times holds, and recent times stay what they were. */
static void
a_long_session_keeps_the_order (void)
{
  LnsWireClockPair pair = pair_of (0, 0);
  lns_clock_line_init (&line, &pair);
  int64_t last = 0;
  for (int i = 1; i < 3 * LNS_CLOCK_PAIRS; i++)
    {
      pair = pair_of ((uint64_t)i * 150000000 + (uint64_t)(i * 37 % 11), INT64_C (50000000) * i);
      lns_clock_line_add (&line, &pair);
      int64_t before = lns_clock_line_ns (&line, pair.ticks - 75000000);
      LNS_CHECK (before > last && before < lns_clock_line_last_ns (&line));
      LNS_CHECK (before > lns_clock_line_last_ns (&line) - 25000100 &&
                 before < lns_clock_line_last_ns (&line) - 24999900);
      last = before;
    }
  LNS_CHECK (line.n <= LNS_CLOCK_PAIRS);
  LNS_CHECK_INT (lns_clock_line_ns (&line, 0), 0);
  LNS_CHECK (lns_clock_line_ns (&line, 150000000) > 40000000);
}

/* Against a plain array: what was put in comes out, what was taken out is gone. */
static void
maps_keep_what_they_are_given (void)
{
  enum
  {
    N = 4000
  };
  static int values[N];
  static bool is_there[N];
  LnsIdMap map = { 0 };
  uint64_t state = 7;
  LNS_CHECK (lns_id_map_get (&map, 1) == NULL && lns_id_map_take (&map, 1) == NULL);
  for (int i = 0; i < 60000; i++)
    {
      state = state * 6364136223846793005 + 1442695040888963407;
      uint64_t at = (state >> 33) % N, key = at * 64; /* as addresses are */
      if (state >> 63)
        {
          LNS_CHECK (lns_id_map_set (&map, key, &values[at]));
          is_there[at] = true;
        }
      else
        {
          LNS_CHECK (lns_id_map_take (&map, key) == (is_there[at] ? &values[at] : NULL));
          is_there[at] = false;
        }
    }
  size_t n = 0;
  for (uint64_t at = 0; at < N; at++)
    {
      LNS_CHECK (lns_id_map_get (&map, at * 64) == (is_there[at] ? &values[at] : NULL));
      n += is_there[at];
    }
  LNS_CHECK_INT (map.n, n);
  lns_id_map_clear (&map);
}

static void
names_are_counted (void)
{
  LnsName *name = lns_name_new ("a\0b", 3);
  LNS_CHECK (lns_name_ref (name) == name && lns_name_ref (NULL) == NULL);
  LNS_CHECK_INT (name->n_refs, 2);
  LNS_CHECK_INT (name->n_bytes, 3);
  LNS_CHECK (memcmp (name->bytes, "a\0b", 3) == 0);
  lns_name_unref (name);
  lns_name_unref (name);
  lns_name_unref (NULL);
}

static void
batches_hold_pieces (void)
{
  LnsBatch *batch = calloc (1, sizeof (LnsBatch));
  LnsDecoderSource source = { .process = 1, .stream = 2, .tid = 3 };
  for (int i = 0; i < 100; i++)
    {
      uint8_t *bytes = lns_batch_reserve (batch, 65536);
      LNS_CHECK (bytes != NULL);
      memset (bytes, i, 60000);
      LNS_CHECK (lns_batch_add (batch, &source, 60000, (LnsBegun){ 0 }));
    }
  LNS_CHECK (lns_batch_reserve (batch, LNS_BLOCK_BYTES + 1) == NULL);
  LNS_CHECK_INT (batch->n_bytes, 6000000);
  LNS_CHECK_INT (batch->pieces.n, 100);
  for (int i = 0; i < 100; i++)
    LNS_CHECK (batch->pieces.items[i].bytes[0] == i && batch->pieces.items[i].bytes[59999] == i);
  lns_batch_free (batch);
  lns_batch_free (NULL);
}

static void
environments_are_set_and_replaced (void)
{
  static char a[] = "A=1", ab[] = "AB=2", c[] = "C";
  char *items[] = { a, ab, c, NULL };
  LnsEnvironment environment = { 0 };
  LNS_CHECK (lns_environment_get (&environment, "A") == NULL);
  LNS_CHECK (lns_environment_add_all (&environment, items));
  LNS_CHECK (lns_environment_set (&environment, "A", "x=y"));
  LNS_CHECK (lns_environment_set (&environment, "D", ""));
  LNS_CHECK_STR (lns_environment_get (&environment, "A"), "x=y");
  LNS_CHECK_STR (lns_environment_get (&environment, "AB"), "2");
  LNS_CHECK_STR (lns_environment_get (&environment, "D"), "");
  LNS_CHECK (lns_environment_get (&environment, "C") == NULL);
  LNS_CHECK_INT (environment.n_items, 4);
  LNS_CHECK (environment.items[4] == NULL);
  lns_environment_clear (&environment);
}

static int
launch (const char *const *argv, LnsError *error)
{
  sigset_t none;
  LnsCaller caller;
  LnsEnvironment environment = { 0 };
  sigemptyset (&none);
  lns_caller_save (&caller, &none);
  LnsHeldLaunch held;
  pid_t pid = -1;
  if (lns_launch_hold ((char *const *)(uintptr_t)argv, &environment, &caller, NULL, &held, error))
    pid = lns_launch_release (&held, argv[0], error);
  int status = 0;
  if (pid > 0)
    waitpid (pid, &status, 0);
  return pid > 0 ? WEXITSTATUS (status) : -1;
}

static void
programs_are_started_or_not (void)
{
  LnsError error = { 0 };
  LNS_CHECK_INT (launch ((const char *[]){ "sh", "-c", "exit 7", NULL }, &error), 7);
  LNS_CHECK_INT (launch ((const char *[]){ "no-such-program-here", NULL }, &error), -1);
  LNS_CHECK_INT (error.code, ENOENT);
  error = (LnsError){ 0 };
  LNS_CHECK_INT (launch ((const char *[]){ "/", NULL }, &error), -1);
  LNS_CHECK_INT (error.code, EACCES);
}

static void
arguments_are_quoted_for_a_shell (void)
{
  const char *arguments[] = { "plain-1.2/x=y", "two words", "it's", "", "$HOME\n" };
  char *text = lns_quote_arguments (arguments, 5);
  LNS_CHECK_STR (text, "plain-1.2/x=y 'two words' 'it'\\''s' '' '$HOME\n'");
  free (text);
}

static void
processes_are_described (void)
{
  LnsProcessInfo info;
  lns_process_info_read (getpid (), &info);
  LNS_CHECK_INT (info.pid, getpid ());
  LNS_CHECK_INT (info.parent_pid, getppid ());
  LNS_CHECK_INT (lns_process_parent (getpid ()), getppid ());
  LNS_CHECK_INT (lns_process_parent (INT32_MAX), 0);
  LNS_CHECK (info.start_ns != INT64_MIN);
  LNS_CHECK (strncmp (info.name, "test-session-pa", 15) == 0);
  LNS_CHECK (strstr (info.command_line, "test-session-parts") != NULL);
  LNS_CHECK (info.executable[0] == '/');
  lns_process_info_clear (&info);
  lns_process_info_read (INT32_MAX, &info);
  LNS_CHECK (info.name == NULL && info.command_line == NULL && info.executable == NULL);
  lns_process_info_clear (&info);
}

/* A fork's child may have ended, or run another program, before all of it was read. */
static void
children_inherit_what_they_took_along (void)
{
  LnsProcessInfo parent = { .command_line = strdup ("server --quick"),
                            .executable = strdup ("/bin/server"),
                            .mpi_rank = 3 };
  LnsProcessInfo child = { .pid = 7 };
  lns_process_info_inherit (&child, &parent);
  LNS_CHECK_STR (child.command_line, "server --quick");
  LNS_CHECK_STR (child.executable, "/bin/server");
  LNS_CHECK_INT (child.mpi_rank, 3);
  LnsProcessInfo copy = lns_process_info_copy (&child);
  LNS_CHECK_INT (copy.pid, 7);
  LNS_CHECK_STR (copy.command_line, "server --quick");
  lns_process_info_clear (&copy);

  /* It may have a title of its own. */
  free (child.command_line);
  child.command_line = strdup ("server: worker 2");
  lns_process_info_inherit (&child, &parent);
  LNS_CHECK_STR (child.command_line, "server: worker 2");

  free (child.executable);
  child.executable = strdup ("/bin/other");
  lns_process_info_inherit (&child, &parent);
  LNS_CHECK_STR (child.command_line, "server --quick");
  LNS_CHECK_STR (child.executable, "/bin/server");

  /* What is not known of the parent takes nothing away. */
  lns_process_info_clear (&parent);
  lns_process_info_inherit (&child, &parent);
  LNS_CHECK_STR (child.executable, "/bin/server");
  lns_process_info_clear (&child);
}

/* A fork's child is asked for its title and program, and has its parent's rank. */
static void
forked_children_are_read_in_part (void)
{
  LnsProcessInfo whole, child, parent = { .mpi_rank = 3 };
  lns_process_info_read (getpid (), &whole);
  for (int32_t own_pid = getpid (); own_pid <= getpid () + 1; own_pid++)
    {
      lns_process_info_begin (getpid (), &child);
      lns_process_info_finish_forked (&child, &parent, own_pid);
      LNS_CHECK_INT (child.target_pid, whole.target_pid);
      LNS_CHECK_STR (child.command_line, whole.command_line);
      LNS_CHECK_STR (child.executable, whole.executable);
      LNS_CHECK_INT (child.mpi_rank, 3);
      lns_process_info_clear (&child);
    }
  lns_process_info_clear (&whole);
}

static void
processes_are_known_by_their_environment (void)
{
  char variable[64];
  snprintf (variable, sizeof variable, "LNS_TEST_OF=%d", getpid ());
  const char *value = strchr (variable, '=') + 1;
  LNS_CHECK (!lns_process_lives_with ("LNS_TEST_OF", value));
  int ends[2];
  LNS_CHECK (pipe2 (ends, O_CLOEXEC) == 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      char *environment[] = { variable, NULL };
      execle ("/bin/sleep", "sleep", "60", (char *)NULL, environment);
      _exit (1);
    }
  char nothing;
  close (ends[1]);
  LNS_CHECK_INT (read (ends[0], &nothing, 1), 0); /* it has become another program */
  close (ends[0]);
  LNS_CHECK (lns_process_lives_with ("LNS_TEST_OF", value));
  LNS_CHECK (lns_process_has_variable (pid, "LNS_TEST_OF"));
  LNS_CHECK (!lns_process_has_variable (pid, "LNS_TEST"));
  LNS_CHECK (!lns_process_has_variable (getpid (), "LNS_TEST_OF"));
  variable[strlen (variable) - 1] ^= 1;
  LNS_CHECK (!lns_process_lives_with ("LNS_TEST_OF", value));
  variable[strlen (variable) - 1] ^= 1;
  kill (pid, SIGKILL);
  LNS_CHECK (waitpid (pid, NULL, 0) == pid);
  LNS_CHECK (!lns_process_lives_with ("LNS_TEST_OF", value));
}

/* A process has its environment also at the moment when it executes another program. */
static void
executing_processes_have_their_environment (void)
{
  pid_t pid = fork ();
  if (pid == 0)
    {
      char script[] = "SCRIPT=exec sh -c \"$SCRIPT\"", variable[] = "LNS_TEST_OF=it";
      char *environment[] = { variable, script, NULL };
      prctl (PR_SET_PDEATHSIG, SIGKILL); /* it would go on for ever where a check fails */
      execle ("/bin/sh", "sh", "-c", strchr (script, '=') + 1, (char *)NULL, environment);
      _exit (1);
    }
  while (!lns_process_has_variable (pid, "LNS_TEST_OF"))
    LNS_CHECK (waitpid (pid, NULL, WNOHANG) == 0);
  for (int i = 0; i < 2000; i++)
    LNS_CHECK (lns_process_has_variable (pid, "LNS_TEST_OF"));
  kill (pid, SIGKILL);
  LNS_CHECK (waitpid (pid, NULL, 0) == pid);
}

static uint64_t
n_free_after_lending (LnsPeer *peer, int64_t now_ns)
{
  lns_peer_look (peer);
  lns_peer_lend (peer, UINT64_C (64) << 20, 64, now_ns);
  return lns_wire_pool_n_free (lns_wire_pool_view (peer->pool));
}

/* A fork's child gets more chunks when it has used half of what it has, or has lived for some time. */
static void
frugal_peers_are_lent_what_they_need (void)
{
  const LnsWirePoolOptions options = { .serial = 1, .clock = LNS_WIRE_CLOCK_MONOTONIC };
  for (int is_busy = 0; is_busy < 2; is_busy++)
    {
      LnsWirePool *pool = NULL;
      LNS_CHECK_INT (lns_wire_pool_new (&options, &pool), 0);
      LnsPeer *peer = lns_peer_new (0, pool);
      peer->frugal_until_ns = 100;
      LNS_CHECK_INT (lns_wire_pool_top_up (pool, UINT64_C (64) << 20, 4), 16);
      LNS_CHECK_INT (n_free_after_lending (peer, 99), 16);
      for (uint32_t i = 0; is_busy && i < 7; i++)
        LNS_CHECK (lns_wire_pool_claim (lns_wire_pool_view (pool), i + 1, 0, 1, 1) >= 0);
      LNS_CHECK_INT (n_free_after_lending (peer, 99), is_busy ? 9 : 16);
      if (is_busy)
        LNS_CHECK (lns_wire_pool_claim (lns_wire_pool_view (pool), 8, 0, 1, 1) >= 0);
      LNS_CHECK_INT (n_free_after_lending (peer, is_busy ? 99 : 100), 256);
      lns_peer_free (peer);
    }
}

/* Has CHUNK of POOL hold N more marks. */
static void
commit_marks (LnsWirePool *pool, int chunk, int n)
{
  static RecordText text;
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  LnsWireLine *own = &view->lines[chunk];
  const uint32_t committed = own->committed;
  text.n_bytes = 0;
  for (int i = 0; i < n; i++)
    record_mark (&text, 1000 + committed + (uint64_t)i, 0, 0);
  memcpy (lns_wire_pool_chunk (view, (uint32_t)chunk) + committed, text.bytes, text.n_bytes);
  lns_wire_pool_commit (own, committed + (uint32_t)text.n_bytes);
}

static uint64_t
n_given_up (LnsPeer *peer)
{
  lns_peer_give_up (peer);
  return peer->losses.by_cause[LNS_WIRE_CAUSE_UNREAD];
}

/* At the ends of two reports, and at that of its process: an event that was not read is lost once. */
static void
what_is_given_up_is_counted_once (void)
{
  const LnsWirePoolOptions options = { .serial = 1, .clock = LNS_WIRE_CLOCK_MONOTONIC };
  LnsWirePool *pool = NULL;
  LNS_CHECK_INT (lns_wire_pool_new (&options, &pool), 0);
  LnsPeer *peer = lns_peer_new (0, pool);
  LNS_CHECK (lns_wire_pool_top_up (pool, UINT64_C (64) << 20, 4) > 0);
  const int chunk = lns_wire_pool_claim (lns_wire_pool_view (pool), 1, 0, 1, 1);
  LNS_CHECK (chunk >= 0);
  commit_marks (pool, chunk, 5);
  LNS_CHECK_INT (n_given_up (peer), 5);
  LNS_CHECK_INT (n_given_up (peer), 5);
  commit_marks (pool, chunk, 2);
  LNS_CHECK_INT (n_given_up (peer), 7);
  /* What is read after all was lost to the report before, and is no loss of the next one. */
  LnsBatch *batch = calloc (1, sizeof (LnsBatch));
  LNS_CHECK (lns_peer_drain (peer, batch));
  commit_marks (pool, chunk, 1);
  peer->is_gone = true;
  LNS_CHECK_INT (n_given_up (peer), 8);
  LNS_CHECK_INT (n_given_up (peer), 8);
  lns_batch_free (batch);
  lns_peer_free (peer);
}

static void
some_memory_is_allowed (void)
{
  uint64_t limit = lns_memory_limit ();
  LNS_CHECK (limit >= 1 << 20);
  LNS_CHECK (limit <= (uint64_t)sysconf (_SC_PHYS_PAGES) * (uint64_t)sysconf (_SC_PAGESIZE));
}

static void
programs_wait_until_they_are_let_go (void)
{
  const char *const argv[] = { "sh", "-c", "exit 7", NULL };
  LnsEnvironment environment = { 0 };
  LnsCaller caller;
  LnsHeldLaunch held = { 0 };
  LnsError error = { 0 };
  sigset_t none;
  int status;
  sigemptyset (&none);
  lns_caller_save (&caller, &none);
  for (int released = 0; released < 2; released++)
    {
      LNS_CHECK (lns_launch_hold ((char *const *)(uintptr_t)argv, &environment, &caller, NULL,
                                  &held, &error));
      const pid_t pid = held.pid;
      LNS_CHECK (pid > 0 && waitpid (pid, &status, WNOHANG) == 0);
      if (released)
        {
          LNS_CHECK (lns_launch_release (&held, argv[0], &error) == pid);
          LNS_CHECK (waitpid (pid, &status, 0) == pid && WEXITSTATUS (status) == 7);
        }
      lns_launch_abandon (&held);
      LNS_CHECK (waitpid (pid, &status, WNOHANG) < 0 && errno == ECHILD);
    }
}

static void
domains_are_left_out (void)
{
  static const struct
  {
    LnsDomainFilter filter;
    const char *name;
    bool is_left_out;
  } cases[] = {
    { { NULL, NULL }, "a", false },           { { NULL, NULL }, NULL, false },
    { { "a,b", NULL }, "b", false },          { { "a,b", NULL }, "ab", true },
    { { "a,b", NULL }, NULL, true },          { { "default", NULL }, NULL, false },
    { { "default", NULL }, "default", true }, { { "\\default", NULL }, "default", false },
    { { "\\default", NULL }, NULL, true },    { { "a\\,b", NULL }, "a,b", false },
    { { "a\\,b", NULL }, "a", true },         { { NULL, "a,default" }, NULL, true },
    { { NULL, "a,default" }, "a", true },     { { NULL, "a,default" }, "b", false },
    { { NULL, "a\\" }, "a\\", true },         { { "", NULL }, "", false },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (lns_domain_filter_leaves_out (&cases[i].filter, cases[i].name,
                                      cases[i].name != NULL ? strlen (cases[i].name) : 0) !=
        cases[i].is_left_out)
      LNS_FAIL ("case %zu", i);
}

static void
packages_of_cupti_suit_the_driver (void)
{
  static const struct
  {
    const char *version, *package, *other;
    int cuda;
  } cases[] = {
    { "NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 07:09:37 UTC 2025\n",
      "pip install 'nvidia-cuda-cupti<13.1'", "apt install cuda-cupti-13-0", 13000 },
    { "NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (me@here)",
      "pip install 'nvidia-cuda-cupti-cu12<12.5'", "conda install -c nvidia 'cuda-cupti<12.5'",
      12040 },
    { "NVIDIA UNIX x86_64 Kernel Module  565.57.01", "nvidia-cuda-cupti-cu12<12.8",
      "cuda-cupti-12-6", 12070 },
    { "470.256.02", "pip install nvidia-cuda-cupti-cu11`", "apt install cuda-cupti-11-4", 11040 },
    { "900.1", "nvidia-cuda-cupti<13.4", "cuda-cupti-13-3", 13030 },
    { "440.33.01", "pip install nvidia-cuda-cupti`", "conda install", 0 },
    { "no version at all", "pip install nvidia-cuda-cupti`", "conda install", 0 },
    { "", "pip install nvidia-cuda-cupti`", "conda install", 0 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      char text[256];
      LNS_CHECK_INT (lns_cupti_driver_cuda (cases[i].version), cases[i].cuda);
      lns_cupti_packages (cases[i].cuda, text, sizeof text);
      LNS_CHECK (strstr (text, cases[i].package) != NULL);
      LNS_CHECK (strstr (text, cases[i].other) != NULL);
    }
}

/* A program may have mapped a device. To open that has effects, whatever is read from it then. */
static void
only_regular_files_have_build_ids (void)
{
  char path[] = "/tmp/lanescope-parts-XXXXXX";
  uint8_t id[LNS_BUILD_ID_BYTES];
  char events[4096];
  const int fd = mkstemp (path);
  LNS_CHECK (fd >= 0 && close (fd) == 0 && unlink (path) == 0);
  LNS_CHECK_INT (mkfifo (path, 0600), 0);
  const int watch = inotify_init1 (IN_NONBLOCK | IN_CLOEXEC);
  LNS_CHECK (watch >= 0 && inotify_add_watch (watch, path, IN_OPEN) >= 0);
  LNS_CHECK_INT (lns_build_id_read (path, id), 0);
  LNS_CHECK_INT (read (watch, events, sizeof events), -1);
  close (watch);
  unlink (path);
  LNS_CHECK (lns_build_id_read ("/proc/self/exe", id) > 0);
}

int
main (void)
{
  LNS_TEST (times_lie_on_the_lines_between_pairs);
  LNS_TEST (a_pair_that_goes_back_is_no_pair);
  LNS_TEST (times_are_exact);
  LNS_TEST (times_do_not_go_back_where_pairs_were_dropped);
  LNS_TEST (a_long_session_keeps_the_order);
  LNS_TEST (maps_keep_what_they_are_given);
  LNS_TEST (names_are_counted);
  LNS_TEST (batches_hold_pieces);
  LNS_TEST (environments_are_set_and_replaced);
  LNS_TEST (programs_are_started_or_not);
  LNS_TEST (programs_wait_until_they_are_let_go);
  LNS_TEST (domains_are_left_out);
  LNS_TEST (arguments_are_quoted_for_a_shell);
  LNS_TEST (processes_are_described);
  LNS_TEST (children_inherit_what_they_took_along);
  LNS_TEST (forked_children_are_read_in_part);
  LNS_TEST (processes_are_known_by_their_environment);
  LNS_TEST (executing_processes_have_their_environment);
  LNS_TEST (frugal_peers_are_lent_what_they_need);
  LNS_TEST (what_is_given_up_is_counted_once);
  LNS_TEST (only_regular_files_have_build_ids);
  LNS_TEST (some_memory_is_allowed);
  LNS_TEST (packages_of_cupti_suit_the_driver);
  return lns_tap_done ();
}
