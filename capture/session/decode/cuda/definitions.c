/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cuda/definitions.h"
#include "capture/session/decode/cuda/kernel-name.h"
#include "src/base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

LnsDecodedDevice *
_lns_cuda_device (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number)
{
  LnsIdMap *devices = &_lns_cuda_process (process)->devices;
  LnsDecodedDevice *device = lns_id_map_get (devices, number);
  if (device != NULL)
    return device;
  device = calloc (1, sizeof *device);
  if (!_lns_decoder_keep (decoder, NULL, devices, number, device))
    return NULL;
  device->process = process;
  device->said.number = number;
  return device;
}

LnsDecodedDevice *
_lns_cuda_device_at (const LnsDecoder *decoder, const char *bus)
{
  for (size_t i = 0; i < decoder->processes.n; i++)
    {
      const LnsDecodedProcess *process = decoder->processes.items[i];
      LnsDecodedDevice *device;
      for (size_t at = 0;
           process->has_state &&
           (device = lns_id_map_next (&_lns_cuda_process (process)->devices, &at)) != NULL;)
        if (device->is_used && strncmp (device->said.bus, bus, sizeof device->said.bus) == 0)
          return device;
    }
  return NULL;
}

static void write_context (LnsDecoder *decoder, LnsDecodedContext *context);
static bool is_written (const LnsDecoder *decoder, const LnsReportRef *ref);

/* Finds the context NUMBER, or makes it on DEVICE. If that is not known, it is on device 0 until a record names another
 * one. */
static LnsDecodedContext *
context_of (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number, uint32_t device)
{
  LnsIdMap *contexts = &_lns_cuda_process (process)->contexts;
  LnsDecodedContext *context = lns_id_map_get (contexts, number);
  const bool is_known = device < LNS_WIRE_CUDA_HOST;
  if (context != NULL && (!context->is_assumed || !is_known))
    return context;
  LnsDecodedDevice *on = _lns_cuda_device (decoder, process, is_known ? device : 0);
  if (on == NULL)
    return context;
  if (context == NULL)
    {
      context = calloc (1, sizeof *context);
      if (!_lns_decoder_keep (decoder, NULL, contexts, number, context))
        return NULL;
    }
  context->device = on;
  context->is_assumed = !is_known;
  context->said.number = number;
  if (is_written (decoder, &context->ref))
    write_context (decoder, context);
  return context;
}

LnsDecodedContext *
_lns_cuda_context (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number)
{
  return context_of (decoder, process, number, LNS_WIRE_CUDA_NONE);
}

/* The context that STREAM is in, by its number alone: that of the only such stream, or else the first context. */
static uint32_t
context_by_stream (LnsDecodedProcess *process, uint32_t stream)
{
  const LnsDecodedCudaStream *known;
  const LnsDecodedContext *context;
  uint32_t n = 0, found = LNS_WIRE_CUDA_NONE, first = LNS_WIRE_CUDA_NONE;
  for (size_t at = 0;
       (known = lns_id_map_next (&_lns_cuda_process (process)->streams, &at)) != NULL;)
    if (known->said.number == stream && known->said.context < LNS_WIRE_CUDA_HOST)
      {
        n++;
        found = known->said.context;
      }
  for (size_t at = 0;
       (context = lns_id_map_next (&_lns_cuda_process (process)->contexts, &at)) != NULL;)
    first = context->said.number < first ? context->said.number : first;
  return n == 1 ? found : first;
}

LnsDecodedCudaStream *
_lns_cuda_stream (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaPlace *place)
{
  LnsIdMap *streams = &_lns_cuda_process (process)->streams;
  const uint32_t number = place->stream == LNS_WIRE_CUDA_NONE ? 0 : place->stream;
  const uint32_t in =
      place->context != LNS_WIRE_CUDA_HOST ? place->context : context_by_stream (process, number);
  const uint64_t key = (uint64_t)in << 32 | number;
  LnsDecodedCudaStream *stream = lns_id_map_get (streams, key);
  if (stream != NULL && !stream->context->is_assumed)
    return stream;
  LnsDecodedContext *context = context_of (decoder, process, in, place->device);
  if (stream != NULL)
    return stream;
  if (context == NULL)
    return NULL;
  stream = calloc (1, sizeof *stream);
  if (!_lns_decoder_keep (decoder, NULL, streams, key, stream))
    return NULL;
  stream->context = context;
  stream->said.number = number;
  stream->said.context = in;
  return stream;
}

