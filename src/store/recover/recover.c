/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/recover/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lns-config.h"
#include "src/base/format.h"
#include "src/store/format/event-codec.h"
#include "src/store/database/guarded-vfs.h"
#include "src/store/database/sql.h"
#include "src/store/recover/recover-private.h"
#include "src/store/read/report-private.h"
#include "src/store/read/report-rescue.h"

#define COMMIT_BYTES ((size_t)32 << 20)

/* Decoded events of one chunk. */
typedef struct
{
  int64_t start_ns[LNS_CHUNK_MAX_EVENTS], duration_ns[LNS_CHUNK_MAX_EVENTS];
  uint32_t name[LNS_CHUNK_MAX_EVENTS], flags[LNS_CHUNK_MAX_EVENTS];
  uint64_t extra[LNS_EXTRA_MAX][LNS_CHUNK_MAX_EVENTS];
} Events;

static bool
scan_file (LnsRecover *recover, int fd)
{
  return _lns_scan_file (&recover->scan, fd, recover->options, recover->error);
}

/* Reads PATH and the journal beside it; both descriptors stay open for reading the chunks. The journal holds what pages were before the commit that
 * was cut off: with the highest revision of each chunk of both there is no need to roll back. */
static bool
scan (LnsRecover *recover, const char *path, int ret_fds[2])
{
  uint64_t file_bytes;

  if (!_lns_report_file_check (path, &file_bytes, recover->error))
    return false;
  ret_fds[0] = open (path, O_RDONLY | O_CLOEXEC);
  if (ret_fds[0] < 0)
    return lns_error_set_errno (recover->error, errno, "cannot read %s", path);
  ret_fds[1] = lns_journal_open (path);
  if (!scan_file (recover, ret_fds[0]) || (ret_fds[1] >= 0 && !scan_file (recover, ret_fds[1])))
    return false;
  _lns_scan_choose (&recover->scan);
  return true;
}

/* Meta values that describe the file itself, which the writer makes anew. */
static bool
is_own_key (const char *key)
{
  static const char *const keys[] = { "compatible",      "incompatible",   "uuid",        "state",
                                      "writer",          "commit",         "now_ns",      "t0_tsc",
                                      "t0_monotonic_ns", "t0_realtime_ns", "next_string", "events",
                                      "reached_ns",      "seen_ns",        "waiting",     "untold",
                                      "missing" };

  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp (key, keys[i]) == 0)
      return true;
  return false;
}

/* Creates the new report with the old one's clock. */
static bool
create (LnsRecover *recover, const char *out_path, bool overwrite)
{
  const LnsRecoveredTable *meta = &recover->tables[LNS_DEFINITION_META];
  LnsWriterOptions options = { .overwrite = overwrite };
  char key[64], value[32];

  for (uint32_t i = 0; i < meta->n; i++)
    {
      _lns_recovered_text (&recover->strings, meta->definitions[i].meta.key, key, sizeof key);
      if (!is_own_key (key))
        continue;
      _lns_recovered_text (&recover->strings, meta->definitions[i].meta.value, value, sizeof value);
      if (strcmp (key, "incompatible") == 0 &&
          (strtoull (value, NULL, 10) & ~LNS_FEATURES_INCOMPATIBLE) != 0)
        return lns_error_set (recover->error, LNS_ERROR_VERSION, 0,
                              "%s: the report needs a Lanescope newer than " LNS_VERSION
                              " to be recovered; update lanescope",
                              recover->path);
      if (strcmp (key, "t0_monotonic_ns") == 0)
        options.t0_monotonic_ns = strtoll (value, NULL, 10);
      else if (strcmp (key, "t0_realtime_ns") == 0)
        options.t0_realtime_ns = strtoll (value, NULL, 10);
      else if (strcmp (key, "t0_tsc") == 0)
        options.t0_tsc = strtoull (value, NULL, 10);
    }
  recover->writer = lns_writer_create (out_path, &options, recover->error);
  return recover->writer != NULL;
}

static void
write_meta (LnsRecover *recover)
{
  const LnsRecoveredTable *meta = &recover->tables[LNS_DEFINITION_META];
  char key[256], *value = malloc (LNS_STRING_PIECE_BYTES + 1);

  for (uint32_t i = 0; value != NULL && i < meta->n; i++)
    {
      _lns_recovered_text (&recover->strings, meta->definitions[i].meta.key, key, sizeof key);
      if (key[0] == '\0' || is_own_key (key))
        continue;
      _lns_recovered_text (&recover->strings, meta->definitions[i].meta.value, value,
                           LNS_STRING_PIECE_BYTES + 1);
      lns_writer_set_meta (recover->writer, key, value);
    }
  free (value);
}

