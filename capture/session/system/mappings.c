/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/mappings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
lns_mapped_code_read (int32_t pid, void (*take) (void *data, const LnsMappedCode *code), void *data)
{
  char path[64], *line = NULL;
  size_t n_room = 0;
  bool has_any = false;
  snprintf (path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen (path, "re");
  while (maps != NULL && getline (&line, &n_room, maps) > 0)
    {
      LnsMappedCode code;
      char rights[5];
      int n_before = 0;
      line[strcspn (line, "\n")] = '\0';
      has_any = true;
      if (sscanf (line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &code.start,
                  &code.end, rights, &code.file_offset, &n_before) < 4 ||
          n_before == 0 || rights[2] != 'x')
        continue;
      code.path = line + n_before;
      take (data, &code);
    }
  if (maps != NULL)
    fclose (maps);
  free (line);
  return has_any;
}
