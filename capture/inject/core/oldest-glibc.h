/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Binds functions of glibc by their oldest versions, so that what is loaded into programs runs on glibc 2.17. Newer
 * versions of these functions lie in libc.so.6, as of glibc 2.34; the oldest are found there and in the libraries of
 * before. */

#pragma once

#if defined(__x86_64__)
# define LNS_OLDEST(function) __asm__(".symver " # function ", " # function "@GLIBC_2.2.5")
#elif defined(__aarch64__)
# define LNS_OLDEST(function) __asm__(".symver " # function ", " # function "@GLIBC_2.17")
#else
# define LNS_OLDEST(function) extern __typeof__ (function) function
#endif
