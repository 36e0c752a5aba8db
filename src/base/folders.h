/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Creates the folders of an output file. */

#pragma once

#include <sys/types.h>

#include "src/base/error.h"

/* Creates the missing folders above PATH (the part before its last slash), with MODE less the umask. False with ERROR
 * where one cannot be created; the folders above it remain. Any thread. */
bool lns_make_folders (const char *path, mode_t mode, LnsError *error);
