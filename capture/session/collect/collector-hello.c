/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How processes join, and how their ends are seen. */

#include "capture/session/collect/collector-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* How far up a process's parent is looked for. */
#define ANCESTORS_MAX 16

/* How many processes are told of that cannot be recorded. */
#define DIAGNOSTICS_MAX 8

/* How long a fork's child is lent no more than it needs. One that lives for that long is worth the time
 * that lending its whole share takes, 0.5 ms. */
#define FRUGAL_NS INT64_C (50000000)

/* So many processes at once make room for others. */
#define N_HUSHED 8

static int64_t
monotonic_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

/* --- Processes -------------------------------------------------------------------------------- */

/* The instance of the nearest ancestor of INFO's process that is of the session: shells and other
 * programs between may never have joined. */
static uint32_t
find_parent (LnsCollector *collector, const LnsProcessInfo *info)
{
  uint32_t found = LNS_ID_NONE;
  int32_t pid = info->parent_pid;
  for (int i = 0; i < ANCESTORS_MAX && pid > 1 && found == LNS_ID_NONE; i++)
    {
      pthread_mutex_lock (&collector->lock);
      for (uint32_t process = collector->n_processes; process-- > 0 && found == LNS_ID_NONE;)
        if (collector->process_pids[process] == pid)
          found = process;
      pthread_mutex_unlock (&collector->lock);
      if (found == LNS_ID_NONE)
        pid = lns_process_parent (pid);
    }
  return found;
}

/* The instance of a process that says hello, posted to the recorder. Takes over INFO. */
static uint32_t
define_process (LnsCollector *collector, LnsPeer *peer, const LnsProcessInfo *info)
{
  LnsBatchEvent event = { .kind = LNS_BATCH_PROCESS, .info = *info };
  pthread_mutex_lock (&collector->lock);
  if (peer->pid != 0 && peer->pid == collector->root_pid)
    {
      event.process = collector->root_process;
      collector->root_pid = 0;
    }
  else
    {
      event.process = _lns_collector_new_process (collector, peer->pid);
    }
  uint32_t process = event.process;
  _lns_collector_add_event (collector, &event);
  pthread_mutex_unlock (&collector->lock);
  return process;
}

/* Watches what ITEM says. False if that cannot be. */
static bool
add_watch (LnsCollector *collector, LnsWatch item)
{
  LnsWatch **watches = realloc (collector->watches, (collector->n_watches + 1) * sizeof *watches);
  if (watches != NULL)
    collector->watches = watches;
  LnsWatch *watch = watches != NULL ? malloc (sizeof *watch) : NULL;
  if (watch == NULL)
    return false;
  *watch = item;
  struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };
  if (epoll_ctl (collector->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) != 0)
    {
      free (watch);
      return false;
    }
  watches[collector->n_watches++] = watch;
  return true;
}

