/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The names that Python programs give to threads (threading.Thread.name): CPython before 3.14 does not tell them to the system. */

#pragma once

#include "capture/session/python/layout.h"

#include <stdint.h>

/* Zero it before first use, for each process. */
typedef struct
{
  uint64_t
      key; /* the address of the str "_name", by which all threads know the attribute; 0: not found yet */
} LnsPythonNameKey;

/* The name of the thread of PID whose outermost frame, of Thread._bootstrap () in threading.py, which has the code object CODE, is
 * at FRAME. The frame keeps its object, so that a name that is read while the thread stays in the frame is right. Returns a text that the caller frees;
 * NULL if the name is not known: the version keeps it elsewhere, it was changed just now, or memory is short. About ten system
 * calls, and one for each attribute the first time. */
char *_lns_python_thread_name (LnsPythonNameKey *key,
                               int32_t pid,
                               const LnsPythonLayout *layout,
                               uint64_t frame,
                               uint64_t code);
