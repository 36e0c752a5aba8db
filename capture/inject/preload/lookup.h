/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions that dlsym() of this library looks for. */

#pragma once

#include "capture/inject/preload/libraries.h"

/* All wrappers, which generate-libraries.py makes, in the order of their names by strcmp(). */
extern const LnsLibraryWrapper lns_library_wrappers[];
extern const size_t lns_n_library_wrappers;
