/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Creates the folders of an output file, tells its permissions, and finds the folder of a cache. */

#pragma once

#include <limits.h>
#include <sys/types.h>

#include "src/base/error.h"

/* Creates the missing folders above PATH (the part before its last slash), with MODE less the umask. False with ERROR
 * where one cannot be created; the folders above it remain. Any thread. */
bool lns_make_folders (const char *path, mode_t mode, LnsError *error);

/* The permissions of a file that is made from the one at PATH, before the umask: its owner's, and those of the group and of
 * others that PATH gives them, too; 0600 if PATH cannot be looked at. Any thread. */
mode_t lns_mode_like (const char *path);

/* Sets RET_FOLDER to the folder of the user's cache of KIND, with a slash at its end, and creates it: that in
 * $XDG_CACHE_HOME/lanescope, ~/.cache/lanescope or, without a home directory, /tmp/lanescope-cache-UID. False with errno if
 * that is impossible; EPERM if the last one may be entered by others. Any thread. */
bool lns_find_cache_folder (const char *kind, char ret_folder[PATH_MAX]);
