/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The processes that the kernel tells of: which instance of the session each is, and how many threads it has. Used by one
 * thread. */

#pragma once

#include "capture/session/collect/peers.h"
#include "capture/session/cpu/reach.h"
#include "capture/session/system/exits.h"
#include "src/base/array.h"
#include "src/base/id-map.h"

/* More of Lanescope's libraries are in no program. */
#define LNS_FAMILY_MOST_OWN_CODE 8

typedef struct
{
  int32_t pid;
  uint32_t process; /* instance in the session, or LNS_ID_NONE */
  unsigned n_threads;
  LnsProcessInfo info; /* owned */
  LnsIdMap own_tids;   /* of a process in another pid namespace: see lns_family_own_tid () */
  int end_fd;          /* tells when and how it ended; -1: nothing does */
  int64_t exited_ns;   /* when the last of its threads ended that has; 0: none */
  int64_t gone_ns;     /* when it was seen that it has ended; 0: it was not */
  bool lacks_program;  /* it runs a new program that ended before /proc could tell which */
  LnsMaps maps;        /* of the program that it runs */
  bool
      is_noted; /* whether libraries of ours reached that program is noted, or its parent's matter */
  bool is_first;    /* the program is the session's own */
  bool is_unmapped; /* it runs a new program that has mapped nothing yet */
  bool is_untold;   /* the kernel tells nothing of the program that it runs */
  struct
  {
    uint64_t start, end;
  } own_code[LNS_FAMILY_MOST_OWN_CODE]; /* of our libraries in the program */
  unsigned n_own_code;
} LnsRelative;

/* A process that has ended, and of which it is not known yet how. */
typedef struct
{
  int fd; /* -1: only the process connector may tell */
  int32_t pid;
  uint32_t process; /* instance in the session */
  int64_t start_ns; /* INT64_MIN: not known */
  int64_t time_ns;  /* of its end */
  int64_t asked_ns; /* when that was noted; CLOCK_MONOTONIC */
} LnsAwaited;

typedef struct
{
  LnsPeers *peers;
  LnsExits *exits; /* owned; NULL: the kernel's process connector does not tell */
  LnsReach reach;
  LnsIdMap relatives; /* LnsRelative by pid */
  LNS_ARRAY (LnsAwaited) awaited;
  unsigned n_end_fds, n_untold, n_gone; /* of the relatives */
} LnsFamily;

void lns_family_init (LnsFamily *family, LnsPeers *peers);
void lns_family_clear (LnsFamily *family);

/* Adds PROCESS, which the session has. */
void lns_family_add_root (LnsFamily *family, int32_t pid, uint32_t process);

/* The process PID. One that is not known is added: its beginning was lost. NULL if memory is short. */
LnsRelative *lns_family_find (LnsFamily *family, int32_t pid, int64_t time_ns);

/* Adds PID, which runs already, is not known yet, and which has N_THREADS threads. NULL if memory is short. */
LnsRelative *
lns_family_attach (LnsFamily *family, int32_t pid, unsigned n_threads, int64_t time_ns);

/* Adds PID, which PARENT_PID forked at TIME_NS. NULL if memory is short. */
LnsRelative *lns_family_fork (LnsFamily *family, int32_t pid, int32_t parent_pid, int64_t time_ns);

/* Notes that RELATIVE runs a program called NAME since TIME_NS. RELATIVE's instance changes if the one before has joined the
 * session: a new program is another one. */
void lns_family_exec (LnsFamily *family, LnsRelative *relative, const char *name, int64_t time_ns);

/* Notes that RELATIVE mapped PATH: the first file that a program maps is itself. */
void lns_family_map (LnsFamily *family, LnsRelative *relative, const char *path, int64_t time_ns);

/* Notes that RELATIVE has PATH at the addresses from START to END, where it may be code. */
void lns_family_note_code (LnsRelative *relative, const char *path, uint64_t start, uint64_t end);

/* Whether ADDRESS, behind an instruction of RELATIVE, is of one of our libraries. */
bool lns_family_is_own_code (const LnsRelative *relative, uint64_t address);

/* The tid that the thread TID of RELATIVE has for itself, by which it is known if it joins the session. Of a thread that ended
 * before anybody asked, it is TID. */
uint32_t lns_family_own_tid (LnsRelative *relative, uint32_t tid);

/* Notes of all programs that run whether libraries of ours have reached them. */
void lns_family_note_reach (LnsFamily *family);

/* Notes that the kernel ends its events of RELATIVE, as the program that it has just begun got other rights (perf_event_exit_task ()
 * in fs/exec.c). Returns whether it will be seen when the process ends. */
bool lns_family_note_untold (LnsFamily *family, LnsRelative *relative);

/* Notes which processes with an `end_fd` are gone: ALL, or those of which the kernel tells nothing. */
void lns_family_note_gone (LnsFamily *family, bool all);

/* Removes those that were gone by UNTIL_NS, up to which all records are read: their last thread ended at `exited_ns`. */
void lns_family_end_gone (LnsFamily *family, int64_t until_ns);

/* Removes RELATIVE, whose last thread ended at TIME_NS. */
void lns_family_end (LnsFamily *family, LnsRelative *relative, int64_t time_ns);

/* Tells how those ended that were removed before that was known, and of which it is known since. */
void lns_family_tell_awaited (LnsFamily *family);
