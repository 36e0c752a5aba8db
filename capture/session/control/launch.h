/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Starting the program: it gets the caller's world as the caller had it, and two variables more. */

#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "src/base/error.h"

/* What of the caller's world this process changes for itself, and the program gets back. */
typedef struct
{
  sigset_t mask;
  sigset_t masked,
      ignored; /* what this process masks for itself; of that, what the caller ignored */
  struct sigaction on_pipe, on_file_size, on_child;
  struct rlimit files;
} LnsCaller;

/* Blocks MASKED signals, ignores SIGPIPE and SIGXFSZ (what cannot be written is an error), makes children waited for, and allows as many descriptors
 * as can be. RET_CALLER gets what was before. */
void lns_caller_save (LnsCaller *ret_caller, const sigset_t *masked);

/* A list of NAME=VALUE. Zero-initialise; to be cleared. */
typedef struct
{
  char **items; /* the last one is followed by NULL */
  size_t n_items;
} LnsEnvironment;

/* Adds all of ENVIRON (NULL-terminated). False if memory is short, as the next. */
bool lns_environment_add_all (LnsEnvironment *environment, char *const *environ_items);

/* Sets NAME to VALUE in place of what it was. */
bool lns_environment_set (LnsEnvironment *environment, const char *name, const char *value);

/* Puts ITEM before those that NAME holds, with a colon between. */
bool lns_environment_prepend (LnsEnvironment *environment, const char *name, const char *item);
const char *lns_environment_get (const LnsEnvironment *environment, const char *name);
void lns_environment_clear (LnsEnvironment *environment);

/* A program that is about to run: its process exists, and waits. */
typedef struct
{
  pid_t pid;
  int go_fd, report_fd;
} LnsHeldLaunch;

/* Makes the process, in our process group, that lns_launch_release () turns into ARGV[0], found as
 * execvp(3) does by this process's PATH. Its output and errors go to OUTPUTS, two descriptors above 2, or, if that
 * is NULL, to where ours do. It ends by itself if this process does. */
bool lns_launch_hold (char *const *argv,
                      const LnsEnvironment *environment,
                      const LnsCaller *caller,
                      const int *outputs,
                      LnsHeldLaunch *ret_held,
                      LnsError *error);

/* Runs the program. Returns its pid; or -1 with ERROR, whose code is the errno of what failed: ENOENT
 * where there is no such program. */
pid_t lns_launch_release (LnsHeldLaunch *held, const char *program, LnsError *error);

/* Ends the process instead. Nothing where it was released, or never made: zeroed. */
void lns_launch_abandon (LnsHeldLaunch *held);

/* Both at once. */
pid_t lns_launch (char *const *argv,
                  const LnsEnvironment *environment,
                  const LnsCaller *caller,
                  const int *outputs,
                  LnsError *error);