/* Event I of EVENTS with the new report's string ids. */
static LnsEvent
take_event (const LnsRecover *recover, LnsLaneKind kind, const Events *events, uint32_t i)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  const int type = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD_TYPE);
  const int payload = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD);
  LnsEvent event = { .start_ns = events->start_ns[i],
                     .duration_ns = events->duration_ns[i],
                     .name = _lns_recovered_string (&recover->strings, events->name[i],
                                                    recover->strings.lost_name),
                     .flags = events->flags[i] };

  for (unsigned e = 0; e < info->n_extra; e++)
    event.extra[e] = events->extra[e][i];
  if (type >= 0 && payload >= 0 &&
      (event.extra[type] == LNS_PAYLOAD_TYPED || event.extra[type] == LNS_PAYLOAD_JSON))
    event.extra[payload] =
        _lns_recovered_string (&recover->strings, (uint32_t)event.extra[payload], 0);
  return event;
}

static bool
decode_chunk (LnsRecover *recover, const LnsFoundChunk *chunk, Events *events)
{
  LnsEventColumns columns = {
    events->start_ns, events->duration_ns, events->name, events->flags, { NULL }
  };
  LnsChunkView view;

  for (int e = 0; e < LNS_EXTRA_MAX; e++)
    columns.extra[e] = events->extra[e];
  return _lns_scan_read (chunk, recover->bytes, &view) && lns_events_decode (&view, &columns, NULL);
}

/* How far a lane has been written. */
typedef struct
{
  uint64_t n_old;    /* ordinals of the old report seen                                        */
  uint32_t n_chunks; /* the sequence number to come                                            */
  int64_t end_ns;
  bool has_gap;
} LaneProgress;

/* Events of which the ordinals of chunks tell that they are missing between LANE's last and N. */
static uint64_t
count_gap (const LaneProgress *lane, uint64_t n)
{
  return n > lane->n_old ? n - lane->n_old : 0;
}

static void
write_chunk (LnsRecover *recover, const LnsFoundChunk *chunk, Events *events, LaneProgress *lane)
{
  const LnsChunkHeader *header = &chunk->header;

  if (header->sequence > lane->n_chunks)
    {
      recover->counts.n_missing += header->sequence - lane->n_chunks;
      lane->has_gap = true;
    }
  lane->n_chunks = header->sequence + 1;
  if (!decode_chunk (recover, chunk, events))
    {
      recover->counts.n_damaged++;
      lane->has_gap = true;
      return;
    }
  recover->counts.n_chunks++;
  recover->counts.n_lost += count_gap (lane, header->first);
  /* An old tail may hold events that the chunk before it has too. */
  uint32_t i = 0;
  if (lane->n_old > header->first)
    i = lane->n_old - header->first < header->n ? (uint32_t)(lane->n_old - header->first)
                                                : header->n;
  for (; i < header->n; i++)
    {
      LnsEvent event = take_event (recover, (LnsLaneKind)header->lane_kind, events, i);
      if (lane->has_gap)
        event.flags |= LNS_EVENT_LOST_BEFORE;
      lane->has_gap = false;
      lns_writer_append (recover->writer, header->lane, &event);
      lane->end_ns = event.start_ns + event.duration_ns;
    }
  if (header->first + header->n > lane->n_old)
    lane->n_old = header->first + header->n;
}

/* Sets the open event of CHUNK's lane, if nothing was appended after it. */
static void
write_open (LnsRecover *recover,
            const LnsFoundChunk *chunk,
            Events *events,
            const LaneProgress *lane,
            int64_t *end_ns)
{
  const LnsChunkHeader *header = &chunk->header;

  if (header->first < lane->n_old || !decode_chunk (recover, chunk, events))
    return;
  LnsEvent event = take_event (recover, (LnsLaneKind)header->lane_kind, events, 0);
  lns_writer_set_open (recover->writer, header->lane, &event);
  recover->counts.n_events++;
  *end_ns = event.start_ns > *end_ns ? event.start_ns : *end_ns;
}

static bool
write_events (LnsRecover *recover, int64_t *ret_end_ns)
{
  const uint32_t n_lanes = recover->tables[LNS_DEFINITION_LANE].n;
  size_t n_chunks, n_opens, c = 0, o = 0;
  const LnsFoundChunk *chunks = _lns_scan_chunks (&recover->scan, LNS_CHUNK_EVENTS, &n_chunks);
  const LnsFoundChunk *opens = _lns_scan_chunks (&recover->scan, LNS_CHUNK_OPEN_EVENT, &n_opens);
  Events *events = malloc (sizeof *events);
  bool ok = events != NULL || _lns_recover_no_memory (recover);

  *ret_end_ns = 0;
  for (uint32_t id = 0; ok && id < n_lanes; id++)
    {
      LaneProgress lane = { .end_ns = INT64_MIN };
      for (; ok && c < n_chunks && chunks[c].header.lane <= id; c++)
        {
          write_chunk (recover, &chunks[c], events, &lane);
          if (lns_writer_waiting_bytes (recover->writer) > COMMIT_BYTES)
            ok = lns_writer_commit (recover->writer, lane.end_ns, recover->error);
          ok = ok && _lns_scan_go_on (recover->options,
                                      LNS_SCAN_SHARE +
                                          (1 - LNS_SCAN_SHARE) * (double)c / (double)n_chunks,
                                      recover->error);
        }
      if (lane.end_ns > *ret_end_ns)
        *ret_end_ns = lane.end_ns;
      for (; ok && o < n_opens && opens[o].header.lane <= id; o++)
        write_open (recover, &opens[o], events, &lane, ret_end_ns);
    }
  free (events);
  return ok;
}

