/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/backtraces.h"
#include "capture/inject/core/callers.h"
#include "capture/inject/core/system.h"
#include "capture/inject/cuda/calls.h"
#include "capture/inject/cuda/python.h"
#include "capture/inject/cuda/records.h"

_Static_assert(LNS_CALLERS_FIT (LNS_CUDA_PYTHON_WORDS_MAX), "there is room");

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
  (void)lns_callers_follow_code ();
  lns_cuda_watch_classes (classes, (options->cuda & LNS_WIRE_CUDA_ALL_APIS) != 0);
}

/* --- Chains ----------------------------------------------------------------------------------- */

/* Writes the chain of a call, which begins at FRAME, into STREAM, which is entered. Returns 0, also if there are no callers,
 * -ENOSPC if there is no room, or why the stack is not read. */
static int
write_chain (LnsInjectStream *stream,
             uint64_t ticks,
             bool is_runtime,
             uint32_t correlation,
             const void *frame)
{
  uint8_t flags = is_runtime ? LNS_WIRE_CHAIN_RUNTIME : 0;
  uint64_t *chain;
  const long n_native = lns_callers_find (stream, frame, LNS_STACK_WORDS_BYTES, &chain, &flags);
  if (n_native < 0)
    return (int)n_native;
  const long n = lns_cuda_add_python_callers (stream, chain, (size_t)n_native, &flags);
  return n <= 0 ? (int)n : lns_callers_write (stream, ticks, flags, correlation, chain, (size_t)n);
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
  const int error = write_chain (stream, ticks, is_runtime, call->correlationId, frame);
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
  if (lns_cuda_options ()->has_callers)
    (void)lns_callers_follow_code ();
}

void
lns_cuda_tell_code (void)
{
  if (lns_cuda_options ()->has_callers)
    lns_callers_tell_code ();
}
