/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/vdso.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>

LnsElfImage *
lns_vdso_open (void)
{
  const uintptr_t start = getauxval (AT_SYSINFO_EHDR);
  FILE *maps = start != 0 ? fopen ("/proc/self/maps", "re") : NULL;
  LnsElfImage *image = NULL;
  char line[4096 + 128];
  while (maps != NULL && image == NULL && fgets (line, sizeof line, maps) != NULL)
    {
      uintptr_t from, to;
      if (sscanf (line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 && from == start)
        image = lns_elf_image_from_bytes ((const void *)start,
                                          to - from); /* NOLINT: an address of this process */
    }
  if (maps != NULL)
    fclose (maps);
  return image;
}