/* --- Into the report -------------------------------------------------------------------------- */

static uint32_t
text_id (LnsDecoder *decoder, const char *text, size_t n_max)
{
  return lns_writer_string (decoder->writer, text, strnlen (text, n_max));
}

static uint32_t
registered_id (LnsDecoder *decoder, const LnsDecodedProcess *process, uint32_t string)
{
  return _lns_decoder_string (decoder, lns_id_map_get (&process->registered, string));
}

/* "GPU-8f2c…" as nvidia-smi prints it. */
static uint32_t
uuid_id (LnsDecoder *decoder, const LnsWireCudaDeviceBytes *said)
{
  static const uint8_t none[16];
  char text[64];
  const uint8_t *b = said->uuid;
  if (memcmp (b, none, sizeof none) == 0)
    return 0;
  snprintf (text, sizeof text,
            "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
            said->is_mig ? "MIG" : "GPU", b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8],
            b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
  return text_id (decoder, text, sizeof text);
}

/* Makes the definition that samples of this GPU needed before its process told of it DEVICE's own. */
static void
take_spare (LnsDecoder *decoder, LnsDecodedDevice *device)
{
  for (size_t i = 0; i < decoder->spare_devices.n; i++)
    {
      LnsSpareDevice *spare = &decoder->spare_devices.items[i];
      if (spare->is_taken || spare->ref.report != decoder->report ||
          spare->process != device->process->id ||
          strncmp (spare->bus, device->said.bus, sizeof device->said.bus) != 0)
        continue;
      spare->is_taken = true;
      device->ref = spare->ref;
      return;
    }
}

/* Writes the definition of DEVICE to the report: a new one, or a change. */
static void
write_device (LnsDecoder *decoder, LnsDecodedDevice *device)
{
  const LnsWireCudaDeviceBytes *said = &device->said;
  char name[32];
  snprintf (name, sizeof name, "GPU %u", (unsigned)said->number);
  LnsCudaDevice definition = {
    .process = device->process->id,
    .number = said->number,
    .name = said->head.string != 0 ? registered_id (decoder, device->process, said->head.string)
                                   : text_id (decoder, name, sizeof name),
    .bus = text_id (decoder, said->bus, sizeof said->bus),
    .uuid = uuid_id (decoder, said),
    .compute_major = said->compute_major,
    .compute_minor = said->compute_minor,
    .n_multiprocessors = said->n_multiprocessors,
    .memory_bytes = said->memory_bytes,
    .memory_bandwidth = said->memory_bandwidth,
    .constant_bytes = said->constant_bytes,
    .l2_bytes = said->l2_bytes,
    .core_clock = said->core_clock,
    .n_copy_engines = said->n_copy_engines,
    .threads_per_warp = said->threads_per_warp,
    .max_ipc = said->max_ipc,
    .max_warps_per_sm = said->max_warps_per_sm,
    .max_blocks_per_sm = said->max_blocks_per_sm,
    .max_registers_per_block = said->max_registers_per_block,
    .max_registers_per_sm = said->max_registers_per_sm,
    .max_shared_per_block = said->max_shared_per_block,
    .max_shared_per_sm = said->max_shared_per_sm,
    .max_threads_per_block = said->max_threads_per_block,
  };
  memcpy (definition.max_block, said->max_block, sizeof definition.max_block);
  memcpy (definition.max_grid, said->max_grid, sizeof definition.max_grid);
  if (device->ref.report != decoder->report)
    take_spare (decoder, device);
  if (device->ref.report == decoder->report)
    lns_writer_set_device (decoder->writer, device->ref.id, &definition);
  else
    device->ref =
        (LnsReportRef){ decoder->report, lns_writer_add_device (decoder->writer, &definition) };
}

uint32_t
_lns_cuda_device_id (LnsDecoder *decoder, LnsDecodedDevice *device)
{
  if (device->ref.report != decoder->report)
    write_device (decoder, device);
  return device->ref.id;
}

