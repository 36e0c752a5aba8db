/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/backtraces.h"
#include "capture/inject/core/addresses.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/core/maps.h"
#include "capture/inject/core/stack-words.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"
#include "capture/inject/cuda/calls.h"
#include "capture/inject/cuda/python.h"
#include "capture/inject/cuda/records.h"

/* The chain and what walking needs lie in the stream's memory for names, as the thread's stack may be small. */
#define SCRATCH_BYTES LNS_STACK_WORDS_BYTES
#define CHAIN_BYTES   ((LNS_WIRE_STACK_WORDS_MAX + LNS_CUDA_PYTHON_WORDS_MAX) * sizeof (uint64_t))
_Static_assert(LNS_WALK_SCRATCH_BYTES <= SCRATCH_BYTES, "there is room for both");
_Static_assert(SCRATCH_BYTES + CHAIN_BYTES <= LNS_STRINGS_WIDE_BYTES, "there is room");
_Static_assert(CHAIN_BYTES <= LNS_STRINGS_CACHED_MAX, "each stack is written once");
_Static_assert(LNS_WIRE_CHAIN_MAX <= LNS_WIRE_STACK_WORDS_MAX, "a chain is shorter");
_Static_assert(LNS_STACK_WORDS_BYTES <= LNS_WIRE_STACK_SLOTS * sizeof (uint64_t),
               "each has a place");

/* So often the process's mappings are read. */
#define FOLLOW_MS 1000

static uint64_t threshold_ticks[LNS_WIRE_CALL_CLASSES]; /* UINT64_MAX: not asked for */
static LnsWireClockPair prepared;

void
lns_cuda_prepare_backtraces (void)
{
  if (lns_cuda_options ()->has_callers)
    lns_wire_clock_pair (lns_process.clock, &prepared);
}

/* The ticks in NS. The engine was started since `prepared`, which takes long enough for an error far below 1 %. */
static uint64_t
ticks_of (uint32_t ns, const LnsWireClockPair *now)
{
  const int64_t span_ns = now->monotonic_ns - prepared.monotonic_ns;
  const uint64_t span_ticks = now->ticks - prepared.ticks;
  return span_ns <= 0 ? ns : (uint64_t)((unsigned __int128)ns * span_ticks / (uint64_t)span_ns);
}

void
lns_cuda_enable_backtraces (void)
{
  const LnsWireOptions *options = lns_cuda_options ();
  uint32_t classes = 0;
  LnsWireClockPair now;
  if (!options->has_callers)
    return;
  lns_wire_clock_pair (lns_process.clock, &now);
  for (int class = 0; class < LNS_WIRE_CALL_CLASSES; class ++)
    {
      const uint32_t ns = options->callers_ns[class];
      threshold_ticks[class] = ns == LNS_WIRE_NO_CALLERS ? UINT64_MAX : ticks_of (ns, &now);
      classes |= ns == LNS_WIRE_NO_CALLERS ? 0 : 1u << class;
    }
  lns_addresses_read ();
  lns_cuda_watch_classes (classes, (options->cuda & LNS_WIRE_CUDA_ALL_APIS) != 0);
}

/* --- Chains ----------------------------------------------------------------------------------- */

/* Puts the callers of FRAME into CHAIN, or the words of the stack, if frame pointers do not lead to the start of the thread.
 * Returns how many there are, or why the stack is not read; adds to FLAGS, of LNS_WIRE_CHAIN_…. */
static long
find_callers (
    LnsInjectStream *stream, uintptr_t frame, void *scratch, uint64_t *chain, uint8_t *flags)
{
  bool is_cut;
  const long n = lns_walk (stream->stack, frame, scratch, chain, LNS_WIRE_CHAIN_MAX, &is_cut);
  if (n < 0)
    return n;
  if (is_cut)
    *flags |= LNS_WIRE_CHAIN_CUT;
  else if (n == 0 || !lns_address_is_start (chain[n - 1] - 1))
    {
      *flags |= LNS_WIRE_CHAIN_STACK;
      return lns_stack_words (stream->stack, scratch, chain, LNS_WIRE_STACK_WORDS_MAX);
    }
  return n;
}

