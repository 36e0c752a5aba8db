/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests a session whose target is the test process itself: it greets the session on the socket and
 * writes records into its pool with the target's side of capture/wire. */

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/control/session.h"
#include "capture/wire/pool-session.h"
#include "capture/wire/pool.h"
#include "capture/wire/protocol.h"
#include "src/store/read/report.h"
#include "tests/tap.h"
#include "tests/unit/record-text.h"
#include "tests/unit/report-fixture.h"

typedef struct
{
  int fd;
  LnsWireWelcome welcome;
  LnsWirePoolView view;
  int chunk;
} Target;

static LnsSession *session;
static LnsEnvironment environment;

/* The child of this process whose end an answer of the session waits for, or 0. */
static pid_t answer_waits_for;

/* The session's answers: libc's own function, after which the process that was answered may have all the time
 * that it needs. */
ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
  /* Before it: who is answered may ask this of the next answer while this thread is not back yet. */
  const pid_t pid = __atomic_exchange_n (&answer_waits_for, 0, __ATOMIC_ACQ_REL);
  const ssize_t n = syscall (SYS_sendmsg, fd, message, flags);
  if (pid > 0)
    waitpid (pid, NULL, 0);
  return n;
}

static void
begin (uint64_t process_bytes)
{
  LnsError error = { 0 };
  LnsSessionOptions options = { .process_bytes = process_bytes,
                                .target = { .traces = LNS_WIRE_TRACE_NVTX } };
  session = lns_session_new (&options, &error);
  if (session == NULL)
    LNS_FAIL ("%s", error.message);
  LNS_CHECK (lns_session_add_variables (session, &environment, "/lib.so"));
}

static void
end (void)
{
  lns_session_free (session);
  lns_environment_clear (&environment);
}

/* Connects and says the N_BYTES of HELLO; returns what came back: the pool's descriptor, or -1. */
static int
say_hello (Target *target, const void *hello, size_t n_bytes)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  snprintf (address.sun_path, sizeof address.sun_path, "%s",
            lns_environment_get (&environment, LNS_WIRE_ENVIRONMENT));
  target->fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  LNS_CHECK_INT (connect (target->fd, (struct sockaddr *)&address, sizeof address), 0);
  LNS_CHECK_INT (send (target->fd, hello, n_bytes, 0), n_bytes);
  char control[CMSG_SPACE (sizeof (int))];
  struct iovec part = { &target->welcome, sizeof target->welcome };
  struct msghdr message = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
  };
  LNS_CHECK_INT (recvmsg (target->fd, &message, MSG_CMSG_CLOEXEC), sizeof target->welcome);
  struct cmsghdr *header = CMSG_FIRSTHDR (&message);
  int fd = -1;
  if (header != NULL)
    memcpy (&fd, CMSG_DATA (header), sizeof fd);
  return fd;
}

static void
join (Target *target)
{
  LnsWireHello hello = { .magic = LNS_WIRE_MAGIC, .abi = LNS_WIRE_ABI, .pid = (uint32_t)getpid () };
  int fd = say_hello (target, &hello, sizeof hello);
  LNS_CHECK (fd >= 0);
  LNS_CHECK_INT (lns_wire_pool_map (fd, target->welcome.pool_bytes, &target->view), 0);
  target->view.header->joined = 1;
  close (fd);
  target->chunk = lns_wire_pool_claim (&target->view, 1, 0, (uint32_t)getpid (), 7);
  LNS_CHECK (target->chunk >= 0);
}

static void
leave (Target *target)
{
  close (target->fd);
  lns_wire_pool_unmap (&target->view);
}

static uint64_t
now (const Target *target)
{
  return lns_wire_clock_ticks ((LnsWireClock)target->view.header->clock);
}

/* Commits what TEXT holds. */
static void
commit (Target *target, RecordText *text)
{
  LnsWireLine *line = &target->view.lines[target->chunk];
  uint32_t committed = line->committed;
  memcpy (lns_wire_pool_chunk (&target->view, (uint32_t)target->chunk) + committed, text->bytes,
          text->n_bytes);
  lns_wire_pool_commit (line, committed + (uint32_t)text->n_bytes);
  text->n_bytes = 0;
}

static const char *
start_report (const char *name)
{
  LnsError error = { 0 };
  const char *path = fixture_path (name);
  if (!lns_session_create_report (session, path, true, &error))
    LNS_FAIL ("%s", error.message);
  lns_session_start_report (session);
  return path;
}

