/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Prints the short name of each mangled name on stdin, one per line. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/session/decode/cuda/kernel-name.h"

int
main (void)
{
  char *line = NULL;
  size_t room = 0;
  while (getline (&line, &room, stdin) > 0)
    {
      line[strcspn (line, "\n")] = '\0';
      char *demangled = lns_kernel_name_demangle (line);
      char *short_name = lns_kernel_name_shorten (demangled);
      puts (short_name);
      free (short_name);
      free (demangled);
    }
  free (line);
  return 0;
}
