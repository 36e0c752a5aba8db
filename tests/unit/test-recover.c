/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests recovery of broken reports: with SQLite's journal, and from their bytes alone. */

#include "src/store/recover/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/hash.h"
#include "src/store/format/definition-codec.h"
#include "src/store/read/report-cache.h"
#include "src/store/recover/scan.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define PAGE_BYTES 65536

enum
{
  N_LANES = 5,
  N_EVENTS = 20000
};

static LnsExpectedLane lanes[N_LANES];

/* A report of five lanes, one with an open event, long strings and definitions of some kinds. */
static void
write_report (const char *path)
{
  LnsWriter *writer = fixture_writer (path);
  static char long_name[100000];

  memset (long_name, 'x', sizeof long_name);
  lns_writer_set_meta (writer, "host", "hal");
  for (uint32_t i = 0; i < N_LANES; i++)
    {
      fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      free (lanes[i].events);
      lanes[i] = fixture_events (i, N_EVENTS, -100, i);
    }
  for (uint32_t e = 0; e < N_EVENTS; e += 500)
    {
      for (uint32_t i = 0; i < N_LANES; i++)
        for (uint32_t at = e; at < e + 500; at++)
          {
            char text[32];
            LnsEvent event = lanes[i].events[at];
            event.name =
                lns_writer_string (writer, text, (size_t)sprintf (text, "event %u", event.name));
            lns_writer_append (writer, i, &event);
          }
      LNS_CHECK (lns_writer_commit (writer, 0, NULL));
    }
  const LnsEvent *last = &lanes[0].events[N_EVENTS - 1];
  LnsEvent open = { .start_ns = last->start_ns + last->duration_ns + 5,
                    .name = lns_writer_string (writer, long_name, sizeof long_name) };
  lns_writer_set_open (writer, 0, &open);
  fixture_finish (writer, open.start_ns + 100);
}

/* Compares all but the names' ids, of which it compares the texts. */
static void
check_report (LnsReport *report, uint32_t n_skipped)
{
  LnsError error = { 0 };
  uint32_t n;
  size_t size;

  LNS_CHECK_STR (lns_report_meta (report, "host"), "hal");
  LNS_CHECK_INT (lns_report_info (report)->t0_monotonic_ns, 111);
  LNS_CHECK_INT (lns_report_processes (report, &n)[0].pid, 10);
  LNS_CHECK_INT (lns_report_threads (report, &n)[0].tid, 11);
  LNS_CHECK_STR (lns_report_string (report, lns_report_threads (report, &n)[0].name, NULL),
                 lns_report_string (report, lns_report_threads (report, &n)[0].name, &size));
  const LnsLane *found = lns_report_lanes (report, &n);
  LNS_CHECK_INT (n, N_LANES);
  for (uint32_t i = 0; i < N_LANES; i++)
    {
      LNS_CHECK_INT (found[i].track, i);
      LNS_CHECK_INT (found[i].kind, LNS_LANE_NVTX_PUSH_POP);
      uint32_t at = i == 1 ? n_skipped : 0;
      LnsChunkWalker *walker = lns_chunk_walker_new (report, i, 0);
      for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, &error)) != NULL;)
        for (uint32_t e = 0; e < chunk->n && at < N_EVENTS; e++, at++)
          {
            const LnsEvent *expected = &lanes[i].events[at];
            char text[32];
            sprintf (text, "event %u", expected->name);
            LNS_CHECK_INT (chunk->start_ns[e], expected->start_ns);
            LNS_CHECK_INT (chunk->duration_ns[e], expected->duration_ns);
            LNS_CHECK_INT (chunk->flags[e] & ~LNS_EVENT_LOST_BEFORE, expected->flags);
            LNS_CHECK_STR (lns_report_string (report, chunk->name[e], NULL), text);
            LNS_CHECK_INT (chunk->extra[0] != NULL ? chunk->extra[0][e] : 0, expected->extra[0]);
          }
      LNS_CHECK_STR (error.message, "");
      LNS_CHECK_INT (at, N_EVENTS);
      lns_chunk_walker_free (walker);
    }
  LnsEvent open;
  LNS_CHECK (lns_report_lane_info (report, 0)->has_open);
  LNS_CHECK (lns_report_event (report, 0, N_EVENTS, &open, NULL));
  lns_report_string (report, open.name, &size);
  LNS_CHECK_INT (size, 100000);
}

static void
patch (const char *path, off_t offset, const void *bytes, size_t size_bytes)
{
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  LNS_CHECK (fd >= 0 && pwrite (fd, bytes, size_bytes, offset) == (ssize_t)size_bytes);
  close (fd);
}

/* Zeroes page 1 and each interior page of a b-tree: type 2 or 5 in its first byte. */
static void
zero_interior_pages (const char *path)
{
  static const uint8_t zeros[PAGE_BYTES];
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  uint8_t type;
  int n_interior = 0;

  LNS_CHECK (fd >= 0);
  for (off_t at = PAGE_BYTES; pread (fd, &type, 1, at) == 1; at += PAGE_BYTES)
    if (type == 2 || type == 5)
      {
        patch (path, at, zeros, PAGE_BYTES);
        n_interior++;
      }
  close (fd);
  LNS_CHECK (n_interior > 0);
  patch (path, 0, zeros, PAGE_BYTES);
}

