/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads what this process has mapped into its memory, from the kernel, without a lock or an allocation of libc's. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uintptr_t start, end;
  uint64_t file_offset;
  bool is_code;
  const char *path; /* or a name such as "[stack]"; not terminated, gone with the next mapping */
  size_t n_path_bytes;
} LnsMapping;

typedef struct
{
  long fd;
  char *buffer;
  size_t n_max, n, at;
} LnsMaps;

/* A line that is longer than the buffer ends the reading. */
#define LNS_MAPS_BUFFER_BYTES 8192u

/* Begins to read, with BUFFER (N_MAX bytes). Returns false if the kernel does not let us. Close RET_MAPS. */
bool lns_maps_open (LnsMaps *ret_maps, char *buffer, size_t n_max);

/* Returns the next mapping, by ascending addresses, or false behind the last. */
bool lns_maps_next (LnsMaps *maps, LnsMapping *ret_mapping);
void lns_maps_close (LnsMaps *maps);
