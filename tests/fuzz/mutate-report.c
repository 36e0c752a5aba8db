/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mutate-report [MUTATIONS [SEED]]: breaks a report in random ways and calls every function of the
 * reader on it. The reader may return data or fail with a sentence; it may not crash, leak, take
 * 20 s or return pixels that do not exist. Built with the address and undefined-behaviour
 * sanitizers, which end the program at the first finding. The file that caused it stays in the
 * folder that the program then names. */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/hash.h"
#include "src/store/format/chunk-format.h"
#include "src/store/read/pixels.h"
#include "src/store/recover/recover.h"
#include "tests/fuzz/mutations.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define PAGE_BYTES 65536
#define N_PX       200

enum
{
  N_LANES = 5,
  N_EVENTS = 3000
};

static uint8_t *original, *mutated;
static size_t n_bytes;
static unsigned n_mutations = 500;
static uint64_t seed = 1;
static const char *path, *out_path;
static uint64_t n_opened, n_recovered;

static uint64_t
draw (uint64_t below)
{
  return fixture_random (&seed) % below;
}

static void
write_original (void)
{
  path = strdup (fixture_path ("mutated.rep"));
  out_path = strdup (fixture_path ("recovered.rep"));
  LnsWriter *writer = fixture_writer (path);
  static char bytes[130000];

  for (uint32_t i = 0; i < N_LANES; i++)
    {
      LnsLaneKind kind = i == 3 ? LNS_LANE_COUNTER : i == 4 ? LNS_LANE_NVTX_START_END : 1;
      uint32_t id = fixture_lane (writer, kind);
      LnsExpectedLane lane = fixture_events (i, N_EVENTS, 0, i);
      for (uint32_t e = 0; e < lane.n; e++)
        {
          lns_writer_append (writer, id, &lane.events[e]);
          if (e % 1000 == 0)
            lns_writer_commit (writer, 0, NULL);
        }
      free (lane.events);
    }
  lns_writer_add_schema (writer, &(LnsSchema){ .name = 2 });
  lns_writer_add_loss (writer, &(LnsLoss){ .pushes = 4, .thread = LNS_ID_NONE });
  lns_writer_bytes (writer, bytes, sizeof bytes);
  lns_writer_set_open (writer, 2, &(LnsEvent){ .start_ns = INT64_C (1) << 60, .name = 5 });
  fixture_finish (writer, 0);

  int fd = open (path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat (fd, &status) != 0)
    exit (1);
  n_bytes = (size_t)status.st_size;
  original = malloc (n_bytes);
  mutated = malloc (n_bytes);
  if (read (fd, original, n_bytes) != (ssize_t)n_bytes)
    exit (1);
  close (fd);
}

static void
write_mutated (size_t size_bytes)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  LNS_CHECK (fd >= 0 && write (fd, mutated, size_bytes) == (ssize_t)size_bytes);
  close (fd);
}

static void
check_pixels (LnsReport *report, uint32_t lane)
{
  const LnsLaneInfo *info = lns_report_lane_info (report, lane);
  LnsPixelResult result = { 0 };
  static LnsCounterPixel counter[N_PX];

  for (int zoom = 0; zoom < 4; zoom++)
    {
      const double span_ns = (double)info->end_ns - (double)info->start_ns;
      LnsPixelQuery query = { .origin_ns = info->start_ns,
                              .ns_per_px = span_ns > 0 ? span_ns / N_PX : 1,
                              .n_px = N_PX,
                              .cached_only = zoom == 0 };
      for (int i = 0; i < zoom; i++)
        query.ns_per_px /= 50;
      if (!(query.ns_per_px > 0))
        query.ns_per_px = 1;
      if (lns_report_query_pixels (report, lane, &query, &result, NULL))
        for (int p = 0; p < N_PX; p++)
          LNS_CHECK (result.pixels[p].busy >= 0 && result.pixels[p].busy <= 1);
      lns_report_query_counter (report, lane, &query, counter, NULL);
    }
  lns_pixel_result_clear (&result);
}

