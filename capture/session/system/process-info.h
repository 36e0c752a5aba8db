/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What /proc tells about a process. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The texts are owned, and NULL if they could not be read. */
typedef struct
{
  int32_t pid;        /* in our own pid namespace */
  int32_t target_pid; /* as the process itself sees it; pid if it could not be read */
  int32_t parent_pid; /* in our own namespace; 0: unknown */
  uint32_t parent;    /* instance in the session, or UINT32_MAX; set by the caller */
  uint32_t mpi_rank;  /* 1 + its rank among the processes of MPI or torchrun; 0: none */
  int64_t start_ns;   /* CLOCK_MONOTONIC; INT64_MIN: unknown */
  char *name;         /* the comm */
  char *command_line; /* arguments, quoted for a shell if need be, separated by spaces */
  char *executable;   /* path */
} LnsProcessInfo;

/* Reads what there is about PID; of a process that is gone, only the pid. Clear RET_INFO with
 * lns_process_info_clear (). */
void lns_process_info_read (int32_t pid, LnsProcessInfo *ret_info);

/* The same in two steps: first the name, the parent and the start, which are cheap to read and lost when the process
 * ends; then the rest, if it is still there. */
void lns_process_info_begin (int32_t pid, LnsProcessInfo *ret_info);
void lns_process_info_finish (LnsProcessInfo *info);

/* The id that the thread TID of PID has for itself: another one in another pid namespace. 0 if that is not known, as the thread
 * has ended. */
int32_t lns_process_own_tid (int32_t pid, int32_t tid);

/* The second step for a process that PARENT forked and that sees itself as OWN_PID: reads only what it may have
 * changed, its title and program. The child of a fork is often gone before everything could be read. */
void lns_process_info_finish_forked (LnsProcessInfo *info,
                                     const LnsProcessInfo *parent,
                                     int32_t own_pid);

/* Fills what is missing in INFO, of a process that PARENT forked, with what it has in common with its parent. */
void lns_process_info_inherit (LnsProcessInfo *info, const LnsProcessInfo *parent);
void lns_process_info_clear (LnsProcessInfo *info);

/* Copies INFO; clear the copy. */
LnsProcessInfo lns_process_info_copy (const LnsProcessInfo *info);

/* The pid of PID's parent, or 0 if it cannot be read. */
int32_t lns_process_parent (int32_t pid);

/* Whether PID has ended or is about to. A process closes its files before others can wait for it. */
bool lns_process_is_ending (int32_t pid);

/* Whether PID runs with the rights of another user or group than it was started by: the loader preloads nothing then. False if that
 * cannot be read. */
bool lns_process_has_other_rights (int32_t pid);

/* Whether PID is ANCESTOR or descends from it through processes that have not ended. */
bool lns_process_descends (int32_t pid, int32_t ancestor);

/* Whether PID runs in the memory of OTHER, as the child of a vfork() does in its parent's until it becomes another program.
 * Where the kernel does not tell, as containers may forbid kcmp(2), whether OTHER descends from this process. */
bool lns_process_shares_memory (int32_t pid, int32_t other);

/* Quotes N arguments for a shell and joins them by spaces. The result is the caller's; NULL if memory is short. */
char *lns_quote_arguments (const char *const *arguments, int n);

/* Whether the environment of PID had the variable NAME when its program began. Returns false if it cannot be read. */
bool lns_process_has_variable (int32_t pid, const char *name);

/* Whether a process lives in whose environment NAME was VALUE when its program began. Processes that the
 * caller may not look into do not count. O(processes), a few ms. */
bool lns_process_lives_with (const char *name, const char *value);

/* The path of the first file called NAME that PID has mapped into its memory, as of a library. The caller owns the
 * result; NULL if there is none, or PID cannot be looked into. O(mappings) */
char *lns_process_find_mapped (int32_t pid, const char *name);
