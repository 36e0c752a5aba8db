/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Deferred events: structures that a program hands in when it likes, with times in them by a clock of
 * its choice. Ranges go with the start/end ranges of their domain; an event with one time alone is a
 * range without length there, since the lane of a thread's marks is past it. */

#include "capture/session/decode/core/decoder-private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* NVTX_TIMESTAMP_TYPE_* of nvToolsExtPayload.h. */
enum
{
  CLOCK_OF_TOOL = 1,
  CLOCK_TSC = 10,
  CLOCK_REAL = 12,
  CLOCK_REAL_COARSE = 13,
  CLOCK_MONO = 14,
  CLOCK_MONO_RAW = 15,
  CLOCK_MONO_COARSE = 16,
  CLOCK_BOOT = 17,
  CLOCK_TIMESPEC_GET = 42,
  CLOCK_CPP_STEADY = 50,
  CLOCK_CPP_HIGH_RESOLUTION = 51, /* of libstdc++: the system clock */
  CLOCK_CPP_SYSTEM = 52,
  FIRST_TIME_DOMAIN = 1 << 24,
};

/* Flags of schema entries, from the same header. */
#define ENTRY_MESSAGE(flags)   (((flags) >> 10 & 3) == 1)
#define ENTRY_TIMESTAMP(flags) (((flags) >> 10 & 3) == 2)

/* Ids of deferred ranges, beside those that the program's own ranges have. */
#define DEFERRED_RANGE (UINT64_C (1) << 63)

/* How much CLOCK is ahead of CLOCK_MONOTONIC now. */
static int64_t
ahead_ns (clockid_t clock)
{
  struct timespec its, ours;
  clock_gettime (clock, &its);
  clock_gettime (CLOCK_MONOTONIC, &ours);
  return (its.tv_sec - ours.tv_sec) * INT64_C (1000000000) + its.tv_nsec - ours.tv_nsec;
}

bool
_lns_decoder_foreign_ns (LnsDecoder *decoder,
                         const LnsDecodedDomain *domain,
                         uint64_t time_domain,
                         int64_t time,
                         int64_t *ret_ns)
{
  LnsClockLine *line = &decoder->clock;
  const LnsWireClockPair *last = &line->pairs[line->n - 1];
  if (time_domain >= FIRST_TIME_DOMAIN)
    time_domain = (uintptr_t)lns_id_map_get (&domain->clocks, time_domain);
  switch (time_domain)
    {
    case CLOCK_TSC:
      if (last->ticks == (uint64_t)last->monotonic_ns)
        return false; /* the session's clock is another one */
      *ret_ns = lns_clock_line_ns (line, (uint64_t)time);
      return true;
    case CLOCK_OF_TOOL:
      *ret_ns = lns_clock_line_ns (line, (uint64_t)time);
      return true;
    case CLOCK_MONO:
    case CLOCK_MONO_COARSE:
    case CLOCK_CPP_STEADY:
      break;
    case CLOCK_REAL:
    case CLOCK_REAL_COARSE:
    case CLOCK_TIMESPEC_GET:
    case CLOCK_CPP_HIGH_RESOLUTION:
    case CLOCK_CPP_SYSTEM:
      time = (int64_t)((uint64_t)time - (uint64_t)(last->realtime_ns - last->monotonic_ns));
      break;
    case CLOCK_MONO_RAW:
      time = (int64_t)((uint64_t)time - (uint64_t)ahead_ns (CLOCK_MONOTONIC_RAW));
      break;
    case CLOCK_BOOT:
      time = (int64_t)((uint64_t)time - (uint64_t)ahead_ns (CLOCK_BOOTTIME));
      break;
    default:
      return false;
    }
  *ret_ns = (int64_t)((uint64_t)time - (uint64_t)line->t0_ns);
  return *ret_ns <= lns_clock_line_last_ns (line) && *ret_ns > INT64_MIN / 4;
}

/* The entry's time in the event at BYTES. */
static bool
time_of (LnsDecoder *decoder,
         const LnsDecodedDomain *domain,
         const LnsDecodedEntry *entry,
         const uint8_t *bytes,
         uint64_t n_bytes,
         int64_t *ret_ns)
{
  unsigned n;
  int64_t time;
  if (!_lns_decoder_number_bytes (entry->type, &n) || n != sizeof time ||
      entry->offset_bytes > n_bytes || n_bytes - entry->offset_bytes < sizeof time)
    return false;
  memcpy (&time, bytes + entry->offset_bytes, sizeof time);
  return _lns_decoder_foreign_ns (decoder, domain, entry->time_domain, time, ret_ns);
}