static void
write_context (LnsDecoder *decoder, LnsDecodedContext *context)
{
  LnsCudaContext definition = {
    .device = _lns_cuda_device_id (decoder, context->device),
    .number = context->said.number,
    .null_stream = context->said.null_stream,
    .parent = context->said.parent,
    .is_green = context->said.is_green,
    .n_multiprocessors = context->said.n_multiprocessors,
    .name = registered_id (decoder, context->device->process, context->name),
  };
  if (context->ref.report == decoder->report)
    lns_writer_set_context (decoder->writer, context->ref.id, &definition);
  else
    context->ref =
        (LnsReportRef){ decoder->report, lns_writer_add_context (decoder->writer, &definition) };
}

static uint32_t
context_id (LnsDecoder *decoder, LnsDecodedContext *context)
{
  if (context->ref.report != decoder->report)
    write_context (decoder, context);
  return context->ref.id;
}

static void
write_stream (LnsDecoder *decoder, LnsDecodedCudaStream *stream)
{
  LnsCudaStream definition = {
    .context = context_id (decoder, stream->context),
    .number = stream->said.number,
    .priority = stream->said.priority,
    .flags = stream->said.flags,
    .name = registered_id (decoder, stream->context->device->process, stream->name),
  };
  if (stream->ref.report == decoder->report)
    lns_writer_set_stream (decoder->writer, stream->ref.id, &definition);
  else
    stream->ref =
        (LnsReportRef){ decoder->report, lns_writer_add_stream (decoder->writer, &definition) };
}

uint32_t
_lns_cuda_stream_id (LnsDecoder *decoder, LnsDecodedCudaStream *stream)
{
  if (stream->ref.report != decoder->report)
    write_stream (decoder, stream);
  return stream->ref.id;
}

/* Whether the definition that REF refers to is in the present report. */
static bool
is_written (const LnsDecoder *decoder, const LnsReportRef *ref)
{
  return decoder->writer != NULL && ref->report == decoder->report;
}

/* --- Launches --------------------------------------------------------------------------------- */

uint32_t
_lns_cuda_launch_id (LnsDecoder *decoder, LnsDecodedLaunch *launch)
{
  if (launch->ref.report == decoder->report)
    return launch->ref.id;
  const LnsWireCudaLaunchBytes *said = &launch->said;
  LnsCudaLaunch definition = {
    .short_name = _lns_decoder_string (decoder, launch->short_name),
    .mangled_name = _lns_decoder_string (decoder, launch->mangled),
    .registers = said->registers,
    .static_shared_bytes = said->static_shared_bytes,
    .dynamic_shared_bytes = said->dynamic_shared_bytes,
    .shared_executed_bytes = said->shared_executed_bytes,
    .local_bytes = said->local_bytes,
    .local_total_bytes = said->local_total_bytes,
    .launch_type = said->launch_type,
    .cache_config = said->cache_config,
    .shared_config = said->shared_config,
    .shared_carveout = said->shared_carveout,
    .cluster_policy = said->cluster_policy,
    .max_potential_cluster = said->max_potential_cluster,
    .max_active_clusters = said->max_active_clusters,
  };
  memcpy (definition.grid, said->grid, sizeof definition.grid);
  memcpy (definition.block, said->block, sizeof definition.block);
  memcpy (definition.cluster, said->cluster, sizeof definition.cluster);
  launch->ref =
      (LnsReportRef){ decoder->report, lns_writer_add_launch (decoder->writer, &definition) };
  return launch->ref.id;
}

static LnsName *
name_of (char *text)
{
  LnsName *name = text != NULL ? lns_name_new (text, (uint32_t)strlen (text)) : NULL;
  free (text);
  return name;
}

static void
name_kernel (LnsDecodedLaunch *launch, LnsName *mangled)
{
  static const char unknown[] = "(kernel whose name is lost)";
  char *text = mangled != NULL ? strndup (mangled->bytes, mangled->n_bytes) : strdup (unknown);
  char *demangled = text != NULL ? lns_kernel_name_demangle (text) : NULL;
  launch->mangled = lns_name_ref (mangled);
  launch->short_name = name_of (demangled != NULL ? lns_kernel_name_shorten (demangled) : NULL);
  launch->demangled = name_of (demangled);
  free (text);
}

