/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The vdso: code that the kernel maps into each process. No file holds it, so it is read from this process's own memory,
 * which is that of other processes if its build-id is. */

#pragma once

#include "src/symbols/elf-image.h"

/* The image of this process's vdso. NULL if there is none. Any thread. */
LnsElfImage *lns_vdso_open (void) __attribute__ ((warn_unused_result));