static void
test_without_btree (void)
{
  const char *path = fixture_path ("broken.rep"), *out = fixture_path ("whole.rep");
  LnsRecovery recovery;
  LnsError error = { 0 };

  write_report (path);
  zero_interior_pages (path);
  /* Something that only begins like a chunk. */
  struct stat status;
  LNS_CHECK (stat (path, &status) == 0);
  static const char junk[200] = "LNSCHNK1, but no more of it: no field of a header is right";
  patch (path, status.st_size, junk, sizeof junk);
  LNS_CHECK (lns_report_open (path, NULL, &error) == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_FORMAT);
  error = (LnsError){ 0 };
  if (!lns_recover (path, out, false, NULL, &recovery, &error))
    LNS_FAIL ("%s", error.message);
  LNS_CHECK_INT (recovery.n_events, N_LANES * N_EVENTS + 1); /* and an open one */
  LNS_CHECK_INT (recovery.n_damaged, 0);
  LNS_CHECK_INT (recovery.n_missing, 0);
  LNS_CHECK (recovery.n_chunks > N_LANES);
  LnsReport *report = fixture_open (out, NULL);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_RECOVERED);
  check_report (report, 0);
  lns_report_close (report);
  /* What is there is not overwritten unasked. */
  LNS_CHECK (!lns_recover (path, out, false, NULL, NULL, &error));
  LNS_CHECK (lns_recover (path, out, true, NULL, NULL, NULL));
  LNS_CHECK (!lns_recover (path, path, true, NULL, NULL, NULL));
}

static void
test_damaged_chunk (void)
{
  const char *path = fixture_path ("hurt.rep"), *out = fixture_path ("healed.rep");
  LnsScan scan = { 0 };
  LnsRecovery recovery;
  uint32_t n;

  write_report (path);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  LNS_CHECK (_lns_scan_file (&scan, fd, NULL, NULL));
  _lns_scan_choose (&scan);
  uint64_t n_lost = 0;
  for (size_t i = 0; i < scan.chunks.n && n_lost == 0; i++)
    {
      const LnsChunkHeader *header = &scan.chunks.items[i].header;
      if (header->kind != LNS_CHUNK_EVENTS || header->lane != 1 || header->sequence != 0)
        continue;
      n_lost = header->n;
      /* Earlier tails hold some of its events: they count as the same chunk. */
      patch (path, (off_t)scan.chunks.items[i].offset_bytes + 200, "damage", 6);
    }
  _lns_scan_clear (&scan);
  close (fd);
  LNS_CHECK (n_lost > 0);

  LNS_CHECK (lns_recover (path, out, false, NULL, &recovery, NULL));
  LNS_CHECK (recovery.n_events < N_LANES * N_EVENTS);
  LNS_CHECK (recovery.n_events >= N_LANES * N_EVENTS - n_lost);
  LNS_CHECK_INT (recovery.n_damaged + recovery.n_missing > 0 ||
                     recovery.n_events > N_LANES * N_EVENTS - n_lost,
                 1);
  LnsReport *report = fixture_open (out, NULL);
  const LnsLaneInfo *info = lns_report_lane_info (report, 1);
  LNS_CHECK_INT (info->n_events, recovery.n_events - (N_LANES - 1) * N_EVENTS - 1);
  if (recovery.n_damaged > 0)
    {
      LnsEvent event;
      const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n);
      LNS_CHECK_INT (n, 1);
      LNS_CHECK_STR (lns_report_string (report, diagnostics[0].code, NULL), "LNS-STORE-001");
      LNS_CHECK (lns_report_event (report, 1, 0, &event, NULL));
      LNS_CHECK (event.flags & LNS_EVENT_LOST_BEFORE);
      check_report (report, (uint32_t)n_lost);
    }
  lns_report_close (report);
}

static void
test_lost_definitions (void)
{
  const char *path = fixture_path ("nameless.rep"), *out = fixture_path ("named.rep");
  LnsScan scan = { 0 };
  LnsRecovery recovery;
  uint32_t n;

  write_report (path);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  LNS_CHECK (_lns_scan_file (&scan, fd, NULL, NULL));
  _lns_scan_choose (&scan);
  /* All but the first definition chunk, with the meta values, and all strings. */
  for (size_t i = 0; i < scan.chunks.n; i++)
    {
      const LnsChunkHeader *header = &scan.chunks.items[i].header;
      if ((header->kind == LNS_CHUNK_DEFINITIONS && header->sequence > 0) ||
          header->kind == LNS_CHUNK_STRINGS)
        patch (path, (off_t)scan.chunks.items[i].offset_bytes, "LNSCHNK9", 8);
    }
  _lns_scan_clear (&scan);
  close (fd);
  LNS_CHECK (lns_recover (path, out, true, NULL, &recovery, NULL));
  LNS_CHECK_INT (recovery.n_events, N_LANES * N_EVENTS + 1); /* and an open one */
  LnsReport *report = fixture_open (out, NULL);
  lns_report_lanes (report, &n);
  LNS_CHECK_INT (n, N_LANES);
  LnsEvent event;
  LNS_CHECK (lns_report_event (report, 2, 77, &event, NULL));
  LNS_CHECK_INT (event.start_ns, lanes[2].events[77].start_ns);
  LNS_CHECK_STR (lns_report_string (report, event.name, NULL), "(lost)");
  const LnsTrack *tracks = lns_report_tracks (report, &n);
  LNS_CHECK_INT (n, N_LANES);
  for (uint32_t i = 0; i < n; i++)
    {
      LNS_CHECK_INT (tracks[i].kind, LNS_TRACK_NVTX_RANGES);
      LNS_CHECK_INT (tracks[i].thread, tracks[0].thread);
      LNS_CHECK_INT (tracks[i].process, tracks[0].process);
    }
  const LnsThread *threads = lns_report_threads (report, &n);
  LNS_CHECK (tracks[0].thread < n);
  LNS_CHECK_INT (threads[tracks[0].thread].process, tracks[0].process);
  LNS_CHECK_INT (threads[tracks[0].thread].tid, 0);
  lns_report_close (report);
}