void
_lns_cuda_set_launch (LnsDecoder *decoder, LnsStream *stream, const LnsWireCudaLaunchBytes *launch)
{
  uint32_t slot = launch->head.string;
  if (slot >= LNS_WIRE_CUDA_LAUNCHES)
    return;
  (void)_lns_cuda_slots (stream);
  LnsWireCudaLaunchBytes said = *launch;
  said.head = (LnsWireHead){ 0 };
  said.n_bytes = 0;
  LnsIdMap *launches = &_lns_cuda_process (stream->process)->launches;
  uint64_t hash = lns_hash (&said, sizeof said);
  LnsDecodedLaunch *first = lns_id_map_get (launches, hash), *found = first;
  while (found != NULL && memcmp (&found->said, &said, sizeof said) != 0)
    found = found->next;
  if (found == NULL)
    {
      found = calloc (1, sizeof *found);
      if (!_lns_decoder_keep (decoder, NULL, launches, hash, found))
        return;
      found->said = said;
      found->next = first;
      name_kernel (found, lns_id_map_get (&stream->process->registered, said.name));
    }
  if (_lns_cuda_launches (stream) == NULL)
    decoder->counters.n_refused++;
  else
    _lns_cuda_launches (stream)[slot] = found;
}

void
_lns_cuda_forget_launches (LnsStream *stream)
{
  free (stream->state[LNS_SOURCE_CUDA]);
  stream->state[LNS_SOURCE_CUDA] = NULL;
}

/* --- Records ---------------------------------------------------------------------------------- */

/* Looks for the double that the project's tests play instead of a GPU, by its UUID. */
static void
look_for_double (LnsDecoder *decoder,
                 LnsDecodedProcess *process,
                 const LnsWireCudaDeviceBytes *said)
{
  static const char uuid[16] = "lanescope-doubl";
  if (_lns_cuda_session (decoder)->is_double_told ||
      memcmp (said->uuid, uuid, sizeof uuid - 1) != 0)
    return;
  LnsUnrecorded *told = _lns_decoder_tell (
      decoder, process, "LNS-CUDA-015",
      "recorded without a GPU, on the double that Lanescope is tested with: calls are those of "
      "the program, but times and all else of the GPU are made up");
  _lns_cuda_session (decoder)->is_double_told = told != NULL;
  if (told != NULL)
    told->severity = LNS_SEVERITY_INFO;
}

void
lns_decoder_set_gpu_used (LnsDecoder *decoder,
                          void (*used) (void *data, const char *bus),
                          void *data)
{
  _lns_cuda_session (decoder)->gpu_used = used;
  _lns_cuda_session (decoder)->gpu_used_data = data;
}

void
lns_decoder_look_for_gpus (const LnsDecoder *decoder, const uint8_t *bytes, size_t n_bytes)
{
  const LnsCudaSession *session = _lns_cuda_session (decoder);
  LnsWireRecord record;
  LnsWireCudaUsedBytes said;
  for (size_t at = 0; session->gpu_used != NULL && at + sizeof (LnsWireHead) <= n_bytes;)
    /* Most records are 16 bytes long and define nothing. */
    if (bytes[at + offsetof (LnsWireHead, type)] < LNS_WIRE_LONG_TYPES)
      at += sizeof (LnsWireHead);
    else if (lns_wire_record_next (bytes, n_bytes, &at, &record) <= 0)
      return; /* lns_decoder_play () counts it */
    else if (record.type == (LnsWireType)LNS_WIRE_CUDA_USED)
      {
        _lns_record_take (&record, &said, sizeof said);
        said.bus[sizeof said.bus - 1] = '\0';
        if (said.bus[0] != '\0')
          session->gpu_used (session->gpu_used_data, said.bus);
      }
}

/* Tells of DEVICE if it is in use and its bus is known: either may come first. */
static void
tell_used (LnsDecoder *decoder, const LnsDecodedDevice *device)
{
  const LnsCudaSession *session = _lns_cuda_session (decoder);
  char bus[sizeof device->said.bus + 1] = "";
  memcpy (bus, device->said.bus, sizeof device->said.bus);
  if (device->is_used && bus[0] != '\0' && session->gpu_used != NULL)
    session->gpu_used (session->gpu_used_data, bus);
}

