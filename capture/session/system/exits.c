/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/exits.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/base/id-map.h"

/* The first pid namespace, PROC_PID_INIT_INO: the numbers in messages are those of that. */
#define FIRST_NAMESPACE 0xEFFFFFFCu

/* PROC_EVENT_EXIT */
#define END_OF_THREAD 0x80000000u

/* A message takes 768 bytes there. A user without privileges gets less, as net.core.rmem_max says. */
#define ROOM_BYTES (4 << 20)

/* As many ends are kept, and those that are older are dropped: of most processes of the machine, nobody asks. */
#define ENDS_MOST 4096
#define OLD_NS    INT64_C (5000000000)

typedef struct
{
  int32_t pid;
  int status;
  int64_t time_ns; /* of the last thread that ended */
} End;

struct LnsExits
{
  int fd;
  LnsIdMap ends; /* End by pid */
};

/* Whether the kernel takes a struct proc_input, which says what is asked for: Linux 6.6 and later. Older ones ignore it. */
static bool
takes_input (void)
{
  struct utsname name;
  unsigned major = 0, minor = 0;
  return uname (&name) == 0 && sscanf (name.release, "%u.%u", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 6));
}

/* Begins or ends to listen: the kernel counts those that do. */
static bool
ask (int fd, enum proc_cn_mcast_op what)
{
  const size_t n_words = takes_input () ? 2 : 1;
  struct
  {
    struct nlmsghdr head;
    struct cn_msg message;
    uint32_t words[2]; /* struct proc_input */
  } asked = { .head = { .nlmsg_type = NLMSG_DONE, .nlmsg_pid = (uint32_t)getpid () },
              .message = { .id = { CN_IDX_PROC, CN_VAL_PROC } },
              .words = { what, END_OF_THREAD } };
  asked.message.len = (uint16_t)(n_words * sizeof (uint32_t));
  asked.head.nlmsg_len = (uint32_t)NLMSG_LENGTH (sizeof asked.message + asked.message.len);
  return send (fd, &asked, asked.head.nlmsg_len, 0) == (ssize_t)asked.head.nlmsg_len;
}

LnsExits *
lns_exits_new (void)
{
  struct stat status;
  const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
  const int room_bytes = ROOM_BYTES;
  if (stat ("/proc/self/ns/pid", &status) != 0 || status.st_ino != FIRST_NAMESPACE)
    return NULL;
  LnsExits *exits = calloc (1, sizeof *exits);
  const int fd = socket (AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
  if (exits == NULL || fd < 0 ||
      bind (fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
      !ask (fd, PROC_CN_MCAST_LISTEN))
    {
      if (fd >= 0)
        close (fd);
      free (exits);
      return NULL;
    }
  if (setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &room_bytes, sizeof room_bytes) != 0)
    (void)setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &room_bytes, sizeof room_bytes);
  exits->fd = fd;
  return exits;
}

void
lns_exits_free (LnsExits *exits)
{
  End *end;
  if (exits == NULL)
    return;
  for (size_t at = 0; (end = lns_id_map_next (&exits->ends, &at)) != NULL;)
    free (end);
  lns_id_map_clear (&exits->ends);
  (void)ask (exits->fd, PROC_CN_MCAST_IGNORE);
  close (exits->fd);
  free (exits);
}

/* Forgets what ended before TIME_NS. */
static void
drop_old (LnsExits *exits, int64_t time_ns)
{
  LnsIdMap kept = { 0 };
  End *end;
  for (size_t at = 0; (end = lns_id_map_next (&exits->ends, &at)) != NULL;)
    if (end->time_ns < time_ns || !lns_id_map_set (&kept, (uint32_t)end->pid, end))
      free (end);
  lns_id_map_clear (&exits->ends);
  exits->ends = kept;
}

/* Notes that a thread of the process PID ended with STATUS. wait() tells the status of the first thread, unless another one
 * ended the process: the last one has that status then. */
static void
note (LnsExits *exits, int32_t pid, bool is_first, int status, int64_t time_ns)
{
  End *end = lns_id_map_get (&exits->ends, (uint32_t)pid);
  if (end == NULL)
    {
      if (exits->ends.n >= ENDS_MOST)
        drop_old (exits, time_ns - OLD_NS);
      end = exits->ends.n < 16 * ENDS_MOST ? calloc (1, sizeof *end) : NULL;
      if (end == NULL || !lns_id_map_set (&exits->ends, (uint32_t)pid, end))
        {
          free (end);
          return;
        }
      end->pid = pid;
    }
  if (is_first || status != 0)
    end->status = status;
  end->time_ns = time_ns;
}

void
lns_exits_read (LnsExits *exits)
{
  _Alignas(struct nlmsghdr) char bytes[NLMSG_SPACE (sizeof (struct cn_msg) + 256)];
  struct sockaddr_nl from;
  for (;;)
    {
      socklen_t n_from = sizeof from;
      const ssize_t n =
          recvfrom (exits->fd, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &n_from);
      if (n < 0 && errno == ENOBUFS)
        continue; /* it had no room for some */
      if (n < 0)
        return;
      const struct nlmsghdr *head = (const struct nlmsghdr *)bytes;
      struct proc_event event;
      const size_t least = NLMSG_LENGTH (sizeof (struct cn_msg)) +
                           offsetof (struct proc_event, event_data.exit.parent_pid);
      if (from.nl_pid != 0 || (size_t)n < least) /* only the kernel's count */
        continue;
      memset (&event, 0, sizeof event);
      const size_t n_event = (size_t)n - NLMSG_LENGTH (sizeof (struct cn_msg));
      memcpy (&event, (const char *)NLMSG_DATA (head) + sizeof (struct cn_msg),
              n_event < sizeof event ? n_event : sizeof event);
      if ((uint32_t)event.what == END_OF_THREAD)
        note (exits, event.event_data.exit.process_tgid,
              event.event_data.exit.process_pid == event.event_data.exit.process_tgid,
              (int)event.event_data.exit.exit_code, (int64_t)event.timestamp_ns);
    }
}

bool
lns_exits_take (LnsExits *exits, int32_t pid, int64_t start_ns, int *ret_status)
{
  End *end = lns_id_map_get (&exits->ends, (uint32_t)pid);
  if (end == NULL || end->time_ns < start_ns)
    return false;
  *ret_status = end->status;
  lns_id_map_take (&exits->ends, (uint32_t)pid);
  free (end);
  return true;
}
