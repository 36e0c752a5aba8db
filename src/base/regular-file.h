/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Files at paths that somebody else chose. */

#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens the file at PATH for reading if it is a regular one; links are followed. Returns its descriptor, or -1. Something
 * else is not opened, as that alone has effects: a device may wake up, rewind a tape or take a lease. */
static inline int
lns_regular_file_open (const char *path)
{
  struct stat status;
  if (stat (path, &status) != 0 || !S_ISREG (status.st_mode))
    return -1;
  /* Another file may have taken its place. */
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 || (fstat (fd, &status) == 0 && S_ISREG (status.st_mode)))
    return fd;
  close (fd);
  return -1;
}
