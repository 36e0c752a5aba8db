/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* walk LIBRARY FILE: reads the buffers that the client wrote to FILE with LIBRARY's cuptiActivityGetNextRecord.
 * Prints the buffer, offset and kind of each record, and for each buffer how the walk ended and how many bytes
 * were left. */

#include <cupti.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void
walk (__typeof__ (cuptiActivityGetNextRecord) *next, size_t number, uint8_t *bytes, uint64_t size)
{
  CUpti_Activity *record = NULL;
  CUptiResult result;
  while ((result = next (bytes, size, &record)) == CUPTI_SUCCESS)
    printf ("%zu %zu %u\n", number, (size_t)((uint8_t *)record - bytes), (unsigned)record->kind);
  printf ("%zu ends with %d\n", number, result);
}

int
main (int argc, char **argv)
{
  void *library = argc == 3 ? dlopen (argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  FILE *file = argc == 3 ? fopen (argv[2], "rb") : NULL;
  if (library == NULL || file == NULL)
    {
      fprintf (stderr, "usage: walk LIBRARY FILE (%s)\n", argc == 3 ? dlerror () : "two arguments");
      return 125;
    }
  __typeof__ (cuptiActivityGetNextRecord) *next;
  *(void **)&next = dlsym (library, "cuptiActivityGetNextRecord");
  uint64_t size;
  for (size_t number = 0; fread (&size, sizeof size, 1, file) == 1; number++)
    {
      uint8_t *bytes = aligned_alloc (8, (size + 7) / 8 * 8);
      if (fread (bytes, 1, size, file) != size)
        return 1;
      walk (next, number, bytes, size);
      free (bytes);
    }
  return 0;
}
