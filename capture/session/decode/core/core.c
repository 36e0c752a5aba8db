/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/session/decode/core/sieve.h"

bool
_lns_pointers_add (LnsPointers *pointers, void *item)
{
  void **added = lns_array_try_add (pointers);
  if (added == NULL)
    return false;
  *added = item;
  return true;
}

bool
_lns_decoder_keep (LnsDecoder *decoder, LnsPointers *list, LnsIdMap *map, uint64_t key, void *item)
{
  if (item != NULL && (list == NULL || _lns_pointers_add (list, item)))
    {
      if (lns_id_map_set (map, key, item))
        return true;
      if (list != NULL)
        list->n--;
    }
  free (item);
  decoder->counters.n_refused++;
  return false;
}

void
_lns_record_take (const LnsWireRecord *record, void *ret_struct, size_t n_bytes)
{
  size_t n = record->raw.n_bytes < n_bytes ? record->raw.n_bytes : n_bytes;
  memcpy (ret_struct, record->raw.bytes, n);
  memset ((uint8_t *)ret_struct + n, 0, n_bytes - n);
}

/* --- The report ------------------------------------------------------------------------------- */

LnsName *
_lns_decoder_name (LnsWireText text)
{
  return text.n_bytes > 0 ? lns_name_new (text.bytes, text.n_bytes) : NULL;
}

void
_lns_names_clear (LnsIdMap *names)
{
  LnsName *name;
  for (size_t at = 0; (name = lns_id_map_next (names, &at)) != NULL;)
    lns_name_unref (name);
  lns_id_map_clear (names);
}

uint32_t
_lns_decoder_string (LnsDecoder *decoder, LnsName *name)
{
  if (name == NULL)
    return 0;
  if (name->report != decoder->report)
    {
      name->id = lns_writer_string (decoder->writer, name->bytes, name->n_bytes);
      name->report = decoder->report;
    }
  return name->id;
}

uint32_t
_lns_decoder_add_track (LnsDecoder *decoder, const LnsTrack *definition)
{
  const uint32_t id = lns_writer_add_track (decoder->writer, definition);
  if (decoder->sieve != NULL && id != LNS_ID_NONE)
    _lns_sieve_add_track (decoder->sieve, id, definition->process);
  return id;
}

uint32_t
_lns_decoder_track (LnsDecoder *decoder, LnsReportRef *ref, const LnsTrack *definition)
{
  if (ref->report != decoder->report)
    *ref = (LnsReportRef){ decoder->report, _lns_decoder_add_track (decoder, definition) };
  return ref->id;
}

void
_lns_decoder_lane (
    LnsDecoder *decoder, LnsReportRef *ref, uint32_t track, uint32_t ordinal, LnsLaneKind kind)
{
  LnsLane lane = { .track = track, .ordinal = ordinal, .kind = kind };
  if (ref->report == decoder->report)
    return;
  *ref = (LnsReportRef){ decoder->report, lns_writer_add_lane (decoder->writer, &lane) };
  if (decoder->sieve != NULL && ref->id != LNS_ID_NONE)
    _lns_sieve_add_lane (decoder->sieve, ref->id, track, kind);
}

void
_lns_decoder_append (LnsDecoder *decoder, uint32_t lane, const LnsEvent *event)
{
  if (decoder->sieve != NULL)
    _lns_sieve_append (decoder->sieve, lane, event);
  else
    lns_writer_append (decoder->writer, lane, event);
}

void
_lns_decoder_set_open (LnsDecoder *decoder, uint32_t lane, const LnsEvent *event)
{
  if (decoder->sieve != NULL)
    _lns_sieve_set_open (decoder->sieve, lane, event);
  else
    lns_writer_set_open (decoder->writer, lane, event);
}

void
_lns_decoder_close_lane (LnsDecoder *decoder, uint32_t lane)
{
  if (decoder->sieve != NULL)
    _lns_sieve_close_lane (decoder->sieve, lane);
  else
    lns_writer_close_lane (decoder->writer, lane);
}

uint32_t
_lns_decoder_text (LnsDecoder *decoder, const char *text)
{
  return text != NULL ? lns_writer_string (decoder->writer, text, strlen (text)) : 0;
}