/* A chunk of definitions with the one of ID, and then the tables as SQLite has them. */
static void
define_at (const char *path, LnsDefinitionKind kind, uint32_t id, const void *definition)
{
  LnsReport *report = fixture_open (path, NULL);
  LnsBuffer record = { 0 }, chunk = { 0 };
  LnsChunkHeader header = {
    .kind = LNS_CHUNK_DEFINITIONS, .sequence = 1000, .revision = 1000, .n = 1
  };
  sqlite3 *db = NULL;
  sqlite3_stmt *insert = NULL;

  memcpy (header.uuid, lns_report_info (report)->uuid, sizeof header.uuid);
  lns_report_close (report);
  lns_definition_encode (&record, kind, id, definition);
  lns_chunk_build (&chunk, &header,
                   &(LnsChunkColumn){ .id = LNS_DEFINITION_COLUMN_RECORDS,
                                      .encoding = LNS_ENCODING_BYTES,
                                      .bytes = record.bytes,
                                      .size_bytes = (uint32_t)record.size_bytes },
                   1);
  LNS_CHECK (sqlite3_open (path, &db) == SQLITE_OK &&
             sqlite3_prepare_v2 (db, "INSERT INTO lns_def VALUES (1000, ?1)", -1, &insert, NULL) ==
                 SQLITE_OK &&
             sqlite3_bind_blob64 (insert, 1, chunk.bytes, chunk.size_bytes, SQLITE_STATIC) ==
                 SQLITE_OK &&
             sqlite3_step (insert) == SQLITE_DONE);
  sqlite3_finalize (insert);
  sqlite3_close (db);
  lns_buffer_clear (&record);
  lns_buffer_clear (&chunk);
}

/* How many definitions of KIND the report at PATH has after its recovery. RET_REFUSED gets why it was not opened. */
static uint32_t
n_after_recovery (const char *path, LnsDefinitionKind kind, LnsError *ret_refused)
{
  const char *out = fixture_path ("dense.rep");
  LnsError error = { 0 };
  uint32_t n, n_diagnostics;

  LNS_CHECK (lns_report_open (path, NULL, ret_refused) == NULL);
  LNS_CHECK_INT (ret_refused->domain, LNS_ERROR_FORMAT);
  if (!lns_recover (path, out, true, NULL, NULL, &error))
    LNS_FAIL ("%s", error.message);
  LnsReport *report = fixture_open (out, NULL);
  LNS_CHECK_INT (lns_report_info (report)->n_events, N_LANES * N_EVENTS + 1);
  lns_report_definitions (report, kind, &n);
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n_diagnostics);
  for (uint32_t i = 0; i < n_diagnostics; i++)
    if (strstr (lns_report_string (report, diagnostics[i].text, NULL), "far beyond") != NULL)
      n |= 1u << 31;
  lns_report_close (report);
  return n;
}

/* One definition with a number far beyond all others does not make as many as that. */
static void
test_ids_that_are_not_dense (void)
{
  const char *path = fixture_path ("sparse.rep");
  LnsError error = { 0 };

  write_report (path);
  define_at (path, LNS_DEFINITION_LANE, 1000000,
             &(LnsLane){ .track = 0, .kind = LNS_LANE_NVTX_PUSH_POP });
  LNS_CHECK_INT (n_after_recovery (path, LNS_DEFINITION_LANE, &error), N_LANES + 1);
  LNS_CHECK (strstr (error.message, "the definition of lane 5 is missing") != NULL);

  for (uint32_t id = 1000000; id != 0; id = id == 1000000 ? LNS_ID_NONE : 0)
    {
      error = (LnsError){ 0 };
      write_report (path);
      define_at (path, LNS_DEFINITION_THREAD, id, &(LnsThread){ .process = 0 });
      LNS_CHECK_INT (n_after_recovery (path, LNS_DEFINITION_THREAD, &error), 1u << 31 | 1);
      LNS_CHECK (strstr (error.message, "the definition of thread 1 is missing") != NULL);
    }
  /* As many as a lost page has are bridged. */
  error = (LnsError){ 0 };
  write_report (path);
  define_at (path, LNS_DEFINITION_THREAD, 3000, &(LnsThread){ .process = 0 });
  LNS_CHECK_INT (n_after_recovery (path, LNS_DEFINITION_THREAD, &error), 3001);
}

/* Code that reads events of a kind takes what their tracks belong to without a look, so tracks without it are refused, and
 * recovery gives them a stand-in. */
