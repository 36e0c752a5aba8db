/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How a process joins a session.
 *
 * The session listens on a Unix socket of type SOCK_SEQPACKET and puts its path, shorter than 100 bytes, into the
 * environment of the program. Other users cannot enter the socket's folder. Processes of a session of root may
 * become other users: they get in by the last part of the path, which is secret, and are answered if they descend
 * from the session. A second socket has the folder's path as its abstract name (unix(7)). Processes use it if they
 * cannot see the folder, as they have another root folder or mount namespace. Everybody can connect to it, so the
 * session drops other users who do not descend from it, and a process trusts only a session of root or of its user.
 *
 * A process that uses NVTX for the first time connects, sends LnsWireHello and waits for LnsWireWelcome, which
 * carries the pool's memfd (SCM_RIGHTS, one descriptor). If it does not come within the time of patience.h, or the
 * process sees that the session's process is stopped, it goes on without: its events are lost and counted, and it takes
 * the answer as soon as that has come. If it ends before that, it tells how many events it has lost. The session notices
 * such a process when it answers (EPIPE) or sees the end of a connection whose pool nobody has joined, and counts it.
 * A process that initialises CUDA, which takes longer than any handshake, waits longer, and stopped or not; if there is
 * no answer then, it closes the connection and is not recorded.
 *
 *   target                                session
 *   connect, LnsWireHello          ->     accept; SO_PEERCRED; a pool for it
 *                                  <-     LnsWireWelcome + memfd, or LnsWireWelcome{refused}
 *   LnsWireNotice (only hints)     ->     may be ignored
 *                                  <-     LnsWireCommand, where the pool's header says LISTENS
 *   end of file                    ->     the process is gone or has closed our descriptor: the session asks
 *                                         its pidfd before it takes chunks back
 *
 * The connection stays open until the process ends, or until the program closes a descriptor that is not its own.
 * From then on the process sends no messages, but goes on recording into its pool. The child of a fork inherits the
 * connection, and on its first event says hello on a connection of its own. If it cannot reach the socket, as it gave
 * up privileges or changed its root folder, it makes a pair of sockets, sends one of them through the inherited
 * connection (NOTICE_CONNECTION) and says hello on the other. For this the session keeps a connection until nobody
 * holds it.
 *
 * Credentials come from SO_PEERCRED alone; the pid in the hello is that of the target's pid namespace.
 * Messages have a fixed size; a receiver refuses any other size, magic or version. */

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LNS_WIRE_ENVIRONMENT    "LANESCOPE_SESSION"           /* the socket's path */
#define LNS_WIRE_PATH_MAX_BYTES 100                           /* with its terminator */
#define LNS_WIRE_MAGIC          UINT64_C (0x3145524957534e4c) /* "LNSWIRE1" */
#define LNS_WIRE_ABI            15 /* layout of messages, pool and records; equal on both sides */

/* The length of the abstract name of the session whose socket is at PATH: the part of PATH before its last slash. */
static inline size_t
lns_wire_name_bytes (const char *path)
{
  const char *slash = strrchr (path, '/');
  return slash == NULL ? 0 : (size_t)(slash - path);
}

typedef struct
{
  uint64_t magic;
  uint32_t abi;
  uint32_t pid;    /* as the target sees itself */
  uint32_t forked; /* 1: this process image took part under another pid before: a fork's child */
  uint32_t is_borrowed; /* 1: said by a child of vfork(), for its parent, whose memory it runs in */
} LnsWireHello;

typedef struct
{
  uint64_t magic;
  uint32_t abi;
  uint32_t refused; /* 0: welcome; else an errno that says why there is no pool */
  uint32_t serial;  /* of the pool, unique in the session */
  uint32_t reserved;
  uint64_t pool_bytes; /* size of the memfd */
} LnsWireWelcome;

typedef enum
{
  LNS_WIRE_NOTICE_LOW = 1, /* free chunks are running out: drain and publish sooner than planned */
  LNS_WIRE_NOTICE_FLUSHED = 2,     /* the command of the serial VALUE is done */
  LNS_WIRE_NOTICE_RANGE_BEGAN = 3, /* VALUE: the number of the process's capture range, from 1 on */
  LNS_WIRE_NOTICE_RANGE_ENDED = 4, /* as above: the pool's RANGES_TOLD says so, and LNS_WIRE_RANGE
                                      records have the exact times */
  LNS_WIRE_NOTICE_CONNECTION = 5,  /* comes with a connection (SCM_RIGHTS) of a child's own */
  LNS_WIRE_NOTICE_UNUSED =
      6, /* it cannot use the pool that it got, and ends the connection; VALUE: errno */
  LNS_WIRE_NOTICE_UNANSWERED =
      7, /* it ends without an answer; VALUE: how many of its events are lost, or 2^32 - 1 */
} LnsWireNoticeKind;

typedef struct
{
  uint64_t magic;
  uint32_t kind; /* LnsWireNoticeKind; others are to be ignored */
  uint32_t value;
} LnsWireNotice;

/* From the session to a process whose pool says that it listens. The process answers each with FLUSHED and its
 * serial. Send it without waiting, as a process may stop listening at any time. */
typedef enum
{
  LNS_WIRE_COMMAND_FLUSH = 1, /* hand over all that CUPTI has finished */
  LNS_WIRE_COMMAND_START = 2, /* look at RECORDING, which the session has changed */
  LNS_WIRE_COMMAND_STOP = 3,  /* the same, and flush */
  LNS_WIRE_COMMAND_FINISH = 4 /* flush everything, finished or not, as the session ends */
} LnsWireCommandKind;

typedef struct
{
  uint64_t magic;
  uint32_t kind; /* LnsWireCommandKind; others are answered and otherwise ignored */
  uint32_t serial;
} LnsWireCommand;
