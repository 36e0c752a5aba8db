/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a report knows of MPI beside its calls: ranks and communicators, as tables that it keeps. */

#include "capture/session/decode/cuda/cuda-private.h"
#include "src/base/buffer.h"
#include "src/store/write/kept-table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTEGER(value)                                                                             \
 (LnsKeptValue) { .type = LNS_KEPT_INTEGER, .integer = (int64_t)(value) }

/* The table *MAKER of this report, begun where it is not yet; NULL, and that counted, without memory. */
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

void
_lns_mpi_tell_rank (LnsDecoder *decoder, const LnsDecodedThread *thread, int32_t rank)
{
  static const LnsKeptColumn columns[] = { { "globalTid", "INTEGER", true },
                                           { "rank", "INTEGER", true } };
  LnsDecodedCuda *known = thread->process->cuda;
  if (rank < 0 || known->rank.report == decoder->report)
    return;
  LnsKeptTableMaker *maker = table (decoder, &decoder->mpi_ranks, "MPI_RANKS", columns, 2, false);
  if (maker == NULL)
    return;
  const int64_t process = thread->process->info.pid & 0xffffff, tid = thread->tid & 0xffffff;
  lns_kept_table_maker_add (maker,
                            (LnsKeptValue[]){ INTEGER (process << 24 | tid), INTEGER (rank) });
  lns_kept_table_maker_flush (maker);
  known->rank.report = decoder->report;
}

uint64_t
_lns_mpi_rootless (LnsDecoder *decoder)
{
  static const LnsKeptColumn columns[] = { { "rootRank", "INTEGER", false } };
  LnsKeptTableMaker *maker =
      table (decoder, &decoder->mpi_rootless, "MPI_COLLECTIVES_EVENTS", columns, 1, true);
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
tell_communicator (LnsDecoder *decoder, const LnsDecodedCommunicator *communicator)
{
  static const LnsKeptColumn columns[] = {
    { "rank", "INTEGER", false },       { "timestamp", "INTEGER", false },
    { "commHandle", "INTEGER", false }, { "parentHandle", "INTEGER", false },
    { "localRank", "INTEGER", false },  { "size", "INTEGER", false },
    { "groupRoot", "INTEGER", false },  { "groupRootUid", "INTEGER", false },
    { "members", "TEXT", false },       { "commUid", "INTEGER", false },
  };
  LnsKeptTableMaker *maker =
      table (decoder, &decoder->mpi_communicators, "MPI_COMMUNICATORS", columns, 10, false);
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

void
_lns_mpi_communicator (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsDecodedCommunicator *communicator = calloc (1, sizeof *communicator);
  LnsIdMap *known = &process->cuda->communicators;
  const size_t n_bytes = record->raw.n_bytes;
  if (communicator == NULL || n_bytes < sizeof communicator->said)
    {
      decoder->counters.n_refused++;
      free (communicator);
      return;
    }
  LnsWireMpiCommunicatorBytes *said = &communicator->said;
  _lns_cuda_take (record, said, sizeof *said);
  communicator->made_ns = lns_decoder_time_ns (decoder, said->head.ticks);
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

void
_lns_mpi_begin_report (LnsDecoder *decoder, const LnsDecodedProcess *process)
{
  const LnsIdMap *known = &process->cuda->communicators;
  for (size_t i = 0; i < known->n_places; i++)
    if (known->entries[i].value != NULL)
      tell_communicator (decoder, known->entries[i].value);
}

void
_lns_mpi_stop_report (LnsDecoder *decoder)
{
  lns_kept_table_maker_free (decoder->mpi_ranks);
  lns_kept_table_maker_free (decoder->mpi_communicators);
  lns_kept_table_maker_free (decoder->mpi_rootless);
  decoder->mpi_ranks = NULL;
  decoder->mpi_communicators = NULL;
  decoder->mpi_rootless = NULL;
}

void
_lns_mpi_free (LnsDecodedProcess *process)
{
  LnsIdMap *known = &process->cuda->communicators;
  for (size_t i = 0; i < known->n_places; i++)
    if (known->entries[i].value != NULL)
      {
        free (((LnsDecodedCommunicator *)known->entries[i].value)->members);
        free (known->entries[i].value);
      }
  lns_id_map_clear (known);
}