static void
test_tracks_of_nobody (void)
{
  static const struct
  {
    LnsTrackKind track;
    LnsLaneKind lane;
    uint32_t process, thread;
    const char *refusal;
  } cases[] = {
    { LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE, LNS_ID_NONE, 0, "track 0 has no process" },
    { LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE, LNS_ID_NONE, LNS_ID_NONE, "has no process" },
    { LNS_TRACK_PYTHON_SAMPLES, LNS_LANE_PYTHON_SAMPLE, 0, LNS_ID_NONE, "track 0 has no thread" },
    { LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, LNS_ID_NONE, LNS_ID_NONE, "has no process" },
    { LNS_TRACK_GPU_METRIC, LNS_LANE_CPU_SAMPLE, LNS_ID_NONE, LNS_ID_NONE, "another kind" },
    { 77, LNS_LANE_CPU_SAMPLE, 0, 0, "another kind" },
    { LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE, 7, 0, "track 0 refers to process 7" },
    { LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE, 0, 7, "track 0 refers to thread 7" },
    { LNS_TRACK_GPU_METRIC, LNS_LANE_COUNTER, LNS_ID_NONE, LNS_ID_NONE, NULL },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      const char *path = fixture_path ("nobody.rep"), *out = fixture_path ("somebody.rep");
      LnsError error = { 0 };
      uint32_t n_processes, n_threads;
      LnsWriter *writer = fixture_writer (path);
      const LnsTrack track = { .kind = cases[i].track,
                               .process = cases[i].process,
                               .thread = cases[i].thread,
                               .domain = LNS_ID_NONE,
                               .device = LNS_ID_NONE,
                               .stream = LNS_ID_NONE };
      lns_writer_add_track (writer, &track);
      lns_writer_add_lane (writer, &(LnsLane){ .track = 0, .kind = cases[i].lane });
      lns_writer_append (writer, 0, &(LnsEvent){ .start_ns = 7 });
      fixture_finish (writer, 10);
      LnsReport *report = lns_report_open (path, NULL, &error);
      LNS_CHECK ((report != NULL) == (cases[i].refusal == NULL));
      LNS_CHECK (report != NULL || strstr (error.message, cases[i].refusal) != NULL);
      lns_report_close (report);
      LNS_CHECK (lns_recover (path, out, true, NULL, NULL, NULL));
      report = fixture_open (out, NULL);
      const LnsLane *lane = lns_report_lanes (report, NULL);
      const LnsTrack *mended = &lns_report_tracks (report, NULL)[lane->track];
      const LnsThread *threads = lns_report_threads (report, &n_threads);
      LNS_CHECK_INT (lns_report_info (report)->n_events, 1);
      LNS_CHECK_INT (lns_track_kind_info (mended->kind)->lane, cases[i].lane);
      lns_report_processes (report, &n_processes);
      if (lns_track_kind_info (mended->kind)->has_process)
        LNS_CHECK (mended->process < n_processes);
      if (lns_track_kind_info (mended->kind)->has_thread)
        LNS_CHECK (mended->thread < n_threads && threads[mended->thread].process < n_processes);
      lns_report_close (report);
    }
}

/* So are severities that do not exist. */
static void
test_severities (void)
{
  const char *path = fixture_path ("severe.rep"), *out = fixture_path ("mild.rep");
  LnsError error = { 0 };
  LnsWriter *writer = fixture_writer (path);

  lns_writer_add_diagnostic (writer, &(LnsDiagnostic){ .severity = 9, .process = LNS_ID_NONE });
  fixture_finish (writer, 0);
  LNS_CHECK (lns_report_open (path, NULL, &error) == NULL);
  LNS_CHECK (strstr (error.message, "diagnostic 0 has no severity") != NULL);
  LNS_CHECK (lns_recover (path, out, true, NULL, NULL, NULL));
  LnsReport *report = fixture_open (out, NULL);
  LNS_CHECK_INT (lns_report_diagnostics (report, NULL)[0].severity, LNS_SEVERITY_ERROR);
  lns_report_close (report);
}

/* Parents in a circle are refused by the reader, so recovery cuts it at one place. */
static void
test_processes_in_a_circle (void)
{
  const char *path = fixture_path ("circle.rep"), *out = fixture_path ("uncircled.rep");
  LnsRecovery recovery;
  uint32_t n, n_roots = 0;

  LnsWriter *writer = fixture_writer (path);
  for (uint32_t p = 1; p < 3; p++)
    lns_writer_add_process (writer, &(LnsProcess){ .parent = p - 1 });
  lns_writer_set_process (writer, 0, &(LnsProcess){ .parent = 2 });
  fixture_finish (writer, 0);
  LNS_CHECK (lns_recover (path, out, true, NULL, &recovery, NULL));
  LnsReport *report = fixture_open (out, NULL);
  const LnsProcess *processes = lns_report_processes (report, &n);
  LNS_CHECK_INT (n, 3);
  for (uint32_t p = 0; p < n; p++)
    n_roots += processes[p].parent == LNS_ID_NONE;
  LNS_CHECK_INT (n_roots, 1);
  lns_report_close (report);
}

/* A call node that does not come behind its parent is refused by the reader. Recovery keeps it without a parent, and all others
 * as they are. */
