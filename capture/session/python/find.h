/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the Python interpreter in the memory of a process, wherever it was linked from. */

#pragma once

#include "capture/session/python/layout.h"

#include <stdbool.h>
#include <stdint.h>

/* Looks through the modules that PID has mapped, executable or library, position-independent or not, for the one that
 * defines _PyRuntime, by the symbol tables that lie in their memory for the dynamic linker: deleted files and other mount
 * namespaces do not matter. An executable without a dynamic symbol table is not found.
 * Returns false with errno set: 0 if no module has it, EPERM or EACCES if PID must not be looked into, ESRCH if it is gone.
 * O(modules), some 10 µs for each. */
bool _lns_python_find (int32_t pid, LnsPythonPlace *ret_place);