static void
stop_report (uint64_t n_events)
{
  LnsReportResult result;
  if (!lns_session_stop_report (session, &result))
    LNS_FAIL ("%s", result.error.message);
  LNS_CHECK_INT (result.n_events, n_events);
  lns_report_result_clear (&result);
}

/* The flags of the only event called NAME in the report at PATH. */
static uint32_t
flags_of (const char *path, const char *name, int64_t *ret_start_ns)
{
  LnsReport *report = fixture_open (path, NULL);
  uint32_t n_lanes, flags = UINT32_MAX;
  lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    for (uint64_t i = 0; i < lns_report_lane_info (report, lane)->n_events; i++)
      {
        LnsEvent event;
        if (lns_report_event (report, lane, i, &event, NULL) &&
            strcmp (lns_report_string (report, event.name, NULL), name) == 0)
          {
            flags = event.flags;
            *ret_start_ns = event.start_ns;
          }
      }
  lns_report_close (report);
  return flags;
}

static void
two_reports_of_one_session (void)
{
  static RecordText text;
  Target target;
  int64_t first_ns = 0, second_ns = 0, closed_ns = 0, between_ns = 0;
  begin (0);
  const char *first = start_report ("first.rep");
  join (&target);
  record_thread (&text, now (&target), 7, 1, "main");
  record_named (&text, LNS_WIRE_STRING, 0, 1, "open");
  record_named (&text, LNS_WIRE_STRING, 0, 2, "closed");
  record_named (&text, LNS_WIRE_STRING, 0, 3, "between");
  record_push (&text, now (&target), 0, 0, 1);
  record_push (&text, now (&target), 0, 1, 2);
  record_pop (&text, now (&target), 0, 1);
  commit (&target, &text);
  stop_report (2);
  record_mark (&text, now (&target), 0, 3);
  commit (&target, &text);
  const char *second = start_report ("second.rep");
  int64_t begun_ns = lns_session_now_ns (session);
  record_pop (&text, now (&target), 0, 0);
  commit (&target, &text);
  stop_report (1);
  end ();
  leave (&target);
  LNS_CHECK_INT (flags_of (first, "open", &first_ns), LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
  LNS_CHECK_INT (flags_of (first, "closed", &closed_ns), 0);
  LNS_CHECK_INT (flags_of (second, "open", &second_ns), LNS_EVENT_OPEN_START);
  LNS_CHECK_INT (flags_of (second, "between", &between_ns), UINT32_MAX);
  LNS_CHECK (first_ns <= closed_ns && closed_ns < second_ns && second_ns <= begun_ns);
}

/* Another build's hello may be shorter or longer. */
static void
other_builds_are_refused (void)
{
  const size_t lengths[] = { offsetof (LnsWireHello, pid), sizeof (LnsWireHello) - 4,
                             sizeof (LnsWireHello), sizeof (LnsWireHello) + 64 };
  const uint64_t n = sizeof lengths / sizeof *lengths;
  struct
  {
    LnsWireHello hello;
    char more[64];
  } message = { .hello = { .magic = LNS_WIRE_MAGIC, .abi = LNS_WIRE_ABI + 1 } };
  begin (0);
  start_report ("refused.rep");
  for (uint64_t i = 0; i < n; i++)
    {
      Target target;
      LNS_CHECK_INT (say_hello (&target, &message, lengths[i]), -1);
      LNS_CHECK_INT (target.welcome.refused, EPROTO);
      close (target.fd);
    }
  LNS_CHECK_INT (lns_peers_counters (lns_session_peers (session)).n_refused, n);
  LNS_CHECK_INT (lns_peers_counters (lns_session_peers (session)).n_joined, 0);
  LnsReportResult result;
  LNS_CHECK (lns_session_stop_report (session, &result));
  LNS_CHECK_INT (result.n_diagnostics, n);
  for (uint64_t i = 0; i < n; i++)
    LNS_CHECK_STR (result.diagnostics[i].code, "LNS-POOL-010");
  lns_report_result_clear (&result);
  end ();
}

/* Who does not wait for the answer is counted as late, and nobody waits for its end. */
static void
who_gives_up_is_late (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  LnsWireHello hello = { .magic = LNS_WIRE_MAGIC, .abi = LNS_WIRE_ABI, .pid = (uint32_t)getpid () };
  begin (0);
  start_report ("late.rep");
  snprintf (address.sun_path, sizeof address.sun_path, "%s",
            lns_environment_get (&environment, LNS_WIRE_ENVIRONMENT));
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  LNS_CHECK_INT (connect (fd, (struct sockaddr *)&address, sizeof address), 0);
  LNS_CHECK_INT (shutdown (fd, SHUT_RD), 0); /* an answer fails with EPIPE from now on */
  LNS_CHECK_INT (send (fd, &hello, sizeof hello, 0), sizeof hello);
  LNS_WAIT_FOR (lns_peers_counters (lns_session_peers (session)).n_late != 0);
  LnsCollectorCounters processes = lns_peers_counters (lns_session_peers (session));
  LNS_CHECK_INT (processes.n_late, 1);
  LNS_CHECK_INT (processes.n_joined, 0);
  LNS_CHECK_INT (processes.n_alive, 0);
  close (fd);
  LnsReportResult result;
  LNS_CHECK (lns_session_stop_report (session, &result));
  LNS_CHECK_INT (result.n_diagnostics, 1);
  LNS_CHECK_STR (result.diagnostics[0].code, "LNS-POOL-003");
  lns_report_result_clear (&result);
  end ();
}

/* The answer is on its way when the process gives up: it has not joined either. */
static void
who_gives_up_at_the_last_moment_is_late (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  LnsWireHello hello = { .magic = LNS_WIRE_MAGIC, .abi = LNS_WIRE_ABI, .pid = (uint32_t)getpid () };
  begin (0);
  start_report ("later.rep");
  snprintf (address.sun_path, sizeof address.sun_path, "%s",
            lns_environment_get (&environment, LNS_WIRE_ENVIRONMENT));
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  LNS_CHECK_INT (connect (fd, (struct sockaddr *)&address, sizeof address), 0);
  LNS_CHECK_INT (send (fd, &hello, sizeof hello, 0), sizeof hello);
  LNS_WAIT_FOR (lns_peers_counters (lns_session_peers (session)).n_joined != 0);
  close (fd);
  LNS_WAIT_FOR (lns_peers_counters (lns_session_peers (session)).n_late != 0);
  LNS_CHECK_INT (lns_peers_counters (lns_session_peers (session)).n_late, 1);
  LNS_CHECK_INT (lns_peers_counters (lns_session_peers (session)).n_joined, 0);
  LnsReportResult result;
  LNS_CHECK (lns_session_stop_report (session, &result));
  LNS_CHECK_INT (result.n_diagnostics, 1);
  LNS_CHECK_STR (result.diagnostics[0].code, "LNS-POOL-003");
  lns_report_result_clear (&result);
  end ();
}

/* The header of its pool is the program's to overwrite. */
static void
who_takes_back_that_it_lacks_a_key_is_counted_once (void)
{
  Target target, others[2];
  begin (0);
  start_report ("keyless.rep");
  join (&target);
  target.view.header->joined = LNS_WIRE_JOINED_WITHOUT_KEY;
  LNS_WAIT_FOR (lns_peers_counters (lns_session_peers (session)).n_refused != 0);
  target.view.header->joined = 0;
  leave (&target);
  /* Once the second of these has its answer, the session has seen the end of the connection. */
  join (&others[0]);
  join (&others[1]);
  const LnsCollectorCounters processes = lns_peers_counters (lns_session_peers (session));
  LNS_CHECK_INT (processes.n_refused, 1);
  LNS_CHECK_INT (processes.n_late, 0);
  LNS_CHECK_INT (processes.n_joined, 2);
  LnsReportResult result;
  LNS_CHECK (lns_session_stop_report (session, &result));
  lns_report_result_clear (&result);
  end ();
  leave (&others[0]);
  leave (&others[1]);
}

/* One that ends instead is not told of a busy machine. */
static void
who_ends_before_the_answer_is_told_of (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  begin (0);
  start_report ("ended.rep");
  snprintf (address.sun_path, sizeof address.sun_path, "%s",
            lns_environment_get (&environment, LNS_WIRE_ENVIRONMENT));
  const pid_t pid = fork ();
  if (pid == 0)
    {
      LnsWireHello hello = { .magic = LNS_WIRE_MAGIC,
                             .abi = LNS_WIRE_ABI,
                             .pid = (uint32_t)getpid () };
      int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
      _exit (connect (fd, (struct sockaddr *)&address, sizeof address) != 0 ||
             send (fd, &hello, sizeof hello, 0) != sizeof hello);
    }
  LNS_WAIT_FOR (lns_peers_counters (lns_session_peers (session)).n_late != 0);
  int status = -1;
  LNS_CHECK_INT (waitpid (pid, &status, 0), pid);
  LNS_CHECK_INT (status, 0);
  LnsCollectorCounters processes = lns_peers_counters (lns_session_peers (session));
  LNS_CHECK_INT (processes.n_late, 1);
  LNS_CHECK_INT (processes.n_joined, 0);
  LnsReportResult result;
  LNS_CHECK (lns_session_stop_report (session, &result));
  LNS_CHECK_INT (result.n_diagnostics, 1);
  LNS_CHECK_STR (result.diagnostics[0].code, "LNS-POOL-003");
  LNS_CHECK (strstr (result.diagnostics[0].text, "busy") == NULL);
  lns_report_result_clear (&result);
  end ();
}

/* A process that says that its parent has its memory is believed only if that is so. The parent is this session here. */
static void
nobody_joins_for_another_process (void)
{
  begin (0);
  start_report ("borrowed.rep");
  const pid_t pid = fork ();
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      Target target;
      const LnsWireHello hello = {
        .magic = LNS_WIRE_MAGIC, .abi = LNS_WIRE_ABI, .pid = (uint32_t)getppid (), .is_borrowed = 1
      };
      const int fd = say_hello (&target, &hello, sizeof hello);
      if (fd < 0 || lns_wire_pool_map (fd, target.welcome.pool_bytes, &target.view) != 0)
        _exit (1);
      target.view.header->joined = 1;
      pause ();
    }
  int32_t alive[2] = { 0 };
  LNS_WAIT_FOR (lns_peers_alive (lns_session_peers (session), alive, 2) > 0);
  LNS_CHECK_INT (lns_peers_alive (lns_session_peers (session), alive, 2), 1);
  LNS_CHECK_INT (alive[0], pid);
  kill (pid, SIGKILL);
  LNS_CHECK_INT (waitpid (pid, NULL, 0), pid);
  LNS_WAIT_FOR (lns_peers_counters (lns_session_peers (session)).n_alive == 0);
  LNS_CHECK_INT (lns_peers_alive (lns_session_peers (session), alive, 2), 0);
  stop_report (0);
  end ();
}

