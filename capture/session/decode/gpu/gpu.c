/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/gpu/gpu.h"
#include "capture/session/decode/core/source.h"
#include "capture/session/decode/cuda/definitions.h"

#include "src/store/format/gpu-metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_REASONS 9

_Static_assert(LNS_GPU_METRIC_SM_CLOCK == LNS_WIRE_GPU_SM_CLOCK,
               "reports keep the numbers of the wire");
_Static_assert(LNS_GPU_METRIC_CLOCK_REASON >= LNS_WIRE_GPU_N_METRICS, "so that they do not meet");

/* A counter, and its lane in the report, in which its samples lie one after the other. */
typedef struct
{
  LnsReportRef lane;
  int64_t last_ns;
} Counter;

/* A metric of the hardware. */
typedef struct
{
  Counter counter;
  uint32_t id;
  char name[48], unit[16];
} Hardware;

typedef struct
{
  LnsWireGpuFound said;
  LnsReportRef device; /* under which its lanes lie */
  uint32_t process;
  Counter metrics[LNS_WIRE_GPU_N_METRICS], reasons[N_REASONS];
  Hardware *hardware;     /* by place; LNS_WIRE_GPU_MAX_METRICS, or NULL */
  uint32_t bounds_report; /* the report that has the next two */
  int64_t early_ns, late_ns;
} Gpu;

/* What is known of a counter before it has a lane. */
typedef struct
{
  uint32_t id;
  const char *name, *unit;
  LnsPayloadType type;
} Metric;

/* The samplers of hardware counters and of all else number GPUs alike, but by different means. */
typedef struct
{
  LnsIdMap gpus; /* Gpu by key_of () */
} Session;

static const struct
{
  const char *name, *unit;
} metrics[LNS_WIRE_GPU_N_METRICS] = {
  [LNS_WIRE_GPU_POWER] = { "Power", "mW" },
  [LNS_WIRE_GPU_SM_CLOCK] = { "SM clock", "MHz" },
  [LNS_WIRE_GPU_MEMORY_CLOCK] = { "Memory clock", "MHz" },
  [LNS_WIRE_GPU_TEMPERATURE] = { "Temperature", "°C" },
  [LNS_WIRE_GPU_MEMORY_TEMPERATURE] = { "Memory temperature", "°C" },
  [LNS_WIRE_GPU_MEMORY_USED] = { "Memory in use", "B" },
  [LNS_WIRE_GPU_PCIE_SENT] = { "PCIe sent", "KB/s" },
  [LNS_WIRE_GPU_PCIE_RECEIVED] = { "PCIe received", "KB/s" },
  [LNS_WIRE_GPU_NVLINK_SENT] = { "NVLink sent", "KiB/s" },
  [LNS_WIRE_GPU_NVLINK_RECEIVED] = { "NVLink received", "KiB/s" },
  [LNS_WIRE_GPU_ECC_CORRECTED] = { "Corrected memory errors", NULL },
  [LNS_WIRE_GPU_ECC_UNCORRECTED] = { "Uncorrected memory errors", NULL },
};

/* By bit. Bit 0 says that the GPU is idle, so that nothing needs a clock. nvml.h explains the others. */
static const char *const reasons[N_REASONS] = {
  NULL,
  "Clocks held: application setting",
  "Clocks held: power limit",
  "Clocks held: hardware slowdown",
  "Clocks held: sync boost",
  "Clocks held: temperature (software)",
  "Clocks held: temperature (hardware)",
  "Clocks held: power brake",
  "Clocks held: display setting",
};

/* --- Where lanes lie -------------------------------------------------------------------------- */

