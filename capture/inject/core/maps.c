/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/maps.h"
#include "capture/inject/core/system.h"

#include <fcntl.h>
#include <string.h>

bool
lns_maps_open (LnsMaps *ret_maps, char *buffer, size_t n_max)
{
  *ret_maps = (LnsMaps){ .buffer = buffer, .n_max = n_max };
  ret_maps->fd = LNS_SYSCALL (SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  return ret_maps->fd >= 0;
}

void
lns_maps_close (LnsMaps *maps)
{
  if (maps->fd >= 0)
    (void)LNS_SYSCALL (SYS_close, maps->fd);
  maps->fd = -1;
}

static uint64_t
take_hex (const char **text)
{
  uint64_t value = 0;
  for (;; (*text)++)
    {
      const char c = **text;
      if (c >= '0' && c <= '9')
        value = value << 4 | (uint64_t)(c - '0');
      else if (c >= 'a' && c <= 'f')
        value = value << 4 | (uint64_t)(c - 'a' + 10);
      else
        return value;
    }
}

/* Parses LINE, which ends with a newline at END: "START-END rwxp OFFSET DEVICE INODE   PATH". */
static bool
parse (const char *line, const char *end, LnsMapping *ret_mapping)
{
  const char *at = line;
  *ret_mapping = (LnsMapping){ .start = take_hex (&at) };
  if (*at != '-')
    return false;
  at++;
  ret_mapping->end = take_hex (&at);
  if (end - at < 6 || *at != ' ')
    return false;
  ret_mapping->is_code = at[3] == 'x';
  at += 6;
  ret_mapping->file_offset = take_hex (&at);
  for (int word = 0; word < 2; word++) /* the device and the inode */
    {
      while (at < end && *at == ' ')
        at++;
      while (at < end && *at != ' ')
        at++;
    }
  while (at < end && *at == ' ')
    at++;
  ret_mapping->path = at;
  ret_mapping->n_path_bytes = (size_t)(end - at);
  return ret_mapping->start < ret_mapping->end;
}

bool
lns_maps_next (LnsMaps *maps, LnsMapping *ret_mapping)
{
  for (;;)
    {
      const char *line = maps->buffer + maps->at;
      const char *end = memchr (line, '\n', maps->n - maps->at);
      if (end != NULL)
        {
          maps->at = (size_t)(end + 1 - maps->buffer);
          if (parse (line, end, ret_mapping))
            return true;
          continue;
        }
      maps->n -= maps->at;
      memmove (maps->buffer, line, maps->n);
      maps->at = 0;
      const long n =
          LNS_SYSCALL (SYS_read, maps->fd, maps->buffer + maps->n, maps->n_max - maps->n);
      if (n <= 0)
        return false;
      maps->n += (size_t)n;
    }
}