/* Compares what the new report holds with what the old one says that it held. */
static void
count_lost (LnsRecover *recover)
{
  LnsRecovery *counts = &recover->counts;
  const uint64_t n_kept = lns_writer_events (recover->writer);
  uint64_t n_told;

  counts->is_lost_known = _lns_recover_told_events (recover->path, &n_told);
  if (counts->is_lost_known && n_told > n_kept && n_told - n_kept > counts->n_lost)
    counts->n_lost = n_told - n_kept;
  if (counts->is_lost_known)
    snprintf (counts->lost_text, sizeof counts->lost_text, "%" PRIu64 " event%s", counts->n_lost,
              lns_plural (counts->n_lost, "", "s"));
  else if (counts->n_lost > 0)
    snprintf (counts->lost_text, sizeof counts->lost_text,
              "at least %" PRIu64 " event%s; the count of all is gone too", counts->n_lost,
              lns_plural (counts->n_lost, "", "s"));
  else
    snprintf (counts->lost_text, sizeof counts->lost_text,
              "not known, as the count of all events is gone too");
  const size_t n = strlen (counts->lost_text);
  if (counts->n_lost_rows > 0)
    snprintf (counts->lost_text + n, sizeof counts->lost_text - n,
              "; %" PRIu64 " row%s of other tables", counts->n_lost_rows,
              lns_plural (counts->n_lost_rows, "", "s"));
}

/* Says in the new report what is not in it. */
static void
write_losses (LnsRecover *recover)
{
  const LnsRecovery *counts = &recover->counts;
  const LnsLoss loss = { .process = LNS_ID_NONE,
                         .thread = LNS_ID_NONE,
                         .first_ns = LNS_TIME_UNKNOWN,
                         .last_ns = LNS_TIME_UNKNOWN,
                         .others = counts->n_lost };
  char text[300];

  lns_writer_set_meta (recover->writer, "missing", counts->lost_text);
  if (counts->n_lost > 0)
    lns_writer_add_loss (recover->writer, &loss);
  if (counts->n_damaged + counts->n_missing + counts->n_lost == 0 && counts->is_lost_known)
    return;
  int n = snprintf (text, sizeof text,
                    "The report was recovered from a damaged file: %llu %s unreadable and "
                    "%llu %s gone; ranges after a gap are marked; missing: %s.",
                    (unsigned long long)counts->n_damaged,
                    lns_plural (counts->n_damaged, "chunk was", "chunks were"),
                    (unsigned long long)counts->n_missing,
                    lns_plural (counts->n_missing, "was", "were"), counts->lost_text);
  LnsDiagnostic diagnostic = { .code = lns_writer_string (recover->writer, "LNS-STORE-001", 13),
                               .severity = LNS_SEVERITY_ERROR,
                               .time_ns = LNS_TIME_UNKNOWN,
                               .process = LNS_ID_NONE,
                               .text = lns_writer_string (recover->writer, text, (size_t)n) };
  lns_writer_add_diagnostic (recover->writer, &diagnostic);
}

/* Damaged chunks of which something is lost: levels of detail are made anew. */
static uint64_t
count_damaged (const LnsScan *scan)
{
  uint64_t n = 0;

  for (size_t i = 0; i < scan->n_damaged; i++)
    n += scan->damaged[i].header.kind != LNS_CHUNK_NODES &&
         scan->damaged[i].header.kind != LNS_CHUNK_OPEN_EVENT;
  return n;
}

/* A report without events that lacks none is recovered as such. */
static bool
brings_nothing_back (const LnsRecover *recover)
{
  const LnsRecovery *counts = &recover->counts;
  return counts->n_events == 0 &&
         (lns_writer_lost (recover->writer) > 0 || counts->n_damaged + counts->n_missing > 0 ||
          !counts->is_lost_known);
}