static void
define_device (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsWireCudaDeviceBytes said;
  _lns_record_take (record, &said, sizeof said);
  LnsDecodedDevice *device = _lns_cuda_device (decoder, process, said.number);
  if (device == NULL)
    return;
  /* The record is older than what told the bus, if it was compacted before the driver was asked. */
  if (said.bus[0] == '\0')
    memcpy (said.bus, device->said.bus, sizeof said.bus);
  device->said = said;
  look_for_double (decoder, process, &said);
  tell_used (decoder, device);
  if (decoder->writer != NULL)
    write_device (decoder, device);
}

static void
define_context (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsWireCudaContextBytes said;
  _lns_record_take (record, &said, sizeof said);
  LnsDecodedContext *context = context_of (decoder, process, said.number, said.device);
  LnsDecodedDevice *device = _lns_cuda_device (decoder, process, said.device);
  if (context == NULL || device == NULL)
    return;
  if (said.null_stream == LNS_WIRE_CUDA_NONE)
    said.null_stream = context->said.null_stream;
  if (said.pid == 0)
    said.pid = context->said.pid;
  if (!said.is_green && context->said.is_green)
    {
      said.is_green = context->said.is_green;
      said.parent = context->said.parent;
      said.n_multiprocessors = context->said.n_multiprocessors;
    }
  context->said = said;
  context->device = device;
  context->is_assumed = false;
  device->is_used = true;
  tell_used (decoder, device);
  if (is_written (decoder, &context->ref))
    write_context (decoder, context);
}

static void
define_stream (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsWireCudaStreamBytes said;
  _lns_record_take (record, &said, sizeof said);
  const LnsWireCudaPlace place = { LNS_WIRE_CUDA_NONE, said.context, said.number };
  LnsDecodedCudaStream *stream = _lns_cuda_stream (decoder, process, &place);
  if (stream == NULL)
    return;
  stream->said = said;
  if (is_written (decoder, &stream->ref))
    write_stream (decoder, stream);
}

/* Takes the bus of a device that is in use: the rest of its definition may come later. */
static void
use_device (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsWireCudaUsedBytes said;
  _lns_record_take (record, &said, sizeof said);
  LnsDecodedDevice *device = _lns_cuda_device (decoder, process, said.device);
  if (device == NULL)
    return;
  const bool is_new = device->said.bus[0] == '\0' && said.bus[0] != '\0';
  if (is_new)
    memcpy (device->said.bus, said.bus, sizeof device->said.bus);
  device->is_used = true;
  tell_used (decoder, device);
  if (is_new && is_written (decoder, &device->ref))
    write_device (decoder, device);
}

/* Takes the name that the program gave a context or a stream through NVTX. */
static void
name_place (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsWireCudaNamedBytes said;
  _lns_record_take (record, &said, sizeof said);
  const LnsWireCudaPlace place = { LNS_WIRE_CUDA_NONE, said.context, said.stream };
  if (said.stream == LNS_WIRE_CUDA_NONE)
    {
      LnsDecodedContext *context = context_of (decoder, process, said.context, place.device);
      if (context == NULL)
        return;
      context->name = said.head.string;
      if (is_written (decoder, &context->ref))
        write_context (decoder, context);
      return;
    }
  LnsDecodedCudaStream *stream = _lns_cuda_stream (decoder, process, &place);
  if (stream == NULL)
    return;
  stream->name = said.head.string;
  if (is_written (decoder, &stream->ref))
    write_stream (decoder, stream);
}

