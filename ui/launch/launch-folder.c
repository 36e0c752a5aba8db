/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-folder.h"

static char *folder; /* owned; NULL: none was set */

void
lns_launch_folder_set (const char *path)
{
  if (!g_path_is_absolute (path))
    return;
  g_free (folder);
  folder = g_strdup (path);
}

GFile *
lns_launch_folder_get (const char *last)
{
  return g_file_new_for_path (folder != NULL              ? folder
                              : g_path_is_absolute (last) ? last
                                                          : g_get_home_dir ());
}
