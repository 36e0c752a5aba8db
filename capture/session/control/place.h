/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The folder in which commands from other terminals find sessions.
 *
 * A session begins with `profile`, `launch` or `start`. Its owner is the process of `profile` or `launch`, which
 * starts the program, drains it and writes the reports. `start`, `stop`, `cancel` and `shutdown` send the owner a
 * request over a socket (request.h). If there is no session, `start` leaves its request in the folder; the next
 * `launch` finds it and begins to collect at once. A session ends with its programs or by `shutdown`. If its owner
 * dies, the reports end, but the program goes on.
 *
 * The folder belongs to the user, and nobody else can enter it. It is lanescope-sessions-UID in $XDG_RUNTIME_DIR,
 * else in /run/user/UID, else in /tmp, else in $TMPDIR, else in /dev/shm. It holds
 *   ID.session   an LnsSessionEntry; locked (flock) as long as the owner lives
 *   ID.socket    the socket on which the owner listens
 *   ID.start     the request that waits for `launch`
 * The folder itself is locked (flock) while sessions come and go. The last session removes it.
 *
 * The entry of an ended session is kept until a command has asked for it, a session of the same name begins, four
 * other sessions have ended, or an hour has passed. */

#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

#define LNS_SESSION_NAME_MAX_BYTES 127
#define LNS_SESSION_PATH_MAX_BYTES                                                                 \
 100 /* of the folder, so that a socket's path fits into its address */

typedef enum
{
  LNS_SESSION_WAITING,  /* for `launch`; nobody owns it */
  LNS_SESSION_LAUNCHED, /* the program runs, nothing is collected */
  LNS_SESSION_DELAYED, /* collection waits: --delay, --start-later or a capture range that has not begun */
  LNS_SESSION_COLLECTING,
  LNS_SESSION_GENERATING, /* a report is about to be written */
  LNS_SESSION_ENDED,      /* its programs have ended */
  LNS_SESSION_LOST        /* never written: the owner died without ending the session */
} LnsSessionState;

typedef struct
{
  uint32_t magic;
  uint32_t id;
  LnsSessionState state;
  int32_t owner_pid, program_pid; /* 0: none */
  uint32_t n_reports;             /* generated */
  bool keeps;                     /* --keep: collected data are in the owner's memory */
  int64_t began_ns, told_ns; /* CLOCK_REALTIME of its beginning and of the entry's last change */
  char name[LNS_SESSION_NAME_MAX_BYTES + 1];
  char report[PATH_MAX]; /* the one that is being written, or the last one; "" for none */
} LnsSessionEntry;

/* A session of this process. */
typedef struct
{
  LnsSessionEntry entry;
  int socket_fd; /* listens; non-blocking */
  int entry_fd;  /* locked */
  char folder[LNS_SESSION_PATH_MAX_BYTES];
} LnsSessionPlace;

/* No place. */
#define LNS_SESSION_NOWHERE ((LnsSessionPlace){ .socket_fd = -1, .entry_fd = -1 })

/* The name of STATE in `sessions list`, such as "Collection". */
const char *lns_session_state_name (LnsSessionState state);

/* Whether the session of ENTRY has ended or was lost. */
bool lns_session_is_over (const LnsSessionEntry *entry);

/* Opens a session with a socket. NAME must be free; NULL stands for STEM-ID-PROGRAM. A waiting session NAME is
 * taken over; with NULL and MAY_CONTINUE, the only one that waits. RET_START, owned by the caller, gets its request
 * of RET_N_BYTES, or NULL. Returns false and ERROR if the session cannot be opened. */
bool lns_session_place_open (LnsSessionPlace *place,
                             const char *name,
                             const char *stem,
                             const char *program,
                             bool may_continue,
                             char **ret_start,
                             size_t *ret_n_bytes,
                             LnsError *error);

/* Leaves the N_BYTES of START for the next `launch`, under NAME or, if that is NULL, a name made for it. */
bool lns_session_place_leave (const char *name,
                              const char *start,
                              size_t n_bytes,
                              LnsSessionEntry *ret_entry,
                              LnsError *error);

/* Publishes what has changed in place->entry. Does nothing for LNS_SESSION_NOWHERE. */
void lns_session_place_tell (LnsSessionPlace *place);

/* Ends the session. With IS_REMEMBERED, a command that asks for it later learns what became of it. Accepts
 * LNS_SESSION_NOWHERE, and leaves PLACE so. */
void lns_session_place_close (LnsSessionPlace *place, bool is_remembered);

/* All sessions, the oldest first; owned by the caller (free ()). RET_N is 0 if there are none. */
LnsSessionEntry *lns_session_list (size_t *ret_n);

/* Finds a session by NAME, which may be its name, its id, or its name up to a dash. NULL finds the only session
 * that has not ended or, if there is none, the one that ended last. ERROR has the code ENOENT if nothing is
 * found. */
bool lns_session_find (const char *name, LnsSessionEntry *ret_entry, LnsError *error);

/* Removes ENTRY, which nobody owns. */
void lns_session_forget (const LnsSessionEntry *entry);

/* Writes the path of the socket of ENTRY to PATH, which has ROOM bytes. */
bool
lns_session_socket_path (const LnsSessionEntry *entry, char *path, size_t room, LnsError *error);

/* Whether NAME is a valid session name: 1–127 bytes without control characters, and not a number. */
bool lns_session_check_name (const char *name, LnsError *error);
