/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the short name of a kernel. Pure; any thread. */

#pragma once

#include <stddef.h>

/* The function's own name within DEMANGLED (terminated), without return type, namespaces, template arguments and
 * parameters: "b" in "void a::b<int>(T1)". Also finds it in a mangled name that could not be demangled. RET_SIZE_BYTES
 * gets its length. O(size). */
const char *lns_kernel_text_short (const char *demangled, size_t *ret_size_bytes);
