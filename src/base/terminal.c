/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/terminal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/visible.h"

/* Collects bytes, so that a line is written in one call. */
typedef struct
{
  int fd, code;
  size_t n;
  char bytes[4096];
} Room;

int
lns_write_all (int fd, const void *bytes, size_t size)
{
  for (const char *at = bytes, *end = at + size; at < end;)
    {
      ssize_t n = write (fd, at, (size_t)(end - at));
      if (n < 0 && errno != EINTR)
        return errno;
      at += n > 0 ? n : 0;
    }
  return 0;
}

static void
empty (Room *room)
{
  if (room->code == 0)
    room->code = lns_write_all (room->fd, room->bytes, room->n);
  room->n = 0;
}

static void
put (Room *room, const char *bytes, size_t size)
{
  if (room->n + size > sizeof room->bytes)
    empty (room);
  memcpy (room->bytes + room->n, bytes, size);
  room->n += size;
}

/* Writes the first character of BYTES, or keeps it for later if it is not complete. Returns its size. */
static size_t
take (LnsTerminal *terminal, Room *room, const char *bytes, size_t size)
{
  char escape[LNS_VISIBLE_SIZE];

  if (bytes[0] == '\n' || bytes[0] == '\t')
    {
      put (room, bytes, 1);
      return 1;
    }
  if (size < 4 && lns_visible_is_begun (bytes, size))
    {
      memcpy (terminal->pending, bytes, size);
      terminal->n_pending = size;
      return size;
    }
  size_t length = lns_visible_next (bytes, size, escape);
  if (escape[0] != '\0')
    put (room, escape, strlen (escape));
  else
    put (room, bytes, length);
  return length;
}

int
lns_terminal_write (LnsTerminal *terminal, const char *bytes, size_t size)
{
  Room room = { .fd = terminal->fd };

  /* Joins what is pending with as many bytes as a character needs. */
  while (terminal->n_pending > 0 && size > 0)
    {
      char joined[8];
      size_t n = terminal->n_pending, more = size < 4 ? size : 4;
      memcpy (joined, terminal->pending, n);
      memcpy (joined + n, bytes, more);
      terminal->n_pending = 0;
      size_t length = take (terminal, &room, joined, n + more);
      if (length < n)
        {
          memcpy (terminal->pending, joined + length, n - length);
          terminal->n_pending = n - length;
          continue;
        }
      bytes += length - n;
      size -= length - n;
    }
  while (size > 0)
    {
      size_t length = take (terminal, &room, bytes, size);
      bytes += length;
      size -= length;
    }
  empty (&room);
  return room.code;
}

static ssize_t
write_cb (void *cookie, const char *bytes, size_t size)
{
  int code = lns_terminal_write (cookie, bytes, size);

  if (code == 0)
    return (ssize_t)size;
  errno = code;
  return 0;
}

FILE *
lns_terminal_stream (LnsTerminal *terminal)
{
  FILE *stream = fopencookie (terminal, "w", (cookie_io_functions_t){ .write = write_cb });

  if (stream == NULL)
    lns_out_of_memory ();
  return stream;
}
