/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Creates the folders of an output file, and finds that of a cache. */

#pragma once

#include <limits.h>
#include <sys/types.h>

#include "src/base/error.h"

/* Creates the missing folders above PATH (the part before its last slash), with MODE less the umask. False with ERROR
 * where one cannot be created; the folders above it remain. Any thread. */
bool lns_make_folders (const char *path, mode_t mode, LnsError *error);

/* Sets RET_FOLDER to the folder of the user's cache of KIND, with a slash at its end, and creates it: that in
 * $XDG_CACHE_HOME/lanescope, ~/.cache/lanescope or, without a home directory, /tmp/lanescope-cache-UID. False with errno if
 * that is impossible; EPERM if the last one may be entered by others. Any thread. */
bool lns_find_cache_folder (const char *kind, char ret_folder[PATH_MAX]);