void
_lns_cuda_write_info (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  const LnsWireCudaInfoBytes *said = &_lns_cuda_process (process)->info;
  char text[64];
  if (decoder->writer == NULL || said->header_version == 0)
    return;
  snprintf (text, sizeof text, "%u", (unsigned)said->cupti_version);
  lns_writer_set_meta (decoder->writer, "cupti_version", text);
  snprintf (text, sizeof text, "%u.%u", (unsigned)said->driver_version / 1000,
            (unsigned)said->driver_version % 1000 / 10);
  lns_writer_set_meta (decoder->writer, "cuda_driver_version", text);
  LnsName *name = lns_id_map_get (&process->registered, said->head.string);
  if (name != NULL)
    {
      snprintf (text, sizeof text, "%.*s", (int)(name->n_bytes < 60 ? name->n_bytes : 60),
                name->bytes);
      lns_writer_set_meta (decoder->writer, "driver_version", text);
    }
  LnsName *path = lns_id_map_get (&process->registered, said->path);
  char *whole = path == NULL ? NULL : strndup (path->bytes, path->n_bytes);
  if (whole != NULL)
    lns_writer_set_meta (decoder->writer, "cupti_path", whole);
  free (whole);
}

/* Takes the text at an address of the process. */
static void
take_text (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsWireCudaNameBytes said;
  _lns_record_take (record, &said, sizeof said);
  if (said.head.string != 0 && !lns_id_map_set (&_lns_cuda_process (process)->texts, said.address,
                                                (void *)(uintptr_t)said.head.string))
    decoder->counters.n_refused++;
}

static void
take_range (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
#ifdef LNS_HAVE_CUPTI
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  LnsWireCudaRangeBytes said;
  _lns_record_take (record, &said, sizeof said);
  if (cuda->ranges == NULL)
    cuda->ranges = calloc (1, sizeof *cuda->ranges);
  if (cuda->ranges == NULL)
    decoder->counters.n_refused++;
  else
    lns_wire_cupti_ranges_set (
        cuda->ranges, said.serial,
        &(LnsWireCuptiRange){ said.first, said.last, said.first_ticks, said.last_ticks });
#else
  (void)decoder, (void)process, (void)record;
#endif
}

void
_lns_cuda_define (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  LnsCudaState state = LNS_CUDA_IDLE;
  switch ((LnsWireCudaType)record->type)
    {
    case LNS_WIRE_CUDA_DEVICE:
      define_device (decoder, process, record);
      break;
    case LNS_WIRE_CUDA_CONTEXT:
      define_context (decoder, process, record);
      break;
    case LNS_WIRE_CUDA_STREAM:
      define_stream (decoder, process, record);
      break;
    case LNS_WIRE_CUDA_USED:
      use_device (decoder, process, record);
      break;
    case LNS_WIRE_CUDA_NAMED:
      name_place (decoder, process, record);
      break;
    case LNS_WIRE_CUDA_INFO:
      _lns_record_take (record, &cuda->info, sizeof cuda->info);
      _lns_cuda_write_info (decoder, process);
      state = LNS_CUDA_NO_DEVICE;
      break;
    case LNS_WIRE_CUDA_NAME:
      take_text (decoder, process, record);
      return;
    case LNS_WIRE_CUDA_RANGE:
      take_range (decoder, process, record);
      return;
    default:
      return;
    }
  if (_lns_cuda_session (decoder)->state < state)
    _lns_cuda_session (decoder)->state = state;
}

/* --- The end ---------------------------------------------------------------------------------- */

static void
free_all (LnsIdMap *map)
{
  void *item;
  for (size_t at = 0; (item = lns_id_map_next (map, &at)) != NULL;)
    free (item);
  lns_id_map_clear (map);
}

void
_lns_cuda_free_definitions (LnsCudaProcess *cuda)
{
  LnsDecodedDevice *device;
  for (size_t at = 0; (device = lns_id_map_next (&cuda->devices, &at)) != NULL;)
    lns_array_clear (&device->holds);
  free_all (&cuda->devices);
  free_all (&cuda->contexts);
  free_all (&cuda->streams);
  LnsDecodedLaunch *launch, *next;
  for (size_t at = 0; (launch = lns_id_map_next (&cuda->launches, &at)) != NULL;)
    for (; launch != NULL; launch = next)
      {
        next = launch->next;
        lns_name_unref (launch->mangled);
        lns_name_unref (launch->demangled);
        lns_name_unref (launch->short_name);
        free (launch);
      }
  lns_id_map_clear (&cuda->launches);
  free (cuda->ranges);
  cuda->ranges = NULL;
}
