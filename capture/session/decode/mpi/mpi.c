/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays MPI calls, and keeps ranks and communicators as tables of the report. */

#include "capture/session/decode/core/source.h"
#include "capture/session/decode/core/tracks.h"
#include "capture/wire/cuda-layout.h"
#include "src/base/buffer.h"
#include "src/store/write/kept-table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A communicator of MPI, as this process has it. */
typedef struct
{
  LnsWireMpiCommunicatorBytes said;
  int64_t made_ns;
  char *members; /* owned */
} Communicator;

/* The state of the session: the tables of this report; NULL until they get their first row. */
typedef struct
{
  LnsKeptTableMaker *ranks, *communicators;
  LnsKeptTableMaker *rootless; /* what collective calls without a root have beside their event */
} Session;

/* The state of a process. */
typedef struct
{
  LnsReportRef rank;      /* told in that report */
  LnsIdMap communicators; /* Communicator by uid */
} Process;

static Session *
session_of (const LnsDecoder *decoder)
{
  return decoder->state[LNS_SOURCE_MPI];
}

static Process *
known_of (const LnsDecodedProcess *process)
{
  return process->state[LNS_SOURCE_MPI];
}

#define INTEGER(value)                                                                             \
 (LnsKeptValue) { .type = LNS_KEPT_INTEGER, .integer = (int64_t)(value) }

/* Returns the table *MAKER of this report, which is begun if need be; NULL if memory is short. */
static LnsKeptTableMaker *
table (LnsDecoder *decoder,
       LnsKeptTableMaker **maker,
       const char *name,
       const LnsKeptColumn *columns,
       unsigned n_columns,
       bool is_remainder)
{
  if (*maker == NULL)
    *maker = lns_kept_table_maker_new (decoder->writer, name, columns, n_columns, is_remainder);
  if (*maker == NULL)
    decoder->counters.n_refused++;
  return *maker;
}

/* Writes the MPI rank of the process of THREAD to the report, once. */
static void
tell_rank (LnsDecoder *decoder, const LnsDecodedThread *thread, int32_t rank)
{
  static const LnsKeptColumn columns[] = { { "globalTid", "INTEGER", true },
                                           { "rank", "INTEGER", true } };
  Process *known = known_of (thread->process);
  if (rank < 0 || known->rank.report == decoder->report)
    return;
  LnsKeptTableMaker *maker =
      table (decoder, &session_of (decoder)->ranks, "MPI_RANKS", columns, 2, false);
  if (maker == NULL)
    return;
  const int64_t process = thread->process->info.pid & 0xffffff, tid = thread->tid & 0xffffff;
  lns_kept_table_maker_add (maker,
                            (LnsKeptValue[]){ INTEGER (process << 24 | tid), INTEGER (rank) });
  lns_kept_table_maker_flush (maker);
  known->rank.report = decoder->report;
}

/* The LNS_COLUMN_REMAINDER of a collective call without a root; 0 if memory is short. */
static uint64_t
rootless (LnsDecoder *decoder)
{
  static const LnsKeptColumn columns[] = { { "rootRank", "INTEGER", false } };
  LnsKeptTableMaker *maker =
      table (decoder, &session_of (decoder)->rootless, "MPI_COLLECTIVES_EVENTS", columns, 1, true);
  return maker == NULL
             ? 0
             : lns_kept_table_maker_remainder (maker, &(LnsKeptValue){ .type = LNS_KEPT_NULL });
}

/* --- Communicators ---------------------------------------------------------------------------- */

/* "0,2,4": ranks in MPI_COMM_WORLD by rank in the communicator; ",…" where it has more. */
static char *
write_members (const LnsWireMpiCommunicatorBytes *said, const uint8_t *bytes, size_t n_bytes)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream (&text, &size);
  size_t n = n_bytes / sizeof (int32_t);
  n = said->n_members < n ? said->n_members : n;
  for (size_t i = 0; out != NULL && i < n; i++)
    {
      int32_t member;
      memcpy (&member, bytes + i * sizeof member, sizeof member);
      fprintf (out, i == 0 ? "%d" : ",%d", member);
    }
  if (out != NULL && said->size > 0 && n < (size_t)said->size)
    fputs (",…", out);
  return out != NULL && fclose (out) == 0 ? text : NULL;
}

static void
tell_communicator (LnsDecoder *decoder, const Communicator *communicator)
{
  static const LnsKeptColumn columns[] = {
    { "rank", "INTEGER", false },       { "timestamp", "INTEGER", false },
    { "commHandle", "INTEGER", false }, { "parentHandle", "INTEGER", false },
    { "localRank", "INTEGER", false },  { "size", "INTEGER", false },
    { "groupRoot", "INTEGER", false },  { "groupRootUid", "INTEGER", false },
    { "members", "TEXT", false },       { "commUid", "INTEGER", false },
  };
  LnsKeptTableMaker *maker = table (decoder, &session_of (decoder)->communicators,
                                    "MPI_COMMUNICATORS", columns, 10, false);
  if (maker == NULL)
    return;
  const LnsWireMpiCommunicatorBytes *said = &communicator->said;
  const LnsKeptValue values[] = {
    INTEGER (said->world_rank),
    INTEGER (communicator->made_ns),
    INTEGER (said->handle),
    said->parent != 0 ? INTEGER (said->parent) : (LnsKeptValue){ .type = LNS_KEPT_NULL },
    INTEGER (said->rank),
    INTEGER (said->size),
    INTEGER (said->root),
    INTEGER (said->uid),
    { .type = LNS_KEPT_TEXT,
      .size_bytes = strlen (communicator->members),
      .bytes = communicator->members },
    INTEGER (said->uid),
  };
  lns_kept_table_maker_add (maker, values);
  lns_kept_table_maker_flush (maker);
}