/* Says why nothing comes back: what was in the file is gone, or nothing was ever written into it. */
static bool
tell_nothing (LnsRecover *recover)
{
  const LnsRecovery *counts = &recover->counts;
  const uint64_t n_lost = lns_writer_lost (recover->writer);
  char what[64] = "its only event was lost when it was";
  if (n_lost != 1)
    snprintf (what, sizeof what, "all %" PRIu64 " events were lost when they were", n_lost);
  if (counts->n_damaged + counts->n_missing + counts->n_lost == 0 && counts->is_lost_known)
    return lns_error_set (recover->error, LNS_ERROR_FORMAT, 0,
                          "%s: there is nothing to recover because %s recorded; record again",
                          recover->path, what);
  return lns_error_set (recover->error, LNS_ERROR_FORMAT, 0,
                        "%s: cannot recover anything because the file has no readable event; "
                        "missing: %s; copy the file again, or record again",
                        recover->path, counts->lost_text);
}

static bool
rebuild (LnsRecover *recover, const char *out_path, bool overwrite)
{
  int64_t end_ns;

  recover->bytes = malloc (LNS_CHUNK_MAX_BYTES);
  if (recover->bytes == NULL)
    return _lns_recover_no_memory (recover);
  recover->strings.scan = &recover->scan;
  recover->strings.bytes = recover->bytes;
  recover->counts.n_damaged = count_damaged (&recover->scan);
  if (!_lns_recover_read_definitions (recover) || !create (recover, out_path, overwrite))
    return false;
  if (!_lns_recover_find_blocks (recover))
    return false;
  if (!_lns_recovered_strings_write (&recover->strings, recover->writer))
    return _lns_recover_no_memory (recover);
  if (!_lns_recover_write_definitions (recover) || !write_events (recover, &end_ns))
    return false;
  write_meta (recover);
  count_lost (recover);
  write_losses (recover);
  recover->counts.n_events += lns_writer_events (recover->writer);
  if (brings_nothing_back (recover))
    return tell_nothing (recover);
  LnsWriter *writer = recover->writer;
  recover->writer = NULL;
  return lns_writer_finish (writer, LNS_STATE_RECOVERED, end_ns, recover->error);
}

bool
lns_recover (const char *path,
             const char *out_path,
             bool overwrite,
             const LnsOpenOptions *options,
             LnsRecovery *ret_recovery,
             LnsError *error)
{
  LnsRecover recover = { .path = path, .options = options, .error = error };
  struct stat in, out;
  int fds[2] = { -1, -1 };

  if (stat (path, &in) == 0 && stat (out_path, &out) == 0 && in.st_dev == out.st_dev &&
      in.st_ino == out.st_ino)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "%s: a report cannot be recovered into itself; choose another output",
                          path);
  bool ok = scan (&recover, path, fds) && rebuild (&recover, out_path, overwrite);
  if (recover.writer != NULL)
    lns_writer_abandon (recover.writer);
  for (int i = 0; i < 2; i++)
    if (fds[i] >= 0)
      close (fds[i]);
  for (int kind = 0; kind < LNS_N_DEFINITION_KINDS; kind++)
    free (recover.tables[kind].definitions);
  _lns_recovered_strings_clear (&recover.strings);
  free (recover.bytes);
  _lns_scan_clear (&recover.scan);
  if (ok && ret_recovery != NULL)
    *ret_recovery = recover.counts;
  return ok;
}

/* Why PATH could neither be opened nor recovered. CAUSE advises to recover where it saw damage: where
 * PROBLEM is that nothing was found, that would be no help. */
static void
tell_cause (const LnsError *cause, const LnsError *problem, LnsError *error)
{
  const char *advice = strrchr (cause->message, ';');

  if (problem->domain == LNS_ERROR_FORMAT && advice != NULL && strstr (advice, "recover") != NULL)
    lns_error_set (error, LNS_ERROR_FORMAT, 0,
                   "%.*s, and none of it can be recovered; copy it again or record again",
                   (int)(advice - cause->message), cause->message);
  else
    lns_error_set (error, cause->domain, cause->code, "%s", cause->message);
}

LnsReport *
lns_report_open_or_recover (const char *path,
                            const LnsOpenOptions *options,
                            bool *ret_recovered,
                            LnsError *error)
{
  LnsError cause = { 0 };
  LnsReport *report = lns_report_open (path, options, &cause);

  *ret_recovered = false;
  if (report != NULL && _lns_report_check_lanes (report, &cause))
    return report;
  lns_report_close (report);
  report = NULL;
  char *copy = cause.domain == LNS_ERROR_FORMAT ? _lns_rescue_path (path, NULL) : NULL;
  LnsError problem = { 0 };
  if (copy != NULL && lns_recover (path, copy, true, options, NULL, &problem))
    {
      _lns_rescue_prune (copy);
      report = lns_report_open (copy, options, &problem);
    }
  free (copy);
  *ret_recovered = report != NULL;
  if (problem.domain == LNS_ERROR_CANCELLED)
    lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: recovery was cancelled", path);
  else if (report == NULL)
    tell_cause (&cause, &problem, error);
  return report;
}
