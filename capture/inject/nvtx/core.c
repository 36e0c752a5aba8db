/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/nvtx/nvtx.h"
#include "capture/inject/core/range.h"
#include "capture/inject/core/stream.h"

#define LIKELY(condition)   __builtin_expect ((condition), 1)
#define UNLIKELY(condition) __builtin_expect ((condition), 0)

/* --- Names. ---------------------------------------------------------------------------------- */

/* The id of MESSAGE, which may be null. Takes two dozen instructions if the name was written before. */
static inline uint32_t
name_of (LnsInjectStream *stream, const char *message)
{
  if (UNLIKELY (message == NULL))
    return 0;
  uint32_t id = lns_strings_find (&stream->strings, message);
  if (UNLIKELY (id == 0))
    id = lns_inject_stream_intern (stream, message, strlen (message), message);
  return id;
}

static uint32_t
name_of_wide (LnsInjectStream *stream, const wchar_t *message)
{
  return message == NULL ? 0 : lns_inject_stream_intern_wide (stream, message);
}

/* The id of a registered string is its handle. Any other handle is no name, 0. */
static inline uint32_t
name_of_handle (const void *handle)
{
  uintptr_t id = (uintptr_t)handle;
  return id > LNS_WIRE_STRING_REGISTERED && id <= UINT32_MAX ? (uint32_t)id : 0;
}

static inline uint32_t
name_of_message (LnsInjectStream *stream, int32_t type, LnsNvtxMessage message)
{
  if (LIKELY (type == LNS_NVTX_MESSAGE_REGISTERED))
    return name_of_handle (message.registered);
  if (type == LNS_NVTX_MESSAGE_ASCII)
    return name_of (stream, message.ascii);
  if (type == LNS_NVTX_MESSAGE_WIDE)
    return name_of_wide (stream, message.wide);
  return 0;
}

/* Reads the caller's ATTRIBUTES, which may be null or of an older, shorter version. */
static inline LnsNvtxEvent
event_of (LnsInjectStream *stream, uint32_t domain, const LnsNvtxEventAttributes *attributes)
{
  LnsNvtxEvent event = { .domain = domain };
  LnsNvtxEventAttributes old;
  if (UNLIKELY (attributes == NULL))
    return event;
  if (UNLIKELY (attributes->size < sizeof old))
    {
      old = (LnsNvtxEventAttributes){ 0 };
      memcpy (&old, attributes, attributes->size);
      attributes = &old;
    }
  event.string = name_of_message (stream, attributes->message_type, attributes->message);
  event.category = attributes->category;
  if (attributes->color_type != 0)
    {
      event.color_type = (uint8_t)attributes->color_type;
      event.color = attributes->color;
    }
  if (attributes->payload_type == LNS_NVTX_PAYLOAD_EXTENDED)
    {
      event.payloads = (const LnsNvtxPayloadData *)(uintptr_t)attributes->payload;
      event.n_payloads = event.payloads == NULL ? 0 : (uint32_t)attributes->n_payloads;
    }
  else if (attributes->payload_type >= 1 && attributes->payload_type <= 6)
    {
      /* Types of 32 bits leave the caller's upper half undefined. */
      event.payload_type = (uint8_t)attributes->payload_type;
      event.payload =
          attributes->payload_type <= 3 ? attributes->payload : (uint32_t)attributes->payload;
    }
  return event;
}

/* The attributes of an event that is no more than MESSAGE, which is of TYPE. */
static inline LnsNvtxEventAttributes
attributes_of (int32_t type, const void *message)
{
  return (LnsNvtxEventAttributes){ .size = sizeof (LnsNvtxEventAttributes),
                                   .message_type = type,
                                   .message.registered = message };
}

/* Whether ATTRIBUTES (may be null) say no more than the name of a registered string. */
static inline bool
is_registered_name (const LnsNvtxEventAttributes *attributes)
{
  return attributes != NULL && attributes->size >= sizeof *attributes &&
         attributes->message_type == LNS_NVTX_MESSAGE_REGISTERED &&
         (attributes->category | (uint32_t)attributes->color_type |
          (uint32_t)attributes->payload_type) == 0;
}

/* --- Events. --------------------------------------------------------------------------------- */

/* Rare cases, in functions of their own to keep the stack frames of the fast paths small. */

static __attribute__ ((noinline, cold)) int
push_slowly (LnsInjectStream *stream, uint32_t domain, uint32_t string)
{
  LnsNvtxEvent event = { .domain = domain, .string = string };
  return lns_nvtx_push (stream, &event);
}

/* Enters the stream if this range begins recording, or if other processes' ranges have it recorded. Returns null
 * otherwise. */
static __attribute__ ((noinline, cold)) LnsInjectStream *
push_in_range (uint32_t domain, const LnsNvtxEventAttributes *attributes)
{
  if (lns_range_offer (domain, attributes))
    lns_range_follow_push (domain);
  else if (!lns_inject_stream_is_recorded ())
    return NULL;
  return lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_PUSH);
}

