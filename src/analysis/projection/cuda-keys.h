/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Keys by which calls of the CUDA API are summed up: their names without versions. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/store/read/report.h"

/* The size of the call's name NAME without the version that its symbol bears: "_v3020", but not
 * "_v10000". O(1). */
size_t lns_cuda_call_name_size (const char *name, size_t size_bytes);

/* A key for each string of REPORT, by string id: the first string id of those that differ in their versions alone. To be
 * freed. O(strings), and a copy of them for as long as it takes. */
uint32_t *lns_cuda_call_keys (LnsReport *report);
