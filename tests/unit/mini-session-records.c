/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/mini-session-records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MiniStream *
mini_process_stream (MiniProcess *process, uint32_t serial)
{
  if (serial > process->n_streams)
    {
      process->streams = realloc (process->streams, serial * sizeof *process->streams);
      memset (process->streams + process->n_streams, 0,
              (serial - process->n_streams) * sizeof *process->streams);
      process->n_streams = serial;
    }
  if (process->streams[serial - 1] == NULL)
    process->streams[serial - 1] = calloc (1, sizeof (MiniStream));
  return process->streams[serial - 1];
}

static void
set_text (MiniText *text, LnsWireText from)
{
  free (text->text);
  text->text = malloc (from.n_bytes + 1);
  memcpy (text->text, from.bytes, from.n_bytes);
  text->text[from.n_bytes] = '\0';
  text->n_bytes = from.n_bytes;
}

static void
set_registered (MiniProcess *process, uint32_t id, LnsWireText text)
{
  id &= ~LNS_WIRE_STRING_REGISTERED;
  if (id >= process->n_registered)
    {
      uint32_t room = id * 2 + 16;
      process->registered = realloc (process->registered, room * sizeof *process->registered);
      memset (process->registered + process->n_registered, 0,
              (room - process->n_registered) * sizeof *process->registered);
      process->n_registered = room;
    }
  set_text (&process->registered[id], text);
}

void
mini_losses_add (LnsWireLosses *losses, const LnsWireLosses *more)
{
  for (int kind = 0; kind < LNS_WIRE_LOSS_KINDS; kind++)
    losses->events[kind] += more->events[kind];
  losses->n_bytes += more->n_bytes;
}

/* Depths follow one another but where something was lost, and are right from the first record on. */
static void
check_depth (MiniSession *session, MiniStream *stream, const LnsWireRecord *record)
{
  if (record->domain >= MINI_DOMAINS)
    return;
  uint32_t *depth = &stream->depths[record->domain];
  bool known = stream->depth_known[record->domain];
  switch (record->type)
    {
    case LNS_WIRE_PUSH:
      session->n_wrong_depths += known && record->event.depth != *depth;
      *depth = record->event.depth + 1;
      break;
    case LNS_WIRE_POP:
      session->n_wrong_depths += known && record->event.depth + 1 != *depth;
      *depth = record->event.depth;
      break;
    case LNS_WIRE_POP_EMPTY:
      session->n_wrong_depths += known && *depth != 0;
      *depth = 0;
      break;
    default:
      return;
    }
  stream->depth_known[record->domain] = true;
}

static void
keep_event (MiniSession *session,
            MiniProcess *process,
            MiniStream *stream,
            const LnsWireRecord *record,
            const MiniText *name)
{
  if (session->n_events == session->n_events_room)
    {
      session->n_events_room = session->n_events_room * 2 + 1024;
      session->events = realloc (session->events, session->n_events_room * sizeof *session->events);
    }
  MiniEvent *event = &session->events[session->n_events++];
  *event = (MiniEvent){
    .process = (uint32_t)(process - session->processes),
    .thread = stream->thread,
    .type = record->type,
    .depth = record->event.depth,
    .domain = record->domain,
    .color = record->event.color,
    .category = record->event.category,
    .color_type = record->event.color_type,
    .payload_type = record->event.payload_type,
    .payload = record->event.payload,
    .range = record->event.range,
  };
  if (record->event.string & LNS_WIRE_STRING_REGISTERED)
    event->registered = record->event.string;
  else if (name != NULL)
    {
      event->name = malloc (name->n_bytes + 1);
      memcpy (event->name, name->text, name->n_bytes + 1);
      event->n_name_bytes = name->n_bytes;
    }
}

static void
take_event (MiniSession *session,
            MiniProcess *process,
            MiniStream *stream,
            const LnsWireRecord *record)
{
  const MiniText *name = NULL;
  uint32_t string = record->event.string;
  if (string > 0 && string < LNS_WIRE_STREAM_STRINGS)
    name = &stream->strings[string];
  if ((string >= LNS_WIRE_STREAM_STRINGS && !(string & LNS_WIRE_STRING_REGISTERED)) ||
      (name != NULL && name->text == NULL))
    {
      session->n_unknown_names++;
      name = NULL;
    }
  if (!stream->has_thread)
    session->n_bad_records++;
  check_depth (session, stream, record);
  if (session->options.keep_events)
    keep_event (session, process, stream, record, name);
}

static void
take_lost (MiniStream *stream, const LnsWireRecord *record)
{
  mini_losses_add (&stream->told, &record->lost.losses);
  for (uint32_t i = 0; i < LNS_WIRE_STREAM_STRINGS; i++)
    {
      free (stream->strings[i].text);
      stream->strings[i] = (MiniText){ 0 };
    }
  memset (stream->depth_known, 0, sizeof stream->depth_known);
  lns_wire_assembler_clear (&stream->assembler);
}

