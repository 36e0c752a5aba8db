/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Records calls of NVIDIA's libraries as events. liblanescope-libraries.so is preloaded into a program (LD_PRELOAD) only
 * if it was asked for. It has functions with the libraries' names, which pass each call on to the function that the
 * caller would have got without it. A program that loads a library and looks up its functions itself gets the wrappers
 * from dlsym(), too. */

#pragma once

#include "capture/wire/cuda-layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LNS_LIBRARY_FUNCTION __attribute__ ((visibility ("default")))

/* The functions that the injection library offers to the wrappers, which look them up by this name. */
#define LNS_LIBRARY_HOOKS     "lanescope_library_hooks"
#define LNS_LIBRARY_HOOKS_ABI 4u

typedef struct
{
  uint32_t abi;
  /* The time of a call of LIBRARY that begins now, or 0: it is not to be recorded. IS_NESTED: it is
   * made within another call of a library. */
  uint64_t (*begin) (LnsWireLibrary library, bool is_nested);
  /* The time, in ticks. */
  uint64_t (*now) (void);
  /* Records a call that began at BEGIN_TICKS: completes its record of TYPE and N_BYTES, which begins with HEAD.
   * STRING keeps the id of NAME, 0 at first. */
  void (*end) (uint8_t type,
               uint64_t begin_ticks,
               const char *name,
               uint32_t *string,
               uint32_t depth,
               LnsWireHead *head,
               size_t n_bytes);
  /* Reports a communicator that was just made, whose numbers and handles are filled in, and its MEMBERS. */
  void (*define_communicator) (LnsWireMpiCommunicatorBytes *communicator, const int32_t *members);
} LnsLibraryHooks;

/* One function of a library. Static; zero except for what is known about it. */
typedef struct
{
  const char *name;
  const char
      *stream_getter_name; /* of the function that returns the stream of a handle; NULL: none */
  LnsWireLibrary library;
  uint32_t string;
  void *real; /* null: not found yet, or looked up each time */
  void *stream_getter;
} LnsLibraryFunction;

typedef struct
{
  uint64_t begin_ticks; /* 0: not recorded */
  uint32_t depth;
} LnsLibraryCall;

/* A function of a library and the one that stands for it here. */
typedef struct
{
  LnsLibraryFunction *function;
  void *wrapper;
} LnsLibraryWrapper;

/* The wrapper that a caller gets for ADDRESS, which it has looked up as the name of WRAPPED: ADDRESS itself, unless that
 * is the function of the one copy of the library. The copy is never unloaded from then on. */
void *lns_library_wrap (const LnsLibraryWrapper *wrapped, void *address);

/* The hooks of the injection library, looked up once; null if it is not there. */
const LnsLibraryHooks *lns_library_hooks (void);

/* Finds NAME in the loaded object at PATH, or in those that it was linked with, except this library. With a null PATH,
 * looks in the objects loaded after this library. Null if it is not there. */
void *lns_library_symbol (const char *path, const char *name);

/* The real function of FUNCTION for a call from the address CALLER; null if no such library is loaded. */
void *lns_library_find (LnsLibraryFunction *function, void *caller);

LnsLibraryCall lns_library_begin (LnsLibraryFunction *function);

/* Asks HANDLE for its stream; with a null HANDLE, the stream is STREAM. */
void lns_library_end (LnsLibraryFunction *function,
                      const LnsLibraryCall *call,
                      void *handle,
                      uint64_t stream,
                      uint32_t return_value);
