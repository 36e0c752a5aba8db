/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Several reports beside each other: `lanescope info *.rep`. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Prints how many of the N reports at PATHS are complete, empty and cut off, which ranks they have and lack, and a line for each.
 * They are opened one after the other. False, after an error for each on stderr, if some cannot be read. */
bool lns_cli_print_several (char *const *paths, size_t n);
