/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How the session knows the system calls that a program makes for Lanescope alone (-t syscall). Our libraries make theirs in
 * their own code, where the kernel sees the program counter. What others do for them, such as the loader and CUPTI, lies between
 * two marks of the thread: calls of gettid(), which ignores its parameters, with one of these as the first. */

#pragma once

#include <stdint.h>

/* How the file names of our libraries begin. */
#define LNS_WIRE_OWN_LIBRARY "liblanescope-"

/* A thread that has begun may begin again; the first end counts. */
#define LNS_WIRE_OWN_BEGIN UINT64_C (0x6c616e65626567)
#define LNS_WIRE_OWN_END   UINT64_C (0x6c616e65656e64)