static void
test_call_nodes (void)
{
  const char *path = fixture_path ("calls.rep"), *out = fixture_path ("called.rep");
  LnsRecovery recovery;
  LnsError error = { 0 };
  uint32_t n;

  LnsWriter *writer = fixture_writer (path);
  const uint32_t place = lns_writer_string (writer, "/lib/libx.so", 12),
                 symbol = lns_writer_string (writer, "libx.so+0x40", 12),
                 build_id = lns_writer_string (writer, "\1\0\2", 3);
  lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE });
  lns_writer_add_module (writer, &(LnsModule){ .path = place,
                                               .build_id = build_id,
                                               .start = UINT64_C (0x7f0000001000),
                                               .end = UINT64_C (0x7f0000002000),
                                               .file_offset = 0x1000,
                                               .mapped_ns = 5 });
  lns_writer_add_frame (writer, &(LnsStackFrame){ .module = 0, .symbol = symbol, .offset = 0x40 });
  lns_writer_add_frame (writer, &(LnsStackFrame){ .module = LNS_ID_NONE, .offset = UINT64_MAX });
  const LnsCallNode nodes[] = { { LNS_ID_NONE, 1 }, { 0, 0 }, { 1, 0 }, { 3, 1 } };
  for (int i = 0; i < 4; i++)
    lns_writer_add_call_node (writer, &nodes[i]);
  fixture_finish (writer, 0);
  LNS_CHECK (lns_report_open (path, NULL, &error) == NULL);
  LNS_CHECK (strstr (error.message, "call node 3 comes before its parent") != NULL);
  LNS_CHECK (lns_recover (path, out, true, NULL, &recovery, NULL));
  LnsReport *report = fixture_open (out, NULL);
  const LnsCallNode *kept = lns_report_call_nodes (report, &n);
  LNS_CHECK_INT (n, 4);
  for (uint32_t i = 0; i < n; i++)
    {
      LNS_CHECK_INT (kept[i].parent, i == 3 ? LNS_ID_NONE : nodes[i].parent);
      LNS_CHECK_INT (kept[i].frame, nodes[i].frame);
    }
  const LnsStackFrame *frames = lns_report_frames (report, &n);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK_STR (lns_report_string (report, frames[0].symbol, NULL), "libx.so+0x40");
  LNS_CHECK_INT (frames[1].module, LNS_ID_NONE);
  LNS_CHECK (frames[1].offset == UINT64_MAX);
  const LnsModule *module = lns_report_modules (report, &n);
  size_t n_bytes;
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_STR (lns_report_string (report, module->path, NULL), "/lib/libx.so");
  LNS_CHECK (memcmp (lns_report_string (report, module->build_id, &n_bytes), "\1\0\2", 4) == 0);
  LNS_CHECK_INT (n_bytes, 3);
  LNS_CHECK (module->start == UINT64_C (0x7f0000001000) && module->file_offset == 0x1000);
  lns_report_close (report);
}

/* The same for inlined calls, of which code that walks chains relies on the order. */
static void
test_inlined_calls (void)
{
  const LnsStackFrame wrong[] = { { .innermost = 1 },
                                  { .innermost = 5 },
                                  { .inlined_in = 2 },
                                  { .inlined_in = UINT32_MAX },
                                  { .innermost = UINT32_MAX } };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    {
      const char *path = fixture_path ("inlined.rep"), *out = fixture_path ("outlined.rep");
      LnsRecovery recovery;
      LnsError error = { 0 };
      uint32_t n;
      LnsWriter *writer = fixture_writer (path);
      for (int at = 0; at < 4; at++)
        lns_writer_add_frame (writer, &(LnsStackFrame){ .module = LNS_ID_NONE, .offset = 5 });
      LnsStackFrame frame = wrong[i];
      frame.module = LNS_ID_NONE;
      lns_writer_set_frame (writer, 1, &frame);
      lns_writer_set_frame (
          writer, 2, &(LnsStackFrame){ .module = LNS_ID_NONE, .innermost = 4, .inlined_in = 1 });
      lns_writer_add_call_node (writer, &(LnsCallNode){ LNS_ID_NONE, 1 });
      fixture_finish (writer, 0);
      LNS_CHECK (lns_report_open (path, NULL, &error) == NULL);
      LNS_CHECK (strstr (error.message, "inlined calls of frame 1 are out of order") != NULL);
      LNS_CHECK (lns_recover (path, out, true, NULL, &recovery, NULL));
      LnsReport *report = fixture_open (out, NULL);
      const LnsStackFrame *frames = lns_report_frames (report, &n);
      LNS_CHECK_INT (n, 4);
      LNS_CHECK (frames[1].innermost == 0 && frames[1].inlined_in == 0);
      LNS_CHECK (frames[2].innermost == 4 && frames[2].inlined_in == 1);
      lns_report_close (report);
    }
}

/* Strings get other ids, so each field that holds one must change with them. */
static void
test_names_of_contexts (void)
{
  const char *path = fixture_path ("named-context.rep"), *out = fixture_path ("context.rep");
  LnsRecovery recovery;

  LnsWriter *writer = fixture_writer (path);
  const uint32_t name = lns_writer_string (writer, "compute", 7);
  lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE });
  lns_writer_add_device (writer, &(LnsCudaDevice){ .process = 0 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .device = 0, .name = name });
  fixture_finish (writer, 0);
  LNS_CHECK (lns_recover (path, out, true, NULL, &recovery, NULL));
  LnsReport *report = fixture_open (out, NULL);
  LNS_CHECK_STR (lns_report_string (report, lns_report_contexts (report, NULL)[0].name, NULL),
                 "compute");
  lns_report_close (report);
}

