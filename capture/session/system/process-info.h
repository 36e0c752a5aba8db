/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What /proc says of a process. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Owned text is NULL where it could not be read. */
typedef struct
{
  int32_t pid;        /* in our own pid namespace */
  int32_t target_pid; /* as the process itself sees it; pid where it could not be read */
  int32_t parent_pid; /* in our own namespace, 0 where unknown */
  uint32_t parent;    /* instance in the session, or UINT32_MAX; for the caller to set */
  uint32_t mpi_rank;  /* 1 + its rank in MPI_COMM_WORLD, 0 where it has none */
  int64_t start_ns;   /* CLOCK_MONOTONIC, INT64_MIN where unknown */
  char *name;         /* the comm */
  char *command_line; /* arguments, quoted for a shell where need be, one space between them */
  char *executable;   /* path */
} LnsProcessInfo;

/* Reads what there is of PID: a process that is gone leaves a pid and no more. RET_INFO is to be
 * cleared with lns_process_info_clear (). */
void lns_process_info_read (int32_t pid, LnsProcessInfo *ret_info);

/* The same in two steps: first what is lost when the process ends and is cheap to know, its name, its parent
 * and its start; then the rest, as far as it is still there. */
void lns_process_info_begin (int32_t pid, LnsProcessInfo *ret_info);
void lns_process_info_finish (LnsProcessInfo *info);

/* The second step for a process that PARENT has forked and that calls itself OWN_PID: reads what it may have
 * changed, its title and program. A fork's child is often gone before all could be read. */
void lns_process_info_finish_forked (LnsProcessInfo *info,
                                     const LnsProcessInfo *parent,
                                     int32_t own_pid);

/* Gives INFO, of a process that PARENT has forked, what it has in common with its parent and had no more when
 * it was read. */
void lns_process_info_inherit (LnsProcessInfo *info, const LnsProcessInfo *parent);
void lns_process_info_clear (LnsProcessInfo *info);

/* A copy of INFO, to be cleared. */
LnsProcessInfo lns_process_info_copy (const LnsProcessInfo *info);

/* The pid of PID's parent, or 0 where it cannot be read. */
int32_t lns_process_parent (int32_t pid);

/* Whether PID has ended or is about to: it closes its files before others can wait for it. */
bool lns_process_is_ending (int32_t pid);

/* Whether PID is ANCESTOR or was started by it, or by processes that were, none of which has ended. */
bool lns_process_descends (int32_t pid, int32_t ancestor);

/* Quotes N arguments for a shell and joins them by spaces. Owned by the caller; NULL if memory is
 * short. */
char *lns_quote_arguments (const char *const *arguments, int n);

/* Whether the environment of PID had the variable NAME when its program began; false where that cannot be
 * read. */
bool lns_process_has_variable (int32_t pid, const char *name);

/* Whether a process lives whose environment had VARIABLE ("NAME=VALUE") when its program began. Of
 * processes that the caller may not look into it is not known. O(processes), a few ms. */
bool lns_process_lives_with (const char *variable);