/* Events of WATCH may still lie in the array that is being worked off: it is freed after that. */
static void
drop_watch (LnsCollector *collector, LnsWatch *watch)
{
  if (watch->fd < 0)
    return;
  epoll_ctl (collector->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
  if (watch->kind == LNS_WATCH_CONNECTION)
    close (watch->fd);
  watch->fd = -1;
}

/* The connection of PEER, or NULL. */
static LnsWatch *
connection_of (const LnsCollector *collector, const LnsPeer *peer)
{
  for (size_t i = 0; i < collector->n_watches; i++)
    if (collector->watches[i]->peer == peer && collector->watches[i]->fd >= 0 &&
        collector->watches[i]->kind == LNS_WATCH_CONNECTION)
      return collector->watches[i];
  return NULL;
}

bool
_lns_collector_is_held (const LnsCollector *collector, const LnsPeer *peer)
{
  const LnsWatch *connection = connection_of (collector, peer);
  char byte;
  return connection != NULL && recv (connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

void
_lns_collector_drop_watches (LnsCollector *collector, const LnsPeer *peer)
{
  for (size_t i = 0; i < collector->n_watches; i++)
    if (peer == NULL || collector->watches[i]->peer == peer)
      drop_watch (collector, collector->watches[i]);
}

void
_lns_collector_free_dropped (LnsCollector *collector)
{
  size_t n_kept = 0;
  for (size_t i = 0; i < collector->n_watches; i++)
    if (collector->watches[i]->fd < 0)
      free (collector->watches[i]);
    else
      collector->watches[n_kept++] = collector->watches[i];
  collector->n_watches = n_kept;
}

static void
mark_gone (LnsPeer *peer)
{
  if (peer->is_gone)
    return;
  peer->is_gone = true;
  peer->gone_ns = monotonic_ns ();
}

static void
count_joined (LnsCollector *collector, int change)
{
  pthread_mutex_lock (&collector->lock);
  collector->counters.n_joined += (uint64_t)(int64_t)change;
  collector->counters.n_alive += (uint64_t)(int64_t)change;
  pthread_mutex_unlock (&collector->lock);
}

static bool
add_peer (LnsCollector *collector, LnsPeer *peer, LnsSparePool *made)
{
  pthread_mutex_lock (&collector->lock);
  LnsPeer **peers = realloc (collector->peers, (collector->n_peers + 1) * sizeof *peers);
  if (peers != NULL)
    {
      collector->peers = peers;
      peers[collector->n_peers++] = peer;
      /* It may have changed since its pool was made, and it was none of those that were told. */
      _lns_collector_tell_pool (collector, made);
    }
  pthread_mutex_unlock (&collector->lock);
  return peers != NULL;
}

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

/* Says that the process PID is not recorded; of a thousand, the first few. ERROR_CODE is why, or 0. */
static void
diagnose (LnsCollector *collector, int32_t pid, const char *code, const char *what, int error_code)
{
  LnsBatchEvent event = {
    .kind = LNS_BATCH_DIAGNOSTIC,
    .process = LNS_ID_NONE,
    .code = code,
    .severity = LNS_SEVERITY_ERROR,
  };
  if (collector->n_diagnostics++ >= DIAGNOSTICS_MAX)
    {
      pthread_mutex_lock (&collector->lock);
      collector->counters.n_untold++;
      pthread_mutex_unlock (&collector->lock);
      return;
    }
  if (asprintf (&event.text, "process %d %s%s%s", pid, what, error_code != 0 ? ": " : "",
                error_code != 0 ? strerror (error_code) : "") < 0)
    return;
  lns_collector_post (collector, &event);
}

static void
refuse (LnsCollector *collector, LnsWatch *connection, int error_code)
{
  LnsWireWelcome welcome = { .magic = LNS_WIRE_MAGIC,
                             .abi = LNS_WIRE_ABI,
                             .refused = (uint32_t)error_code };
  const bool lacks_descriptors = error_code == EMFILE || error_code == ENFILE;
  pthread_mutex_lock (&collector->lock);
  collector->counters.n_refused++;
  collector->counters.n_without_descriptors += lacks_descriptors;
  pthread_mutex_unlock (&collector->lock);
  send_welcome (connection->fd, &welcome, -1);
  if (!lacks_descriptors)
    diagnose (collector, connection->pid, "LNS-POOL-002",
              "cannot be recorded, its memory for records was refused", error_code);
}

/* PEER has asked to be recorded, and was gone, or had given up, when the answer came. */
static void
tell_late (LnsCollector *collector, const LnsPeer *peer)
{
  pthread_mutex_lock (&collector->lock);
  collector->counters.n_late++;
  pthread_mutex_unlock (&collector->lock);
  diagnose (collector, peer->pid, "LNS-POOL-003",
            peer->pid > 0 && lns_process_is_ending (peer->pid)
                ? "is not recorded: it ended during its first call, before it could be answered"
                : "could not be answered in time, as the machine was too busy: it is not recorded, "
                  "unless it begins to use CUDA later",
            0);
}

/* The peer that has forked the process of INFO, or NULL. */
static const LnsPeer *
parent_of (const LnsCollector *collector, const LnsProcessInfo *info)
{
  for (size_t i = collector->n_peers; i-- > 0;)
    if (collector->peers[i]->pid == info->parent_pid && info->parent_pid > 0 &&
        !collector->peers[i]->is_gone)
      return collector->peers[i];
  return NULL;
}

/* The same process says hello again: it has become another program by exec, and nobody writes to the old
 * one's pool any more. */
static void
end_former (LnsCollector *collector, int32_t pid)
{
  for (size_t i = 0; i < collector->n_peers && pid != 0; i++)
    if (collector->peers[i]->pid == pid)
      mark_gone (collector->peers[i]);
}

/* A peer for who says hello on CONNECTION, a fork's child where FORKED, and in RET_POOL what its pool was
 * made for; NULL, and an answer that says why, where there is none. */
static LnsPeer *
new_peer (LnsCollector *collector, LnsWatch *connection, bool forked, LnsSparePool *ret_pool)
{
  end_former (collector, connection->pid);
  int failed = _lns_collector_take_pool (collector, connection->pid, forked, ret_pool);
  LnsPeer *peer = failed == 0 ? lns_peer_new (connection->pid, ret_pool->pool) : NULL;
  if (peer == NULL)
    {
      refuse (collector, connection, failed != 0 ? -failed : ENOMEM);
      return NULL;
    }
  peer->looked_ns = monotonic_ns ();
  if (forked)
    peer->frugal_until_ns = peer->looked_ns + FRUGAL_NS;
  return peer;
}

/* Answers HELLO. False: the connection is of no more use. */
static bool
answer (LnsCollector *collector, LnsWatch *connection, const LnsWireHello *hello)
{
  LnsSparePool made;
  LnsPeer *peer = new_peer (collector, connection, hello->forked, &made);
  if (peer == NULL)
    return false;
  LnsWireWelcome welcome = {
    .magic = LNS_WIRE_MAGIC,
    .abi = LNS_WIRE_ABI,
    .serial = made.serial,
    .pool_bytes = lns_wire_pool_view (peer->pool)->pool_bytes,
  };
  /* Before the answer: while it waits, the process is there to be asked, and so are the shells above it that
   * end with it. A fork's child need not wait for all of it, as what it may take along is its parent's as
   * well. */
  LnsProcessInfo info;
  lns_process_info_begin (connection->pid, &info);
  info.parent = find_parent (collector, &info);
  if (!hello->forked)
    lns_process_info_finish (&info);
  /* Before the answer too: the process may end before this thread runs again. */
  count_joined (collector, 1);
  const bool is_told = send_welcome (connection->fd, &welcome, lns_wire_pool_fd (peer->pool));
  lns_wire_pool_close_fd (peer->pool);
  if (!is_told)
    {
      lns_process_info_clear (&info);
      count_joined (collector, -1);
      tell_late (collector, peer);
      lns_peer_free (peer);
      return false;
    }
  if (hello->forked)
    {
      const LnsPeer *parent = parent_of (collector, &info);
      if (parent != NULL)
        lns_process_info_finish_forked (&info, &parent->info, (int32_t)hello->pid);
      else
        lns_process_info_finish (&info);
      collector->wants_spares = true;
      collector->spares_taken_ns = peer->looked_ns;
    }
  peer->info = lns_process_info_copy (&info);
  peer->process = define_process (collector, peer, &info);
  if (!add_peer (collector, peer, &made))
    {
      count_joined (collector, -1);
      lns_peer_free (peer);
      return false;
    }
  connection->peer = peer;
  collector->has_news = true;
  if (peer->pid_fd >= 0)
    add_watch (collector, (LnsWatch){ .kind = LNS_WATCH_PEER, .fd = peer->pid_fd, .peer = peer });
  return true;
}

/* Whether PEER can do without a descriptor of ours: its pool is all that it needs. */
static bool
may_be_hushed (const LnsCollector *collector, const LnsPeer *peer)
{
  return !peer->is_gone && !peer->is_hushed && peer->pid > 0 &&
         peer->flush_asked == peer->flush_done && peer->awaited == 0 &&
         lns_wire_pool_is_joined (peer->pool) && !lns_wire_pool_listens (peer->pool) &&
         connection_of (collector, peer) != NULL;
}

/* Makes room for other processes by closing the descriptors of some. False: there are none such. */
static bool
hush_some (LnsCollector *collector)
{
  pthread_mutex_lock (&collector->lock);
  const bool has_ranges = collector->options.target.range_kind != LNS_WIRE_RANGE_NONE;
  unsigned n = 0;
  for (size_t i = 0; i < collector->n_peers && n < N_HUSHED && !has_ranges; i++)
    if (may_be_hushed (collector, collector->peers[i]))
      {
        _lns_collector_drop_watches (collector, collector->peers[i]);
        lns_peer_hush (collector->peers[i]);
        n++;
      }
  pthread_mutex_unlock (&collector->lock);
  return n > 0;
}

void
_lns_collector_look_at_hushed (LnsCollector *collector)
{
  for (size_t i = 0; i < collector->n_peers; i++)
    if (collector->peers[i]->is_hushed && !collector->peers[i]->is_gone &&
        lns_peer_has_ended (collector->peers[i]))
      mark_gone (collector->peers[i]);
}

/* Listens to a process on the connection FD, which is taken over. */
static void
add_connection (LnsCollector *collector, int fd)
{
  struct ucred credentials = { 0 };
  socklen_t n_bytes = sizeof credentials;
  getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n_bytes);
  LnsWatch connection = {
    .kind = LNS_WATCH_CONNECTION, .fd = fd, .pid = credentials.pid, .since_ns = monotonic_ns ()
  };
  bool is_last = fd > collector->last_fd && !hush_some (collector);
  if (is_last)
    refuse (collector, &connection, EMFILE);
  if (is_last || !add_watch (collector, connection))
    close (fd);
}

/* Whether who connected on FD is another user's, as which processes can turn that root started, and was
 * started by somebody else. */
static bool
is_stranger (LnsCollector *collector, int fd)
{
  struct ucred credentials = { 0 };
  socklen_t n_bytes = sizeof credentials;
  if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n_bytes) == 0 &&
      (credentials.uid == geteuid () || lns_process_descends (credentials.pid, getpid ())))
    return false;
  pthread_mutex_lock (&collector->lock);
  collector->counters.n_refused++;
  pthread_mutex_unlock (&collector->lock);
  diagnose (collector, credentials.pid, "LNS-POOL-009",
            "of another user asked to be recorded, and is not: Lanescope did not start it, or no "
            "longer knows, as a process between them has ended; record with --wait=all, by which "
            "it knows",
            0);
  return true;
}

