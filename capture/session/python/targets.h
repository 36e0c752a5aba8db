/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The processes of a session that may run Python, found in /proc: the program, what descends from it, and what has joined the
 * session. Used by one thread. */

#pragma once

#include <dirent.h>

#include "capture/session/collect/peers.h"
#include "capture/session/python/reader.h"
#include "capture/session/python/tree.h"

/* A process of the session. */
typedef struct
{
  int32_t pid;
  int64_t start_ns;        /* CLOCK_MONOTONIC, in steps of 10 ms */
  uint32_t process;        /* instance in the session, or LNS_ID_NONE: it has run no Python yet */
  bool is_ours;            /* nobody else has told the session of the instance */
  LnsPythonReader *reader; /* NULL: it runs no Python that can be read */
  int memory_fd;           /* its memory as of the reader's program; -1: none */
  int64_t sampled_ns;      /* CLOCK_MONOTONIC: when it was seen to run the reader's program last */
  int64_t left_ns; /* CLOCK_MONOTONIC: when it was seen first that it does not run it any more */
  bool is_refused; /* not to be looked at again while it runs this program */
  unsigned
      n_bad; /* of the last looks at this program, which found an interpreter that could not be read */
  int64_t first_look_ns, next_look_ns; /* at this program; CLOCK_MONOTONIC; 0: none yet */
  uint64_t program;                    /* hash of the path of its program */
  bool has_told_unknown;               /* that threads of its interpreters are not known */
  LnsIdMap functions;                  /* 1 + number in the tree, by code id */
  LnsIdMap trails;                     /* LnsPythonTrail by thread id */
} LnsPythonTarget;

/* A process that has ended and that the session has to be told of. */
typedef struct
{
  uint32_t process;
  int64_t ended_ns, tell_ns;
} LnsPythonEnd;

typedef struct
{
  LnsPeers *peers;
  DIR *proc;
  LnsIdMap pids;                     /* what is known of each process of the machine, by pid */
  LNS_ARRAY (LnsPythonTarget *) all; /* owned */
  LNS_ARRAY (LnsPythonEnd) ends;
  uint64_t generation; /* counts looks, from 1 on */
  bool has_read;       /* Python was found */
  bool adds_none;      /* processes are looked at only if the session knows them from others */
} LnsPythonTargets;

void _lns_python_targets_init (LnsPythonTargets *targets, LnsPeers *peers);
void _lns_python_targets_clear (LnsPythonTargets *targets);

/* Says why a process is not sampled. */
typedef void (*LnsPythonSay) (void *data, uint32_t process, const char *text);

/* Looks for new processes, and for Python in those that had none. O(processes of the machine), some 100 µs. */
void
_lns_python_targets_look (LnsPythonTargets *targets, int64_t now_ns, LnsPythonSay say, void *data);

/* Whether TARGET, which has a reader, still runs the program that the reader is for. If not, the reader is gone. A system
 * call */
bool _lns_python_target_is_there (LnsPythonTarget *target, int64_t now_ns);

/* Frees TARGET's reader, as its program has ended. */
void _lns_python_target_leave (LnsPythonTarget *target, int64_t now_ns);

/* Tells the session of processes that have ended; of ALL, or of those that others had time to tell of. */
void _lns_python_targets_tell_ends (LnsPythonTargets *targets, int64_t now_ns, bool all);
