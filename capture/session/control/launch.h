/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Starts the program with the caller's signals, limits and descriptors as they were, and a few environment
 * variables more. */

#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "src/base/error.h"

/* The caller's settings that this process changes for itself and gives back to the program. */
typedef struct
{
  sigset_t mask;
  sigset_t masked,
      ignored; /* the signals that this process masks; those of them that the caller ignored */
  struct sigaction on_pipe, on_file_size, on_child;
  struct rlimit files;
  bool is_saved;
} LnsCaller;

/* Blocks the signals of MASKED, ignores SIGPIPE and SIGXFSZ (writes then fail with an error), sets SIGCHLD to its
 * default so that children can be waited for, and raises the limit of descriptors as far as possible. RET_CALLER
 * gets the settings from before. */
void lns_caller_save (LnsCaller *ret_caller, const sigset_t *masked);

/* Gives them back to this process, which is about to execute another program. Async-signal-safe. Does nothing if they were not
 * saved. */
void lns_caller_restore (const LnsCaller *caller);

/* A list of NAME=VALUE. Zero it before use, and clear it. */
typedef struct
{
  char **items; /* the last one is followed by NULL */
  size_t n_items;
} LnsEnvironment;

/* Adds all of ENVIRON_ITEMS (NULL-terminated). Returns false if memory is short, as the next two do. */
bool lns_environment_add_all (LnsEnvironment *environment, char *const *environ_items);

/* Sets NAME to VALUE. */
bool lns_environment_set (LnsEnvironment *environment, const char *name, const char *value);

/* Puts ITEM and a colon before the value of NAME. */
bool lns_environment_prepend (LnsEnvironment *environment, const char *name, const char *item);
const char *lns_environment_get (const LnsEnvironment *environment, const char *name);
void lns_environment_clear (LnsEnvironment *environment);

/* A program that is about to run: its process exists and waits. */
typedef struct
{
  pid_t pid;
  int go_fd, report_fd;
} LnsHeldLaunch;

/* Makes the process that lns_launch_release () turns into ARGV[0], which is looked for in this process's PATH as
 * execvp(3) does. It is in our process group, and ends if this process ends. Its output and errors go to OUTPUTS,
 * two descriptors above 2, or where ours go if OUTPUTS is NULL. */
bool lns_launch_hold (char *const *argv,
                      const LnsEnvironment *environment,
                      const LnsCaller *caller,
                      const int *outputs,
                      LnsHeldLaunch *ret_held,
                      LnsError *error);

/* Runs the program. Returns its pid, or -1 and ERROR, whose code is the errno: ENOENT if there is no such
 * program. */
pid_t lns_launch_release (LnsHeldLaunch *held, const char *program, LnsError *error);

/* Ends the process instead. Does nothing if HELD was released or is zeroed. */
void lns_launch_abandon (LnsHeldLaunch *held);
