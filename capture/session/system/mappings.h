/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The code that a process has mapped into its memory. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct
{
  uint64_t start, end, file_offset;
  const char *path; /* or a name such as "[vdso]"; "" for code that was made at run time */
} LnsMappedCode;

/* Calls TAKE with DATA for each stretch of code that PID has mapped, by ascending addresses. Returns false if PID has ended or
 * cannot be looked into. O(mappings) */
bool lns_mapped_code_read (int32_t pid,
                           void (*take) (void *data, const LnsMappedCode *code),
                           void *data);