/* How many descriptors this process has, which is its own session. */
static unsigned
count_descriptors (void)
{
  unsigned n = 0;
  DIR *folder = opendir ("/proc/self/fd");
  while (readdir (folder) != NULL)
    n++;
  closedir (folder);
  return n;
}

/* Sends N_BYTES of NOTICE with N_FDS descriptors on FD. */
static void
send_with_descriptors (int fd, LnsWireNotice *notice, size_t n_bytes, size_t n_fds)
{
  const int fds[3] = { 0, 0, 0 };
  _Alignas(struct cmsghdr) char control[CMSG_SPACE (sizeof fds)] = { 0 };
  struct iovec part = { notice, n_bytes };
  struct msghdr message = { .msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = CMSG_SPACE (n_fds * sizeof *fds) };
  struct cmsghdr *header = CMSG_FIRSTHDR (&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN (n_fds * sizeof *fds);
  memcpy (CMSG_DATA (header), fds, n_fds * sizeof *fds);
  LNS_CHECK_INT (syscall (SYS_sendmsg, fd, &message, 0), (long)n_bytes);
}

static void
descriptors_that_nobody_wants_are_closed (void)
{
  Target target;
  LnsWireNotice notice = { .magic = LNS_WIRE_MAGIC, .kind = LNS_WIRE_NOTICE_LOW };
  begin (0);
  start_report ("descriptors.rep");
  join (&target);
  int32_t alive;
  /* From then on the session opens and closes nothing for it. */
  LNS_WAIT_FOR (lns_peers_alive (lns_session_peers (session), &alive, 1) == 1);
  const unsigned n_before = count_descriptors ();
  for (size_t n_fds = 1; n_fds <= 3; n_fds++)
    for (int i = 0; i < 20; i++)
      send_with_descriptors (target.fd, &notice, sizeof notice, n_fds);
  /* The session takes an empty message for the end of the connection, and closes its own descriptor, too. */
  send_with_descriptors (target.fd, &notice, 0, 1);
  LNS_WAIT_FOR (count_descriptors () == n_before - 1);
  LNS_CHECK_INT (count_descriptors (), n_before - 1);
  close (target.fd);
  stop_report (0);
  end ();
  lns_wire_pool_unmap (&target.view);
}

/* Its parent is a shell, say, that has never joined; both end as soon as it is answered. */
static void
the_parent_of_who_ends_at_once_is_known (void)
{
  begin (0);
  const char *path = start_report ("shell.rep");
  Target target;
  join (&target);
  int gate[2];
  LNS_CHECK_INT (pipe (gate), 0);
  const pid_t shell = fork ();
  if (shell == 0)
    {
      char byte;
      close (gate[1]);
      (void)!read (gate[0], &byte, 1);
      const pid_t pid = fork ();
      if (pid == 0)
        {
          Target deep;
          LnsWireHello hello = { .magic = LNS_WIRE_MAGIC,
                                 .abi = LNS_WIRE_ABI,
                                 .pid = (uint32_t)getpid () };
          int fd = say_hello (&deep, &hello, sizeof hello);
          if (fd < 0 || lns_wire_pool_map (fd, deep.welcome.pool_bytes, &deep.view) != 0)
            _exit (1);
          deep.view.header->joined = 1;
          _exit (0);
        }
      waitpid (pid, NULL, 0);
      _exit (0);
    }
  __atomic_store_n (&answer_waits_for, shell, __ATOMIC_RELEASE);
  close (gate[0]);
  close (gate[1]); /* lets it go */
  LNS_WAIT_FOR (lns_peers_counters (lns_session_peers (session)).n_joined >= 2);
  LNS_WAIT_FOR (lns_peers_counters (lns_session_peers (session)).n_alive <= 1);
  stop_report (0);
  LnsReport *report = fixture_open (path, NULL);
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK_INT (processes[1].parent, 0);
  lns_report_close (report);
  leave (&target);
  end ();
}

/* The cap is kept: what finds no room is the target's to count, and the report says so. */
static void
a_pool_is_no_larger_than_allowed (void)
{
  Target target;
  begin (1 << 20);
  const char *path = start_report ("small.rep");
  join (&target);
  uint32_t n = 1;
  while (lns_wire_pool_claim (&target.view, 2, n - 1, 1, 8) >= 0)
    n++;
  uint32_t n_whole = (1 << 20) / LNS_WIRE_CHUNK_BYTES_DEFAULT;
  LNS_CHECK (n >= n_whole && n <= n_whole * LNS_WIRE_COLD_SHARE);
  lns_wire_pool_count_lost (&target.view, 2, LNS_WIRE_LOSS_PUSH, 5, 80);
  LnsReportResult result;
  LNS_CHECK (lns_session_stop_report (session, &result));
  LNS_CHECK_INT (result.n_lost, 5);
  LNS_CHECK_INT (result.n_diagnostics, 2);
  LNS_CHECK_STR (result.diagnostics[1].code, "LNS-POOL-001");
  lns_report_result_clear (&result);
  end ();
  leave (&target);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->n_lost, 5);
  lns_report_close (report);
}

