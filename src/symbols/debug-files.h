/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the files that describe a module: the module itself, and the separate file with its names and DWARF. Nothing is
 * used that has another build-id. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/symbols/elf-image.h"

typedef struct
{
  const char *const *folders; /* searched before /usr/lib/debug; not owned */
  size_t n_folders;
  bool
      uses_debuginfod; /* ask the servers in DEBUGINFOD_URLS, through the program debuginfod-find */
  const atomic_bool *stop; /* ends a search that takes long; may be NULL */
} LnsDebugSearch;

typedef struct
{
  char *
      image; /* the module's own file, which says where its addresses are; NULL if none fits. Owned, as the next one is */
  char *
      debug; /* the file with the best names: a separate one or the image; NULL if there is no image */
} LnsDebugFiles;

/* Finds the files of the module that was at PATH and had *BUILD_ID; one of 0 bytes accepts the file at PATH as it is.
 * May run a program that asks servers, and wait for it. Free the result in either case. Any thread. */
LnsDebugFiles
lns_debug_files_find (const LnsDebugSearch *search, const char *path, const LnsBuildId *build_id);
void lns_debug_files_free (LnsDebugFiles *files);
