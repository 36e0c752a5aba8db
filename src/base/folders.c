/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool
lns_make_folders (const char *path, mode_t mode, LnsError *error)
{
  char *folder = strdup (path);
  if (folder == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "cannot create “%s”: out of memory", path);
  int code = 0;
  bool made = true;
  for (char *slash = strchr (folder + (folder[0] == '/'), '/'); made && slash != NULL;
       slash = strchr (slash + 1, '/'))
    {
      *slash = '\0';
      if (mkdir (folder, mode) != 0)
        {
          struct stat status;
          code = errno == EEXIST ? ENOTDIR : errno;
          /* mkdir () may also fail for an existing folder: on a read-only file system, or for "/". */
          if (stat (folder, &status) != 0 || !S_ISDIR (status.st_mode))
            made = lns_error_set_errno (
                error, code, "cannot create the folder “%s”; choose another place", folder);
        }
      *slash = '/';
    }
  free (folder);
  errno = code;
  return made;
}