static void
ask_lane (LnsReport *report, uint32_t lane)
{
  const LnsLaneInfo *info = lns_report_lane_info (report, lane);
  uint64_t ordinal, n = 0;
  LnsEvent event;

  check_pixels (report, lane);
  LnsChunkWalker *walker = lns_chunk_walker_new (report, lane, 0);
  for (uint32_t i = 0; i < info->n_chunks && i < 100; i++)
    {
      const LnsChunk *chunk = lns_chunk_walker_next (walker, NULL);
      for (uint32_t e = 0; chunk != NULL && e < chunk->n; e++, n++)
        {
          LNS_CHECK (chunk->duration_ns[e] >= 0);
          LNS_CHECK (e == 0 ||
                     chunk->start_ns[e] >= chunk->start_ns[e - 1] + chunk->duration_ns[e - 1]);
        }
    }
  lns_chunk_walker_free (walker);
  LNS_CHECK (n <= info->n_events);
  for (int i = 0; i < 20 && info->n_events > 0; i++)
    {
      lns_report_event (report, lane, draw (info->n_events), &event, NULL);
      if (lns_report_find (report, lane, info->start_ns + (int64_t)draw (1 << 30), &ordinal, NULL))
        LNS_CHECK (ordinal <= info->n_events);
    }
}

/* All that a viewer could ask. */
static void
ask_everything (LnsReport *report)
{
  uint32_t n;
  size_t size;

  for (uint32_t id = 0; id < lns_report_n_strings (report) && id < 2000; id++)
    {
      const char *text = lns_report_string (report, id, &size);
      LNS_CHECK (text != NULL && text[size] == '\0');
    }
  const LnsThread *threads = lns_report_threads (report, &n);
  for (uint32_t i = 0, n_processes; i < n; i++)
    {
      lns_report_processes (report, &n_processes);
      LNS_CHECK (threads[i].process < n_processes);
    }
  const LnsLane *lanes = lns_report_lanes (report, &n);
  for (uint32_t i = 0, n_tracks; i < n; i++)
    {
      lns_report_tracks (report, &n_tracks);
      LNS_CHECK (lanes[i].track < n_tracks);
    }
  for (uint32_t lane = 0; lane < n && lane < 50; lane++)
    ask_lane (report, lane);
}

static void
try_mutated (size_t size_bytes)
{
  LnsError error = { 0 };

  alarm ((unsigned)(20 * lns_tap_patience ()));
  write_mutated (size_bytes);
  LnsReport *report = lns_report_open (path, NULL, &error);
  if (report != NULL)
    {
      n_opened++;
      ask_everything (report);
    }
  else
    LNS_CHECK (error.domain != LNS_ERROR_NONE && error.message[0] != '\0');
  lns_report_close (report);
  if (draw (4) == 0 && lns_recover (path, out_path, true, NULL, NULL, NULL))
    {
      n_recovered++;
      error = (LnsError){ 0 };
      report = lns_report_open (out_path, NULL, &error);
      if (report == NULL)
        LNS_FAIL ("what was recovered does not open: %s", error.message);
      ask_everything (report);
      lns_report_close (report);
    }
  alarm (0);
}

/* Calls MUTATE, which gives the size to keep, for a fifth of the mutations. */
static void
repeat (size_t (*mutate) (void))
{
  for (unsigned i = 0; i < n_mutations / 5; i++)
    {
      memcpy (mutated, original, n_bytes);
      try_mutated (mutate ());
    }
}

static size_t
flip_bits (void)
{
  for (uint64_t n = 1 + draw (64); n > 0; n--)
    mutated[draw (n_bytes)] ^= (uint8_t)(1 << draw (8));
  return n_bytes;
}

static void
test_flipped_bits (void)
{
  repeat (flip_bits);
}

static size_t
cut (void)
{
  return draw (2) == 0 ? (1 + draw (n_bytes / PAGE_BYTES)) * PAGE_BYTES : draw (n_bytes);
}