/* A device of the first process, if none that is recorded told of the GPU so far. */
static uint32_t
add_device (LnsDecoder *decoder, const Gpu *gpu)
{
  LnsSpareDevice *spare = NULL;
  for (size_t i = 0; i < decoder->spare_devices.n; i++)
    {
      spare = &decoder->spare_devices.items[i];
      if (spare->ref.report == decoder->report && strcmp (spare->bus, gpu->said.bus) == 0)
        return spare->ref.id;
    }
  const LnsCudaDevice definition = {
    .process = gpu->process,
    .number = gpu->said.head.gpu,
    .name = _lns_decoder_text (decoder, gpu->said.name),
    .bus = _lns_decoder_text (decoder, gpu->said.bus),
    .uuid = _lns_decoder_text (decoder, gpu->said.uuid),
  };
  const uint32_t id = lns_writer_add_device (decoder->writer, &definition);
  if ((spare = lns_array_try_add (&decoder->spare_devices)) != NULL)
    {
      *spare = (LnsSpareDevice){ .ref = { decoder->report, id }, .process = gpu->process };
      memcpy (spare->bus, gpu->said.bus, sizeof spare->bus);
    }
  return id;
}

/* Finds GPU's device in the report. */
static uint32_t
device_id (LnsDecoder *decoder, Gpu *gpu)
{
  if (gpu->device.report == decoder->report)
    return gpu->device.id;
  LnsDecodedDevice *device = _lns_cuda_device_at (decoder, gpu->said.bus);
  gpu->process = device != NULL ? device->process->id : 0;
  gpu->device.id =
      device != NULL ? _lns_cuda_device_id (decoder, device) : add_device (decoder, gpu);
  gpu->device.report = decoder->report;
  return gpu->device.id;
}

static void
append (LnsDecoder *decoder,
        Gpu *gpu,
        Counter *counter,
        const Metric *metric,
        int64_t time_ns,
        uint64_t value)
{
  if (counter->lane.report != decoder->report)
    {
      const uint32_t device = device_id (decoder, gpu);
      const LnsTrack track = {
        .kind = LNS_TRACK_GPU_METRIC,
        .process = gpu->process,
        .thread = LNS_ID_NONE,
        .domain = LNS_ID_NONE,
        .name = _lns_decoder_text (decoder, metric->name),
        .value_type = metric->type,
        .unit = _lns_decoder_text (decoder, metric->unit),
        .number = LNS_GPU_METRICS_SAMPLED | gpu->said.head.gpu,
        .device = device,
        .stream = LNS_ID_NONE,
        .metric = metric->id,
      };
      _lns_decoder_lane (decoder, &counter->lane, _lns_decoder_add_track (decoder, &track), 0,
                         LNS_LANE_COUNTER);
      counter->last_ns = INT64_MIN;
    }
  if (time_ns <= counter->last_ns)
    return;
  counter->last_ns = time_ns;
  LnsEvent sample = { .start_ns = time_ns };
  sample.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_VALUE]] = value;
  sample.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_THREAD]] = LNS_ID_NONE;
  _lns_decoder_append (decoder, counter->lane.id, &sample);
  decoder->counters.n_gpu_samples++;
}

/* --- Messages --------------------------------------------------------------------------------- */

/* A reason is a counter of 0 and 1 from the first time in the report that it holds: most never do. */
static void
append_reasons (LnsDecoder *decoder, Gpu *gpu, int64_t time_ns, uint64_t bits)
{
  for (unsigned i = 1; i < N_REASONS; i++)
    {
      const uint64_t holds = bits >> i & 1;
      if (holds || gpu->reasons[i].lane.report == decoder->report)
        append (decoder, gpu, &gpu->reasons[i],
                &(Metric){ LNS_GPU_METRIC_CLOCK_REASON + i, reasons[i], NULL, LNS_PAYLOAD_INT64 },
                time_ns, holds);
    }
}

static void
take_sample (LnsDecoder *decoder, Gpu *gpu, const LnsWireGpuSample *sample)
{
  int64_t time_ns;
  if (__builtin_sub_overflow (sample->time_ns, decoder->clock.t0_ns, &time_ns) ||
      time_ns < decoder->report_start_ns || sample->n_values > LNS_WIRE_GPU_N_METRICS)
    return;
  for (uint32_t i = 0; i < sample->n_values; i++)
    {
      const uint32_t metric = sample->values[i].metric;
      const uint64_t value = sample->values[i].value;
      if (metric == LNS_WIRE_GPU_CLOCK_REASONS)
        append_reasons (decoder, gpu, time_ns, value);
      else if (metric < LNS_WIRE_GPU_N_METRICS && metrics[metric].name != NULL)
        append (decoder, gpu, &gpu->metrics[metric],
                &(Metric){ metric, metrics[metric].name, metrics[metric].unit, LNS_PAYLOAD_INT64 },
                time_ns, value);
    }
}

