/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/control/request.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/memory.h"

/* The limits of messages, which arrive whole (SOCK_SEQPACKET). Longer ones are refused. */
#define REQUEST_MAX_BYTES ((size_t)128 << 10)
#define ANSWER_MAX_BYTES  ((size_t)64 << 10)
#define ARGUMENTS_MAX     1024

char *
lns_session_request_pack (char *const *argv, int argc, size_t *ret_n_bytes, LnsError *error)
{
  char *folder = getcwd (NULL, 0), *bytes = NULL;
  if (folder == NULL)
    {
      lns_error_set_errno (error, errno, "cannot find the current folder");
      return NULL;
    }
  FILE *stream = open_memstream (&bytes, ret_n_bytes);
  if (stream != NULL)
    {
      fwrite (folder, 1, strlen (folder) + 1, stream);
      for (int i = 0; i < argc; i++)
        fwrite (argv[i], 1, strlen (argv[i]) + 1, stream);
    }
  free (folder);
  if (stream == NULL || fclose (stream) != 0)
    lns_out_of_memory ();
  return bytes;
}

bool
lns_session_request_unpack (LnsSessionRequest *request, char *bytes, size_t n_bytes)
{
  *request = (LnsSessionRequest){ .fd = -1, .bytes = bytes, .folder = bytes };
  size_t n = 0;
  for (size_t i = 0; i < n_bytes; i++)
    n += bytes[i] == '\0';
  if (n < 2 || n > ARGUMENTS_MAX || bytes[n_bytes - 1] != '\0' ||
      (request->argv = calloc (n, sizeof *request->argv)) == NULL)
    {
      free (bytes);
      return false;
    }
  for (size_t at = strlen (bytes) + 1; at < n_bytes; at += strlen (bytes + at) + 1)
    request->argv[request->argc++] = bytes + at;
  return true;
}

static int
connect_to (const LnsSessionEntry *entry, LnsError *error)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  if (!lns_session_socket_path (entry, address.sun_path, sizeof address.sun_path, error))
    return -1;
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect (fd, (struct sockaddr *)&address, sizeof address) == 0)
    return fd;
  lns_error_set_errno (error, errno, "session “%s” does not listen on %s", entry->name,
                       address.sun_path);
  if (fd >= 0)
    close (fd);
  return -1;
}

bool
lns_session_request_send (const LnsSessionEntry *entry,
                          const char *bytes,
                          size_t n_bytes,
                          int *ret_code,
                          char **ret_text,
                          LnsError *error)
{
  char *answer = lns_calloc (1, ANSWER_MAX_BYTES + 1);
  int fd = connect_to (entry, error);
  ssize_t n = -1;
  *ret_text = NULL;
  if (fd >= 0 && n_bytes > REQUEST_MAX_BYTES)
    lns_error_set (error, LNS_ERROR_USAGE, 0, "the command is longer than %zu bytes",
                   REQUEST_MAX_BYTES);
  else if (fd >= 0 && send (fd, bytes, n_bytes, MSG_NOSIGNAL) == (ssize_t)n_bytes)
    {
      do
        n = recv (fd, answer, ANSWER_MAX_BYTES, 0);
      while (n < 0 && errno == EINTR);
      if (n < (ssize_t)sizeof *ret_code)
        lns_error_set (error, LNS_ERROR_IO, ECONNRESET,
                       "the owner of session “%s” (process %d) ended before it answered",
                       entry->name, entry->owner_pid);
    }
  else if (fd >= 0)
    lns_error_set_errno (error, errno, "cannot send the command to session “%s”", entry->name);
  if (fd >= 0)
    close (fd);
  if (n >= (ssize_t)sizeof *ret_code)
    {
      memcpy (ret_code, answer, sizeof *ret_code);
      *ret_text = lns_strdup (answer + sizeof *ret_code);
    }
  free (answer);
  return n >= (ssize_t)sizeof *ret_code;
}

/* Whether the process at the other end of FD belongs to this user. */
static bool
is_ours (int fd)
{
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid ();
}

bool
lns_session_request_receive (int socket_fd, LnsSessionRequest *ret_request)
{
  int fd = accept4 (socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0)
    return false;
  struct pollfd spoken = { .fd = fd, .events = POLLIN };
  char *bytes = malloc (REQUEST_MAX_BYTES);
  ssize_t n = -1;
  if (bytes != NULL && is_ours (fd) && poll (&spoken, 1, 1000) == 1)
    n = recv (fd, bytes, REQUEST_MAX_BYTES, 0);
  if (n <= 0)
    free (bytes);
  if (n <= 0 || !lns_session_request_unpack (ret_request, bytes, (size_t)n))
    {
      close (fd);
      return false;
    }
  ret_request->fd = fd;
  return true;
}

void
lns_session_request_answer (LnsSessionRequest *request, int code, const char *text)
{
  size_t n = strlen (text);
  if (n > ANSWER_MAX_BYTES - sizeof code)
    n = ANSWER_MAX_BYTES - sizeof code;
  char *bytes = request->fd >= 0 ? malloc (sizeof code + n) : NULL;
  if (bytes != NULL)
    {
      memcpy (bytes, &code, sizeof code);
      memcpy (bytes + sizeof code, text, n);
      send (request->fd, bytes, sizeof code + n, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
  free (bytes);
  if (request->fd >= 0)
    close (request->fd);
  free (request->argv);
  free (request->bytes);
  *request = (LnsSessionRequest){ .fd = -1 };
}
