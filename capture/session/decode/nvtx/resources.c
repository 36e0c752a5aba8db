/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a program names besides its threads: CUDA streams, locks, … */

#include "capture/session/decode/core/decoder-private.h"

#include <stdlib.h>

/* NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE: the identifier is a thread's. */
#define TYPE_THREAD 0x10003

void
_lns_decoder_write_resource (LnsDecoder *decoder, const LnsDecodedResource *resource, bool anew)
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
  if (!_lns_decoder_keep (decoder, &decoder->resources, &process->resources, record->handle,
                          resource))
    return NULL;
  *resource = (LnsDecodedResource){
    .id = (uint32_t)decoder->resources.n - 1,
    .domain = domain,
    .identifier = record->identifier,
    .type = record->identifier_type,
    .created_ns = lns_decoder_now_ns (decoder),
    .destroyed_ns = LNS_TIME_UNKNOWN,
  };
  return resource;
}

void
_lns_decoder_resource (LnsDecoder *decoder,
                       LnsDecodedProcess *process,
                       LnsDecodedDomain *domain,
                       const LnsWireRecord *record)
{
  const LnsWireResource *told = &record->resource;
  LnsDecodedResource *resource = lns_id_map_get (&process->resources, told->handle);
  bool anew = resource == NULL;
  if (record->type == LNS_WIRE_RESOURCE_END)
    {
      if (anew)
        return;
      resource->destroyed_ns = lns_decoder_now_ns (decoder);
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
    _lns_decoder_write_resource (decoder, resource, anew);
}