static void
take_thread (MiniProcess *process, MiniStream *stream, const LnsWireRecord *record)
{
  process->n_threads++;
  stream->thread = record->thread.said.serial;
  stream->tid = record->thread.said.tid;
  snprintf (stream->thread_name, sizeof stream->thread_name, "%.*s",
            (int)record->thread.name.n_bytes, record->thread.name.bytes);
  stream->has_thread = true;
  memset (stream->depths, 0, sizeof stream->depths);
  /* A fork's child goes on with its parent's depths, and a thread may have begun with losses. */
  memset (stream->depth_known, 0, sizeof stream->depth_known);
}

/* All that has a time is of this session, by its clock, and in order. */
static void
check_time (MiniSession *session, MiniStream *stream, const LnsWireRecord *record)
{
  if (record->type >= LNS_WIRE_STRING)
    return;
  uint64_t first = record->type == LNS_WIRE_LOST ? record->lost.first_ticks : record->ticks;
  session->n_wrong_times += first < session->first_ticks || first < stream->last_ticks ||
                            record->ticks < first ||
                            record->ticks > lns_wire_clock_ticks (session->clock);
  stream->last_ticks = record->ticks;
}

static void
take_record (MiniSession *session,
             MiniProcess *process,
             MiniStream *stream,
             const LnsWireRecord *record)
{
  LnsWireRecord whole;
  process->n_type[record->type]++;
  check_time (session, stream, record);
  switch (record->type)
    {
    case LNS_WIRE_PUSH:
    case LNS_WIRE_POP:
    case LNS_WIRE_POP_EMPTY:
    case LNS_WIRE_MARK:
    case LNS_WIRE_START:
    case LNS_WIRE_END:
      take_event (session, process, stream, record);
      break;
    case LNS_WIRE_STRING:
      set_text (&stream->strings[record->named.id % LNS_WIRE_STREAM_STRINGS], record->named.text);
      break;
    case LNS_WIRE_REGISTERED:
      set_registered (process, record->named.id, record->named.text);
      break;
    case LNS_WIRE_DOMAIN:
      if (record->domain < MINI_DOMAINS)
        process->domains[record->domain] =
            strndup (record->named.text.bytes, record->named.text.n_bytes);
      break;
    case LNS_WIRE_LOST:
      take_lost (stream, record);
      break;
    case LNS_WIRE_THREAD:
      take_thread (process, stream, record);
      break;
    case LNS_WIRE_PIECE:
      if (lns_wire_assembler_add (&stream->assembler, record, &whole) > 0)
        take_record (session, process, stream, &whole);
      break;
    default:
      break;
    }
  if (session->options.on_record != NULL)
    session->options.on_record (session, process, stream, record);
}

void
mini_session_take (MiniSession *session,
                   MiniProcess *process,
                   MiniStream *stream,
                   const uint8_t *bytes,
                   size_t n_bytes)
{
  size_t at = 0;
  LnsWireRecord record;
  int result;
  for (size_t before = 0; (result = lns_wire_record_next (bytes, n_bytes, &at, &record)) > 0;
       before = at)
    {
      take_record (session, process, stream, &record);
      if (record.type >= 0x80 && session->options.on_cuda != NULL)
        session->options.on_cuda (session, process, stream, (const LnsWireHead *)(bytes + before));
    }
  session->n_bad_records += result < 0;
}

void
mini_session_resolve (MiniSession *session)
{
  for (size_t i = 0; i < session->n_events; i++)
    {
      MiniEvent *event = &session->events[i];
      const MiniProcess *process = &session->processes[event->process];
      uint32_t id = event->registered & ~LNS_WIRE_STRING_REGISTERED;
      if (event->registered == 0)
        continue;
      if (id >= process->n_registered || process->registered[id].text == NULL)
        {
          session->n_unknown_names++;
          continue;
        }
      event->name = strdup (process->registered[id].text);
      event->n_name_bytes = process->registered[id].n_bytes;
    }
}

void
mini_session_free (MiniSession *session)
{
  for (size_t i = 0; i < session->n_events; i++)
    free (session->events[i].name);
  free (session->events);
  for (uint32_t i = 0; i < session->n_processes; i++)
    {
      MiniProcess *process = &session->processes[i];
      for (uint32_t s = 0; s < process->n_streams; s++)
        {
          if (process->streams[s] == NULL)
            continue;
          for (uint32_t k = 0; k < LNS_WIRE_STREAM_STRINGS; k++)
            free (process->streams[s]->strings[k].text);
          lns_wire_assembler_clear (&process->streams[s]->assembler);
          free (process->streams[s]);
        }
      free (process->streams);
      for (uint32_t k = 0; k < process->n_registered; k++)
        free (process->registered[k].text);
      free (process->registered);
      for (int k = 0; k < MINI_DOMAINS; k++)
        free (process->domains[k]);
      lns_wire_pool_free (process->pool);
    }
  free (session);
}
