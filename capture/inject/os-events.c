/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions that the wrappers of the C library's functions call; see preload/os.h. */

#include "capture/inject/core/callers.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/core/join.h"
#include "capture/inject/core/own-work.h"
#include "capture/inject/core/process.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"
#include "capture/inject/preload/os.h"

LNS_OS_EXPORT const LnsOsHooks *lanescope_os_hooks (void);

static bool
begin (LnsOsSettings *ret_settings)
{
  if (lns_process_joined () < LNS_GENERATION_FIRST)
    return false;
  const LnsWireOptions *options = &lns_process.pool.header->options;
  *ret_settings = (LnsOsSettings){ .clock = lns_process.clock,
                                   .threshold_ns = options->os_threshold_ns,
                                   .callers_ns = options->os_callers_ns,
                                   .has_files = options->os_files != 0 };
  return options->traces & LNS_WIRE_TRACE_OS;
}

static void
refuse (LnsOsSanitizer sanitizer)
{
  LnsWireOsRefusedBytes refused = { .head = { .type = LNS_WIRE_OS_REFUSED },
                                    .n_bytes = sizeof refused,
                                    .reason = sanitizer };
  lns_inject_stream_tell (&refused, sizeof refused);
}

/* Whether this is the child of a fork that has not joined the session and has no list of robust mutexes. glibc makes one
 * for each process and thread, but not for a child of vfork(), which runs in its parent's memory and must not join
 * there, and not for that of a bare clone(). */
static bool
is_unsettled (void)
{
  void *mutexes = NULL;
  size_t n_bytes = 0;
  return lns_process_generation () == LNS_GENERATION_FRESH &&
         LNS_SYSCALL (SYS_get_robust_list, 0, &mutexes, &n_bytes) == 0 && mutexes == NULL;
}

/* Set by the linker: where this library begins and ends in memory. */
extern const char __ehdr_start[] __attribute__ ((visibility ("hidden")));
extern const char _end[] __attribute__ ((visibility ("hidden")));

static bool
is_own (const void *caller)
{
  return (const char *)caller >= __ehdr_start && (const char *)caller < _end;
}

/* Notes, once, that callers are missing because the kernel refuses to read a stack with ERROR. */
static void
tell_unread (int error)
{
  static bool is_told;
  LnsWireOsRefusedBytes refused = { .head = { .type = LNS_WIRE_OS_UNREAD },
                                    .n_bytes = sizeof refused,
                                    .reason = (uint32_t)-error };
  if (!__atomic_exchange_n (&is_told, true, __ATOMIC_RELAXED))
    lns_inject_stream_tell (&refused, sizeof refused);
}

/* Writes the callers of CALL, which comes next, into STREAM, which is entered. Returns 0, -ENOSPC if there is no room, or why
 * the stack is not read. */
static int
write_callers (LnsInjectStream *stream, const LnsWireOsCallBytes *call, const void *frame)
{
  const LnsWireOptions *options = &lns_process.pool.header->options;
  uint8_t flags = LNS_WIRE_CHAIN_OS;
  uint64_t *chain;
  const long n = lns_callers_find (stream, frame, options->os_stack_bytes, &chain, &flags);
  return n <= 0 ? (int)n
                : lns_callers_write (stream, call->head.ticks, flags, options->os_callers_most,
                                     chain, (size_t)n);
}

static void
write_call (LnsWireOsCallBytes *call, bool has_callers)
{
  /* A thread that is in the handshake would wait for itself, and others would wait for it. */
  if (lns_own_work_goes_on () || lns_process_generation () == LNS_GENERATION_STARTING ||
      is_unsettled () || lns_process_joined () < LNS_GENERATION_FIRST)
    return;
  /* The child of a vfork() shares this memory, and even the stream of the thread that waits for it. */
  if ((uint32_t)LNS_SYSCALL (SYS_getpid) != lns_process.pid)
    return;
  if (has_callers && lns_callers_follow_code ())
    lns_callers_tell_code ();
  LnsInjectStream *stream = lns_inject_stream_enter (LNS_WIRE_LOSS_OTHER);
  if (stream == NULL)
    return;
  if (call->file != 0)
    lns_inject_stream_send_definitions (stream); /* the path comes before its first use */
  const int error = has_callers ? write_callers (stream, call, __builtin_frame_address (0)) : 0;
  LnsPart whole = { .bytes = call, .n_bytes = sizeof *call };
  if (lns_inject_stream_write_parts (stream, &whole, 1) < 0)
    lns_inject_stream_lose (stream, LNS_WIRE_LOSS_OTHER, sizeof *call);
  lns_inject_stream_leave (stream);
  if (error < 0 && error != -ENOSPC)
    tell_unread (error);
}

static uint32_t
name_file (const char *path, size_t n_bytes)
{
  return lns_definitions_string (0, path, n_bytes);
}

const LnsOsHooks *
lanescope_os_hooks (void)
{
  static const LnsOsHooks hooks = {
    LNS_OS_HOOKS_ABI, begin, refuse, is_own, write_call, name_file
  };
  return &hooks;
}
