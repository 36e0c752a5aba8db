/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays records into a decoder as the CUDA engine writes them, and reads the report. Ticks are ns. One source file of
 * each test includes this. */

#pragma once

#include "capture/session/decode/decoder.h"
#include "capture/wire/cuda-layout.h"
#include "src/store/read/report.h"
#include "tests/tap.h"
#include "tests/unit/record-text.h"
#include "tests/unit/report-fixture.h"

#define T0         1000000 /* CLOCK_MONOTONIC and ticks of report time 0 */
#define AT(ns)     ((uint64_t)(T0 + (ns)))
#define END_NS     900000
#define REGISTERED LNS_WIRE_STRING_REGISTERED

static LnsDecoder *decoder;
static LnsWriter *writer;
static LnsReport *report;
static RecordText text;
static const char *path;

static inline void
begin (void)
{
  LnsWireClockPair first = { .ticks = AT (0), .monotonic_ns = T0 },
                   last = { .ticks = AT (1000000), .monotonic_ns = T0 + 1000000 };
  LnsProcessInfo info = { .pid = 10, .target_pid = 10, .parent = UINT32_MAX, .start_ns = T0 };
  LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = T0 };
  LnsError error = { 0 };
  decoder = lns_decoder_new (&first, &(LnsDomainFilter){ 0 });
  lns_decoder_add_pair (decoder, &last);
  lns_decoder_set_process (decoder, 0, &info);
  path = fixture_path ("cuda.rep");
  writer = lns_writer_create (path, &options, &error);
  if (writer == NULL)
    LNS_FAIL ("%s", error.message);
  lns_decoder_start_report (decoder, writer, 0);
  text.n_bytes = 0;
}

/* Adds the N_BYTES at RECORD, of which the first SHOWN are told to be all. */
static inline void
add_cut (void *record, size_t n_bytes, size_t shown)
{
  uint32_t n = (uint32_t)((shown + 15) / 16 * 16);
  memcpy ((uint8_t *)record + sizeof (LnsWireHead), &n, sizeof n);
  memset (text.bytes + text.n_bytes, 0, n);
  memcpy (text.bytes + text.n_bytes, record, n_bytes < n ? n_bytes : n);
  text.n_bytes += n;
}
#define ADD(record) add_cut (&(record), sizeof (record), sizeof (record))

static inline void
play (void)
{
  LnsDecoderSource source = { .process = 0, .stream = 1, .tid = 10 };
  lns_decoder_define (decoder, &source, text.bytes, text.n_bytes);
  lns_decoder_play (decoder, &source, text.bytes, text.n_bytes);
  lns_decoder_settle (decoder, 0);
  text.n_bytes = 0;
}

/* Plays what CUPTI left in a buffer of PROCESS, as the recorder does. */
static inline void
play_buffer (uint32_t process, const LnsSalvage *left)
{
  LnsDecoderSource source;
  size_t n_bytes;
  uint8_t *records = lns_decoder_read_buffer (decoder, process, left, false, &source, &n_bytes);
  if (n_bytes > 0)
    {
      lns_decoder_define (decoder, &source, records, n_bytes);
      lns_decoder_play (decoder, &source, records, n_bytes);
    }
  free (records);
}

static inline void
finish (void)
{
  LnsError error = { 0 };
  lns_decoder_stop_report (decoder, END_NS);
  if (!lns_writer_finish (writer, LNS_STATE_COMPLETE, END_NS, &error))
    LNS_FAIL ("%s", error.message);
  report = fixture_open (path, NULL);
}

static inline void
end (void)
{
  lns_report_close (report);
  lns_decoder_free (decoder);
}

/* The events of KIND in the report, in their lanes' order. */
static inline uint32_t
events_of (LnsLaneKind kind, LnsEvent *ret_events, uint32_t n_max)
{
  uint32_t n_lanes, n = 0;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    for (uint64_t i = 0;
         lanes[lane].kind == kind && i < lns_report_lane_info (report, lane)->n_events; i++, n++)
      {
        LnsError error = { 0 };
        if (n < n_max && !lns_report_event (report, lane, i, &ret_events[n], &error))
          LNS_FAIL ("%s", error.message);
      }
  return n;
}

static inline uint64_t
column (const LnsEvent *event, LnsLaneKind kind, LnsColumnId id)
{
  return event->extra[lns_lane_kind_extra (kind, id)];
}

static inline const char *
name_of (const LnsEvent *event)
{
  return lns_report_string (report, event->name, NULL);
}

static inline LnsWireCudaKernelBytes
kernel_at (int64_t start_ns, int64_t end_ns, uint32_t slot, uint32_t correlation)
{
  return (LnsWireCudaKernelBytes){
    .head = { .ticks = AT (start_ns), .type = LNS_WIRE_CUDA_KERNEL, .string = slot },
    .correlation = correlation,
    .end_ticks = AT (end_ns),
    .place = { .device = 0, .context = 1, .stream = 7 },
  };
}

static inline LnsWireCudaLaunchBytes
launch_of (uint32_t slot, uint32_t name, uint32_t blocks)
{
  return (LnsWireCudaLaunchBytes){ .head = { .type = LNS_WIRE_CUDA_LAUNCH, .string = slot },
                                   .name = name,
                                   .grid = { blocks, 1, 1 },
                                   .block = { 64, 1, 1 } };
}

static inline LnsWireCudaApiBytes
call_at (int64_t start_ns, uint32_t correlation, unsigned roles)
{
  return (LnsWireCudaApiBytes){
    .head = { .ticks = AT (start_ns),
              .type = LNS_WIRE_CUDA_API,
              .depth = (uint8_t)(LNS_WIRE_CUDA_CALL_RUNTIME | roles) },
    .correlation = correlation,
    .end_ticks = AT (start_ns + 5),
    .cbid = 1 + roles, /* calls of one callback have the same roles */
    .tid = 10,
  };
}

/* Ends the report at END_NS as that of a capture range; the counters are then those of its end. */
static inline void
end_range (int64_t end_ns)
{
  LnsError error = { 0 };
  lns_decoder_follow_late (decoder);
  lns_decoder_write_held (decoder);
  lns_decoder_stop_report (decoder, end_ns);
  LNS_CHECK (lns_writer_finish (writer, LNS_STATE_COMPLETE, end_ns, &error));
}

/* Begins another report at START_NS. */
static inline void
begin_next (int64_t start_ns)
{
  LnsError error = { 0 };
  LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = T0 };
  path = fixture_path ("next.rep");
  writer = lns_writer_create (path, &options, &error);
  LNS_CHECK (writer != NULL);
  lns_decoder_start_report (decoder, writer, start_ns);
}
