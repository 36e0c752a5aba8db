/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/lns-listener.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

_Static_assert(LNS_WIRE_PATH_MAX_BYTES <= sizeof ((struct sockaddr_un *)0)->sun_path,
               "the path fits into an address");

#define FOLDER "lanescope-XXXXXX"
#define SOCKET "/session"

/* Whether nobody listens on the socket at PATH any more. */
static bool
is_dead (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  if (strlen (path) >= sizeof address.sun_path)
    return false;
  strcpy (address.sun_path, path);
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool dead = fd >= 0 && connect (fd, (struct sockaddr *)&address, sizeof address) != 0 &&
              errno == ECONNREFUSED;
  if (fd >= 0)
    close (fd);
  return dead;
}

/* Removes what sessions of this user that were killed have left in PARENT. Those that are less than a
 * minute old may be about to listen. */
static void
sweep (const char *parent)
{
  DIR *folder = opendir (parent);
  struct dirent *entry;
  while (folder != NULL && (entry = readdir (folder)) != NULL)
    {
      char path[PATH_MAX], socket_path[PATH_MAX + 16];
      struct stat status;
      if (strlen (entry->d_name) != sizeof FOLDER - 1 ||
          strncmp (entry->d_name, FOLDER, sizeof FOLDER - 7) != 0)
        continue;
      snprintf (path, sizeof path, "%s/%s", parent, entry->d_name);
      snprintf (socket_path, sizeof socket_path, "%s" SOCKET, path);
      if (lstat (path, &status) != 0 || !S_ISDIR (status.st_mode) || status.st_uid != geteuid () ||
          time (NULL) - status.st_mtime < 60 || !is_dead (socket_path))
        continue;
      unlink (socket_path);
      rmdir (path);
    }
  if (folder != NULL)
    closedir (folder);
}

static bool
make_folder (LnsListener *listener, const char *parent)
{
  int n = snprintf (listener->folder, sizeof listener->folder, "%s/" FOLDER, parent);
  if (n < 0 || (size_t)n + sizeof SOCKET > sizeof listener->folder)
    {
      errno = ENAMETOOLONG;
      return false;
    }
  if (mkdtemp (listener->folder) == NULL) /* mode 0700 */
    return false;
  sweep (parent);
  return true;
}

bool
lns_listener_open (LnsListener *listener, LnsError *error)
{
  const char *runtime = getenv ("XDG_RUNTIME_DIR"), *temporary = getenv ("TMPDIR");
  *listener = (LnsListener){ .fd = -1 };
  if ((runtime == NULL || runtime[0] != '/' || !make_folder (listener, runtime)) &&
      !make_folder (listener, "/tmp") &&
      (temporary == NULL || temporary[0] != '/' || !make_folder (listener, temporary)))
    {
      lns_error_set (
          error, LNS_ERROR_IO, errno,
          "cannot make a folder for the session in $XDG_RUNTIME_DIR, /tmp or $TMPDIR: %s; set "
          "TMPDIR to a folder that you can write to, with a short path",
          strerror (errno));
      listener->folder[0] = '\0';
      return false;
    }
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  snprintf (listener->path, sizeof listener->path, "%.80s" SOCKET, listener->folder);
  strcpy (address.sun_path, listener->path);
  listener->fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener->fd < 0 || bind (listener->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen (listener->fd, SOMAXCONN) != 0)
    {
      lns_error_set_errno (error, errno, "the session's socket %s cannot be made", listener->path);
      lns_listener_close (listener);
      return false;
    }
  return true;
}

void
lns_listener_close (LnsListener *listener)
{
  if (listener->fd >= 0)
    {
      close (listener->fd);
      unlink (listener->path);
    }
  if (listener->folder[0] != '\0')
    rmdir (listener->folder);
  *listener = (LnsListener){ .fd = -1 };
}
