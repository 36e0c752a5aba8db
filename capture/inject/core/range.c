/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/range.h"
#include "capture/inject/core/connection.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/core/join.h"
#include "capture/inject/core/system.h"
#include "capture/wire/cuda-layout.h"

/* Of lns_own.range_state: the serial of the requested range, the number of ranges that began since then, and two flags:
 * a range is open, and a thread is about to end it. */
#define OPEN             UINT64_C (1)
#define ENDING           UINT64_C (2)
#define STATE(Serial, N) ((uint64_t)(Serial) << 32 | (uint64_t)(N) << 2)
#define N_BEGUN(State)   ((uint32_t)(State) >> 2)
#define SERIAL_OF(State) ((uint32_t)((State) >> 32))

static const LnsWireOptions *
options (void)
{
  return &lns_process.pool.header->options;
}

static bool
is_kind (LnsWireRangeKind kind)
{
  return lns_process_generation () >= LNS_GENERATION_FIRST &&
         __atomic_load_n (&options ()->range_kind, __ATOMIC_ACQUIRE) == (uint32_t)kind;
}

/* The state of the range that is requested now. */
static uint64_t
state_now (void)
{
  const uint32_t serial = __atomic_load_n (&options ()->range_serial, __ATOMIC_ACQUIRE);
  const uint64_t now = __atomic_load_n (&lns_own.range_state, __ATOMIC_ACQUIRE);
  return SERIAL_OF (now) == serial ? now : STATE (serial, 0);
}

/* The number of ranges to record; 0: all. */
static uint32_t
n_max (void)
{
  uint32_t end = options ()->range_end;
  bool repeats = end == LNS_WIRE_RANGE_END_REPEAT || end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN;
  return repeats ? options ()->n_ranges : 1;
}

/* Publishes TOLD in the pool, where the session reads it if the notice is lost. A thread that ends a range may be
 * faster than the thread that began it. */
static void
publish (uint64_t told)
{
  uint64_t *word = &lns_process.pool.header->ranges_told;
  uint64_t known = __atomic_load_n (word, __ATOMIC_RELAXED);
  while (known < told && !__atomic_compare_exchange_n (word, &known, told, false, __ATOMIC_RELEASE,
                                                       __ATOMIC_RELAXED))
    ;
}

/* Reports that the range of KNOWN, a state, began or ended. The record is written first, so that the session knows by
 * its time which events belong to the range. */
static void
tell (bool is_end, uint64_t known)
{
  const char *name = options ()->range_message;
  size_t n_name = strnlen (name, LNS_WIRE_RANGE_TEXT_BYTES - 1);
  LnsWireRangeBytes record = {
    .head = { .ticks = lns_wire_clock_ticks (lns_process.clock),
              .type = LNS_WIRE_RANGE,
              .string = n_name == 0 ? 0 : lns_definitions_string (0, name, n_name) },
    .is_end = is_end,
  };
  lns_inject_stream_tell (&record, sizeof record);
  publish (LNS_WIRE_RANGES_TOLD (SERIAL_OF (known), N_BEGUN (known), is_end));
  LnsWireNotice notice = { .magic = LNS_WIRE_MAGIC,
                           .kind =
                               is_end ? LNS_WIRE_NOTICE_RANGE_ENDED : LNS_WIRE_NOTICE_RANGE_BEGAN,
                           .value = N_BEGUN (known) };
  (void)lns_connection_notify (&notice);
}

bool
lns_range_begin (LnsWireRangeKind kind)
{
  if (!is_kind (kind))
    return false;
  LNS_KEEP_ERRNO;
  const uint32_t most = n_max ();
  uint64_t known = __atomic_load_n (&lns_own.range_state, __ATOMIC_ACQUIRE), before, open;
  do
    {
      before = state_now ();
      if ((before & OPEN) || (most != 0 && N_BEGUN (before) >= most))
        return false;
      open = STATE (SERIAL_OF (before), N_BEGUN (before) + 1) | OPEN;
    }
  while (!__atomic_compare_exchange_n (&lns_own.range_state, &known, open, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE));
  lns_own.range_pushed.stream = 0;
  lns_own.range_started = 0;
  tell (false, open);
  __atomic_fetch_or (&lns_process.pool.header->recording, LNS_WIRE_RECORDING_RANGE,
                     __ATOMIC_RELEASE);
  lns_process_recording_changed ();
  return true;
}

