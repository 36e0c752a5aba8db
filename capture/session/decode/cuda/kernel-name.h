/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The C++ name of a kernel, which its module knows by the mangled name. Thread-safe. */

#pragma once

/* Demangles MANGLED (terminated), or copies it if it is not a mangled name. Free the result; NULL if memory is
 * short. */
char *lns_kernel_name_demangle (const char *mangled);

/* The function's own name in DEMANGLED: without return type, namespaces, template arguments and
 * parameters ("void a::b<int>(T1)" gives "b"). Free the result; NULL if memory is short. */
char *lns_kernel_name_shorten (const char *demangled);
