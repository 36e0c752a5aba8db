/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* C++ and Rust names as their source has them. */

#pragma once

/* What MANGLED means: parameters and template arguments included, the return type left out, and without Rust's hash. NULL
 * if it is not a mangled name of C++ or Rust, or is too long to be worth it. The caller frees it. A hostile name may take
 * long. Any thread. */
char *lns_demangle (const char *mangled) __attribute__ ((warn_unused_result));
