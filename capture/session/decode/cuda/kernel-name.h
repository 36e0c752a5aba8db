/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a kernel is called: the module knows it by its mangled C++ name. Thread-safe. */

#pragma once

/* MANGLED (terminated) as C++ has it, or a copy of it where it is no mangled name. To be freed; NULL
 * if memory is short. */
char *lns_kernel_name_demangle (const char *mangled);

/* The function's own name in DEMANGLED: without return type, namespaces, template arguments and
 * parameters ("void a::b<int>(T1)" gives "b"). To be freed; NULL if memory is short. */
char *lns_kernel_name_shorten (const char *demangled);
