/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/wire/patience.h"
#include "src/base/language.h"
#include "src/base/monotonic.h"

/* The number of processes that get a diagnostic of their own because they cannot be recorded. */
#define DIAGNOSTICS_MAX 8

/* How long the child of a fork is lent only what it needs. Lending a process's whole share takes 0.5 ms, which pays
 * for one that lives longer. */
#define FRUGAL_NS INT64_C (50000000)

/* The number of processes that give up their descriptors at once. */
#define N_HUSHED 8

/* How many connections are taken before the pools are looked at again. */
#define ACCEPTS_MAX 256

/* --- Hello ------------------------------------------------------------------------------------ */

static bool
send_welcome (int fd, const LnsWireWelcome *welcome, int pool_fd)
{
  char control[CMSG_SPACE (sizeof (int))] = { 0 };
  struct iovec part = { (void *)(uintptr_t)welcome, sizeof *welcome };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
  if (pool_fd >= 0)
    {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      struct cmsghdr *header = CMSG_FIRSTHDR (&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN (sizeof (int));
      memcpy (CMSG_DATA (header), &pool_fd, sizeof pool_fd);
    }
  return sendmsg (fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *welcome;
}

/* Posts EVENT, which says that a process is not recorded, for the first few such processes. */
static void
diagnose (LnsDoor *door, LnsBatchEvent event)
{
  if (door->n_diagnostics++ < DIAGNOSTICS_MAX)
    {
      lns_mailbox_post (door->peers->mailbox, &event);
      return;
    }
  free (event.text);
  pthread_mutex_lock (&door->peers->lock);
  door->peers->counters.n_untold++;
  pthread_mutex_unlock (&door->peers->lock);
}

/* Counts the process on FD as refused and answers it with ERROR_CODE. */
static void
turn_away (LnsDoor *door, int fd, int error_code)
{
  LnsWireWelcome welcome = { .magic = LNS_WIRE_MAGIC,
                             .abi = LNS_WIRE_ABI,
                             .refused = (uint32_t)error_code };
  pthread_mutex_lock (&door->peers->lock);
  door->peers->counters.n_refused++;
  door->peers->counters.n_without_descriptors += error_code == EMFILE || error_code == ENFILE;
  pthread_mutex_unlock (&door->peers->lock);
  send_welcome (fd, &welcome, -1);
}

static void
refuse (LnsDoor *door, LnsWatch *connection, int error_code)
{
  turn_away (door, connection->fd, error_code);
  if (error_code != EMFILE && error_code != ENFILE)
    diagnose (door, lns_batch_diagnostic (
                        LNS_ID_NONE, "LNS-POOL-002", LNS_SEVERITY_ERROR,
                        "process %d is not recorded, as its shared memory could not be made: %s",
                        connection->pid, strerror (error_code)));
}

/* Refuses a process whose library has another layout of messages or records than this program. */
static void
refuse_build (LnsDoor *door, LnsWatch *connection)
{
  /* Before the answer, as the process waits for that and can be looked at. */
  char *library = door->n_diagnostics < DIAGNOSTICS_MAX
                      ? lns_process_find_mapped (connection->pid, "liblanescope-inject.so")
                      : NULL;
  turn_away (door, connection->fd, EPROTO);
  diagnose (door, lns_batch_diagnostic (
                      LNS_ID_NONE, "LNS-POOL-010", LNS_SEVERITY_ERROR,
                      "process %d is not recorded, as it loaded \"%s\" of another build of "
                      "Lanescope; replace that file with the one of this build",
                      connection->pid, library != NULL ? library : "liblanescope-inject.so"));
  free (library);
}

/* Says that PEER is not recorded, as it was gone or had given up when the answer came. */
static void
tell_late (LnsDoor *door, const LnsPeer *peer)
{
  pthread_mutex_lock (&door->peers->lock);
  door->peers->counters.n_late++;
  pthread_mutex_unlock (&door->peers->lock);
  diagnose (
      door,
      lns_batch_diagnostic (
          LNS_ID_NONE, "LNS-POOL-003", LNS_SEVERITY_ERROR,
          peer->pid > 0 && lns_process_is_ending (peer->pid)
              ? LNS_SENTENCE ("process %d is not recorded, as it ended before Lanescope had "
                              "answered its first call")
              : LNS_SENTENCE ("process %d is not recorded, as the machine was too busy to answer "
                              "it in time"),
          peer->pid));
}

/* Says that PEER is not recorded, as it could not use the pool that it got. */
static void
tell_unused (LnsDoor *door, const LnsPeer *peer)
{
  pthread_mutex_lock (&door->peers->lock);
  door->peers->counters.n_refused++;
  pthread_mutex_unlock (&door->peers->lock);
  const LnsBatchEvent event =
      peer->unused_error == EMFILE
          ? lns_batch_diagnostic (LNS_ID_NONE, "LNS-POOL-002", LNS_SEVERITY_ERROR,
                                  "process %d is not recorded, as it may open no more files; raise "
                                  "its limit (`ulimit -n`) by 2",
                                  peer->pid)
          : lns_batch_diagnostic (LNS_ID_NONE, "LNS-POOL-002", LNS_SEVERITY_ERROR,
                                  "process %d is not recorded, as it could not map its shared "
                                  "memory: %s; raise the limits that `ulimit -a` shows there",
                                  peer->pid, strerror (peer->unused_error));
  diagnose (door, event);
}

/* Makes a peer for the process that says hello on CONNECTION, the child of a fork if FORKED; its pool is that of
 * RET_POOL. Refuses the process and returns NULL if that fails. */
static LnsPeer *
new_peer (LnsDoor *door, LnsWatch *connection, bool forked, LnsNewPool *ret_pool)
{
  lns_peers_end_former (door->peers, connection->pid);
  const LnsAsked asked = lns_peers_asked (door->peers);
  int failed =
      lns_pools_take (door->pools, &asked, door->peers->all.n, connection->pid, forked, ret_pool);
  LnsPeer *peer = failed == 0 ? lns_peer_new (connection->pid, ret_pool->pool) : NULL;
  if (peer == NULL)
    {
      refuse (door, connection, failed != 0 ? -failed : ENOMEM);
      return NULL;
    }
  peer->looked_ns = lns_monotonic_ns ();
  if (forked)
    peer->frugal_until_ns = peer->looked_ns + FRUGAL_NS;
  return peer;
}

static bool
has_message (int fd)
{
  char byte;
  return recv (fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* Counts the events that PEER has lost, as it says, before it was answered. */
static void
count_unanswered (LnsPeer *peer, uint32_t n_events)
{
  const LnsWirePoolView *view = lns_wire_pool_view (peer->pool);
  if (!lns_wire_pool_is_joined (peer->pool) && view->header->recording != 0 &&
      (view->header->options.traces & LNS_WIRE_TRACE_NVTX))
    lns_wire_pool_count_unanswered (view, n_events);
}

/* Answers HELLO. Returns false if the connection is of no more use. */
static bool
answer (LnsDoor *door, LnsWatch *connection, const LnsWireHello *hello)
{
  LnsNewPool made;
  LnsPeer *peer = new_peer (door, connection, hello->forked, &made);
  if (peer == NULL)
    return false;
  LnsWireWelcome welcome = {
    .magic = LNS_WIRE_MAGIC,
    .abi = LNS_WIRE_ABI,
    .serial = made.serial,
    .pool_bytes = lns_wire_pool_view (peer->pool)->pool_bytes,
  };
  /* Before the answer, as the process waits for that: it can be looked at, and so can the shells above it that end
   * with it. The child of a fork need not wait for all of it, as it has most in common with its parent. */
  LnsProcessInfo info;
  lns_process_info_begin (connection->pid, &info);
  info.parent = lns_peers_find_ancestor (door->peers, &info);
  if (!hello->forked)
    lns_process_info_finish (&info);
  /* Also before the answer, as the process may end before this thread runs again. */
  lns_peers_count_joined (door->peers, 1);
  const bool is_told = send_welcome (connection->fd, &welcome, lns_wire_pool_fd (peer->pool));
  lns_wire_pool_close_fd (peer->pool);
  /* A process that is gone may have left a notice of what it has lost. */
  if (!is_told && !has_message (connection->fd))
    {
      lns_process_info_clear (&info);
      lns_peers_count_joined (door->peers, -1);
      tell_late (door, peer);
      lns_peer_free (peer);
      return false;
    }
  if (hello->forked)
    {
      const LnsPeer *parent = lns_peers_find_parent (door->peers, &info);
      if (parent != NULL)
        lns_process_info_finish_forked (&info, &parent->info, (int32_t)hello->pid);
      else
        lns_process_info_finish (&info);
      lns_pools_expect_forks (door->pools, peer->looked_ns);
    }
  peer->info = lns_process_info_copy (&info);
  peer->process = lns_peers_define (door->peers, peer, &info);
  if (!lns_peers_add (door->peers, peer, &made))
    {
      lns_peers_count_joined (door->peers, -1);
      lns_peer_free (peer);
      return false;
    }
  connection->peer = peer;
  if (peer->pid_fd >= 0)
    lns_watches_add (door->watches,
                     (LnsWatch){ .kind = LNS_WATCH_PEER, .fd = peer->pid_fd, .peer = peer });
  return true;
}

/* --- Descriptors ------------------------------------------------------------------------------ */

/* Whether PEER can do without a descriptor of ours, as it needs only its pool. */
static bool
may_be_hushed (const LnsDoor *door, const LnsPeer *peer)
{
  return !peer->is_gone && !peer->is_hushed && peer->pid > 0 &&
         peer->flush_asked == peer->flush_done && peer->awaited == 0 &&
         lns_wire_pool_is_joined (peer->pool) && !lns_wire_pool_listens (peer->pool) &&
         lns_watches_connection (door->watches, peer) != NULL;
}

/* Makes room for other processes by closing the descriptors of some. Returns false if none can do without. */
static bool
hush_some (LnsDoor *door)
{
  LnsPeers *peers = door->peers;
  pthread_mutex_lock (&peers->lock);
  const bool has_ranges = peers->asked.target.range_kind != LNS_WIRE_RANGE_NONE;
  unsigned n = 0;
  for (size_t i = 0; i < peers->all.n && n < N_HUSHED && !has_ranges; i++)
    if (may_be_hushed (door, peers->all.items[i]))
      {
        lns_watches_drop_peer (door->watches, peers->all.items[i]);
        lns_peer_hush (peers->all.items[i]);
        n++;
      }
  pthread_mutex_unlock (&peers->lock);
  return n > 0;
}

/* How many descriptors the watches have, and will have once each process that has connected got its pidfd. */
static size_t
count_descriptors (const LnsWatches *watches)
{
  size_t n = 0;
  for (size_t i = 0; i < watches->all.n; i++)
    {
      const LnsWatch *watch = watches->all.items[i];
      n += watch->fd < 0 ? 0 : watch->kind == LNS_WATCH_CONNECTION && watch->peer == NULL ? 2 : 1;
    }
  return n;
}

bool
lns_door_is_short (const LnsDoor *door)
{
  const int first_fd = door->listener.fds[LNS_LISTENER_PATH];
  const int fd = fcntl (first_fd, F_DUPFD_CLOEXEC, 0); /* the lowest that is free */
  if (fd >= 0)
    close (fd);
  const int last_fd = door->pools->last_fd;
  const size_t n_max = last_fd > first_fd ? (size_t)(last_fd - first_fd) : 0;
  /* Descriptors lie above the lowest that is free, too. They are counted only where they may be too many. */
  return fd < 0 || fd > last_fd ||
         (door->watches->all.n > n_max / 2 && count_descriptors (door->watches) >= n_max);
}

/* Whether there is a descriptor for another process, after those that can do without have given up theirs. */
static bool
has_descriptors (LnsDoor *door)
{
  while (lns_door_is_short (door))
    if (!lns_pools_drop_ready (door->pools) && !hush_some (door))
      return false;
  return true;
}

/* Whether a process is about to join, and can give up its descriptors then. */
static bool
is_one_joining (const LnsDoor *door)
{
  int64_t since_ns = lns_monotonic_ns () - lns_patience ().handshake_ms * INT64_C (1000000);
  for (size_t i = 0; i < door->watches->all.n; i++)
    {
      const LnsWatch *watch = door->watches->all.items[i];
      if (watch->kind == LNS_WATCH_CONNECTION && watch->fd >= 0 && watch->since_ns > since_ns &&
          (watch->peer == NULL || !lns_wire_pool_is_joined (watch->peer->pool)))
        return true;
    }
  return false;
}

/* --- Connections ------------------------------------------------------------------------------ */

/* Listens to a process on the connection FD, which is taken over. */
static void
add_connection (LnsDoor *door, int fd)
{
  struct ucred credentials = { 0 };
  socklen_t n_bytes = sizeof credentials;
  getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n_bytes);
  LnsWatch connection = {
    .kind = LNS_WATCH_CONNECTION, .fd = fd, .pid = credentials.pid, .since_ns = lns_monotonic_ns ()
  };
  bool is_last = fd > door->pools->last_fd && !hush_some (door);
  if (is_last)
    refuse (door, &connection, EMFILE);
  if (is_last || lns_watches_add (door->watches, connection) == NULL)
    close (fd);
}

/* Whether the process that connected on FD by WAY belongs to another user and does not descend from this one. What
 * root started may have become another user. Says so only of those who know the path, which nobody else can guess. */
static bool
is_stranger (LnsDoor *door, LnsListenerSocket way, int fd)
{
  struct ucred credentials = { 0 };
  socklen_t n_bytes = sizeof credentials;
  if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n_bytes) == 0 &&
      (credentials.uid == geteuid () ||
       /* Everybody can find the name; looking for ancestors costs time, and only what root started may have become
        * another user. */
       ((way == LNS_LISTENER_PATH || geteuid () == 0) &&
        lns_process_descends (credentials.pid, getpid ()))))
    return false;
  if (way != LNS_LISTENER_PATH)
    return true;
  pthread_mutex_lock (&door->peers->lock);
  door->peers->counters.n_refused++;
  pthread_mutex_unlock (&door->peers->lock);
  diagnose (door, lns_batch_diagnostic (
                      LNS_ID_NONE, "LNS-POOL-009", LNS_SEVERITY_ERROR,
                      "process %d belongs to another user and is not recorded, as it does not "
                      "descend from Lanescope or a process between them has ended; use "
                      "--wait=all, which keeps track of descent",
                      credentials.pid));
  return true;
}

static void
watch_listener (LnsDoor *door, uint32_t events)
{
  for (int i = 0; i < LNS_LISTENER_SOCKETS; i++)
    if (door->listener_watches[i] != NULL)
      {
        struct epoll_event event = { .events = events, .data.ptr = door->listener_watches[i] };
        epoll_ctl (door->watches->epoll_fd, EPOLL_CTL_MOD, door->listener.fds[i], &event);
      }
}

void
lns_door_reopen (LnsDoor *door)
{
  if (!door->is_full)
    return;
  door->is_full = false;
  watch_listener (door, EPOLLIN);
}

/* Takes a process that waits at the socket of WAY. Returns false if there is none. */
static bool
accept_one (LnsDoor *door, LnsListenerSocket way)
{
  int fd = accept4 (door->listener.fds[way], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0 && is_stranger (door, way, fd))
    close (fd);
  else if (fd >= 0)
    add_connection (door, fd);
  return fd >= 0;
}

void
lns_door_accept (LnsDoor *door)
{
  bool are_any = true;
  for (int i = 0; i < ACCEPTS_MAX && are_any; i++)
    {
      /* If descriptors will be free soon, processes wait; else they are refused. */
      if (!has_descriptors (door) && is_one_joining (door))
        {
          door->is_full = true;
          watch_listener (door, 0);
          return;
        }
      are_any = accept_one (door, LNS_LISTENER_PATH) || accept_one (door, LNS_LISTENER_NAME);
    }
}

void
lns_door_init (LnsDoor *door, LnsPeers *peers, LnsPools *pools, LnsWatches *watches)
{
  *door = (LnsDoor){
    .peers = peers, .pools = pools, .watches = watches, .listener = { .fds = { -1, -1 } }
  };
}

bool
lns_door_open (LnsDoor *door, LnsError *error)
{
  if (!lns_listener_open (&door->listener, error))
    return false;
  for (int i = 0; i < LNS_LISTENER_SOCKETS; i++)
    if (door->listener.fds[i] >= 0)
      door->listener_watches[i] = lns_watches_add (
          door->watches, (LnsWatch){ .kind = LNS_WATCH_LISTENER, .fd = door->listener.fds[i] });
  return door->listener_watches[LNS_LISTENER_PATH] != NULL ||
         lns_error_set_errno (error, errno, "cannot watch the session's socket");
}

/* --- Messages --------------------------------------------------------------------------------- */

/* Whether FD is a socket of the type that processes connect by. */
static bool
is_connection (int fd)
{
  int domain = 0, type = 0, flags = fcntl (fd, F_GETFL);
  socklen_t n_domain = sizeof domain, n_type = sizeof type;
  return getsockopt (fd, SOL_SOCKET, SO_DOMAIN, &domain, &n_domain) == 0 && domain == AF_UNIX &&
         getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &n_type) == 0 && type == SOCK_SEQPACKET &&
         flags >= 0 && fcntl (fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* Closes the descriptors in HEADER, unless it has one, which is returned. Returns -1 if there is none, or are several. A
 * buffer for one has room for two, as it is aligned. */
static int
take_only_descriptor (struct cmsghdr *header)
{
  int fds[sizeof (size_t) / sizeof (int)];
  size_t n = header->cmsg_len > CMSG_LEN (0) ? header->cmsg_len - CMSG_LEN (0) : 0;
  if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
    return -1;
  n = (n < sizeof fds ? n : sizeof fds) / sizeof *fds;
  memcpy (fds, CMSG_DATA (header), n * sizeof *fds);
  if (n == 1)
    return fds[0];
  while (n > 0)
    close (fds[--n]);
  return -1;
}

/* Receives a message as recv() does. RET_FD is the one descriptor that came with it, or -1. */
static ssize_t
receive (int fd, void *ret_message, size_t n_max, int *ret_fd)
{
  union
  {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control;
  struct iovec part = { ret_message, n_max };
  struct msghdr message = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  ssize_t n = recvmsg (fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  /* A message without a byte looks like the end of the connection, and may have descriptors. */
  struct cmsghdr *header = n >= 0 ? CMSG_FIRSTHDR (&message) : NULL;
  *ret_fd = header != NULL ? take_only_descriptor (header) : -1;
  return n;
}

/* Handles the end of CONNECTION, which nobody holds any more: the process ended, became another program, or
 * closed our descriptor, and so did all processes that it forked. If there is a pidfd, it tells of the end of
 * the process. */
static LnsHeard
end_connection (LnsDoor *door, LnsWatch *connection)
{
  LnsPeer *peer = connection->peer;
  if (peer != NULL && !peer->is_out && !lns_wire_pool_is_joined (peer->pool))
    {
      peer->is_out = true;
      pthread_mutex_lock (&door->peers->lock);
      door->peers->counters.n_joined--;
      pthread_mutex_unlock (&door->peers->lock);
      if (peer->unused_error != 0)
        tell_unused (door, peer);
      else
        tell_late (door, peer);
    }
  const bool is_end = peer != NULL && (peer->pid_fd < 0 || peer->is_left);
  if (is_end)
    lns_peer_mark_gone (peer);
  lns_watches_drop (door->watches, connection);
  return is_end ? LNS_HEARD_END : LNS_HEARD_NOTHING;
}

/* The first N_BYTES on CONNECTION, which should be a hello. The hello of another build may have any size, but begins
 * with the same magic and a number of the layout. */
static LnsHeard
hear_hello (LnsDoor *door, LnsWatch *connection, const LnsWireHello *hello, size_t n_bytes)
{
  const bool is_ours = n_bytes >= offsetof (LnsWireHello, pid) && hello->magic == LNS_WIRE_MAGIC;
  const bool is_hello = is_ours && n_bytes == sizeof *hello && hello->abi == LNS_WIRE_ABI;
  /* The pool belongs to the process that has the memory, so the end of that one counts. It may be said of any parent, even
   * of this process, which would wait for the end and may send signals. */
  const int32_t parent_pid =
      is_hello && hello->is_borrowed ? lns_process_parent (connection->pid) : 0;
  if (parent_pid > 0 && lns_process_shares_memory (connection->pid, parent_pid))
    connection->pid = parent_pid;
  if (is_hello && answer (door, connection, hello))
    return LNS_HEARD_HELLO;
  if (is_ours && !is_hello)
    refuse_build (door, connection);
  lns_watches_drop (door->watches, connection);
  return LNS_HEARD_NOTHING;
}

LnsHeard
lns_door_hear (LnsDoor *door, LnsWatch *connection, LnsWireNotice *ret_notice)
{
  union
  {
    LnsWireHello hello;
    LnsWireNotice notice;
  } message;
  int fd;
  ssize_t n = receive (connection->fd, &message, sizeof message, &fd);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return LNS_HEARD_NOTHING;
  if (n <= 0)
    {
      if (fd >= 0)
        close (fd);
      return end_connection (door, connection);
    }
  const bool is_notice = n == sizeof message.notice && message.notice.magic == LNS_WIRE_MAGIC;
  if (fd >= 0 && connection->peer != NULL && is_notice &&
      message.notice.kind == LNS_WIRE_NOTICE_CONNECTION && is_connection (fd))
    add_connection (door, fd);
  else if (fd >= 0)
    close (fd);
  if (connection->peer == NULL)
    return hear_hello (door, connection, &message.hello, (size_t)n);
  if (is_notice && message.notice.kind == LNS_WIRE_NOTICE_UNUSED)
    {
      connection->peer->unused_error = (int)(message.notice.value & 0xfff); /* MAX_ERRNO of Linux */
      return end_connection (door, connection);
    }
  if (is_notice && message.notice.kind == LNS_WIRE_NOTICE_UNANSWERED)
    count_unanswered (connection->peer, message.notice.value);
  *ret_notice = message.notice;
  return is_notice ? LNS_HEARD_NOTICE : LNS_HEARD_NOTHING;
}
