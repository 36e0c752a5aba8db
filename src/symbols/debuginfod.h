/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Files from debuginfod servers. The program debuginfod-find of elfutils brings them and keeps them in its own cache; so no
 * network code is linked. */

#pragma once

#include <stdatomic.h>

#include "src/symbols/elf-image.h"

/* The path of the file of KIND ("debuginfo" or "executable") with BUILD_ID, which the caller frees. NULL if
 * DEBUGINFOD_URLS is not set, the program is missing, no server has the file, or *STOP (may be NULL) becomes true. Waits as
 * long as the program does; DEBUGINFOD_TIMEOUT bounds that. Any thread. */
char *lns_debuginfod_find (const char *kind, const LnsBuildId *build_id, const atomic_bool *stop)
    __attribute__ ((warn_unused_result));
