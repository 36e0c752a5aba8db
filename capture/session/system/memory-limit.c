/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/memory-limit.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t
read_limit (const char *path)
{
  unsigned long long limit = UINT64_MAX;
  FILE *file = fopen (path, "re");
  if (file == NULL)
    return UINT64_MAX;
  if (fscanf (file, "%llu", &limit) != 1) /* "max" is no number */
    limit = UINT64_MAX;
  fclose (file);
  return limit;
}

/* The least limit of the group FOLDER, below ROOT, and of those above it. */
static uint64_t
read_limits (const char *root, const char *folder, const char *name)
{
  char path[4096];
  uint64_t least = UINT64_MAX;
  for (size_t n = strlen (folder);; n--)
    if (n == 0 || folder[n] == '\0' || folder[n] == '/')
      {
        snprintf (path, sizeof path, "%s%.*s/%s", root, (int)n, folder, name);
        uint64_t limit = read_limit (path);
        least = limit < least ? limit : least;
        if (n == 0)
          return least;
      }
}

uint64_t
lns_memory_limit (void)
{
  uint64_t least = (uint64_t)sysconf (_SC_PHYS_PAGES) * (uint64_t)sysconf (_SC_PAGESIZE);
  FILE *file = fopen ("/proc/self/cgroup", "re");
  char line[4096];
  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    {
      line[strcspn (line, "\n")] = '\0';
      uint64_t limit = UINT64_MAX;
      const char *v1 = strstr (line, ":memory:");
      if (strncmp (line, "0::", 3) == 0)
        limit = read_limits ("/sys/fs/cgroup", line + 3, "memory.max");
      else if (v1 != NULL)
        limit = read_limits ("/sys/fs/cgroup/memory", v1 + 8, "memory.limit_in_bytes");
      least = limit < least ? limit : least;
    }
  if (file != NULL)
    fclose (file);
  return least;
}

/* The part of the address space (1 / SHARE) that the pool may take from the program. */
#define SHARE 8

uint64_t
lns_memory_mapping_limit (int32_t pid)
{
  const pid_t pids[] = { 0, pid };
  uint64_t least = UINT64_MAX;
  for (unsigned i = 0; i < 2; i++)
    {
      struct rlimit limit;
      if (prlimit (pids[i], RLIMIT_AS, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
          limit.rlim_cur / SHARE < least)
        least = limit.rlim_cur / SHARE;
      if (prlimit (pids[i], RLIMIT_FSIZE, NULL, &limit) == 0 && limit.rlim_cur < least)
        least = limit.rlim_cur;
    }
  return least;
}
