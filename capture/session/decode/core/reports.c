/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Processes of the decoder, and the reports that it feeds. */

#include "capture/session/decode/core/decoder-private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t
text_id (LnsDecoder *decoder, const char *text)
{
  return lns_writer_string (decoder->writer, text, strlen (text));
}

static char *
copy (const char *text)
{
  return text != NULL ? strdup (text) : NULL;
}

void
lns_decoder_set_process (LnsDecoder *decoder, uint32_t id, const LnsProcessInfo *info)
{
  if (id > decoder->processes.n)
    return;
  bool anew = id == decoder->processes.n;
  LnsDecodedProcess *process = anew ? calloc (1, sizeof *process) : decoder->processes.items[id];
  if (anew && (process == NULL || !_lns_pointers_add (&decoder->processes, process)))
    {
      free (process);
      decoder->counters.n_refused++;
      return;
    }
  if (anew)
    {
      process->id = id;
      process->end_ns = LNS_TIME_UNKNOWN;
      process->exit_code = -1;
    }
  lns_process_info_clear (&process->info);
  process->info = *info;
  process->info.name = copy (info->name);
  process->info.command_line = copy (info->command_line);
  process->info.executable = copy (info->executable);
  process->start_ns =
      info->start_ns == INT64_MIN ? LNS_TIME_UNKNOWN : info->start_ns - decoder->clock.t0_ns;
  if (decoder->writer != NULL)
    _lns_decoder_write_process (decoder, process, anew);
}

uint64_t
lns_decoder_lost_events (const LnsWireLosses *losses)
{
  uint64_t n = 0;
  for (int i = 0; i < LNS_WIRE_LOSS_KINDS; i++)
    if (lns_wire_loss_is_missed (i))
      n += losses->events[i];
  return n;
}

uint64_t
lns_decoder_n_told (const LnsDecoder *decoder)
{
  return decoder->n_told;
}

void
lns_decoder_add_losses (LnsDecoder *decoder, uint32_t id, const LnsWireLosses *losses)
{
  if (id >= decoder->processes.n)
    return;
  LnsDecodedProcess *process = decoder->processes.items[id];
  LnsWireLosses rest = { 0 };
  uint64_t n = 0;
  for (int i = 0; i < LNS_WIRE_LOSS_KINDS; i++)
    if (losses->events[i] > process->told.events[i])
      n += rest.events[i] = losses->events[i] - process->told.events[i];
  if (losses->n_bytes > process->told.n_bytes)
    rest.n_bytes = losses->n_bytes - process->told.n_bytes;
  for (int i = 0; i < LNS_WIRE_LOSS_KINDS; i++)
    process->told.events[i] += rest.events[i];
  process->told.n_bytes += rest.n_bytes;
  decoder->n_told += lns_decoder_lost_events (&rest);
  for (int i = 0; i < LNS_WIRE_CAUSES; i++)
    if (losses->by_cause[i] > process->told.by_cause[i])
      {
        decoder->counters.n_lost_by[i] += losses->by_cause[i] - process->told.by_cause[i];
        process->told.by_cause[i] = losses->by_cause[i];
      }
  if (n == 0 || decoder->writer == NULL)
    return;
  process->n_lost_records += rest.events[LNS_WIRE_LOSS_SAMPLE] + rest.events[LNS_WIRE_LOSS_OTHER];
  LnsLoss loss = {
    .process = process->id,
    .thread = LNS_ID_NONE,
    .first_ns = LNS_TIME_UNKNOWN,
    .last_ns = LNS_TIME_UNKNOWN,
    .pushes = rest.events[LNS_WIRE_LOSS_PUSH],
    .pops = rest.events[LNS_WIRE_LOSS_POP],
    .marks = rest.events[LNS_WIRE_LOSS_MARK],
    .starts = rest.events[LNS_WIRE_LOSS_START],
    .ends = rest.events[LNS_WIRE_LOSS_END],
    .others = rest.events[LNS_WIRE_LOSS_SAMPLE] + rest.events[LNS_WIRE_LOSS_OTHER],
    .bytes = rest.n_bytes,
  };
  lns_writer_add_loss (decoder->writer, &loss);
}

static void
end_threads (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  for (size_t i = 0; i < process->threads.n_places; i++)
    {
      LnsDecodedThread *thread = process->threads.entries[i].value;
      if (thread == NULL)
        continue;
      for (size_t j = 0; j < thread->stacks.n_places; j++)
        if (thread->stacks.entries[j].value != NULL)
          {
            _lns_stack_end (decoder, thread->stacks.entries[j].value, end_ns);
            _lns_stack_free (decoder, thread->stacks.entries[j].value);
          }
      lns_id_map_clear (&thread->stacks);
      if (thread->end_ns != LNS_TIME_UNKNOWN)
        continue;
      thread->end_ns = end_ns;
      if (decoder->writer != NULL)
        _lns_decoder_write_thread (decoder, thread, false);
    }
}

static void
unref_all (LnsIdMap *names)
{
  for (size_t i = 0; i < names->n_places; i++)
    lns_name_unref (names->entries[i].value);
  lns_id_map_clear (names);
}