static __attribute__ ((noinline, cold)) LnsInjectStream *
push_text_in_range (int32_t type, const void *message)
{
  LnsNvtxEventAttributes attributes = attributes_of (type, message);
  return push_in_range (0, &attributes);
}

static __attribute__ ((noinline, cold)) int
pop_slowly (LnsInjectStream *stream, uint32_t domain)
{
  LnsNvtxEvent event = { .domain = domain };
  return lns_nvtx_pop (stream, &event);
}

/* Writes the 16 bytes of a short event as two words, with the present time. */
static inline void
write_short (LnsInjectStream *stream, uint8_t *at, LnsWireHead head)
{
  head.ticks = lns_wire_clock_ticks (lns_process.clock);
  uint64_t words[2] = { head.ticks, head.type | (uint64_t)head.depth << 8 |
                                        (uint64_t)head.domain << 16 | (uint64_t)head.string << 32 };
  memcpy (at, words, sizeof words);
  lns_inject_stream_commit (stream, sizeof words);
  lns_inject_stream_leave (stream);
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a head's bytes are packed by shifts");

/* Writes a push that has only a name. Handles the common case itself and leaves the others to push_slowly(). */
static inline int
push_name (LnsInjectStream *stream, uint32_t domain, uint32_t string)
{
  uint8_t *at = stream->cursor;
  if (UNLIKELY (string == LNS_STRINGS_NO_ROOM) ||
      UNLIKELY ((size_t)(stream->end - at) < sizeof (LnsWireHead)) ||
      UNLIKELY (domain >= stream->n_depths) ||
      UNLIKELY (stream->depths[domain] >= LNS_WIRE_DEPTH_LONG))
    return push_slowly (stream, domain, string);
  uint32_t depth = stream->depths[domain]++;
  write_short (stream, at,
               (LnsWireHead){ .type = LNS_WIRE_PUSH,
                              .depth = (uint8_t)depth,
                              .domain = (uint16_t)domain,
                              .string = string });
  return (int)depth;
}

static inline int
pop (uint32_t domain)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_POP);
  if (UNLIKELY (stream == NULL))
    return lns_nvtx_pass_pop (domain);
  uint8_t *at = stream->cursor;
  if (UNLIKELY ((size_t)(stream->end - at) < sizeof (LnsWireHead)) ||
      UNLIKELY (domain >= stream->n_depths) ||
      UNLIKELY (stream->depths[domain] - 1 - stream->pop_floor >=
                LNS_WIRE_DEPTH_LONG - stream->pop_floor))
    return pop_slowly (stream, domain);
  uint32_t depth = --stream->depths[domain];
  write_short (
      stream, at,
      (LnsWireHead){ .type = LNS_WIRE_POP, .depth = (uint8_t)depth, .domain = (uint16_t)domain });
  return (int)depth;
}

static __attribute__ ((noinline)) int
push_new_name (LnsInjectStream *stream, const char *message)
{
  return push_name (stream, 0, message == NULL ? 0 : name_of (stream, message));
}

static int
range_push_a (const char *message)
{
  LnsInjectStream *stream = lns_inject_stream_enter_opening (LNS_WIRE_LOSS_PUSH);
  if (UNLIKELY (stream == NULL))
    stream = push_text_in_range (LNS_NVTX_MESSAGE_ASCII, message);
  if (UNLIKELY (stream == NULL))
    return lns_nvtx_pass_push (0);
  uint32_t string = lns_strings_find (&stream->strings, message);
  if (UNLIKELY (string == 0))
    return push_new_name (stream, message);
  return push_name (stream, 0, string);
}

static inline int
push_attributes (uint32_t domain, const LnsNvtxEventAttributes *attributes)
{
  LnsInjectStream *stream = lns_inject_stream_enter_opening (LNS_WIRE_LOSS_PUSH);
  if (UNLIKELY (stream == NULL))
    stream = push_in_range (domain, attributes);
  if (UNLIKELY (stream == NULL))
    return lns_nvtx_pass_push (domain);
  if (LIKELY (is_registered_name (attributes)))
    return push_name (stream, domain, name_of_handle (attributes->message.registered));
  LnsNvtxEvent event = event_of (stream, domain, attributes);
  if (LIKELY ((event.category | event.color_type | event.payload_type | event.n_payloads) == 0))
    return push_name (stream, domain, event.string);
  return lns_nvtx_push (stream, &event);
}

static int
range_push_ex (const LnsNvtxEventAttributes *attributes)
{
  return push_attributes (0, attributes);
}

static int
range_push_w (const wchar_t *message)
{
  LnsInjectStream *stream = lns_inject_stream_enter_opening (LNS_WIRE_LOSS_PUSH);
  if (UNLIKELY (stream == NULL))
    stream = push_text_in_range (LNS_NVTX_MESSAGE_WIDE, message);
  if (UNLIKELY (stream == NULL))
    return lns_nvtx_pass_push (0);
  return push_name (stream, 0, name_of_wide (stream, message));
}