/* The name that the event at BYTES holds as a registered string or as characters; NULL: none. */
static LnsName *
message_of (const LnsDecodedDomain *domain,
            const LnsDecodedEntry *entry,
            const uint8_t *bytes,
            uint64_t n_bytes)
{
  uint64_t handle;
  if (entry->offset_bytes >= n_bytes)
    return NULL;
  uint64_t left = n_bytes - entry->offset_bytes;
  if (entry->detail > 0)
    {
      uint64_t n = entry->detail < left ? entry->detail : left;
      const char *text = (const char *)bytes + entry->offset_bytes;
      return lns_name_new (text, (uint32_t)strnlen (text, n));
    }
  if (left < sizeof handle)
    return NULL;
  memcpy (&handle, bytes + entry->offset_bytes, sizeof handle);
  return lns_name_ref (lns_id_map_get (&domain->process->registered, handle));
}

/* The event as a typed payload, as FORMAT.md has it. */
static LnsName *
payload_of (uint64_t schema, const uint8_t *bytes, uint32_t n_bytes)
{
  LnsName *typed = malloc (sizeof *typed + 12 + n_bytes);
  if (typed == NULL)
    return NULL;
  *typed = (LnsName){ .n_refs = 1, .n_bytes = 12 + n_bytes };
  memcpy (typed->bytes, &schema, 8);
  memcpy (typed->bytes + 8, &n_bytes, 4);
  memcpy (typed->bytes + 12, bytes, n_bytes);
  return typed;
}

static void
add_event (LnsDecoder *decoder,
           LnsStream *stream,
           const LnsDecodedSchema *schema,
           const uint8_t *bytes,
           uint64_t n_bytes)
{
  int64_t times_ns[2];
  unsigned n_times = 0;
  LnsName *name = NULL;
  for (uint32_t i = 0; i < schema->n_entries; i++)
    {
      const LnsDecodedEntry *entry = &schema->entries[i];
      if (ENTRY_TIMESTAMP (entry->flags) && n_times < 2)
        n_times += time_of (decoder, schema->domain, entry, bytes, n_bytes, &times_ns[n_times]);
      else if (ENTRY_MESSAGE (entry->flags) && name == NULL)
        name = message_of (schema->domain, entry, bytes, n_bytes);
    }
  if (n_times == 0)
    {
      decoder->counters.n_untimed++;
      lns_name_unref (name);
      return;
    }
  LnsStartEnd start_end = {
    .time_ns = times_ns[0],
    .range = DEFERRED_RANGE | ++stream->process->n_deferred,
    .thread = stream->thread,
    .domain = schema->domain,
    .detail = { .name = name,
                .typed = payload_of (schema->schema_id, bytes, (uint32_t)n_bytes),
                .payload_type = LNS_PAYLOAD_TYPED },
  };
  _lns_decoder_add_start_end (decoder, stream->process, &start_end);
  start_end.is_end = true;
  start_end.detail = (LnsEventDetail){ 0 };
  start_end.time_ns = n_times == 2 && times_ns[1] > times_ns[0] ? times_ns[1] : times_ns[0];
  _lns_decoder_add_start_end (decoder, stream->process, &start_end);
}

void
_lns_decoder_deferred (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsDecodedDomain *domain = _lns_decoder_domain (decoder, stream->process, record->domain);
  const LnsDecodedSchema *schema =
      domain != NULL ? lns_id_map_get (&domain->schemas, record->batch.counter) : NULL;
  uint64_t n_bytes =
      schema != NULL && schema->size_bytes > 0 ? schema->size_bytes : record->batch.data.n_bytes;
  if (schema == NULL || n_bytes == 0)
    {
      decoder->counters.n_untimed++;
      return;
    }
  const uint8_t *bytes = record->batch.data.bytes;
  for (uint64_t left = record->batch.data.n_bytes; left >= n_bytes; left -= n_bytes)
    {
      add_event (decoder, stream, schema, bytes, n_bytes);
      bytes += n_bytes;
    }
}