/* Whether no descriptor is left for another process. */
static bool
is_short_of_descriptors (const LnsCollector *collector)
{
  int fd = fcntl (collector->listener.fd, F_DUPFD_CLOEXEC, 0); /* the lowest that is free */
  if (fd >= 0)
    close (fd);
  return fd < 0 || fd > collector->last_fd;
}

/* Whether a process is just about to join, and can be hushed then. */
static bool
is_one_joining (const LnsCollector *collector)
{
  int64_t since_ns = monotonic_ns () - LNS_WIRE_HANDSHAKE_MS * INT64_C (1000000);
  for (size_t i = 0; i < collector->n_watches; i++)
    {
      const LnsWatch *watch = collector->watches[i];
      if (watch->kind == LNS_WATCH_CONNECTION && watch->fd >= 0 && watch->since_ns > since_ns &&
          (watch->peer == NULL || !lns_wire_pool_is_joined (watch->peer->pool)))
        return true;
    }
  return false;
}

static void
watch_listener (LnsCollector *collector, uint32_t events)
{
  struct epoll_event event = { .events = events, .data.ptr = &collector->listener_watch };
  epoll_ctl (collector->epoll_fd, EPOLL_CTL_MOD, collector->listener.fd, &event);
}

void
_lns_collector_listen (LnsCollector *collector)
{
  if (!collector->is_full)
    return;
  collector->is_full = false;
  watch_listener (collector, EPOLLIN);
}

