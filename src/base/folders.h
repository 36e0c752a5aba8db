/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The folders that an output lies in. */

#pragma once

#include <sys/types.h>

#include "src/base/error.h"

/* Makes the folders above PATH (what stands before its last slash) that are missing, with MODE less
 * the umask. False with ERROR where one cannot be made; those above it stay. Any thread. */
bool lns_make_folders (const char *path, mode_t mode, LnsError *error);