static void
test_open_or_recover (void)
{
  const char *path = fixture_path ("either.rep");
  LnsError error = { 0 };
  bool recovered = true;

  setenv ("XDG_CACHE_HOME", fixture_path ("."), 1);
  write_report (path);
  LnsReport *report = lns_report_open_or_recover (path, NULL, &recovered, &error);
  LNS_CHECK (report != NULL && !recovered);
  lns_report_close (report);
  zero_interior_pages (path);
  report = lns_report_open_or_recover (path, NULL, &recovered, &error);
  if (report == NULL)
    LNS_FAIL ("%s", error.message);
  LNS_CHECK (recovered);
  check_report (report, 0);
  LNS_CHECK (strstr (lns_report_info (report)->path, "lanescope/recovered/either.rep-") != NULL);
  unlink (lns_report_info (report)->path);
  lns_report_close (report);

  /* Nothing to get back: the first reason is the one that is told. */
  char text[64] = "this is a text, and no report at all, whatever its name may say";
  int fd = open (path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  LNS_CHECK (write (fd, text, sizeof text) == sizeof text);
  close (fd);
  LNS_CHECK (lns_report_open_or_recover (path, NULL, &recovered, &error) == NULL);
  LNS_CHECK (!recovered);
  LNS_CHECK (strstr (error.message, "not a Lanescope report") != NULL);
  LNS_CHECK (!lns_recover (path, fixture_path ("none.rep"), false, NULL, NULL, &error));
  LNS_CHECK (access (fixture_path ("none.rep"), F_OK) != 0);
  rmdir (fixture_path ("lanescope/recovered"));
  rmdir (fixture_path ("lanescope"));
}

/* Who follows a recovery, and cancels it from a part of it on. */
typedef struct
{
  atomic_bool cancel;
  double fraction, cancel_at;
} Follower;

static void
follow (double fraction, void *data)
{
  Follower *follower = data;

  LNS_CHECK (fraction >= 0 && fraction <= 1);
  follower->fraction = fraction;
  if (fraction >= follower->cancel_at)
    atomic_store (&follower->cancel, true);
}

static void
test_cancelled_recovery (void)
{
  const char *path = fixture_path ("given-up.rep");
  static const double moments[] = { 0.01, 0.5 }; /* in the scan, and while it is written */

  setenv ("XDG_CACHE_HOME", fixture_path ("."), 1);
  write_report (path);
  zero_interior_pages (path);
  for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
    {
      Follower follower = { .cancel_at = moments[i] };
      LnsOpenOptions options = { .cancel = &follower.cancel,
                                 .progress = follow,
                                 .progress_data = &follower };
      LnsError error = { 0 };
      bool recovered;
      LNS_CHECK (lns_report_open_or_recover (path, &options, &recovered, &error) == NULL);
      LNS_CHECK (!recovered);
      LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
      LNS_CHECK (follower.fraction >= moments[i] && follower.fraction < 1);
      /* No copy is left: the folder is empty. */
      LNS_CHECK (rmdir (fixture_path ("lanescope/recovered")) == 0);
    }
  rmdir (fixture_path ("lanescope"));
}

/* A writer that dies within a commit leaves pages half written and a journal: cache_spill puts
 * pages into the file before the commit ends. */
static void
leave_hot_journal (const char *path)
{
  pid_t pid = fork ();
  if (pid == 0)
    {
      sqlite3 *db;
      if (sqlite3_open (path, &db) != SQLITE_OK ||
          sqlite3_exec (
              db,
              "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; PRAGMA synchronous = OFF;"
              "BEGIN; UPDATE lns_chunk SET first = 99, data = zeroblob (20000);"
              "UPDATE lns_meta SET value = 'recording' WHERE key = 'state';"
              "DELETE FROM lns_lane; INSERT INTO lns_def VALUES (99999, zeroblob (60000))",
              NULL, NULL, NULL) != SQLITE_OK)
        _exit (1);
      kill (getpid (), SIGKILL);
    }
  int status;
  LNS_CHECK (waitpid (pid, &status, 0) == pid && WIFSIGNALED (status));
  char journal[4096];
  struct stat info;
  snprintf (journal, sizeof journal, "%s-journal", path);
  LNS_CHECK (stat (journal, &info) == 0 && info.st_size > 512);
}

/* Removes what lies in the folder of NAME in this test's folder, and it. */
static void
remove_cache (const char *name)
{
  char command[8192];
  snprintf (command, sizeof command, "rm -r '%s'", fixture_path (name));
  LNS_CHECK_INT (system (command), 0);
}

static void
copy (const char *from, const char *to)
{
  static char bytes[PAGE_BYTES];
  int in = open (from, O_RDONLY | O_CLOEXEC);
  int out = open (to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ssize_t n;
  LNS_CHECK (in >= 0 && out >= 0);
  while ((n = read (in, bytes, sizeof bytes)) > 0)
    LNS_CHECK (write (out, bytes, (size_t)n) == n);
  close (in);
  close (out);
}

/* The hash of what the file at PATH and its journal hold. */
static uint64_t
hash_of (const char *path)
{
  uint64_t hash = 0;
  for (int i = 0; i < 2; i++)
    {
      char name[4096 + 16];
      static char bytes[1 << 22];
      snprintf (name, sizeof name, "%s%s", path, i == 0 ? "" : "-journal");
      int fd = open (name, O_RDONLY | O_CLOEXEC);
      ssize_t n = fd >= 0 ? read (fd, bytes, sizeof bytes) : -1;
      LNS_CHECK (n > 0 && n < (ssize_t)sizeof bytes);
      hash = 31 * hash + lns_hash (bytes, (size_t)n);
      close (fd);
    }
  return hash;
}

static void
test_hot_journal (void)
{
  const char *path = fixture_path ("hot.rep"), *out = fixture_path ("cold.rep");
  LnsRecovery recovery;
  struct stat first, second;

  setenv ("XDG_CACHE_HOME", fixture_path ("cache"), 1);
  write_report (path);
  leave_hot_journal (path);
  const uint64_t hash = hash_of (path);
  LNS_CHECK (lns_recover (path, out, true, NULL, &recovery, NULL));
  LNS_CHECK_INT (recovery.n_events, N_LANES * N_EVENTS + 1); /* and an open one */
  LnsReport *report = fixture_open (out, NULL);
  check_report (report, 0);
  lns_report_close (report);
  report = fixture_open (path, NULL);
  check_report (report, 0);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_COMPLETE);
  LNS_CHECK_STR (lns_report_info (report)->path, path);
  lns_report_close (report);
  /* Readers roll back a copy, once. */
  LNS_CHECK (hash_of (path) == hash);
  char *copy = _lns_rescue_roll_back (path, NULL), *again = _lns_rescue_roll_back (path, NULL);
  LNS_CHECK (copy != NULL && again != NULL && strcmp (copy, path) != 0);
  LNS_CHECK_STR (copy, again);
  LNS_CHECK (stat (copy, &first) == 0);
  free (again);
  again = _lns_rescue_roll_back (path, NULL);
  LNS_CHECK (stat (copy, &second) == 0 && first.st_ino == second.st_ino);
  LNS_CHECK_INT (first.st_mode & 0777, 0600);
  free (copy);
  free (again);
  /* A writer rolls back the report itself. */
  report = fixture_open (path, NULL);
  LnsWriter *writer = lns_writer_amend (report, true, NULL);
  LNS_CHECK (writer != NULL && lns_writer_finish_amendment (writer, NULL));
  lns_report_close (report);
  report = fixture_open (path, NULL);
  check_report (report, 0);
  lns_report_close (report);
  remove_cache ("cache");
}

/* Makes the hot journal of a report of other events the journal of the report at PATH. */
static void
plant_journal (const char *path, uid_t owner)
{
  char journal[4096 + 16];
  const char *other = fixture_path ("other.rep");
  LnsWriter *writer = fixture_writer (other);
  const uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  lns_writer_append (writer, id, &(LnsEvent){ .start_ns = 5, .name = 1 });
  fixture_finish (writer, 10);
  leave_hot_journal (other);
  snprintf (journal, sizeof journal, "%s-journal", path);
  LNS_CHECK (rename (fixture_path ("other.rep-journal"), journal) == 0);
  LNS_CHECK (chown (journal, owner, (gid_t)-1) == 0);
  unlink (other);
}

/* Anybody can put a journal beside a report that lies in a folder like /tmp. */
static void
test_journal_of_another_user (void)
{
  const char *path = fixture_path ("mine.rep"), *out = fixture_path ("cold.rep");
  LnsError error = { 0 };
  LnsRecovery recovery;
  char journal[4096];

  if (geteuid () != 0)
    LNS_SKIP ("only root can give a file to another user");
  write_report (path);
  LnsReport *before = fixture_open (path, NULL);
  plant_journal (path, 65534);
  const uint64_t hash = hash_of (path);
  LNS_CHECK (lns_report_open (path, NULL, &error) == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_IO);
  LNS_CHECK_INT (error.code, EPERM);
  LNS_CHECK (strstr (error.message, "mine.rep-journal") != NULL);
  LNS_CHECK (strstr (error.message, "belongs to another user (65534)") != NULL);
  error = (LnsError){ 0 };
  LNS_CHECK (lns_writer_amend (before, true, &error) == NULL);
  LNS_CHECK (strstr (error.message, "belongs to another user (65534)") != NULL);
  LNS_CHECK (hash_of (path) == hash);
  lns_report_close (before);

  LNS_CHECK (lns_recover (path, out, true, NULL, &recovery, NULL));
  LNS_CHECK_INT (recovery.n_events, N_LANES * N_EVENTS + 1);
  LNS_CHECK (hash_of (path) == hash);

  /* The report's owner may leave one. */
  snprintf (journal, sizeof journal, "%s-journal", path);
  write_report (path);
  leave_hot_journal (path);
  setenv ("XDG_CACHE_HOME", fixture_path ("cache"), 1);
  LNS_CHECK (chown (path, 65534, (gid_t)-1) == 0 && chown (journal, 65534, (gid_t)-1) == 0);
  LnsReport *report = fixture_open (path, NULL);
  check_report (report, 0);
  lns_report_close (report);
  remove_cache ("cache");
  unlink (journal);
}

/* A rollback would empty the report, or make it 64 GiB long. */
static void
test_journal_of_another_size (void)
{
  static const unsigned char sizes[2][4] = { { 0 }, { 0, 0x0F, 0xFF, 0xF0 } };
  const char *path = fixture_path ("sized.rep");
  char journal[4096];

  write_report (path);
  leave_hot_journal (path);
  snprintf (journal, sizeof journal, "%s-journal", path);
  for (int i = 0; i < 2; i++)
    {
      LnsError error = { 0 };
      int fd = open (journal, O_WRONLY | O_CLOEXEC);
      LNS_CHECK (pwrite (fd, sizes[i], 4, 16) == 4);
      close (fd);
      const uint64_t hash = hash_of (path);
      LNS_CHECK (lns_report_open (path, NULL, &error) == NULL);
      LNS_CHECK (strstr (error.message, "does not fit it") != NULL);
      LNS_CHECK_INT (error.domain, LNS_ERROR_FORMAT); /* so that it is recovered */
      LNS_CHECK (hash_of (path) == hash);
    }
  unlink (journal);
}

/* Of what was written twice the later counts, and an open event that has ended since is none. */
static void
test_newest_counts (void)
{
  const char *path = fixture_path ("new.rep"), *old = fixture_path ("new.rep-journal");
  const char *out = fixture_path ("newest.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsEvent event = { .name = 1 };

  for (; event.start_ns < 1000; event.start_ns++)
    lns_writer_append (writer, id, &event);
  lns_writer_set_open (writer, id, &(LnsEvent){ .start_ns = 1000, .name = 2 });
  lns_writer_set_process (writer, 0, &(LnsProcess){ .pid = 77, .parent = LNS_ID_NONE });
  LNS_CHECK (lns_writer_commit (writer, 1000, NULL));
  copy (path, old);
  for (; event.start_ns < 9000; event.start_ns++)
    lns_writer_append (writer, id, &event);
  lns_writer_set_process (writer, 0, &(LnsProcess){ .pid = 78, .parent = LNS_ID_NONE });
  LNS_CHECK (lns_writer_commit (writer, 9000, NULL));
  copy (old, fixture_path ("older.rep"));
  copy (path, fixture_path ("newer.rep"));
  fixture_finish (writer, 9000);
  for (int i = 0; i < 2; i++)
    {
      /* Whichever of the two is the journal. */
      copy (fixture_path (i == 0 ? "newer.rep" : "older.rep"), path);
      copy (fixture_path (i == 0 ? "older.rep" : "newer.rep"), old);
      LNS_CHECK (lns_recover (path, out, true, NULL, NULL, NULL));
      LnsReport *report = fixture_open (out, NULL);
      uint32_t n;
      LNS_CHECK_INT (lns_report_info (report)->n_events, 9000);
      LNS_CHECK_INT (lns_report_info (report)->n_open, 0);
      LNS_CHECK_INT (lns_report_processes (report, &n)[0].pid, 78);
      LNS_CHECK_INT (n, 1);
      lns_report_close (report);
    }
}

/* Somebody who may only read rolls a copy back. Root may write everywhere, so that somebody else
 * tries. */
static void
test_hot_journal_read_only (void)
{
  const char *path = fixture_path ("shared.rep"), *cache = fixture_path ("cache");
  struct stat before, after;

  write_report (path);
  leave_hot_journal (path);
  LNS_CHECK (stat (path, &before) == 0);
  LNS_CHECK (mkdir (cache, 0777) == 0 && chmod (cache, 0777) == 0);
  LNS_CHECK (chmod (path, 0444) == 0 && chmod (fixture_path ("shared.rep-journal"), 0444) == 0);
  LNS_CHECK (chmod (fixture_path ("."), 0555) == 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      LnsError error = { 0 };
      setenv ("XDG_CACHE_HOME", cache, 1);
      if (geteuid () == 0 && setresuid (65534, 65534, 65534) != 0)
        _exit (1);
      LnsReport *report = lns_report_open (path, NULL, &error);
      if (report == NULL)
        {
          printf ("# %s\n", error.message);
          fflush (stdout);
          _exit (2);
        }
      _exit (lns_report_info (report)->n_events == N_LANES * N_EVENTS + 1 &&
                     strcmp (lns_report_info (report)->path, path) == 0
                 ? 0
                 : 3);
    }
  int status;
  LNS_CHECK (waitpid (pid, &status, 0) == pid);
  LNS_CHECK (chmod (fixture_path ("."), 0700) == 0);
  remove_cache ("cache");
  LNS_CHECK_INT (status, 0);
  LNS_CHECK (stat (path, &after) == 0);
  LNS_CHECK (before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && before.st_size == after.st_size);
}

/* The writer is killed between commits, and at any moment. */
static void
test_killed_writer (void)
{
  const char *path = fixture_path ("killed.rep");
  int pipe_fds[2];
  uint64_t n_committed = 0, n;

  LNS_CHECK (pipe (pipe_fds) == 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      LnsWriter *writer = fixture_writer (path);
      uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      for (n = 0;; n++)
        {
          lns_writer_append (writer, id,
                             &(LnsEvent){ .start_ns = 10 * (int64_t)n, .duration_ns = 3 });
          if (n % 1000 == 999 && (!lns_writer_commit (writer, 10 * (int64_t)n, NULL) ||
                                  write (pipe_fds[1], &n, sizeof n) != sizeof n))
            _exit (1);
        }
    }
  close (pipe_fds[1]);
  while (n_committed < 20000 && read (pipe_fds[0], &n, sizeof n) == sizeof n)
    n_committed = n + 1;
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  while (read (pipe_fds[0], &n, sizeof n) == sizeof n)
    n_committed = n + 1;
  close (pipe_fds[0]);
  LNS_CHECK (n_committed >= 20000);

  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_CUT_OFF);
  LNS_CHECK (lns_report_info (report)->n_events >= n_committed);
  LNS_CHECK_INT (lns_report_info (report)->n_events % 1000, 0);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_without_btree);
  LNS_TEST (test_damaged_chunk);
  LNS_TEST (test_lost_definitions);
  LNS_TEST (test_ids_that_are_not_dense);
  LNS_TEST (test_tracks_of_nobody);
  LNS_TEST (test_severities);
  LNS_TEST (test_processes_in_a_circle);
  LNS_TEST (test_call_nodes);
  LNS_TEST (test_inlined_calls);
  LNS_TEST (test_names_of_contexts);
  LNS_TEST (test_open_or_recover);
  LNS_TEST (test_cancelled_recovery);
  LNS_TEST (test_hot_journal);
  LNS_TEST (test_journal_of_another_user);
  LNS_TEST (test_journal_of_another_size);
  LNS_TEST (test_newest_counts);
  LNS_TEST (test_hot_journal_read_only);
  LNS_TEST (test_killed_writer);
  for (int i = 0; i < N_LANES; i++)
    free (lanes[i].events);
  return lns_tap_done ();
}
