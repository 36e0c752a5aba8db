/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions that the wrappers of libraries' functions call; see preload/libraries.h. */

#include "capture/inject/core/definitions.h"
#include "capture/inject/core/process.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"
#include "capture/inject/preload/libraries.h"
#include "capture/inject/core/join.h"

LNS_LIBRARY_FUNCTION const LnsLibraryHooks *lanescope_library_hooks (void);

/* Whether LIBRARY is traced; if IS_NESTED, also within calls of libraries. */
static bool
is_asked_for (LnsWireLibrary library, bool is_nested)
{
  /* By LnsWireLibrary: the traces that ask for the calls that the program makes, and for all. */
  static const struct
  {
    uint32_t outer, all;
  } asking[LNS_WIRE_N_LIBRARIES] = {
    [LNS_WIRE_CUBLAS] = { LNS_WIRE_TRACE_CUBLAS, LNS_WIRE_TRACE_CUBLAS_VERBOSE },
    [LNS_WIRE_CUBLAS_LT] = { LNS_WIRE_TRACE_CUBLAS, LNS_WIRE_TRACE_CUBLAS_VERBOSE },
    [LNS_WIRE_CUDNN] = { 0, LNS_WIRE_TRACE_CUDNN },
    [LNS_WIRE_MPI] = { 0, LNS_WIRE_TRACE_MPI },
    [LNS_WIRE_CUSPARSE] = { LNS_WIRE_TRACE_CUSPARSE, LNS_WIRE_TRACE_CUSPARSE_VERBOSE },
    [LNS_WIRE_CUSOLVER] = { LNS_WIRE_TRACE_CUSOLVER, LNS_WIRE_TRACE_CUSOLVER_VERBOSE },
    [LNS_WIRE_CUSOLVER_MG] = { LNS_WIRE_TRACE_CUSOLVER, LNS_WIRE_TRACE_CUSOLVER_VERBOSE },
  };
  const uint32_t traces = lns_process.pool.header->options.traces;
  return (traces & (asking[library].all | (is_nested ? 0 : asking[library].outer))) != 0;
}

static uint64_t
now (void)
{
  return lns_wire_clock_ticks (lns_process.clock);
}

static uint64_t
begin (LnsWireLibrary library, bool is_nested)
{
  if (lns_process_joined () < LNS_GENERATION_FIRST || !is_asked_for (library, is_nested) ||
      !__atomic_load_n (&lns_process.pool.header->recording, __ATOMIC_RELAXED))
    return 0;
  return now ();
}

static void
end (uint8_t type,
     uint64_t begin_ticks,
     const char *name,
     uint32_t *string,
     uint32_t depth,
     LnsWireHead *head,
     size_t n_bytes)
{
  if (lns_process_generation () < LNS_GENERATION_FIRST)
    return; /* a fork's child: the call began in the parent */
  if (*string == 0)
    *string = lns_definitions_string (0, name, strlen (name));
  LnsInjectStream *stream = lns_inject_stream_enter (LNS_WIRE_LOSS_OTHER);
  if (stream == NULL)
    return;
  lns_inject_stream_send_definitions (stream); /* the name comes before its first use */
  *head = (LnsWireHead){ .ticks = begin_ticks,
                         .type = type,
                         .depth = (uint8_t)(depth < 255 ? depth : 255),
                         .string = *string };
  LnsPart whole = { .bytes = head, .n_bytes = n_bytes };
  if (lns_inject_stream_write_parts (stream, &whole, 1) < 0)
    lns_inject_stream_lose (stream, LNS_WIRE_LOSS_OTHER, n_bytes);
  lns_inject_stream_leave (stream);
}

/* Keeps the communicator and sends it like a definition of NVTX, even if nothing is recorded yet. */
static void
define_communicator (LnsWireMpiCommunicatorBytes *communicator, const int32_t *members)
{
  if (lns_process_joined () < LNS_GENERATION_FIRST || !is_asked_for (LNS_WIRE_MPI, false))
    return;
  communicator->head = (LnsWireHead){ .ticks = now (), .type = LNS_WIRE_MPI_COMMUNICATOR };
  LnsPart parts[] = { { .bytes = communicator, .n_bytes = sizeof *communicator },
                      { .bytes = members, .n_bytes = communicator->n_members * sizeof *members } };
  (void)lns_definitions_add (parts, 2);
}

const LnsLibraryHooks *
lanescope_library_hooks (void)
{
  static const LnsLibraryHooks hooks = { LNS_LIBRARY_HOOKS_ABI, begin, now, end,
                                         define_communicator };
  return &hooks;
}