static void
a_cancelled_report_is_no_file (void)
{
  begin (0);
  const char *path = start_report ("cancelled.rep");
  lns_session_cancel_report (session);
  LNS_CHECK (access (path, F_OK) != 0);
  path = start_report ("freed.rep");
  end ();
  LNS_CHECK (access (path, F_OK) != 0);
}

static void
the_folder_goes_with_the_session (void)
{
  begin (0);
  char path[200];
  snprintf (path, sizeof path, "%s", lns_environment_get (&environment, LNS_WIRE_ENVIRONMENT));
  LNS_CHECK (strlen (path) < LNS_WIRE_PATH_MAX_BYTES);
  LNS_CHECK_INT (access (path, F_OK), 0);
  end ();
  LNS_CHECK (access (path, F_OK) != 0);
  *strrchr (path, '/') = '\0';
  LNS_CHECK (access (path, F_OK) != 0);
}

int
main (void)
{
  LNS_TEST (two_reports_of_one_session);
  LNS_TEST (other_builds_are_refused);
  LNS_TEST (who_gives_up_is_late);
  LNS_TEST (who_gives_up_at_the_last_moment_is_late);
  LNS_TEST (who_takes_back_that_it_lacks_a_key_is_counted_once);
  LNS_TEST (who_ends_before_the_answer_is_told_of);
  LNS_TEST (nobody_joins_for_another_process);
  LNS_TEST (descriptors_that_nobody_wants_are_closed);
  LNS_TEST (the_parent_of_who_ends_at_once_is_known);
  LNS_TEST (a_pool_is_no_larger_than_allowed);
  LNS_TEST (a_cancelled_report_is_no_file);
  LNS_TEST (the_folder_goes_with_the_session);
  return lns_tap_done ();
}
