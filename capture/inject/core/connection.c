/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/connection.h"
#include "capture/inject/core/process.h"
#include "capture/inject/core/system.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* Programs use low numbers, and select() only those below 1024. Ours is high, but not so high that the kernel must
 * enlarge the table of descriptors far beyond what the program needs. */
#define HIGH_DESCRIPTOR 960

/* How long an answer is waited for before it is asked whether the session is stopped; later ever longer, up to the second
 * time. */
#define FIRST_LOOK_MS 1
#define LAST_LOOK_MS  16

static struct
{
  bool is_open;
  bool is_awaited; /* the process PID has said hello on it, and has no answer yet */
  int fd;
  uint32_t pid;
  dev_t device;
  ino_t inode;
} connection;

static int32_t session_pid; /* as this process sees it; 0: not known */

static bool
is_ours (void)
{
  struct stat now;
  return connection.is_open && LNS_SYSCALL (SYS_fstat, connection.fd, &now) == 0 &&
         now.st_dev == connection.device && now.st_ino == connection.inode;
}

/* Moves FD out of the program's way. Returns its new number, or FD if that fails. */
static int
move_high (int fd)
{
  struct rlimit limit;
  long lowest = HIGH_DESCRIPTOR;
  if (LNS_SYSCALL (SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 &&
      limit.rlim_cur < HIGH_DESCRIPTOR + 32)
    lowest = (long)limit.rlim_cur - (long)limit.rlim_cur / 8 - 1;
  long high = LNS_SYSCALL (SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);
  if (high < 0)
    return fd;
  (void)LNS_SYSCALL (SYS_close, fd);
  return (int)high;
}

/* Waits for EVENTS on FD. Returns 0, -ETIMEDOUT at DEADLINE_MS, or -errno. An event that is there already is found
 * after DEADLINE_MS too, as this thread may not have run for a long time. */
static int
wait_for (int fd, short events, int64_t deadline_ms)
{
  for (;;)
    {
      int64_t left_ms = deadline_ms - lns_inject_monotonic_ms ();
      if (left_ms < 0)
        left_ms = 0;
      struct pollfd poll_fd = { .fd = fd, .events = events };
      struct timespec timeout = { .tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000 };
      long n = LNS_SYSCALL (SYS_ppoll, &poll_fd, 1, &timeout, NULL, 0);
      if (n > 0)
        return 0;
      if (n < 0 && n != -EINTR)
        return (int)n;
      if (n == 0 && left_ms == 0)
        return -ETIMEDOUT;
    }
}

/* Whether the session's process is stopped, as by SIGSTOP. One that is traced stops for moments only. */
static bool
is_session_stopped (void)
{
  char path[] = "/proc/0000000000/stat", text[256];
  char *digit = path + sizeof "/proc/0000000000" - 1;
  if (session_pid <= 0)
    return false;
  for (int32_t pid = session_pid; digit[-1] != '/'; pid /= 10)
    *--digit = (char)('0' + pid % 10);
  while (*digit == '0') /* no process has a name with leading zeros */
    memmove (digit, digit + 1, strlen (digit));
  const long fd = LNS_SYSCALL (SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  const long n = LNS_SYSCALL (SYS_read, fd, text, sizeof text - 1);
  (void)LNS_SYSCALL (SYS_close, fd);
  text[n < 0 ? 0 : n] = '\0';
  /* "PID (NAME) STATE …"; the name may have parentheses. */
  const char *end = strrchr (text, ')');
  return end != NULL && end[1] == ' ' && end[2] == 'T';
}

/* Waits for the session's answer on FD. Returns 0, -errno, or -ETIMEDOUT at DEADLINE_MS, or as soon as the session is seen to
 * be stopped, unless IS_PATIENT. */
static int
wait_for_answer (int fd, int64_t deadline_ms, bool is_patient)
{
  if (is_patient)
    return wait_for (fd, POLLIN, deadline_ms);
  for (int look_ms = FIRST_LOOK_MS;;)
    {
      const int64_t now_ms = lns_inject_monotonic_ms ();
      const bool is_last = deadline_ms - now_ms <= look_ms;
      const int error = wait_for (fd, POLLIN, is_last ? deadline_ms : now_ms + look_ms);
      if (error != -ETIMEDOUT || is_last || is_session_stopped ())
        return error;
      look_ms = look_ms < LAST_LOOK_MS ? 2 * look_ms : LAST_LOOK_MS;
    }
}

static int
connect_to (int fd, const struct sockaddr_un *address, size_t n_bytes, int64_t deadline_ms)
{
  for (;;)
    {
      long result = LNS_SYSCALL (SYS_connect, fd, address, n_bytes);
      if (result != -EAGAIN && result != -EINTR)
        return (int)result;
      /* The session's backlog is full, and a Unix socket reports no event when it has room again. */
      if (lns_inject_monotonic_ms () >= deadline_ms)
        return -ETIMEDOUT;
      struct timespec pause = { .tv_nsec = 1000000 };
      (void)LNS_SYSCALL (SYS_nanosleep, &pause, NULL);
    }
}

/* Receives the welcome and the pool's descriptor (-1 if it came without). */
static int
receive_welcome (
    int fd, int64_t deadline_ms, bool is_patient, LnsWireWelcome *ret_welcome, int *ret_pool_fd)
{
  *ret_pool_fd = -1;
  int error = wait_for_answer (fd, deadline_ms, is_patient);
  if (error < 0)
    return error;
  union
  {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control;
  struct iovec part = { ret_welcome, sizeof *ret_welcome };
  struct msghdr message = {
    .msg_iov = &part,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };
  long n = LNS_SYSCALL (SYS_recvmsg, fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (n < 0)
    return (int)n;
  struct cmsghdr *header = CMSG_FIRSTHDR (&message);
  if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN (sizeof (int)))
    memcpy (ret_pool_fd, CMSG_DATA (header), sizeof (int));
  if (n == sizeof *ret_welcome && ret_welcome->magic == LNS_WIRE_MAGIC &&
      ret_welcome->abi == LNS_WIRE_ABI)
    /* The kernel leaves out a descriptor for which the process has no number. */
    return *ret_pool_fd < 0 && (message.msg_flags & MSG_CTRUNC) ? -EMFILE : 0;
  if (*ret_pool_fd >= 0)
    (void)LNS_SYSCALL (SYS_close, *ret_pool_fd);
  return -EPROTO;
}

/* Tells the session why this process cannot use its pool: ERROR, which is negative. Waits until the session has noted that
 * and closes the connection, as the process may end at once. */
static void
tell_unused (int fd, int error, int64_t deadline_ms)
{
  const LnsWireNotice notice = { .magic = LNS_WIRE_MAGIC,
                                 .kind = LNS_WIRE_NOTICE_UNUSED,
                                 .value = (uint32_t)-error };
  if (LNS_SYSCALL (SYS_sendto, fd, &notice, sizeof notice, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0) >
      0)
    (void)wait_for_answer (fd, deadline_ms, false);
}

/* Receives the welcome on FD, and maps the pool that comes with it. */
static int
take_welcome (
    int fd, int64_t deadline_ms, bool is_patient, LnsWirePoolView *ret_pool, bool *ret_is_refused)
{
  LnsWireWelcome welcome;
  int pool_fd = -1;
  int error = receive_welcome (fd, deadline_ms, is_patient, &welcome, &pool_fd);
  if (error < 0 && error != -EMFILE)
    return error;
  *ret_is_refused = error == 0 && welcome.refused != 0;
  if (*ret_is_refused)
    error = -(int)welcome.refused;
  else if (error == 0)
    error = lns_wire_pool_map (pool_fd, welcome.pool_bytes, ret_pool);
  if (error < 0 && !*ret_is_refused)
    tell_unused (fd, error, deadline_ms);
  if (pool_fd >= 0)
    (void)LNS_SYSCALL (SYS_close, pool_fd);
  return error;
}

/* The path of the session's socket from the environment, or null. */
static const char *
session_path (void)
{
  const char *path = getenv (LNS_WIRE_ENVIRONMENT);
  bool is_usable = path != NULL && path[0] != '\0' && strlen (path) < LNS_WIRE_PATH_MAX_BYTES;
  return is_usable ? path : NULL;
}

/* Connects to ADDRESS, of N_BYTES. Returns the descriptor, or -errno. */
static int
connect_new (const struct sockaddr_un *address, size_t n_bytes, int64_t deadline_ms)
{
  long result = LNS_SYSCALL (SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (result < 0)
    return (int)result;
  int fd = move_high ((int)result);
  int error = connect_to (fd, address, n_bytes, deadline_ms);
  struct ucred session;
  socklen_t n_session = sizeof session;
  if (error == 0 &&
      LNS_SYSCALL (SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &session, &n_session) == 0)
    session_pid = session.pid; /* 0 in another pid namespace */
  if (error == 0)
    return fd;
  (void)LNS_SYSCALL (SYS_close, fd);
  return error;
}

/* Connects to the socket at PATH. Returns the descriptor, or -errno. */
static int
connect_by_path (const char *path, int64_t deadline_ms)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  strncpy (address.sun_path, path, sizeof address.sun_path - 1);
  return connect_new (&address, sizeof address, deadline_ms);
}

/* Connects to the abstract name of the session at PATH. Returns the descriptor, or -errno. Everybody can take a name
 * that is free, so the session must be one of root or of this user. */
static int
connect_by_name (const char *path, int64_t deadline_ms)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  const size_t n_name = lns_wire_name_bytes (path);
  memcpy (address.sun_path + 1, path, n_name);
  int fd =
      connect_new (&address, offsetof (struct sockaddr_un, sun_path) + 1 + n_name, deadline_ms);
  if (fd < 0)
    return fd;
  struct ucred session;
  socklen_t n_bytes = sizeof session;
  if (LNS_SYSCALL (SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &session, &n_bytes) == 0 &&
      (session.uid == 0 || session.uid == (uid_t)LNS_SYSCALL (SYS_geteuid)))
    return fd;
  (void)LNS_SYSCALL (SYS_close, fd);
  return -EACCES;
}

bool
lns_connection_is_possible (void)
{
  LNS_KEEP_ERRNO;
  const char *path = session_path ();
  if (path == NULL)
    return false;
  if (lns_process.n_joined > 0 || LNS_SYSCALL (SYS_faccessat, AT_FDCWD, path, F_OK) == 0)
    return true;
  /* The session takes no notice of a connection without a hello. */
  int fd = connect_by_name (path, 0);
  if (fd >= 0)
    (void)LNS_SYSCALL (SYS_close, fd);
  return fd >= 0 || fd == -ETIMEDOUT;
}

/* Makes a pair of sockets and sends one of them through the connection that this process inherited by fork. Returns the
 * descriptor of the other, or -errno. The kernel records who makes the pair, as it does for a process that connects. */
static int
connect_by_parent (void)
{
  int pair[2];
  if (!is_ours () || connection.is_awaited)
    return -EBADF;
  long result =
      LNS_SYSCALL (SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);
  if (result < 0)
    return (int)result;
  LnsWireNotice notice = { .magic = LNS_WIRE_MAGIC, .kind = LNS_WIRE_NOTICE_CONNECTION };
  struct iovec part = { &notice, sizeof notice };
  union
  {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control = { .header = { .cmsg_len = CMSG_LEN (sizeof (int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS } };
  memcpy (CMSG_DATA (&control.header), &pair[1], sizeof (int));
  struct msghdr message = {
    .msg_iov = &part,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };
  result = LNS_SYSCALL (SYS_sendmsg, connection.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)LNS_SYSCALL (SYS_close, pair[1]);
  if (result == sizeof notice)
    return move_high (pair[0]);
  (void)LNS_SYSCALL (SYS_close, pair[0]);
  return result < 0 ? (int)result : -EPROTO;
}

/* Connects to the session in any way that works. Returns the descriptor, or -errno. */
static int
reach_session (int64_t deadline_ms)
{
  const char *path = session_path ();
  int fd = path == NULL ? -ENOENT : connect_by_path (path, deadline_ms);
  if (fd >= 0 || fd == -ETIMEDOUT)
    return fd;
  int by_other = connect_by_parent ();
  if (by_other < 0 && path != NULL)
    by_other = connect_by_name (path, deadline_ms);
  return by_other >= 0 ? by_other : fd;
}

/* Connects to the session and says HELLO. Returns the descriptor, or -errno. */
static int
greet (const LnsWireHello *hello, int64_t deadline_ms)
{
  const int fd = reach_session (deadline_ms);
  if (fd < 0)
    return fd;
  const long n =
      LNS_SYSCALL (SYS_sendto, fd, hello, sizeof *hello, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
  if (n == sizeof *hello)
    return fd;
  (void)LNS_SYSCALL (SYS_close, fd);
  return n < 0 ? (int)n : -EPROTO;
}

/* Makes FD the connection of the process PID, in place of the one that it inherited, if any. Returns 0 or -errno. */
static int
keep_connection (int fd, uint32_t pid)
{
  struct stat identity;
  const int error = (int)LNS_SYSCALL (SYS_fstat, fd, &identity);
  if (error < 0)
    return error;
  if (is_ours ())
    (void)LNS_SYSCALL (SYS_close, connection.fd); /* the parent goes on using its own */
  connection.device = identity.st_dev;
  connection.inode = identity.st_ino;
  connection.fd = fd;
  connection.pid = pid;
  connection.is_open = true;
  return 0;
}

int
lns_connection_open (const LnsWireHello *hello,
                     int bound_ms,
                     bool is_patient,
                     LnsWirePoolView *ret_pool,
                     bool *ret_is_refused)
{
  const int64_t deadline_ms = lns_inject_monotonic_ms () + bound_ms;
  const bool is_new = !connection.is_awaited || connection.pid != hello->pid || !is_ours ();
  const int fd = is_new ? greet (hello, deadline_ms) : connection.fd;
  if (fd < 0)
    return fd;
  int error = take_welcome (fd, deadline_ms, is_patient, ret_pool, ret_is_refused);
  if (is_new && (error == 0 || error == -ETIMEDOUT))
    {
      const int failed = keep_connection (fd, hello->pid);
      error = failed < 0 ? failed : error;
    }
  if (error < 0 && error != -ETIMEDOUT)
    {
      (void)LNS_SYSCALL (SYS_close, fd);
      connection.is_open &= is_new; /* it is the parent's then */
      return error;
    }
  connection.is_awaited = error < 0;
  if (error == 0)
    __atomic_store_n (&ret_pool->header->joined, LNS_WIRE_JOINED, __ATOMIC_RELEASE);
  return error;
}

void
lns_connection_give_up (void)
{
  if (!connection.is_awaited)
    return;
  if (is_ours ())
    (void)LNS_SYSCALL (SYS_close, connection.fd);
  connection.is_awaited = connection.is_open = false;
}

void
lns_connection_tell_unanswered (uint64_t n_events)
{
  const LnsWireNotice notice = { .magic = LNS_WIRE_MAGIC,
                                 .kind = LNS_WIRE_NOTICE_UNANSWERED,
                                 .value = n_events < UINT32_MAX ? (uint32_t)n_events : UINT32_MAX };
  if (connection.is_awaited && is_ours ())
    (void)LNS_SYSCALL (SYS_sendto, connection.fd, &notice, sizeof notice,
                       MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

/* The error to return if the session's end of the connection is closed. */
static int
closed_by_session (void)
{
  return __atomic_load_n (&lns_process.pool.header->hushed, __ATOMIC_SEQ_CST) ? -EBADF : -EPIPE;
}

int
lns_connection_notify (const LnsWireNotice *notice)
{
  if (!is_ours ())
    return -EBADF;
  long sent = LNS_SYSCALL (SYS_sendto, connection.fd, notice, sizeof *notice,
                           MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
  return sent >= 0 ? 0 : sent == -EPIPE ? closed_by_session () : (int)sent;
}

int
lns_connection_receive (LnsWireCommand *ret_command, bool connected, int64_t deadline_ms)
{
  if (!connected)
    {
      int error = wait_for (-1, 0, deadline_ms); /* poll() passes over negative descriptors */
      return error == -ETIMEDOUT ? 0 : error;
    }
  if (!is_ours ())
    return -EBADF;
  int error = wait_for (connection.fd, POLLIN, deadline_ms);
  if (error < 0)
    return error == -ETIMEDOUT ? 0 : error;
  if (!is_ours ())
    return -EBADF;
  long n = LNS_SYSCALL (SYS_recvfrom, connection.fd, ret_command, sizeof *ret_command, MSG_DONTWAIT,
                        NULL, NULL);
  if (n == 0 || n == -ECONNRESET)
    return closed_by_session ();
  if (n < 0)
    return n == -EAGAIN || n == -EINTR ? 0 : -EBADF;
  return n == sizeof *ret_command && ret_command->magic == LNS_WIRE_MAGIC;
}
