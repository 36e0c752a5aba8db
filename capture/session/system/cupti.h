/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a driver of NVIDIA needs of CUPTI. The copies on this machine: capture/wire/cupti-search.h. */

#pragma once

#include <stddef.h>

#include "capture/wire/cupti-search.h"

/* The version of CUDA that the driver supports, as cuDriverGetVersion() tells it (12040), by the TEXT that the kernel's
 * driver tells its version in, such as "NVIDIA UNIX x86_64 Kernel Module  550.54.15". 0: TEXT has none. */
int lns_cupti_driver_cuda (const char *text);

/* Writes the commands that install a CUPTI for DRIVER (12040; 0: not known) to RET_TEXT, of N_MAX bytes. */
void lns_cupti_packages (int driver, char *ret_text, size_t n_max);