/* Takes those who wait, as many as there are descriptors for; the others wait on where some will be free
 * soon, and are refused where that cannot be. */
static void
accept_all (LnsCollector *collector)
{
  int fd;
  do
    {
      if (is_short_of_descriptors (collector) && !_lns_collector_drop_spares (collector) &&
          !hush_some (collector) && is_one_joining (collector))
        {
          collector->is_full = true;
          watch_listener (collector, 0);
          return;
        }
      fd = accept4 (collector->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0 && is_stranger (collector, fd))
        close (fd);
      else if (fd >= 0)
        add_connection (collector, fd);
    }
  while (fd >= 0);
}

/* Whether FD is such a socket as processes connect by. */
static bool
is_connection (int fd)
{
  int domain = 0, type = 0, flags = fcntl (fd, F_GETFL);
  socklen_t n_domain = sizeof domain, n_type = sizeof type;
  return getsockopt (fd, SOL_SOCKET, SO_DOMAIN, &domain, &n_domain) == 0 && domain == AF_UNIX &&
         getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &n_type) == 0 && type == SOCK_SEQPACKET &&
         flags >= 0 && fcntl (fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* Receives a message, as recv() does, with the descriptor that may come with it, or -1. */
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
  *ret_fd = -1;
  ssize_t n = recvmsg (fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR (&message) : NULL;
  if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN (sizeof (int)))
    memcpy (ret_fd, CMSG_DATA (header), sizeof *ret_fd);
  return n;
}

