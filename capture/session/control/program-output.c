/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/control/program-output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The disk space that a file may take before that of its beginning is freed. */
#define TRIM_BYTES (8 << 20)

/* The size of a meta value. */
#define PIECE_BYTES (16 << 10)

/* A file without a name in FOLDER, or -1 and errno. */
static int
open_nameless (const char *folder)
{
  char path[PATH_MAX];
  int fd = open (folder, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
  if (fd >= 0 || snprintf (path, sizeof path, "%s/lanescope-output-XXXXXX", folder) >= PATH_MAX)
    return fd;
  fd = mkostemp (path, O_APPEND | O_CLOEXEC);
  if (fd >= 0)
    unlink (path);
  return fd;
}

bool
lns_program_output_open (LnsProgramOutput *output, LnsError *error)
{
  const char *folder = getenv ("TMPDIR");
  if (folder == NULL || folder[0] == '\0')
    folder = "/tmp";
  bool done = true;
  for (int i = 0; i < 2; i++)
    {
      int fd = open_nameless (folder);
      if (fd < 0 && done)
        done = lns_error_set_errno (error, errno, "cannot make a file in %s", folder);
      if (fd < 0)
        fd = open ("/dev/null", O_WRONLY | O_CLOEXEC);
      /* Above 2, as the program gets them as 1 and 2. */
      output->fds[i] = fd >= 0 && fd < 3 ? fcntl (fd, F_DUPFD_CLOEXEC, 3) : fd;
      if (fd >= 0 && fd < 3)
        close (fd);
    }
  return done;
}

void
lns_program_output_trim (const LnsProgramOutput *output)
{
  struct stat status;
  for (int i = 0; i < 2; i++)
    if (output->fds[i] >= 0 && fstat (output->fds[i], &status) == 0 && S_ISREG (status.st_mode) &&
        status.st_blocks * 512 > TRIM_BYTES && status.st_size > 2 * LNS_PROGRAM_OUTPUT_BYTES)
      fallocate (output->fds[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                 status.st_size - 2 * LNS_PROGRAM_OUTPUT_BYTES);
}

/* The last N_MAX bytes of the file FD, as text; owned by the caller. NULL if it is empty. */
static char *
read_last (int fd, size_t n_max)
{
  struct stat status;
  if (fd < 0 || fstat (fd, &status) != 0 || !S_ISREG (status.st_mode) || status.st_size == 0)
    return NULL;
  char *text = malloc (n_max + 1);
  const off_t from = status.st_size > (off_t)n_max ? status.st_size - (off_t)n_max : 0;
  const ssize_t n = text != NULL ? pread (fd, text, n_max, from) : -1;
  if (n <= 0)
    {
      free (text);
      return NULL;
    }
  for (ssize_t i = 0; i < n; i++)
    if (text[i] == '\0')
      text[i] = ' ';
  text[n] = '\0';
  return text;
}

/* The size of a piece of the N bytes at TEXT. It does not end within a character. */
static size_t
piece_bytes (const char *text, size_t n)
{
  size_t n_piece = n < PIECE_BYTES ? n : PIECE_BYTES;
  for (int i = 0; i < 3 && n_piece < n && ((unsigned char)text[n_piece] & 0xc0) == 0x80; i++)
    n_piece--;
  return n_piece;
}

void
lns_program_output_store (const LnsProgramOutput *output, LnsWriter *report)
{
  static const char *const names[] = { "stdout", "stderr" };
  for (int i = 0; i < 2; i++)
    {
      char *text = read_last (output->fds[i], LNS_PROGRAM_OUTPUT_BYTES);
      size_t n = text != NULL ? strlen (text) : 0, n_piece;
      unsigned number = 0;
      for (char *at = text; n > 0; at += n_piece, n -= n_piece)
        {
          char key[24], piece[PIECE_BYTES + 1];
          n_piece = piece_bytes (at, n);
          memcpy (piece, at, n_piece);
          piece[n_piece] = '\0';
          snprintf (key, sizeof key, "%s.%u", names[i], number++);
          lns_writer_set_meta (report, key, piece);
        }
      free (text);
    }
}

void
lns_program_output_close (LnsProgramOutput *output)
{
  for (int i = 0; i < 2; i++)
    if (output->fds[i] >= 0)
      close (output->fds[i]);
  *output = LNS_PROGRAM_OUTPUT_NOWHERE;
}
