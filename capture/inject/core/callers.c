/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/callers.h"
#include "capture/inject/core/addresses.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/core/maps.h"
#include "capture/inject/core/system.h"

#include <errno.h>

/* So often the process's mappings are read, and a tenth of the time at most. */
#define FOLLOW_MS     1000
#define FOLLOW_PAUSES 10

_Static_assert(LNS_WALK_SCRATCH_BYTES <= LNS_STACK_WORDS_BYTES, "there is room for both");
_Static_assert(LNS_WIRE_CHAIN_MAX <= LNS_WIRE_STACK_WORDS_MAX, "a chain is shorter");
_Static_assert(LNS_STACK_WORDS_BYTES <= LNS_WIRE_STACK_SLOTS * sizeof (uint64_t),
               "each has a place");
_Static_assert(LNS_CALLERS_FIT (0), "there is room, and each stack is written once");

long
lns_callers_find (LnsInjectStream *stream,
                  const void *frame,
                  size_t n_stack_bytes,
                  uint64_t **ret_chain,
                  uint8_t *flags)
{
  char *scratch = stream->strings.memory->wide;
  uint64_t *chain = (uint64_t *)(scratch + LNS_STACK_WORDS_BYTES);
  bool is_cut;
  *ret_chain = chain;
  if (stream->stack_of != stream->thread_serial)
    {
      stream->stack = lns_walk_find_stack (stream->tid == lns_process.pid, scratch);
      stream->stack_of = stream->thread_serial;
    }
  /* The same addresses may be of other code: they are written anew, so that the session looks them up again. */
  const uint32_t generation = lns_addresses_generation ();
  if (stream->code_generation != generation)
    lns_strings_clear (&stream->strings);
  stream->code_generation = generation;
  *flags |= (uint8_t)(generation * LNS_WIRE_CHAIN_CODE);
  const long n =
      lns_walk (stream->stack, (uintptr_t)frame, scratch, chain, LNS_WIRE_CHAIN_MAX, &is_cut);
  if (n < 0)
    return n;
  if (is_cut)
    *flags |= LNS_WIRE_CHAIN_CUT;
  else if (n == 0 || !lns_address_is_start (chain[n - 1] - 1))
    {
      *flags |= LNS_WIRE_CHAIN_STACK;
      return lns_stack_words (stream->stack, n_stack_bytes, scratch, chain,
                              LNS_WIRE_STACK_WORDS_MAX);
    }
  return n;
}

int
lns_callers_write (LnsInjectStream *stream,
                   uint64_t ticks,
                   uint8_t flags,
                   uint32_t correlation,
                   const uint64_t *chain,
                   size_t n)
{
  const uint32_t string =
      lns_inject_stream_intern (stream, (const char *)chain, n * sizeof *chain, NULL);
  return string != LNS_STRINGS_NO_ROOM &&
                 lns_inject_stream_write_event (stream,
                                                lns_wire_chain (ticks, flags, correlation, string))
             ? 0
             : -ENOSPC;
}

bool
lns_callers_follow_code (void)
{
  static bool is_busy;
  static int64_t next_ms;
  const int64_t now_ms = lns_inject_monotonic_ms ();
  if (now_ms < __atomic_load_n (&next_ms, __ATOMIC_RELAXED) ||
      __atomic_exchange_n (&is_busy, true, __ATOMIC_ACQUIRE))
    return false;
  lns_addresses_read ();
  const int64_t end_ms = lns_inject_monotonic_ms (), pause_ms = FOLLOW_PAUSES * (end_ms - now_ms);
  __atomic_store_n (&next_ms, end_ms + (pause_ms > FOLLOW_MS ? pause_ms : FOLLOW_MS),
                    __ATOMIC_RELAXED);
  __atomic_store_n (&is_busy, false, __ATOMIC_RELEASE);
  return true;
}

void
lns_callers_tell_code (void)
{
  static char buffer[LNS_MAPS_BUFFER_BYTES];
  LnsMapping mapping;
  LnsMaps maps;
  if (!lns_maps_open (&maps, buffer, sizeof buffer))
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