static int
domain_range_push_ex (const void *domain, const LnsNvtxEventAttributes *attributes)
{
  return push_attributes (lns_nvtx_domain (domain), attributes);
}

static int
range_pop (void)
{
  return pop (0);
}

static int
domain_range_pop (const void *domain)
{
  return pop (lns_nvtx_domain (domain));
}

static void
mark_attributes (uint32_t domain, const LnsNvtxEventAttributes *attributes)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_MARK);
  if (stream == NULL)
    return;
  LnsNvtxEvent event = event_of (stream, domain, attributes);
  lns_nvtx_mark (stream, &event);
}

static void
mark_ex (const LnsNvtxEventAttributes *attributes)
{
  mark_attributes (0, attributes);
}

static void
domain_mark_ex (const void *domain, const LnsNvtxEventAttributes *attributes)
{
  mark_attributes (lns_nvtx_domain (domain), attributes);
}

static void
mark_a (const char *message)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_MARK);
  if (stream == NULL)
    return;
  LnsNvtxEvent event = { .string = name_of (stream, message) };
  lns_nvtx_mark (stream, &event);
}

static void
mark_w (const wchar_t *message)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_MARK);
  if (stream == NULL)
    return;
  LnsNvtxEvent event = { .string = name_of_wide (stream, message) };
  lns_nvtx_mark (stream, &event);
}

/* Starts a range that begins recording, or that other processes' ranges have recorded. Otherwise only counts it. */
static __attribute__ ((noinline, cold)) uint64_t
start_in_range (uint32_t domain, const LnsNvtxEventAttributes *attributes)
{
  bool begins = lns_range_offer (domain, attributes);
  LnsInjectStream *stream = begins || lns_inject_stream_is_recorded ()
                                ? lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_START)
                                : NULL;
  if (stream == NULL)
    return lns_nvtx_pass_start ();
  LnsNvtxEvent event = event_of (stream, domain, attributes);
  const uint64_t range = lns_nvtx_start (stream, &event);
  if (begins)
    lns_own.range_started = range;
  return range;
}

static uint64_t
start_attributes (uint32_t domain, const LnsNvtxEventAttributes *attributes)
{
  LnsInjectStream *stream = lns_inject_stream_enter_opening (LNS_WIRE_LOSS_START);
  if (stream == NULL)
    return start_in_range (domain, attributes);
  LnsNvtxEvent event = event_of (stream, domain, attributes);
  return lns_nvtx_start (stream, &event);
}

static uint64_t
range_start_ex (const LnsNvtxEventAttributes *attributes)
{
  return start_attributes (0, attributes);
}

static uint64_t
domain_range_start_ex (const void *domain, const LnsNvtxEventAttributes *attributes)
{
  return start_attributes (lns_nvtx_domain (domain), attributes);
}

static uint64_t
range_start_a (const char *message)
{
  LnsNvtxEventAttributes attributes = attributes_of (LNS_NVTX_MESSAGE_ASCII, message);
  return start_attributes (0, &attributes);
}

static uint64_t
range_start_w (const wchar_t *message)
{
  LnsNvtxEventAttributes attributes = attributes_of (LNS_NVTX_MESSAGE_WIDE, message);
  return start_attributes (0, &attributes);
}

static void
domain_range_end (const void *domain, uint64_t range)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_END);
  if (stream != NULL)
    {
      LnsNvtxEvent event = { .domain = lns_nvtx_domain (domain) };
      lns_nvtx_end (stream, &event, range);
    }
  if (UNLIKELY (range == lns_own.range_started) && range != 0)
    (void)lns_range_end (LNS_WIRE_RANGE_NVTX);
}

static void
range_end (uint64_t range)
{
  domain_range_end (NULL, range);
}

const LnsNvtxHandler lns_core_handlers[] = {
  LNS_NVTX_HANDLER (CORE, MARK_EX, mark_ex),
  LNS_NVTX_HANDLER (CORE, MARK_A, mark_a),
  LNS_NVTX_HANDLER (CORE, MARK_W, mark_w),
  LNS_NVTX_HANDLER (CORE, RANGE_START_EX, range_start_ex),
  LNS_NVTX_HANDLER (CORE, RANGE_START_A, range_start_a),
  LNS_NVTX_HANDLER (CORE, RANGE_START_W, range_start_w),
  LNS_NVTX_HANDLER (CORE, RANGE_END, range_end),
  LNS_NVTX_HANDLER (CORE, RANGE_PUSH_EX, range_push_ex),
  LNS_NVTX_HANDLER (CORE, RANGE_PUSH_A, range_push_a),
  LNS_NVTX_HANDLER (CORE, RANGE_PUSH_W, range_push_w),
  LNS_NVTX_HANDLER (CORE, RANGE_POP, range_pop),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_MARK_EX, domain_mark_ex),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_RANGE_START_EX, domain_range_start_ex),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_RANGE_END, domain_range_end),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_RANGE_PUSH_EX, domain_range_push_ex),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_RANGE_POP, domain_range_pop),
  { 0 },
};