static void
add_communicator (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  Communicator *communicator = calloc (1, sizeof *communicator);
  LnsIdMap *known = &known_of (process)->communicators;
  const size_t n_bytes = record->raw.n_bytes;
  if (communicator == NULL || n_bytes < sizeof communicator->said)
    {
      decoder->counters.n_refused++;
      free (communicator);
      return;
    }
  LnsWireMpiCommunicatorBytes *said = &communicator->said;
  _lns_record_take (record, said, sizeof *said);
  communicator->made_ns = lns_clock_line_ns (&decoder->clock, said->head.ticks);
  communicator->members =
      write_members (said, record->raw.bytes + sizeof *said, n_bytes - sizeof *said);
  if (communicator->members == NULL || said->uid == 0 ||
      lns_id_map_get (known, said->uid) != NULL || !lns_id_map_set (known, said->uid, communicator))
    {
      free (communicator->members);
      free (communicator);
      return;
    }
  if (decoder->writer != NULL)
    tell_communicator (decoder, communicator);
}

/* --- Calls ------------------------------------------------------------------------------------ */

static void
play_call (LnsDecoder *decoder, LnsStream *stream, const LnsWireMpiCallBytes *record)
{
  LnsEventMaker maker = { .decoder = decoder, .stream = stream, .kind = LNS_LANE_MPI_CALL };
  if (stream->thread == NULL)
    return;
  tell_rank (decoder, stream->thread, record->world_rank);
  _lns_maker_name_registered (&maker, record->head.string, "MPI call");
  _lns_maker_set (&maker, LNS_COLUMN_EVENT_CLASS, record->class);
  _lns_maker_set (&maker, LNS_COLUMN_BYTES, record->bytes);
  _lns_maker_set (&maker, LNS_COLUMN_RECEIVED_BYTES, record->received_bytes);
  _lns_maker_set (&maker, LNS_COLUMN_PEER_RANK, (uint64_t)(int64_t)record->peer);
  _lns_maker_set (&maker, LNS_COLUMN_TAG, (uint64_t)(int64_t)record->tag);
  _lns_maker_set (&maker, LNS_COLUMN_COMMUNICATOR, record->communicator);
  _lns_maker_set (&maker, LNS_COLUMN_COMMUNICATOR_UID, record->communicator_uid);
  _lns_maker_set (&maker, LNS_COLUMN_REQUEST, record->request);
  if (record->class == LNS_WIRE_MPI_COLLECTIVE && !record->has_peer)
    _lns_maker_set (&maker, LNS_COLUMN_REMAINDER, rootless (decoder));
  const LnsDecodedTrack like = { .kind = LNS_TRACK_MPI, .thread = stream->thread };
  LnsDecodedTrack *track = _lns_maker_track (&maker, &like, stream->thread->id);
  if (track != NULL)
    _lns_maker_finish (&maker, track, record->head.ticks, record->end_ticks);
}

static void
play (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsWireMpiCallBytes call;
  if (record->type == (LnsWireType)LNS_WIRE_MPI_COMMUNICATOR)
    add_communicator (decoder, stream->process, record);
  else if (decoder->writer != NULL)
    {
      _lns_record_take (record, &call, sizeof call);
      play_call (decoder, stream, &call);
    }
}

/* --- Reports ---------------------------------------------------------------------------------- */

static void
begin_process (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  const Communicator *communicator;
  for (size_t at = 0;
       (communicator = lns_id_map_next (&known_of (process)->communicators, &at)) != NULL;)
    tell_communicator (decoder, communicator);
}

static void
stop_report (LnsDecoder *decoder)
{
  Session *session = session_of (decoder);
  lns_kept_table_maker_free (session->ranks);
  lns_kept_table_maker_free (session->communicators);
  lns_kept_table_maker_free (session->rootless);
  session->ranks = NULL;
  session->communicators = NULL;
  session->rootless = NULL;
}

static void
end_process (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  LnsIdMap *known = &known_of (process)->communicators;
  Communicator *communicator;
  for (size_t at = 0; (communicator = lns_id_map_next (known, &at)) != NULL;)
    {
      free (communicator->members);
      free (communicator);
    }
  lns_id_map_clear (known);
}

const LnsDecoderOps _lns_mpi_ops = {
  .types = { { LNS_WIRE_MPI_CALL, LNS_WIRE_MPI_CALL },
             { LNS_WIRE_MPI_COMMUNICATOR, LNS_WIRE_MPI_COMMUNICATOR } },
  .session_bytes = sizeof (Session),
  .process_bytes = sizeof (Process),
  .play = play,
  .begin_process = begin_process,
  .stop_report = stop_report,
  .end_process = end_process,
  .free_session = stop_report,
};
