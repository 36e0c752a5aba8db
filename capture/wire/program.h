/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the loader will do with the file of a program: whether a preloaded library gets into it, and does no harm there. The
 * session asks for the program that it starts, and the library in that program for those that it starts. Takes no lock,
 * allocates nothing and makes no system call. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel follows this many scripts (BINPRM_MAX_RECURSION in fs/exec.c). */
#define LNS_PROGRAM_SCRIPTS_MAX 5

typedef enum
{
  LNS_PROGRAM_TAKES_PRELOADS, /* or nothing is known of it */
  LNS_PROGRAM_STATIC,         /* no loader runs */
  LNS_PROGRAM_FOREIGN,        /* another C library than glibc, or another kind of processor */
  LNS_PROGRAM_PRIVILEGED,     /* the loader ignores LD_PRELOAD */
  LNS_PROGRAM_SANITIZED,      /* a sanitizer refuses to run behind another library */
} LnsProgramKind;

typedef struct
{
  const char *bytes; /* mapped */
  size_t n_bytes;
} LnsProgramFile;

/* The kind of FILE: LNS_PROGRAM_FOREIGN if it is not an ELF file for this kind of processor, never LNS_PROGRAM_PRIVILEGED.
 * RET_SANITIZER gets the name of a sanitizer (static) with LNS_PROGRAM_SANITIZED, else NULL. */
LnsProgramKind lns_program_elf_kind (const LnsProgramFile *file, const char **ret_sanitizer);

/* Copies the interpreter of the script FILE to RET_NAME, terminated. False if FILE is not a script, or the name has no ROOM. */
bool lns_program_interpreter (const LnsProgramFile *file, char *ret_name, size_t room);
