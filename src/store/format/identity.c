/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define START_TIME_FIELD 22 /* of /proc/PID/stat, counted from 1; see proc(5) */

/* Reads the beginning of the file at PATH as text. Returns false if it is empty or cannot be read. */
static bool
read_text (const char *path, char *ret_text, size_t size_bytes)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t n = read (fd, ret_text, size_bytes - 1);
  close (fd);
  if (n <= 0)
    return false;
  ret_text[n] = '\0';
  return true;
}

bool
lns_identity_of (pid_t pid, char ret_text[LNS_IDENTITY_SIZE])
{
  char path[64], boot[64], stat[1024];
  snprintf (path, sizeof path, "/proc/%d/stat", (int)pid);
  if (!read_text ("/proc/sys/kernel/random/boot_id", boot, sizeof boot) ||
      !read_text (path, stat, sizeof stat))
    return false;
  boot[strcspn (boot, "\n")] = '\0';
  /* The name is in parentheses and may contain any characters, so the last ")" ends it. Field 3 follows. */
  const char *field = strrchr (stat, ')');
  /* A zombie has ended; its parent has not waited for it yet. */
  if (field == NULL || strlen (field) < 3 || strchr ("ZXx", field[2]) != NULL)
    return false;
  for (int i = 2; field != NULL && i < START_TIME_FIELD; i++)
    field = strchr (field + 1, ' ');
  if (field == NULL)
    return false;
  int length = (int)strcspn (field + 1, " \n");
  snprintf (ret_text, LNS_IDENTITY_SIZE, "%s %d %.*s", boot, (int)pid, length, field + 1);
  return true;
}

bool
lns_identity_lives (const char *text)
{
  int pid;
  char now[LNS_IDENTITY_SIZE];
  return sscanf (text, "%*s %d", &pid) == 1 && pid > 0 && lns_identity_of ((pid_t)pid, now) &&
         strcmp (now, text) == 0;
}
