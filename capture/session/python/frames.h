/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The frames of one thread, read while the thread goes on. */

#pragma once

#include "capture/session/python/layout.h"
#include "src/base/array.h"

#include <stdbool.h>
#include <stdint.h>

/* Python's own limit is 1,000 unless a program raises it. */
#define LNS_PYTHON_MOST_FRAMES 1024

typedef struct
{
  uint64_t address;     /* of the frame */
  uint64_t code;        /* of its code object */
  uint64_t instruction; /* address, or up to 3.10 the index of the last instruction */
} LnsPythonRawFrame;

typedef LNS_ARRAY (LnsPythonRawFrame) LnsPythonRawFrames;

/* What is remembered of a thread between samples, so that one system call reads its next one. Zero it before first use. */
typedef struct
{
  uint64_t c_frame;
  LNS_ARRAY (uint64_t) pages; /* on which its frames were, the innermost first */
} LnsPythonWalk;

/* Room for a walk, shared by all threads. */
typedef struct _LnsPythonPages LnsPythonPages;
LnsPythonPages *_lns_python_pages_new (void);
void _lns_python_pages_free (LnsPythonPages *pages);

void _lns_python_walk_clear (LnsPythonWalk *walk);

/* Reads the frames of the thread whose PyThreadState is at THREAD into FRAMES, the innermost first; valid until the next walk
 * with PAGES. Frames that changed while they were read are read again, five times at most; then those remain, from the outermost
 * on, that two readings agree on. Returns how often frames were read again; sets RET_IS_CUT if innermost ones are missing, and
 * RET_LACKS_OUTERMOST if the thread has more than LNS_PYTHON_MOST_FRAMES.
 * A call of 1 to 2 µs, if the thread stands or calls within two pages, plus 0.2 µs for each further page of frames. */
unsigned _lns_python_walk (LnsPythonWalk *walk,
                           LnsPythonPages *pages,
                           int32_t pid,
                           const LnsPythonLayout *layout,
                           uint64_t thread,
                           const LnsPythonRawFrames **ret_frames,
                           bool *ret_is_cut,
                           bool *ret_lacks_outermost);