void
_lns_decoder_write_process (LnsDecoder *decoder, const LnsDecodedProcess *process, bool anew)
{
  if (decoder->writer == NULL)
    return;
  const LnsProcessInfo *info = &process->info;
  LnsProcess definition = {
    .pid = info->pid,
    .target_pid = info->target_pid,
    .parent = info->parent,
    .name = _lns_decoder_text (decoder, info->name),
    .command_line = _lns_decoder_text (decoder, info->command_line),
    .executable = _lns_decoder_text (decoder, info->executable),
    .start_ns = process->start_ns,
    .end_ns = process->end_ns,
    .exit_code = process->exit_code,
    .exit_signal = (uint32_t)process->exit_signal,
    .mpi_rank = info->mpi_rank,
  };
  if (anew)
    lns_writer_add_process (decoder->writer, &definition);
  else
    lns_writer_set_process (decoder->writer, process->id, &definition);
}

/* --- Records ---------------------------------------------------------------------------------- */

void
_lns_decoder_register (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireNamed *named)
{
  LnsName *name = lns_name_new (named->text.bytes, named->text.n_bytes);
  LnsName *old = lns_id_map_take (&process->registered, named->id);
  if (name == NULL || !lns_id_map_set (&process->registered, named->id, name))
    {
      lns_name_unref (name);
      decoder->counters.n_refused++;
    }
  lns_name_unref (old);
}

static LnsUnrecorded *
add_unrecorded (LnsDecoder *decoder, uint32_t process, const char *code)
{
  LnsUnrecorded *unrecorded = calloc (1, sizeof *unrecorded);
  if (unrecorded == NULL || !_lns_pointers_add (&decoder->unrecorded, unrecorded))
    {
      free (unrecorded);
      return NULL;
    }
  unrecorded->process = process;
  unrecorded->code = code;
  unrecorded->severity = LNS_SEVERITY_WARNING;
  return unrecorded;
}

LnsUnrecorded *
_lns_decoder_tell (LnsDecoder *decoder,
                   const LnsDecodedProcess *process,
                   const char *code,
                   const char *format,
                   ...)
{
  LnsUnrecorded *unrecorded = add_unrecorded (decoder, process->id, code);
  if (unrecorded == NULL)
    return NULL;
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (unrecorded->text, sizeof unrecorded->text, format, arguments);
  va_end (arguments);
  return unrecorded;
}

void
_lns_decoder_tell_once (LnsDecoder *decoder, const char *code, const char *text)
{
  for (size_t i = 0; i < decoder->unrecorded.n; i++)
    if (strcmp (((const LnsUnrecorded *)decoder->unrecorded.items[i])->text, text) == 0)
      return;
  LnsUnrecorded *unrecorded = add_unrecorded (decoder, LNS_ID_NONE, code);
  if (unrecorded != NULL)
    snprintf (unrecorded->text, sizeof unrecorded->text, "%s", text);
}

/* --- Losses ----------------------------------------------------------------------------------- */

void
_lns_decoder_count_told (LnsDecoder *decoder,
                         LnsDecodedProcess *process,
                         const LnsWireLosses *losses)
{
  for (int i = 0; i < LNS_WIRE_LOSS_KINDS; i++)
    process->told.events[i] += losses->events[i];
  process->told.n_bytes += losses->n_bytes;
  decoder->n_told += lns_wire_losses_missed (losses);
}

void
_lns_decoder_write_loss (LnsDecoder *decoder,
                         LnsDecodedProcess *process,
                         const LnsWireLosses *losses,
                         LnsLoss loss)
{
  if (decoder->writer == NULL)
    return;
  const uint64_t *events = losses->events;
  const uint64_t n_others = events[LNS_WIRE_LOSS_SAMPLE] + events[LNS_WIRE_LOSS_OTHER];
  process->n_lost_records += n_others;
  loss.process = process->id;
  loss.pushes = events[LNS_WIRE_LOSS_PUSH];
  loss.pops = events[LNS_WIRE_LOSS_POP];
  loss.marks = events[LNS_WIRE_LOSS_MARK];
  loss.starts = events[LNS_WIRE_LOSS_START];
  loss.ends = events[LNS_WIRE_LOSS_END];
  loss.others = n_others;
  loss.bytes = losses->n_bytes;
  lns_writer_add_loss (decoder->writer, &loss);
}
