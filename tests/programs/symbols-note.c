/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/programs/symbols-note.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The offset in its file of the code at ADDRESS. */
static uint64_t
file_offset (uint64_t address)
{
  uint64_t found = 0, start, end, offset;
  char line[4300];
  FILE *maps = fopen ("/proc/self/maps", "re");
  while (maps != NULL && fgets (line, sizeof line, maps) != NULL)
    if (sscanf (line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) == 3 &&
        address >= start && address < end)
      found = address - start + offset;
  if (maps != NULL)
    fclose (maps);
  return found;
}

__attribute__ ((noinline)) void
symbols_note (
    const char *file, const char *frames, int n_lines, int line, int caller_line, int outer_line)
{
  const char *slash = strrchr (file, '/');
  printf ("%" PRIx64 " %s %d %d %d %d %s\n",
          file_offset ((uint64_t)(uintptr_t)__builtin_return_address (0) - 1),
          slash != NULL ? slash + 1 : file, n_lines, line, caller_line, outer_line, frames);
}

void
symbols_note_self (void)
{
  SYMBOLS_NOTE ("symbols_note_self", 1, 0, 0);
}
