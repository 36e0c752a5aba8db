/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where commands from other terminals find sessions.
 *
 * A session begins with `profile`, `launch`, or `start`. Its owner is the process of `profile` or
 * `launch`: it has started the program, drains it and writes the reports; `start`, `stop`, `cancel`
 * and `shutdown` ask it to by a request over a socket (request.h). `start` without a
 * session to ask leaves its request behind, with nobody waiting: the next `launch` finds it and begins
 * to collect at once. A session ends with its programs, or by `shutdown`; the death of its owner ends
 * the reports, never the program.
 *
 * The place is a folder of the user's, that nobody else can enter: lanescope-sessions-UID in
 * $XDG_RUNTIME_DIR, else in /run/user/UID, else in /tmp, else in $TMPDIR. It holds
 *   ID.session   an LnsSessionEntry; locked (flock) as long as the owner lives
 *   ID.socket    where the owner listens
 *   ID.start     the request that waits for `launch`
 * and is locked itself (flock) while sessions come and go, and removed by the last one.
 *
 * What became of a session, by its end or its owner's, the first command is told that asks for it; then,
 * and for a new session of the same name, it is forgotten, else an hour later, or when four others have ended
 * after it. */

#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

#define LNS_SESSION_NAME_MAX_BYTES 127
#define LNS_SESSION_PATH_MAX_BYTES 100 /* of the folder: a socket's path fits into its address */

typedef enum
{
  LNS_SESSION_WAITING,  /* for `launch`; nobody owns it */
  LNS_SESSION_LAUNCHED, /* the program runs, nothing is collected */
  LNS_SESSION_DELAYED,  /* by --delay or --start-later, or its capture range has not begun */
  LNS_SESSION_COLLECTING,
  LNS_SESSION_GENERATING, /* a report is about to be written */
  LNS_SESSION_ENDED,      /* its programs have ended */
  LNS_SESSION_LOST        /* only read: the owner died without a word */
} LnsSessionState;

typedef struct
{
  uint32_t magic;
  uint32_t id;
  LnsSessionState state;
  int32_t owner_pid, program_pid; /* 0: none */
  uint32_t n_reports;             /* generated */
  bool keeps;                     /* what is collected is in the owner's memory: --keep */
  int64_t began_ns, told_ns;      /* CLOCK_REALTIME of its beginning, and of its last word */
  char name[LNS_SESSION_NAME_MAX_BYTES + 1];
  char report[PATH_MAX]; /* that is being written, else the last one; "" for none */
} LnsSessionEntry;

/* A session of this process. */
typedef struct
{
  LnsSessionEntry entry;
  int socket_fd; /* listens; non-blocking */
  int entry_fd;  /* locked */
  char folder[LNS_SESSION_PATH_MAX_BYTES];
} LnsSessionPlace;

/* What has no place. */
#define LNS_SESSION_NOWHERE ((LnsSessionPlace){ .socket_fd = -1, .entry_fd = -1 })

/* "Collection": as `sessions list` calls STATE. */
const char *lns_session_state_name (LnsSessionState state);

/* Whether ENTRY has ended, or was lost. */
bool lns_session_is_over (const LnsSessionEntry *entry);

/* Opens a session with a socket. NAME must be free; NULL is STEM-ID-PROGRAM. A session NAME that waits is taken
 * over, as is with NULL the only one that does (if MAY_CONTINUE): RET_START, owned by the caller, gets
 * its request of RET_N_BYTES; else NULL. False and ERROR where that cannot be. */
bool lns_session_place_open (LnsSessionPlace *place,
                             const char *name,
                             const char *stem,
                             const char *program,
                             bool may_continue,
                             char **ret_start,
                             size_t *ret_n_bytes,
                             LnsError *error);

/* Leaves the N_BYTES of START to wait for `launch` under NAME, or a name of its own; fills RET_ENTRY. */
bool lns_session_place_leave (const char *name,
                              const char *start,
                              size_t n_bytes,
                              LnsSessionEntry *ret_entry,
                              LnsError *error);

/* Tells others of what has changed in place->entry. Does nothing for LNS_SESSION_NOWHERE. */
void lns_session_place_tell (LnsSessionPlace *place);

/* Ends the session; IS_REMEMBERED: who asks for it later learns what became of it. Accepts
 * LNS_SESSION_NOWHERE, which PLACE is afterwards. */
void lns_session_place_close (LnsSessionPlace *place, bool is_remembered);

/* All sessions, the oldest first; owned by the caller (free ()). *RET_N is 0 where there are none. */
LnsSessionEntry *lns_session_list (size_t *ret_n);

/* The session NAME, which may also be its id, or its name up to a dash; with NULL the only one there is,
 * which has not ended, or else the one that ended last. ERROR has code ENOENT where there is none. */
bool lns_session_find (const char *name, LnsSessionEntry *ret_entry, LnsError *error);

/* Removes ENTRY, which nobody owns. */
void lns_session_forget (const LnsSessionEntry *entry);

/* The path of the socket of ENTRY, in ROOM bytes. */
bool
lns_session_socket_path (const LnsSessionEntry *entry, char *path, size_t room, LnsError *error);

/* Whether NAME may be one: 1–127 bytes without control characters, and not a number. */
bool lns_session_check_name (const char *name, LnsError *error);
