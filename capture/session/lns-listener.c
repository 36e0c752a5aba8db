/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/lns-listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(LNS_WIRE_PATH_MAX_BYTES <= sizeof ((struct sockaddr_un *)0)->sun_path,
               "the path fits into an address");

static bool
make_folder (LnsListener *listener, const char *parent)
{
  int n = snprintf (listener->folder, sizeof listener->folder, "%s/lanescope-XXXXXX", parent);
  if (n < 0 || (size_t)n + sizeof "/session" > sizeof listener->folder)
    {
      errno = ENAMETOOLONG;
      return false;
    }
  return mkdtemp (listener->folder) != NULL; /* mode 0700 */
}

bool
lns_listener_open (LnsListener *listener, LnsError *error)
{
  const char *runtime = getenv ("XDG_RUNTIME_DIR");
  *listener = (LnsListener){ .fd = -1 };
  if ((runtime == NULL || runtime[0] != '/' || !make_folder (listener, runtime)) &&
      !make_folder (listener, "/tmp"))
    {
      lns_error_set_errno (error, errno,
                           "no folder for the session can be made in $XDG_RUNTIME_DIR or /tmp");
      listener->folder[0] = '\0';
      return false;
    }
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  snprintf (listener->path, sizeof listener->path, "%.80s/session", listener->folder);
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
