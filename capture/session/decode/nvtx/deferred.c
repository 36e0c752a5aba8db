/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Deferred events: structures that a program hands in at any later time and that hold their own times, by a clock of
 * the program's choice. Ranges go with the start/end ranges of their domain. An event with a single time becomes a range
 * without length there, as the lane of the thread's marks has already gone past it. */

#include "capture/session/decode/nvtx/deferred.h"
#include "capture/session/decode/nvtx/fields.h"
#include "capture/session/decode/nvtx/started.h"

#include <stdlib.h>
#include <string.h>

/* Flags of schema entries, from nvToolsExtPayload.h. */
#define ENTRY_MESSAGE(flags)   (((flags) >> 10 & 3) == 1)
#define ENTRY_TIMESTAMP(flags) (((flags) >> 10 & 3) == 2)

/* Marks the ids of deferred ranges; the program's own ranges never have this bit. */
#define DEFERRED_RANGE (UINT64_C (1) << 63)

/* The entry's time in the event at BYTES. */
static bool
time_of (LnsDecoder *decoder,
         const LnsDecodedDomain *domain,
         const LnsDecodedEntry *entry,
         const uint8_t *bytes,
         uint64_t n_bytes,
         int64_t *ret_ns)
{
  int64_t time;
  if (_lns_nvtx_number_type (entry->type)->n_bytes != sizeof time ||
      entry->offset_bytes > n_bytes || n_bytes - entry->offset_bytes < sizeof time)
    return false;
  memcpy (&time, bytes + entry->offset_bytes, sizeof time);
  return _lns_nvtx_foreign_ns (decoder, domain, entry->time_domain, time, ret_ns);
}

/* The name in the event at BYTES, a registered string or characters; NULL if there is none. */
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
  LnsName *typed = lns_name_alloc (12 + n_bytes);
  if (typed == NULL)
    return NULL;
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
    .range = DEFERRED_RANGE | ++_lns_nvtx_process (stream->process)->n_deferred,
    .thread = stream->thread,
    .domain = schema->domain,
    .detail = { .name = name,
                .typed = payload_of (schema->schema_id, bytes, (uint32_t)n_bytes),
                .payload_type = LNS_PAYLOAD_TYPED },
  };
  _lns_nvtx_add_start_end (decoder, stream->process, &start_end);
  start_end.is_end = true;
  start_end.detail = (LnsEventDetail){ 0 };
  start_end.time_ns = n_times == 2 && times_ns[1] > times_ns[0] ? times_ns[1] : times_ns[0];
  _lns_nvtx_add_start_end (decoder, stream->process, &start_end);
}

void
_lns_nvtx_deferred (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsDecodedDomain *domain = _lns_nvtx_domain (decoder, stream->process, record->domain);
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
