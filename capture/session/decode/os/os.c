/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays calls of the C library. */

#include "capture/session/decode/core/source.h"
#include "capture/session/decode/core/tracks.h"
#include "capture/wire/os-layout.h"
#include "src/store/write/kept-table.h"

#include <string.h>

/* What is known of the session. */
typedef struct
{
  LnsReportRef names[LNS_N_OS_FUNCTIONS]; /* string ids */
  LnsKeptTableMaker *details;             /* what calls have beside their event; NULL: none yet */
} Session;

static const char *const names[LNS_N_OS_FUNCTIONS] = {
#define LNS_OS_CALL(n, result, name)             #name,
#define LNS_OS_FILE(n, result, name, file, size) #name,
#define LNS_OS_OWN(name)                         #name,
#include "capture/wire/os-functions.h"
};

static Session *
session_of (const LnsDecoder *decoder)
{
  return decoder->state[LNS_SOURCE_OS];
}

static uint32_t
name_of (LnsDecoder *decoder, unsigned function)
{
  LnsReportRef *name = &session_of (decoder)->names[function];
  if (name->report != decoder->report)
    *name = (LnsReportRef){ decoder->report, _lns_decoder_text (decoder, names[function]) };
  return name->id;
}

#define INTEGER(value)                                                                             \
 (LnsKeptValue) { .type = LNS_KEPT_INTEGER, .integer = (int64_t)(value) }

/* The globalTid of the thread TARGET_TID of PROCESS: tables make it of this id even if it is one of another pid namespace.
 * NULL if TARGET_TID is 0. */
static LnsKeptValue
thread_of (const LnsDecodedProcess *process, uint32_t target_tid)
{
  if (target_tid == 0)
    return (LnsKeptValue){ .type = LNS_KEPT_NULL };
  return INTEGER ((int64_t)(process->info.pid & 0xffffff) << 24 | (target_tid & 0xffffff));
}

/* The LNS_COLUMN_REMAINDER of CALL: its lock and the thread that held it, or its file and how many bytes went there. 0:
 * there is none. */
static uint64_t
detail_of (LnsDecoder *decoder, const LnsDecodedProcess *process, const LnsWireOsCallBytes *call)
{
  static const LnsKeptColumn columns[] = { { "lockAddress", "INTEGER", false },
                                           { "lockHolder", "INTEGER", false },
                                           { "filePath", "TEXT", false },
                                           { "fileBytes", "INTEGER", false } };
  LnsKeptTableMaker **maker = &session_of (decoder)->details;
  const LnsKeptValue nothing = { .type = LNS_KEPT_NULL };
  if (call->file == 0 && call->subject == 0)
    return 0;
  if (*maker == NULL)
    *maker = lns_kept_table_maker_new (decoder->writer, "OSRT_API", columns, 4, true);
  LnsKeptValue values[] = { INTEGER (call->subject), thread_of (process, call->head.string),
                            nothing, nothing };
  if (call->file != 0)
    {
      LnsName *path = lns_id_map_get (&process->registered, call->file);
      values[0] = values[1] = nothing;
      if (path != NULL)
        values[2] = (LnsKeptValue){ .type = LNS_KEPT_TEXT,
                                    .size_bytes = path->n_bytes,
                                    .bytes = path->bytes };
      values[3] = INTEGER (call->subject);
    }
  const uint64_t id = *maker == NULL ? 0 : lns_kept_table_maker_remainder (*maker, values);
  if (id == 0)
    decoder->counters.n_refused++;
  return id;
}

/* A call seldom lies within another: one that a signal handler makes while the thread waits. */
static const LnsTrackOps calls = { .is_sequence = true };

static void
play (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsWireOsCallBytes call;
  if (record->type != (LnsWireType)LNS_WIRE_OS_CALL || decoder->writer == NULL ||
      stream->thread == NULL || record->domain >= LNS_N_OS_FUNCTIONS)
    return;
  _lns_record_take (record, &call, sizeof call);
  LnsEventMaker maker = { .decoder = decoder, .stream = stream, .kind = LNS_LANE_OS_CALL };
  maker.event.name = name_of (decoder, record->domain);
  _lns_maker_set (&maker, LNS_COLUMN_RETURN_VALUE, (uint64_t)call.return_value);
  _lns_maker_set (&maker, LNS_COLUMN_REMAINDER, detail_of (decoder, stream->process, &call));
  if (stream->callers_ticks == call.head.ticks && stream->callers.report == decoder->report &&
      stream->callers.id != LNS_ID_NONE)
    _lns_maker_set (&maker, LNS_COLUMN_CALL_CHAIN, 1 + (uint64_t)stream->callers.id);
  stream->callers_ticks = 0;
  const LnsDecodedTrack like = { .kind = LNS_TRACK_OS_CALLS,
                                 .ops = &calls,
                                 .thread = stream->thread };
  LnsDecodedTrack *track = _lns_maker_track (&maker, &like, stream->thread->id);
  _lns_decoder_see_thread (decoder, stream->thread,
                           lns_clock_line_ns (&decoder->clock, call.head.ticks));
  if (track != NULL)
    _lns_maker_finish (&maker, track, call.head.ticks, call.end_ticks);
}

static void
define (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  static const char *const sanitizers[] = {
    [LNS_OS_ADDRESS_SANITIZER] = "AddressSanitizer",
    [LNS_OS_THREAD_SANITIZER] = "ThreadSanitizer",
    [LNS_OS_MEMORY_SANITIZER] = "MemorySanitizer",
  };
  LnsWireOsRefusedBytes refused;
  if (record->type != (LnsWireType)LNS_WIRE_OS_REFUSED &&
      record->type != (LnsWireType)LNS_WIRE_OS_UNREAD)
    return;
  _lns_record_take (record, &refused, sizeof refused);
  if (record->type == (LnsWireType)LNS_WIRE_OS_UNREAD)
    {
      _lns_decoder_tell (
          decoder, process, "LNS-OSRT-005",
          "process %d: callers of some calls of the C library are missing, because "
          "the system refuses to read stacks of coroutines and signal handlers (%s); "
          "allow process_vm_readv in the sandbox or container",
          process->info.pid, strerror ((int)(refused.reason & 4095)));
      return;
    }
  if (refused.reason == 0 || refused.reason >= sizeof sanitizers / sizeof *sanitizers)
    return;
  _lns_decoder_tell (decoder, process, "LNS-OSRT-003",
                     "process %d: calls of the C library are not recorded, because the program is "
                     "built with %s; record a build without it",
                     process->info.pid, sanitizers[refused.reason]);
}

static void
stop_report (LnsDecoder *decoder)
{
  lns_kept_table_maker_free (session_of (decoder)->details);
  session_of (decoder)->details = NULL;
}

const LnsDecoderOps _lns_os_ops = {
  .types = { { LNS_WIRE_OS_FIRST, LNS_WIRE_OS_LAST } },
  .session_bytes = sizeof (Session),
  .define = define,
  .play = play,
  .stop_report = stop_report,
  .free_session = stop_report,
};