static void
test_cut (void)
{
  repeat (cut);
}

static size_t
swap_pages (void)
{
  static uint8_t page[PAGE_BYTES];

  for (uint64_t n = 1 + draw (3); n > 0; n--)
    {
      uint8_t *a = mutated + PAGE_BYTES * draw (n_bytes / PAGE_BYTES);
      uint8_t *b = mutated + PAGE_BYTES * draw (n_bytes / PAGE_BYTES);
      memcpy (page, a, PAGE_BYTES);
      memcpy (a, b, PAGE_BYTES);
      if (draw (3) > 0)
        memcpy (b, page, PAGE_BYTES);
    }
  return n_bytes;
}

static void
test_swapped_pages (void)
{
  repeat (swap_pages);
}

/* In SQLite's own structures: the file header, page headers, cell pointers and cell heads. */
static size_t
hurt_btree (void)
{
  for (uint64_t n = 1 + draw (8); n > 0; n--)
    {
      uint8_t *page = mutated + PAGE_BYTES * draw (n_bytes / PAGE_BYTES);
      uint64_t cell = (uint64_t)page[8 + 2 * draw (20)] << 8 | page[9];
      page[draw (3) == 0   ? draw (100)
           : draw (2) == 0 ? draw (8)
                           : cell % (PAGE_BYTES - 16) + draw (16)] =
          (uint8_t)fixture_random (&seed);
    }
  return n_bytes;
}

static void
test_hurt_btree (void)
{
  repeat (hurt_btree);
}

/* Bytes that somebody chose: with a right checksum, so that the decoders see them. */
static size_t
forge_chunks (void)
{
  for (size_t at = 0; at + LNS_CHUNK_HEADER_BYTES < n_bytes;)
    {
      uint8_t *chunk = memmem (mutated + at, n_bytes - at, LNS_CHUNK_MAGIC, 8);
      LnsChunkHeader header;
      LnsChunkView view;
      if (chunk == NULL)
        break;
      at = (size_t)(chunk - mutated) + 8;
      if (!lns_chunk_parse_header (chunk, n_bytes - (at - 8), &header) ||
          header.length_bytes > n_bytes - (at - 8) ||
          !lns_chunk_parse (chunk, header.length_bytes, &view, NULL) || draw (6) > 0)
        continue;
      for (uint64_t n = 1 + draw (4); n > 0; n--)
        {
          size_t where = draw (3) == 0 ? 26 + draw (38) : 80 + draw (header.length_bytes - 80);
          if (where < 60 || where >= 64)
            chunk[where] = draw (2) ? (uint8_t)fixture_random (&seed) : (uint8_t) - (int)draw (2);
        }
      memset (chunk + 64, 0, 8);
      uint64_t checksum = XXH3_64bits_withSeed (chunk + LNS_CHUNK_HEADER_BYTES,
                                                header.length_bytes - LNS_CHUNK_HEADER_BYTES,
                                                lns_hash (chunk, LNS_CHUNK_HEADER_BYTES));
      for (int i = 0; i < 8; i++)
        chunk[64 + i] = (uint8_t)(checksum >> 8 * i);
    }
  return n_bytes;
}

static void
test_forged_chunks (void)
{
  const uint64_t n_before = n_opened;

  repeat (forge_chunks);
  /* If none opened, the checksums would be wrong and the decoders would not be tried. */
  LNS_CHECK (n_mutations < 100 || n_opened > n_before);
}

int
main (int argc, char **argv)
{
  read_mutations (argc, argv, &n_mutations, &seed);
  write_original ();
  LNS_TEST (test_flipped_bits);
  LNS_TEST (test_cut);
  LNS_TEST (test_swapped_pages);
  LNS_TEST (test_hurt_btree);
  LNS_TEST (test_forged_chunks);
  printf ("# %" PRIu64 " of %u opened, %" PRIu64 " recoveries\n", n_opened, n_mutations,
          n_recovered);
  return lns_tap_done ();
}
