/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The Python functions among the callers of CUDA calls. They are read from the memory of the interpreter: nothing of Python
 * is called but PyGILState_GetThisThreadState (), which works without the GIL, takes no lock, and returns what is the
 * thread's own.
 *
 * The frames of a thread, the code objects in them, and what these refer to change only by the thread itself, which is in
 * a call of CUDA, or when another thread, the one that ends the interpreter, frees them. The program's first thread reads
 * them as they are, since it is the one that ends it; any other has the kernel read them, which refuses where we would
 * fault. */

#pragma once

#include "capture/inject/core/stream.h"
#include "capture/wire/call-chains.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks for an interpreter of CPython, if Python functions are asked for and none was found yet. Calls the dynamic linker,
 * so not inside a call of the program. */
void lns_cuda_find_python (void);

/* lns_cuda_add_python_callers () needs room for so many. */
#define LNS_CUDA_PYTHON_WORDS_MAX (3 + LNS_WIRE_CHAIN_PYTHON_MAX)

/* Puts words for this thread's Python functions (lns_wire_chain_python ()) behind the addresses among the N at CHAIN that are
 * not the interpreter's, or behind the words of a stack if FLAGS has LNS_WIRE_CHAIN_STACK. Leaves all as it is if the
 * thread is in no Python function. Writes the functions that are new into STREAM, which is entered. Returns how many words
 * there are, or -ENOSPC; sets LNS_WIRE_CHAIN_CUT in FLAGS if outermost functions are missing, and clears it if not. */
long
lns_cuda_add_python_callers (LnsInjectStream *stream, uint64_t *chain, size_t n, uint8_t *flags);