/* --- Hardware counters ------------------------------------------------------------------------ */

/* Tells in the report how wrong times of samples may be. */
static void
tell_bounds (LnsDecoder *decoder, Gpu *gpu, const LnsWireGpuBatch *batch)
{
  char key[64], value[32];
  const uint32_t number = gpu->said.head.gpu;
  if (gpu->bounds_report == decoder->report && gpu->early_ns == batch->early_ns &&
      gpu->late_ns == batch->late_ns)
    return;
  gpu->bounds_report = decoder->report;
  gpu->early_ns = batch->early_ns;
  gpu->late_ns = batch->late_ns;
  snprintf (key, sizeof key, "gpu_metrics_early_ns.%u", (unsigned)number);
  snprintf (value, sizeof value, "%lld", (long long)batch->early_ns);
  lns_writer_set_meta (decoder->writer, key, value);
  snprintf (key, sizeof key, "gpu_metrics_late_ns.%u", (unsigned)number);
  snprintf (value, sizeof value, "%lld", (long long)batch->late_ns);
  lns_writer_set_meta (decoder->writer, key, value);
}

static void
count_lost (LnsDecoder *decoder, Gpu *gpu, const LnsWireGpuBatch *batch, int64_t end_ns)
{
  int64_t from_ns;
  if (batch->n_lost == 0 ||
      __builtin_sub_overflow (batch->lost_from_ns, decoder->clock.t0_ns, &from_ns) ||
      from_ns < decoder->report_start_ns)
    return;
  device_id (decoder, gpu);
  const LnsLoss loss = { .process = gpu->process,
                         .thread = LNS_ID_NONE,
                         .first_ns = from_ns,
                         .last_ns = end_ns > from_ns ? end_ns : from_ns,
                         .others = batch->n_lost };
  lns_writer_add_loss (decoder->writer, &loss);
  decoder->counters.n_gpu_lost += batch->n_lost;
}

/* Takes the samples of BATCH, which has N_WORDS, up to UNTIL_NS, out of it. Returns whether that is all of them. */
static bool
take_batch (LnsDecoder *decoder, Gpu *gpu, LnsWireGpuBatch *batch, int64_t until_ns)
{
  const uint32_t n_words = 1 + batch->n_metrics;
  uint32_t n = 0;
  for (; n < batch->n_samples && (int64_t)batch->words[(size_t)n * n_words] <= until_ns; n++)
    {
      const uint64_t *words = &batch->words[(size_t)n * n_words];
      int64_t time_ns;
      if (__builtin_sub_overflow ((int64_t)words[0], decoder->clock.t0_ns, &time_ns) ||
          time_ns < decoder->report_start_ns)
        continue;
      if (n == 0)
        count_lost (decoder, gpu, batch, time_ns);
      for (uint32_t i = 0; i < batch->n_metrics; i++)
        {
          Hardware *hardware = &gpu->hardware[i];
          double value;
          memcpy (&value, &words[1 + i], sizeof value);
          if (hardware->name[0] != '\0' && isfinite (value))
            append (decoder, gpu, &hardware->counter,
                    &(Metric){ LNS_GPU_METRIC_HARDWARE + hardware->id, hardware->name,
                               hardware->unit, LNS_PAYLOAD_DOUBLE },
                    time_ns, words[1 + i]);
        }
      tell_bounds (decoder, gpu, batch);
    }
  if (n > 0)
    batch->n_lost = 0;
  batch->n_samples -= n;
  memmove (batch->words, &batch->words[(size_t)n * n_words],
           (size_t)batch->n_samples * n_words * sizeof batch->words[0]);
  return batch->n_samples == 0;
}

