/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of the samples of NVTX's counters extension. */

#include "capture/inject/nvtx/nvtx.h"

/* Samples of a group or a batch beyond this are cut. */
#define DATA_MAX_BYTES (LNS_WIRE_RECORD_MAX_BYTES / 4)

/* Writes the record of PARTS, or counts it as a lost sample, and leaves STREAM. */
static void
write_sample (LnsInjectStream *stream, const LnsPart *parts, size_t n_parts)
{
  if (lns_inject_stream_write_parts (stream, parts, n_parts) < 0)
    lns_inject_stream_lose (stream, LNS_WIRE_LOSS_SAMPLE, sizeof (LnsWireSampleBytes));
  lns_inject_stream_leave (stream);
}

static void
sample_data (
    const void *domain, uint64_t counter, LnsWireSampleKind kind, const void *data, size_t n_bytes)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_SAMPLE);
  if (stream == NULL)
    return;
  if (data == NULL)
    n_bytes = 0;
  if (n_bytes > DATA_MAX_BYTES)
    n_bytes = DATA_MAX_BYTES;
  LnsWireSampleBytes sample = {
    .head = { .ticks = lns_wire_clock_ticks (lns_process.clock),
              .type = LNS_WIRE_SAMPLE,
              .domain = (uint16_t)lns_nvtx_domain (domain) },
    .n_data_bytes = (uint32_t)n_bytes,
    .counter = counter,
    .kind = (uint8_t)kind,
  };
  LnsPart parts[] = { { .bytes = &sample, .n_bytes = sizeof sample },
                      { .bytes = data, .n_bytes = n_bytes } };
  write_sample (stream, parts, 2);
}

static void
sample_int64 (const void *domain, uint64_t counter, int64_t value)
{
  sample_data (domain, counter, LNS_WIRE_SAMPLE_INT64, &value, sizeof value);
}

static void
sample_float64 (const void *domain, uint64_t counter, double value)
{
  sample_data (domain, counter, LNS_WIRE_SAMPLE_FLOAT64, &value, sizeof value);
}

static void
sample (const void *domain, uint64_t counter, const void *values, size_t n_bytes)
{
  sample_data (domain, counter, LNS_WIRE_SAMPLE_DATA, values, n_bytes);
}

static void
sample_no_value (const void *domain, uint64_t counter, uint8_t reason)
{
  sample_data (domain, counter, LNS_WIRE_SAMPLE_NO_VALUE, NULL, 0);
}

static void
batch_submit (const void *domain, const LnsNvtxCounterBatch *batch)
{
  LnsInjectStream *stream =
      batch == NULL ? NULL : lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_SAMPLE);
  if (stream == NULL)
    return;
  size_t n_data = batch->samples == NULL ? 0 : batch->n_samples_bytes;
  size_t n_times = batch->times == NULL ? 0 : batch->n_times_bytes;
  n_data = n_data < DATA_MAX_BYTES ? n_data : DATA_MAX_BYTES;
  n_times = n_times < DATA_MAX_BYTES ? n_times : DATA_MAX_BYTES;
  LnsWireBatchBytes record = {
    .head = { .ticks = lns_wire_clock_ticks (lns_process.clock),
              .type = LNS_WIRE_SAMPLE_BATCH,
              .domain = (uint16_t)lns_nvtx_domain (domain) },
    .n_data_bytes = (uint32_t)n_data,
    .counter = batch->counter,
    .n_times_bytes = n_times,
  };
  LnsPart parts[] = {
    { .bytes = &record, .n_bytes = sizeof record },
    { .bytes = batch->samples, .n_bytes = n_data, .n_padded_bytes = (n_data + 7) & ~(size_t)7 },
    { .bytes = batch->times, .n_bytes = n_times }
  };
  write_sample (stream, parts, 3);
}

const LnsNvtxHandler lns_counter_handlers[] = {
  LNS_NVTX_EXTENSION_HANDLER (COUNTERS, SAMPLE_INT64, sample_int64),
  LNS_NVTX_EXTENSION_HANDLER (COUNTERS, SAMPLE_FLOAT64, sample_float64),
  LNS_NVTX_EXTENSION_HANDLER (COUNTERS, SAMPLE, sample),
  LNS_NVTX_EXTENSION_HANDLER (COUNTERS, SAMPLE_NO_VALUE, sample_no_value),
  LNS_NVTX_EXTENSION_HANDLER (COUNTERS, BATCH_SUBMIT, batch_submit),
  { 0 },
};
