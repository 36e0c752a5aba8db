/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/listener.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

_Static_assert(LNS_WIRE_PATH_MAX_BYTES <= sizeof ((struct sockaddr_un *)0)->sun_path,
               "the path fits into an address");

#define FOLDER "lanescope-XXXXXX"

/* The name by which the socket is bound. Everybody can read it (/proc/net/unix). */
#define BOUND_NAME "session"

/* The number of letters of the final name of the socket. Each is one of 64; together they have 132 random bits. */
#define N_KEY 22

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

/* Removes the session's folder at PATH and the socket in it, if there is one and nobody listens any more. */
static void
remove_dead (const char *path)
{
  DIR *folder = opendir (path);
  struct dirent *entry;
  bool is_ours = false;
  while (folder != NULL && (entry = readdir (folder)) != NULL)
    {
      char socket_path[PATH_MAX + 256];
      snprintf (socket_path, sizeof socket_path, "%s/%s", path, entry->d_name);
      if (entry->d_name[0] != '.' && is_dead (socket_path))
        is_ours = unlink (socket_path) == 0;
    }
  if (folder != NULL)
    closedir (folder);
  if (is_ours)
    rmdir (path); /* fails where anything is left */
}

/* Removes the folders that killed sessions of this user have left in PARENT (may be null). Those that are less
 * than a minute old may be about to listen. */
static void
sweep_folder (const char *parent)
{
  DIR *folder = parent != NULL ? opendir (parent) : NULL;
  struct dirent *entry;
  while (folder != NULL && (entry = readdir (folder)) != NULL)
    {
      char path[PATH_MAX];
      struct stat status;
      if (strlen (entry->d_name) != sizeof FOLDER - 1 ||
          strncmp (entry->d_name, FOLDER, sizeof FOLDER - 7) != 0)
        continue;
      snprintf (path, sizeof path, "%s/%s", parent, entry->d_name);
      if (lstat (path, &status) == 0 && S_ISDIR (status.st_mode) && status.st_uid == geteuid () &&
          time (NULL) - status.st_mtime >= 60)
        remove_dead (path);
    }
  if (folder != NULL)
    closedir (folder);
}

void
lns_listener_sweep (void)
{
  sweep_folder (getenv ("XDG_RUNTIME_DIR"));
  sweep_folder ("/tmp");
  sweep_folder (getenv ("TMPDIR"));
  sweep_folder ("/dev/shm");
}

/* Makes a folder in PARENT, if that is a whole path. */
static bool
make_folder (LnsListener *listener, const char *parent)
{
  if (parent == NULL || parent[0] != '/')
    return false;
  int n = snprintf (listener->folder, sizeof listener->folder, "%s/" FOLDER, parent);
  if (n < 0 || (size_t)n + 1 + N_KEY >= sizeof listener->folder)
    {
      errno = ENAMETOOLONG;
      return false;
    }
  return mkdtemp (listener->folder) != NULL; /* mode 0700 */
}

/* Makes the folder in a place that all processes can reach: processes that root starts may become another user, who
 * cannot enter root's $XDG_RUNTIME_DIR. Of a container whose files are read-only, /dev/shm is not. */
static bool
choose_folder (LnsListener *listener, bool is_root)
{
  const char *runtime = getenv ("XDG_RUNTIME_DIR"), *temporary = getenv ("TMPDIR");
  return (!is_root && make_folder (listener, runtime)) || make_folder (listener, "/tmp") ||
         make_folder (listener, temporary) || (is_root && make_folder (listener, runtime)) ||
         make_folder (listener, "/dev/shm");
}

/* Fills KEY with N_KEY random letters and a terminator. */
static bool
make_key (char *key)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  unsigned char bytes[N_KEY];
  if (getrandom (bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
    return false;
  for (int i = 0; i < N_KEY; i++)
    key[i] = letters[bytes[i] % 64];
  key[N_KEY] = '\0';
  return true;
}

/* Listens on a new socket at ADDRESS, of N_BYTES. Returns -1 and sets errno if that fails. */
static int
listen_at (const struct sockaddr_un *address, size_t n_bytes)
{
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && bind (fd, (const struct sockaddr *)address, (socklen_t)n_bytes) == 0 &&
      listen (fd, SOMAXCONN) == 0)
    return fd;
  const int error = errno;
  if (fd >= 0)
    close (fd);
  errno = error;
  return -1;
}

/* Listens by the abstract name. */
static int
listen_by_name (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  const size_t n_name = lns_wire_name_bytes (path);
  memcpy (address.sun_path + 1, path, n_name);
  return listen_at (&address, offsetof (struct sockaddr_un, sun_path) + 1 + n_name);
}

/* Listens in the folder, and fills the path. The socket is renamed before others may enter (OTHERS): they
 * find it by its new name alone, which they can neither list nor guess. */
static bool
listen_there (LnsListener *listener, bool others)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  char key[N_KEY + 1];
  snprintf (listener->path, sizeof listener->path, "%.80s/" BOUND_NAME, listener->folder);
  strcpy (address.sun_path, listener->path);
  listener->fds[LNS_LISTENER_PATH] = listen_at (&address, sizeof address);
  if (listener->fds[LNS_LISTENER_PATH] < 0 || !make_key (key))
    return false;
  snprintf (listener->path, sizeof listener->path, "%.76s/%s", listener->folder, key);
  if (rename (address.sun_path, listener->path) == 0)
    return !others || (chmod (listener->path, 0666) == 0 && chmod (listener->folder, 0711) == 0);
  strcpy (listener->path, address.sun_path);
  return false;
}

bool
lns_listener_open (LnsListener *listener, LnsError *error)
{
  const bool is_root = geteuid () == 0;
  *listener = (LnsListener){ .fds = { -1, -1 } };
  if (!choose_folder (listener, is_root))
    {
      lns_error_set (error, LNS_ERROR_IO, errno,
                     "cannot make a folder for the session in $XDG_RUNTIME_DIR, /tmp, $TMPDIR or "
                     "/dev/shm: %s; set "
                     "TMPDIR to a folder that you can write to, with a short path",
                     strerror (errno));
      listener->folder[0] = '\0';
      return false;
    }
  if (listen_there (listener, is_root))
    {
      listener->fds[LNS_LISTENER_NAME] = listen_by_name (listener->path);
      return true;
    }
  lns_error_set_errno (error, errno, "cannot make the session's socket %s", listener->path);
  lns_listener_close (listener);
  return false;
}

void
lns_listener_close (LnsListener *listener)
{
  for (int i = 0; i < LNS_LISTENER_SOCKETS; i++)
    if (listener->fds[i] >= 0)
      close (listener->fds[i]);
  if (listener->fds[LNS_LISTENER_PATH] >= 0)
    unlink (listener->path);
  if (listener->folder[0] != '\0')
    rmdir (listener->folder);
  *listener = (LnsListener){ .fds = { -1, -1 } };
}