static void
take_counter (Gpu *gpu, const LnsWireGpuCounter *counter)
{
  if (counter->place >= LNS_WIRE_GPU_MAX_METRICS || counter->id >= LNS_WIRE_GPU_METRIC_IDS)
    return;
  if (gpu->hardware == NULL)
    gpu->hardware = calloc (LNS_WIRE_GPU_MAX_METRICS, sizeof *gpu->hardware);
  if (gpu->hardware == NULL)
    return;
  Hardware *hardware = &gpu->hardware[counter->place];
  hardware->id = counter->id;
  memcpy (hardware->name, counter->name, sizeof hardware->name - 1);
  memcpy (hardware->unit, counter->unit, sizeof hardware->unit - 1);
}

/* Each report says why counters are missing that were asked for. */
static void
take_failure (LnsDecoder *decoder, const LnsWireGpuFailure *failure)
{
  char text[LNS_GPU_FAILURE_BYTES];
  const char *code = lns_gpu_failure_text (failure, text);
  if (code != NULL)
    _lns_decoder_tell_once (decoder, code, text);
}

/* --- Messages of all kinds -------------------------------------------------------------------- */

static uint64_t
key_of (const LnsWireGpuHead *head)
{
  const bool is_hardware = head->kind == LNS_WIRE_GPU_FOUND_COUNTERS ||
                           head->kind == LNS_WIRE_GPU_COUNTER || head->kind == LNS_WIRE_GPU_BATCH;
  return (uint64_t)is_hardware << 32 | (1 + (uint64_t)head->gpu);
}

static void
take_found (LnsDecoder *decoder, Session *session, const LnsWireGpuFound *found)
{
  Gpu *gpu = calloc (1, sizeof *gpu);
  if (!_lns_decoder_keep (decoder, NULL, &session->gpus, key_of (&found->head), gpu))
    return;
  gpu->said = *found;
  gpu->said.bus[sizeof gpu->said.bus - 1] = '\0';
  gpu->said.name[sizeof gpu->said.name - 1] = '\0';
  gpu->said.uuid[sizeof gpu->said.uuid - 1] = '\0';
}

bool
lns_decoder_take_gpu (LnsDecoder *decoder, LnsWireGpuMessage *message, int64_t until_ns)
{
  Session *session = decoder->state[LNS_SOURCE_GPU];
  Gpu *gpu = lns_id_map_get (&session->gpus, key_of (&message->head));
  const bool is_recording = decoder->writer != NULL && decoder->processes.n > 0;
  switch ((LnsWireGpuKind)message->head.kind)
    {
    case LNS_WIRE_GPU_FOUND:
    case LNS_WIRE_GPU_FOUND_COUNTERS:
      if (gpu == NULL)
        take_found (decoder, session, &message->found);
      break;
    case LNS_WIRE_GPU_SAMPLE:
      if (gpu != NULL && is_recording)
        take_sample (decoder, gpu, &message->sample);
      break;
    case LNS_WIRE_GPU_COUNTER:
      if (gpu != NULL)
        take_counter (gpu, &message->counter);
      break;
    case LNS_WIRE_GPU_BATCH:
      if (gpu != NULL && gpu->hardware != NULL && is_recording)
        return take_batch (decoder, gpu, &message->batch, until_ns);
      break;
    case LNS_WIRE_GPU_FAILURE:
      take_failure (decoder, &message->failure);
      break;
    case LNS_WIRE_GPU_READY:
    case LNS_WIRE_GPU_DRAINED:
      break;
    }
  return true;
}

static void
free_session (LnsDecoder *decoder)
{
  Session *session = decoder->state[LNS_SOURCE_GPU];
  Gpu *gpu;
  for (size_t at = 0; (gpu = lns_id_map_next (&session->gpus, &at)) != NULL;)
    {
      free (gpu->hardware);
      free (gpu);
    }
  lns_id_map_clear (&session->gpus);
}

const LnsDecoderOps _lns_gpu_ops = {
  .session_bytes = sizeof (Session),
  .free_session = free_session,
};
