/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The session's folder and sockets, on which the processes to be recorded say hello. */

#pragma once

#include "capture/wire/protocol.h"
#include "src/base/error.h"

/* The sockets of a session. */
typedef enum
{
  LNS_LISTENER_PATH, /* in the session's folder */
  LNS_LISTENER_NAME, /* abstract: for processes that cannot see the folder */
  LNS_LISTENER_SOCKETS
} LnsListenerSocket;

typedef struct
{
  int fds[LNS_LISTENER_SOCKETS]; /* -1: not open */
  char folder[LNS_WIRE_PATH_MAX_BYTES];
  char path[LNS_WIRE_PATH_MAX_BYTES]; /* of the socket in the folder */
} LnsListener;

/* Makes a folder in $XDG_RUNTIME_DIR, or in /tmp, $TMPDIR or /dev/shm if that cannot be used or its path is too long, and listens
 * there. Only the user can enter the folder. Processes that root starts may become another user before they
 * say hello, so everybody can enter root's folder but nobody can list it: to connect, a process must know the
 * path, which ends in 132 random bits. Listens by the abstract name as well if that is free; everybody can connect to
 * it. */
bool lns_listener_open (LnsListener *listener, LnsError *error);

/* Removes the folders of this user's sessions that were killed. It reads whole folders, so it is not part of the start. */
void lns_listener_sweep (void);

/* Closes the sockets and removes the folder. */
void lns_listener_close (LnsListener *listener);
