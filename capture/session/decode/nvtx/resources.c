/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Resources that a program names besides its threads: CUDA streams, locks, … */

#include "capture/session/decode/nvtx/resources.h"

#include <stdlib.h>

/* NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE: the identifier is a thread's. */
#define TYPE_THREAD 0x10003

static void
write_resource (LnsDecoder *decoder, const LnsDecodedResource *resource, bool anew)
{
  LnsResource definition = {
    .domain = resource->domain->id,
    .type = resource->type,
    .identifier = resource->identifier,
    .name = _lns_decoder_string (decoder, resource->name),
    .created_ns = resource->created_ns,
    .destroyed_ns = resource->destroyed_ns,
  };
  if (anew)
    lns_writer_add_resource (decoder->writer, &definition);
  else
    lns_writer_set_resource (decoder->writer, resource->id, &definition);
}

static LnsName *
name_of (LnsDecodedProcess *process, const LnsWireResource *record)
{
  return record->string != 0 ? lns_name_ref (lns_id_map_get (&process->registered, record->string))
                             : _lns_decoder_name (record->name);
}

static LnsDecodedResource *
new_resource (LnsDecoder *decoder,
              LnsDecodedProcess *process,
              LnsDecodedDomain *domain,
              const LnsWireResource *record)
{
  LnsDecodedResource *resource = calloc (1, sizeof *resource);
  if (!_lns_decoder_keep (decoder, &_lns_nvtx_session (decoder)->resources,
                          &_lns_nvtx_process (process)->resources, record->handle, resource))
    return NULL;
  *resource = (LnsDecodedResource){
    .id = (uint32_t)_lns_nvtx_session (decoder)->resources.n - 1,
    .domain = domain,
    .identifier = record->identifier,
    .type = record->identifier_type,
    .created_ns = lns_clock_line_last_ns (&decoder->clock),
    .destroyed_ns = LNS_TIME_UNKNOWN,
  };
  return resource;
}

void
_lns_nvtx_resource (LnsDecoder *decoder,
                    LnsDecodedProcess *process,
                    LnsDecodedDomain *domain,
                    const LnsWireRecord *record)
{
  const LnsWireResource *told = &record->resource;
  LnsDecodedResource *resource =
      lns_id_map_get (&_lns_nvtx_process (process)->resources, told->handle);
  bool anew = resource == NULL;
  if (record->type == LNS_WIRE_RESOURCE_END)
    {
      if (anew)
        return;
      resource->destroyed_ns = lns_clock_line_last_ns (&decoder->clock);
    }
  else
    {
      if (anew && (resource = new_resource (decoder, process, domain, told)) == NULL)
        return;
      lns_name_unref (resource->name);
      resource->name = name_of (process, told);
      if (told->identifier_type == TYPE_THREAD)
        _lns_decoder_name_thread (decoder, process, (uint32_t)told->identifier,
                                  lns_name_ref (resource->name));
    }
  if (decoder->writer != NULL)
    write_resource (decoder, resource, anew);
}

void
_lns_nvtx_replay_resources (LnsDecoder *decoder)
{
  const LnsPointers *resources = &_lns_nvtx_session (decoder)->resources;
  for (size_t i = 0; i < resources->n; i++)
    write_resource (decoder, resources->items[i], true);
}

void
_lns_nvtx_free_resources (LnsNvtxSession *session)
{
  for (size_t i = 0; i < session->resources.n; i++)
    {
      lns_name_unref (((LnsDecodedResource *)session->resources.items[i])->name);
      free (session->resources.items[i]);
    }
  free (session->resources.items);
}