/* Returns whether a drain is wanted now. */
static bool
take_notice (LnsCollector *collector, LnsPeer *peer, int fd, const LnsWireNotice *notice)
{
  if (notice->kind == LNS_WIRE_NOTICE_LOW)
    {
      peer->looked_ns = monotonic_ns ();
      return true;
    }
  switch (notice->kind)
    {
    case LNS_WIRE_NOTICE_RANGE_BEGAN:
    case LNS_WIRE_NOTICE_RANGE_ENDED:
      _lns_collector_follow_ranges (collector, peer);
      return false;
    case LNS_WIRE_NOTICE_FLUSHED:
      if (notice->value == peer->awaited && peer->awaited != 0)
        _lns_collector_answered (collector, peer);
      if ((notice->value & LNS_FLUSH_SERIAL) != 0)
        peer->flush_done = (uint32_t)notice->value;
      return false;
    default:
      return false;
    }
}

/* Nobody holds CONNECTION any more: the process ended, became another program, or closed what was not its
 * own, and so did all that it forked. Where there is a pidfd, that will tell. Returns whether a drain is
 * wanted now. */
static bool
end_connection (LnsCollector *collector, LnsWatch *connection)
{
  LnsPeer *peer = connection->peer;
  if (peer != NULL && !lns_wire_pool_is_joined (peer->pool))
    {
      pthread_mutex_lock (&collector->lock);
      collector->counters.n_joined--;
      pthread_mutex_unlock (&collector->lock);
      tell_late (collector, peer);
    }
  bool is_end = peer != NULL && (peer->pid_fd < 0 || peer->is_left);
  if (is_end)
    mark_gone (peer);
  drop_watch (collector, connection);
  return is_end;
}

/* Reads a message from CONNECTION. Returns whether a drain is wanted now. */
static bool
hear (LnsCollector *collector, LnsWatch *connection)
{
  union
  {
    LnsWireHello hello;
    LnsWireNotice notice;
  } message;
  int fd;
  ssize_t n = receive (connection->fd, &message, sizeof message, &fd);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  if (n <= 0)
    return end_connection (collector, connection);
  bool is_notice = n == sizeof message.notice && message.notice.magic == LNS_WIRE_MAGIC;
  if (fd >= 0 && connection->peer != NULL && is_notice &&
      message.notice.kind == LNS_WIRE_NOTICE_CONNECTION && is_connection (fd))
    add_connection (collector, fd);
  else if (fd >= 0)
    close (fd);
  if (connection->peer == NULL)
    {
      bool is_hello = n == sizeof message.hello && message.hello.magic == LNS_WIRE_MAGIC;
      /* The pool belongs to who has the memory: by it, its end is waited for. */
      const int32_t parent_pid =
          is_hello && message.hello.is_borrowed ? lns_process_parent (connection->pid) : 0;
      if (parent_pid > 0)
        connection->pid = parent_pid;
      if (is_hello && message.hello.abi != LNS_WIRE_ABI)
        refuse (collector, connection, EPROTO);
      else if (is_hello && answer (collector, connection, &message.hello))
        return false;
      drop_watch (collector, connection);
      return false;
    }
  return is_notice && take_notice (collector, connection->peer, connection->fd, &message.notice);
}

/* Whether what ended processes have left can lie for a few ms: others run, and there are descriptors. A program
 * that forks many children one after the other need not wait for a drain at each end. */
static bool
may_end_wait (const LnsCollector *collector)
{
  bool is_any_alive = false;
  for (size_t i = collector->n_peers; i-- > 0 && !is_any_alive;)
    is_any_alive = !collector->peers[i]->is_gone;
  return is_any_alive && !is_short_of_descriptors (collector);
}

bool
_lns_collector_handle (LnsCollector *collector, LnsWatch *watch)
{
  uint64_t value;
  if (watch->fd < 0)
    return false;
  switch (watch->kind)
    {
    case LNS_WATCH_LISTENER:
      accept_all (collector);
      return false;
    case LNS_WATCH_WAKE:
      return read (watch->fd, &value, sizeof value) > 0;
    case LNS_WATCH_CONNECTION:
      return hear (collector, watch);
    case LNS_WATCH_PEER:
      mark_gone (watch->peer);
      drop_watch (collector, watch);
      collector->has_news = true;
      return !may_end_wait (collector);
    }
  return false;
}
