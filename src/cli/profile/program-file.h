/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the loader will do with the file of a program: whether a preloaded library gets into it. */

#pragma once

#include <stdbool.h>

typedef enum
{
  LNS_PROGRAM_TAKES_PRELOADS, /* or nothing is known of it */
  LNS_PROGRAM_STATIC,         /* no loader runs */
  LNS_PROGRAM_FOREIGN,        /* another C library than glibc, or another kind of processor */
  LNS_PROGRAM_PRIVILEGED,     /* the loader ignores LD_PRELOAD */
  LNS_PROGRAM_SANITIZED,      /* a sanitizer refuses to run behind another library */
} LnsProgramKind;

/* Reads the file that PROGRAM names, which is looked up in the folders of PATH (may be NULL) if it has no slash. Of a
 * script, its interpreter. RET_SANITIZER gets the name of a sanitizer (static) with LNS_PROGRAM_SANITIZED. */
LnsProgramKind lns_program_kind (const char *program, const char *path, const char **ret_sanitizer);