/* Writes the chain of a call, which begins at FRAME, into STREAM, which is entered. Returns 0, also if there are no callers,
 * -ENOSPC if there is no room, or why the stack is not read. */
static int
write_chain (
    LnsInjectStream *stream, uint64_t ticks, bool is_runtime, uint32_t correlation, uintptr_t frame)
{
  char *scratch = stream->strings.memory->wide;
  uint64_t *chain = (uint64_t *)(scratch + SCRATCH_BYTES);
  uint8_t flags = is_runtime ? LNS_WIRE_CHAIN_RUNTIME : 0;
  if (stream->stack_of != stream->thread_serial)
    {
      stream->stack = lns_walk_find_stack (stream->tid == lns_process.pid, scratch);
      stream->stack_of = stream->thread_serial;
    }
  const long n_native = find_callers (stream, frame, scratch, chain, &flags);
  if (n_native < 0)
    return (int)n_native;
  const long n = lns_cuda_add_python_callers (stream, chain, (size_t)n_native, &flags);
  if (n <= 0)
    return (int)n;
  const uint32_t string =
      lns_inject_stream_intern (stream, (const char *)chain, (size_t)n * sizeof *chain, NULL);
  if (string == LNS_STRINGS_NO_ROOM ||
      !lns_inject_stream_write_event (stream, lns_wire_chain (ticks, flags, correlation, string)))
    return -ENOSPC;
  return 0;
}

void
lns_cuda_trace_back (bool is_runtime,
                     uint32_t cbid,
                     const CUpti_CallbackData *call,
                     const void *frame)
{
  const uint8_t class = lns_cuda_classes[is_runtime][cbid];
  if (class == 0 || call->correlationData == NULL)
    return;
  const uint64_t ticks = lns_wire_clock_ticks (lns_process.clock);
  if (call->callbackSite == CUPTI_API_ENTER)
    {
      *call->correlationData = ticks;
      return;
    }
  /* 0: callbacks were enabled during the call. */
  if (*call->correlationData == 0 || ticks - *call->correlationData < threshold_ticks[class - 1])
    return;
  LnsInjectStream *stream = lns_inject_stream_enter (LNS_WIRE_LOSS_OTHER);
  if (stream == NULL)
    return;
  const int error = write_chain (stream, ticks, is_runtime, call->correlationId, (uintptr_t)frame);
  if (error == -ENOSPC)
    lns_inject_stream_lose (stream, LNS_WIRE_LOSS_OTHER, sizeof (LnsWireHead));
  lns_inject_stream_leave (stream);
  if (error < 0 && error != -ENOSPC)
    lns_cuda_problem (LNS_WIRE_PROBLEM_STACK, (uint32_t)-error, 0, NULL);
}

/* --- Code ------------------------------------------------------------------------------------- */

void
lns_cuda_follow_code (void)
{
  static int64_t next_ms;
  if (!lns_cuda_options ()->has_callers || lns_inject_monotonic_ms () < next_ms)
    return;
  lns_addresses_read ();
  next_ms = lns_inject_monotonic_ms () + FOLLOW_MS;
}

void
lns_cuda_tell_code (void)
{
  static char buffer[LNS_MAPS_BUFFER_BYTES];
  LnsMapping mapping;
  LnsMaps maps;
  if (!lns_cuda_options ()->has_callers || !lns_maps_open (&maps, buffer, sizeof buffer))
    return;
  while (lns_maps_next (&maps, &mapping))
    if (mapping.is_code)
      {
        LnsWireCodeBytes code = { .head = { .type = LNS_WIRE_CODE },
                                  .n_path_bytes = (uint32_t)mapping.n_path_bytes,
                                  .start = mapping.start,
                                  .end = mapping.end,
                                  .file_offset = mapping.file_offset };
        const LnsPart parts[] = { { .bytes = &code, .n_bytes = sizeof code },
                                  { .bytes = mapping.path, .n_bytes = mapping.n_path_bytes } };
        (void)lns_definitions_add (parts, 2);
      }
  lns_maps_close (&maps);
  lns_inject_stream_send_and_leave (lns_inject_stream_enter_slow (LNS_STREAM_NO_EVENT));
}
