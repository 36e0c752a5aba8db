/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/folders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

mode_t
lns_mode_like (const char *path)
{
  struct stat status;

  if (stat (path, &status) != 0)
    return 0600;
  mode_t mode = 0600 | (status.st_mode & 0066);
  /* The new file has another group, whose members may only do what all may. */
  if (status.st_gid != getegid ())
    mode &= ~(mode_t)0060 | (mode & 0006) << 3;
  return mode;
}

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

/* In /tmp another user may have created something in the folder's place. */
bool
lns_find_cache_folder (const char *kind, char ret_folder[PATH_MAX])
{
  const char *cache = getenv ("XDG_CACHE_HOME"), *home = getenv ("HOME");
  char own[64];
  struct stat status;
  /* The XDG Base Directory Specification says to ignore relative paths. */
  const bool has_cache = cache != NULL && cache[0] == '/';
  const bool has_home = home != NULL && home[0] == '/';
  snprintf (own, sizeof own, "/tmp/lanescope-cache-%u", (unsigned)geteuid ());
  if (has_cache)
    snprintf (ret_folder, PATH_MAX, "%s/lanescope/%s/", cache, kind);
  else if (has_home)
    snprintf (ret_folder, PATH_MAX, "%s/.cache/lanescope/%s/", home, kind);
  else
    snprintf (ret_folder, PATH_MAX, "%s/%s/", own, kind);
  if (!lns_make_folders (ret_folder, 0700, NULL))
    return false;
  if (strncmp (ret_folder, own, strlen (own)) == 0 &&
      (lstat (own, &status) != 0 || !S_ISDIR (status.st_mode) || status.st_uid != geteuid () ||
       (status.st_mode & 077) != 0))
    {
      errno = EPERM;
      return false;
    }
  return true;
}
