/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The working directory that the launch dialog begins with. Main thread only. */

#pragma once

#include <gio/gio.h>

/* Sets it to PATH, in the bytes of the file system; a path that is not absolute changes nothing. */
void lns_launch_folder_set (const char *path);

/* The folder that was set last, of a shell or by a person; before that the one of LAST, or if that is not absolute either, the
 * home folder. It may not exist: nobody has looked, because a mount may not answer. */
GFile *lns_launch_folder_get (const char *last) G_GNUC_WARN_UNUSED_RESULT;
