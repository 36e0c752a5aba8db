/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/program-file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Opens PROGRAM as execvp() finds it. Returns -1 if there is no such file. */
static int
open_program (const char *program, const char *path)
{
  char whole[4096];
  if (strchr (program, '/') != NULL)
    return open (program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  for (const char *folder = path; folder != NULL;)
    {
      const size_t n = strcspn (folder, ":");
      const int n_whole = snprintf (whole, sizeof whole, "%.*s/%s", n > 0 ? (int)n : 1,
                                    n > 0 ? folder : ".", program);
      if (n_whole > 0 && (size_t)n_whole < sizeof whole && access (whole, X_OK) == 0)
        return open (whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
      folder = folder[n] == ':' ? folder + n + 1 : NULL;
    }
  return -1;
}

/* Whether the kernel gives the program of FD other rights than those of this process. */
static bool
is_privileged (int fd, const struct stat *status)
{
  return ((status->st_mode & S_ISUID) && status->st_uid != getuid ()) ||
         ((status->st_mode & S_ISGID) && (status->st_mode & S_IXGRP) &&
          status->st_gid != getgid ()) ||
         (getuid () != 0 && fgetxattr (fd, "security.capability", NULL, 0) > 0);
}

LnsProgramKind
lns_program_kind (const char *program, const char *path, const char **ret_sanitizer)
{
  char name[4096];
  *ret_sanitizer = NULL;
  for (int i = 0; i < LNS_PROGRAM_SCRIPTS_MAX; i++)
    {
      struct stat status;
      const int fd = open_program (program, path);
      if (fd < 0)
        return LNS_PROGRAM_TAKES_PRELOADS;
      LnsProgramKind kind = LNS_PROGRAM_TAKES_PRELOADS;
      LnsProgramFile file = { MAP_FAILED, 0 };
      if (fstat (fd, &status) == 0 && S_ISREG (status.st_mode) && status.st_size > 0)
        file = (LnsProgramFile){ mmap (NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0),
                                 (size_t)status.st_size };
      const bool is_script =
          file.bytes != MAP_FAILED && lns_program_interpreter (&file, name, sizeof name);
      if (file.bytes != MAP_FAILED && !is_script && file.n_bytes > SELFMAG &&
          memcmp (file.bytes, ELFMAG, SELFMAG) == 0)
        kind = lns_program_elf_kind (&file, ret_sanitizer);
      if (kind == LNS_PROGRAM_TAKES_PRELOADS && !is_script && is_privileged (fd, &status))
        kind = LNS_PROGRAM_PRIVILEGED;
      if (file.bytes != MAP_FAILED)
        munmap ((void *)file.bytes, file.n_bytes);
      close (fd);
      if (!is_script)
        return kind;
      program = name;
    }
  return LNS_PROGRAM_TAKES_PRELOADS;
}
