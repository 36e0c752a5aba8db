/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The build-id of an ELF file: a hash by which debug information finds it on any machine. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#define LNS_BUILD_ID_BYTES 20

/* Reads the build-id of the file at PATH into RET_ID. Returns how many bytes it has, 0 if there is none or it cannot be read. */
size_t lns_build_id_read (const char *path, uint8_t ret_id[static LNS_BUILD_ID_BYTES]);
