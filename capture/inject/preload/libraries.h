/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Calls of NVIDIA's libraries, as events. liblanescope-libraries.so is loaded first into a program
 * (LD_PRELOAD), only where it was asked for, and has functions of the libraries' names, which pass
 * each call on to the copy that the caller would have got without it. A program that loads a library
 * and looks its functions up by itself is not seen, and not disturbed. */

#pragma once

#include "capture/wire/cuda-layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LNS_LIBRARY_FUNCTION __attribute__ ((visibility ("default")))

/* What the injection offers to the wrappers; looked up in it by this name. */
#define LNS_LIBRARY_HOOKS     "lanescope_library_hooks"
#define LNS_LIBRARY_HOOKS_ABI 3u

typedef struct
{
  uint32_t abi;
  /* The time of a call of LIBRARY that begins now, or 0: it is not to be recorded. IS_NESTED: it is
   * made within another call of a library. */
  uint64_t (*begin) (LnsWireLibrary library, bool is_nested);
  /* Records it. STRING keeps what NAME is known as, 0 at first. */
  void (*end) (uint64_t begin_ticks,
               LnsWireLibrary library,
               const char *name,
               uint32_t *string,
               uint32_t depth,
               uint64_t stream,
               uint32_t return_value);
  /* The same of a call of MPI: CALL's class, sizes, handles and numbers are filled in. */
  void (*end_mpi) (uint64_t begin_ticks,
                   const char *name,
                   uint32_t *string,
                   uint32_t depth,
                   LnsWireMpiCallBytes *call);
  /* Tells of a communicator, made just now, whose numbers and handles are filled in; MEMBERS: as many as it
   * says. */
  void (*define_communicator) (LnsWireMpiCommunicatorBytes *communicator, const int32_t *members);
} LnsLibraryHooks;

/* One function of a library; static, zero but for what is known of it. */
typedef struct
{
  const char *name;
  LnsWireLibrary library;
  uint32_t string;
  void *real; /* null: not found yet, or to be looked for each time */
  void *stream_getter;
} LnsLibraryFunction;

typedef struct
{
  uint64_t begin_ticks; /* 0: not recorded */
  uint32_t depth;
} LnsLibraryCall;

/* What the injection offers, found once; null where it is not there. */
const LnsLibraryHooks *lns_library_hooks (void);

/* NAME in the object at PATH, which is loaded, or in what that was linked with, but for this very
 * library; PATH null: in what is loaded after this library. Null where it is not there. */
void *lns_library_symbol (const char *path, const char *name);

/* The function behind FUNCTION, for who calls from CALLER; null where no such library is loaded. */
void *lns_library_find (LnsLibraryFunction *function, void *caller);

LnsLibraryCall lns_library_begin (LnsLibraryFunction *function);

/* HANDLE (null: none) is asked for its stream, which else is STREAM. */
void lns_library_end (LnsLibraryFunction *function,
                      const LnsLibraryCall *call,
                      void *handle,
                      uint64_t stream,
                      uint32_t return_value);
