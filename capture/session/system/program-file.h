/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the loader will do with the file of a program: whether a preloaded library gets into it. */

#pragma once

#include "capture/wire/program.h"

/* Reads the file that PROGRAM names, which is looked up in the folders of PATH (may be NULL) if it has no slash. Of a
 * script, its interpreter. RET_SANITIZER gets the name of a sanitizer (static) with LNS_PROGRAM_SANITIZED. */
LnsProgramKind lns_program_kind (const char *program, const char *path, const char **ret_sanitizer);