void
lns_decoder_end_process (LnsDecoder *decoder,
                         uint32_t id,
                         int64_t end_ns,
                         const LnsWireLosses *losses)
{
  if (id >= decoder->processes.n)
    return;
  LnsDecodedProcess *process = decoder->processes.items[id];
  _lns_process_end_ranges (decoder, process, end_ns);
  end_threads (decoder, process, end_ns);
  if (losses != NULL)
    lns_decoder_add_losses (decoder, id, losses);
  _lns_cuda_stop_report (decoder, process);
  _lns_cuda_free (process);
  for (size_t i = 0; i < process->streams.n_places; i++)
    if (process->streams.entries[i].value != NULL)
      _lns_stream_free (process->streams.entries[i].value);
  lns_id_map_clear (&process->streams);
  lns_id_map_clear (&process->threads);
  lns_id_map_clear (&process->domains);
  lns_id_map_clear (&process->resources);
  unref_all (&process->registered);
  unref_all (&process->thread_names);
  process->end_ns = end_ns;
  if (decoder->writer != NULL)
    _lns_decoder_write_process (decoder, process, false);
}

void
lns_decoder_set_exit_code (
    LnsDecoder *decoder, uint32_t id, int64_t end_ns, int exit_code, int exit_signal)
{
  if (id >= decoder->processes.n)
    return;
  LnsDecodedProcess *process = decoder->processes.items[id];
  process->exit_code = exit_code;
  process->exit_signal = exit_signal;
  if (process->end_ns == LNS_TIME_UNKNOWN)
    process->end_ns = end_ns;
  if (decoder->writer != NULL)
    _lns_decoder_write_process (decoder, process, false);
}

/* --- Reports ---------------------------------------------------------------------------------- */

/* Calls EACH for every stack there is. */
static void
for_stacks (LnsDecoder *decoder,
            void (*each) (LnsDecoder *decoder, LnsRangeStack *stack, int64_t time_ns),
            int64_t time_ns)
{
  for (size_t i = 0; i < decoder->threads.n; i++)
    {
      LnsDecodedThread *thread = decoder->threads.items[i];
      for (size_t j = 0; j < thread->stacks.n_places; j++)
        if (thread->stacks.entries[j].value != NULL)
          each (decoder, thread->stacks.entries[j].value, time_ns);
    }
}

void
lns_decoder_start_report (LnsDecoder *decoder, LnsWriter *writer, int64_t start_ns)
{
  char value[24];
  decoder->writer = writer;
  decoder->report++;
  decoder->report_start_ns = start_ns;
  decoder->report_ticks = UINT64_MAX;
  decoder->is_followed = false;
  if (decoder->report == 1)
    decoder->first_start_ns = start_ns;
  snprintf (value, sizeof value, "%" PRId64, start_ns);
  lns_writer_set_meta (writer, "start_ns", value);
  decoder->n_cuda_events = 0;
  decoder->counters = (LnsDecoderCounters){ 0 };
  _lns_decoder_replay (decoder);
  for_stacks (decoder, _lns_stack_begin_report, start_ns);
  for (size_t i = 0; i < decoder->processes.n; i++)
    {
      LnsDecodedProcess *process = decoder->processes.items[i];
      process->n_lost_records = 0;
      _lns_process_begin_report (process);
      _lns_cuda_begin_report (decoder, process);
    }
}

void
lns_decoder_follow_late (LnsDecoder *decoder)
{
  decoder->is_followed = true;
}

void
lns_decoder_stop_report (LnsDecoder *decoder, int64_t end_ns)
{
  for_stacks (decoder, _lns_stack_stop_report, end_ns);
  for (size_t i = 0; i < decoder->processes.n; i++)
    {
      _lns_process_stop_report (decoder, decoder->processes.items[i], end_ns);
      _lns_cuda_stop_report (decoder, decoder->processes.items[i]);
    }
  decoder->ended_ns = decoder->is_followed ? end_ns : INT64_MIN;
  decoder->is_followed = false;
  _lns_mpi_stop_report (decoder);
  decoder->writer = NULL;
}

void
lns_decoder_show_open (LnsDecoder *decoder)
{
  if (decoder->writer == NULL)
    return;
  for (size_t i = 0; i < decoder->changed.n; i++)
    if (decoder->changed.items[i] != NULL)
      _lns_stack_show_open (decoder, decoder->changed.items[i]);
  decoder->changed.n = 0;
  for (size_t i = 0; i < decoder->processes.n; i++)
    _lns_process_show_open (decoder, decoder->processes.items[i]);
}

void
lns_decoder_diagnose (
    LnsDecoder *decoder, const char *code, LnsSeverity severity, uint32_t process, const char *text)
{
  if (decoder->writer == NULL)
    return;
  LnsDiagnostic diagnostic = {
    .code = text_id (decoder, code),
    .severity = severity,
    .time_ns = LNS_TIME_UNKNOWN,
    .process = process,
    .text = text_id (decoder, text),
  };
  lns_writer_add_diagnostic (decoder->writer, &diagnostic);
}