bool
lns_range_end (LnsWireRangeKind kind)
{
  uint64_t open = is_kind (kind) ? state_now () : 0;
  if (!(open & OPEN) || (open & ENDING) || options ()->range_end == LNS_WIRE_RANGE_END_NONE ||
      !__atomic_compare_exchange_n (&lns_own.range_state, &open, open | ENDING, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return false;
  LNS_KEEP_ERRNO;
  lns_own.range_pushed.stream = 0;
  lns_own.range_started = 0;
  /* Ranges of other processes may go on. */
  __atomic_fetch_and (&lns_process.pool.header->recording, ~(uint32_t)LNS_WIRE_RECORDING_RANGE,
                      __ATOMIC_RELEASE);
  tell (true, open);
  lns_process_recording_changed ();
  uint64_t ending = open | ENDING;
  (void)__atomic_compare_exchange_n (&lns_own.range_state, &ending, open & ~OPEN, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return true;
}

/* --- By NVTX. -------------------------------------------------------------------------------- */

static bool
is_asked_for (uint32_t domain)
{
  if (options ()->range_any_domain)
    return true;
  const char *name = options ()->range_domain;
  size_t n_name = strnlen (name, LNS_WIRE_RANGE_TEXT_BYTES - 1);
  return domain == (n_name == 0 ? 0 : lns_definitions_domain (name, n_name));
}

static bool
is_named (uint32_t domain, int32_t type, LnsNvtxMessage message)
{
  const char *name = options ()->range_message;
  size_t n_name = strnlen (name, LNS_WIRE_RANGE_TEXT_BYTES - 1);
  if (type == LNS_NVTX_MESSAGE_REGISTERED)
    return (uintptr_t)message.registered == lns_definitions_string (domain, name, n_name);
  if (message.ascii == NULL)
    return false;
  if (type == LNS_NVTX_MESSAGE_ASCII)
    return strcmp (message.ascii, name) == 0;
  char text[LNS_WIRE_RANGE_TEXT_BYTES];
  return type == LNS_NVTX_MESSAGE_WIDE &&
         lns_utf8_from_wide (message.wide, text, sizeof text) == n_name &&
         memcmp (text, name, n_name) == 0;
}

bool
lns_range_offer (uint32_t domain, const LnsNvtxEventAttributes *attributes)
{
  LnsNvtxEventAttributes whole = { 0 };
  if (!is_kind (LNS_WIRE_RANGE_NVTX) || attributes == NULL || (state_now () & OPEN))
    return false;
  memcpy (&whole, attributes, attributes->size < sizeof whole ? attributes->size : sizeof whole);
  return is_asked_for (domain) && is_named (domain, whole.message_type, whole.message) &&
         lns_range_begin (LNS_WIRE_RANGE_NVTX);
}

void
lns_range_follow_push (uint32_t domain)
{
  LnsInjectStream *stream = lns_inject_stream_mine ();
  const uint32_t *depth = lns_inject_stream_depth (stream, domain);
  if (depth == NULL || options ()->range_end == LNS_WIRE_RANGE_END_NONE)
    return;
  lns_own.range_pushed.stream = stream->serial;
  lns_own.range_pushed.domain = domain;
  lns_own.range_pushed.depth = *depth;
  stream->pop_floor = *depth < LNS_WIRE_DEPTH_LONG ? *depth + 1 : LNS_WIRE_DEPTH_LONG;
}

void
lns_range_popped (LnsInjectStream *stream, uint32_t domain, uint32_t depth)
{
  if (lns_own.range_pushed.stream != stream->serial)
    stream->pop_floor = 0;
  if (lns_own.range_pushed.stream != stream->serial || lns_own.range_pushed.domain != domain ||
      depth > lns_own.range_pushed.depth)
    return;
  stream->pop_floor = 0;
  (void)lns_range_end (LNS_WIRE_RANGE_NVTX);
}
