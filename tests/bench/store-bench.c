/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* store-bench EVENTS OUT.rep [--irregular]: writes a report with the public writer, reads it with the public reader,
 * and prints one JSON object. The events are ranges of several threads, nested 8 deep with one lane per depth, with
 * log-normal durations and gaps and 6,000 names of uneven frequency. --irregular adds bursts, long gaps, colors,
 * categories and payloads. */

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "src/store/read/report.h"
#include "src/store/write/writer.h"

#define N_THREADS          16
#define MAX_DEPTH          8
#define N_NAMES            6000
#define QUANTILES          4096
#define SPREAD             1.0 /* sigma of the log-normal distributions                         */
#define COMMIT_BYTES       ((size_t)32 * 1024 * 1024)
#define BATCH              4096
#define NAME_CHOICES       65536
#define LEAF_MEDIAN_NS     2000
#define GAP_MEDIAN_NS      400
#define ROOT_GAP_MEDIAN_NS 20000

typedef struct
{
  uint32_t lane;
  LnsEvent event;
} Made;

typedef struct
{
  LnsWriter *writer;
  double write_s; /* in the writer, without making the events                                   */
  unsigned n_made;
  Made made[BATCH];
  uint64_t n_left;
  uint64_t random;
  bool is_irregular;
  uint32_t lanes[N_THREADS][MAX_DEPTH];
  uint32_t names[NAME_CHOICES];
  double quantiles[QUANTILES + 1]; /* of the log-normal distribution with median 1              */
} Generator;

static double
now_s (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t
next_random (Generator *generator)
{
  uint64_t x = generator->random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return generator->random = x;
}

/* Draws a log-normal time with median MEDIAN_NS, by interpolation between quantiles. */
static int64_t
random_ns (Generator *generator, double median_ns)
{
  uint64_t bits = next_random (generator) >> 11;
  unsigned i = bits % QUANTILES;
  double part = (double)(bits / QUANTILES) / (double)(UINT64_C (1) << 41);
  double low = generator->quantiles[i], high = generator->quantiles[i + 1];
  return 1 + (int64_t)(median_ns * (low + (high - low) * part));
}

/* Inverts the normal distribution by bisection; only QUANTILES values are needed. */
static double
normal_quantile (double share)
{
  double low = -9, high = 9;
  for (int i = 0; i < 60; i++)
    {
      double middle = (low + high) / 2;
      *(0.5 * erfc (-middle / sqrt (2)) < share ? &low : &high) = middle;
    }
  return low;
}

static void
prepare (Generator *generator)
{
  LnsWriter *writer = generator->writer;
  generator->random = UINT64_C (0x243F6A8885A308D3);
  for (unsigned i = 0; i <= QUANTILES; i++)
    generator->quantiles[i] = exp (SPREAD * normal_quantile ((i + 0.5) / (QUANTILES + 1.0)));

  uint32_t ids[N_NAMES];
  for (unsigned i = 0; i < N_NAMES; i++)
    {
      char name[64];
      int length = snprintf (name, sizeof name, "step %u of layer %u", i, i % 97);
      ids[i] = lns_writer_string (writer, name, (size_t)length);
    }
  for (unsigned i = 0; i < NAME_CHOICES; i++)
    generator->names[i] = ids[(unsigned)(pow (N_NAMES, (i + 0.5) / NAME_CHOICES)) % N_NAMES];
  for (unsigned i = 0; i < N_NAMES; i++)
    generator->names[i * (NAME_CHOICES / N_NAMES)] = ids[i];

  LnsProcess process = { .pid = 4711,
                         .target_pid = 4711,
                         .parent = LNS_ID_NONE,
                         .name = lns_writer_string (writer, "bench", 5),
                         .end_ns = LNS_TIME_UNKNOWN,
                         .exit_code = -1 };
  lns_writer_add_process (writer, &process);
  LnsDomain domain = { .process = 0, .destroyed_ns = LNS_TIME_UNKNOWN, .thread = LNS_ID_NONE };
  lns_writer_add_domain (writer, &domain);
  for (unsigned t = 0; t < N_THREADS; t++)
    {
      char name[32];
      int length = snprintf (name, sizeof name, "worker %u", t);
      LnsThread thread = { .process = 0,
                           .tid = 4711 + (int32_t)t,
                           .target_tid = 4711 + (int32_t)t,
                           .name = lns_writer_string (writer, name, (size_t)length),
                           .end_ns = LNS_TIME_UNKNOWN };
      LnsTrack track = { .device = LNS_ID_NONE,
                         .stream = LNS_ID_NONE,
                         .kind = LNS_TRACK_NVTX_RANGES,
                         .thread = lns_writer_add_thread (writer, &thread) };
      uint32_t id = lns_writer_add_track (writer, &track);
      for (unsigned depth = 0; depth < MAX_DEPTH; depth++)
        {
          LnsLane lane = { .track = id, .ordinal = depth, .kind = LNS_LANE_NVTX_PUSH_POP };
          generator->lanes[t][depth] = lns_writer_add_lane (writer, &lane);
        }
    }
}

static void
decorate (Generator *generator, LnsEvent *event)
{
  static const uint32_t colors[] = { 0xFF76B900, 0xFF1F77B4, 0xFFFF7F0E, 0xFFD62728,
                                     0xFF9467BD, 0xFF8C564B, 0xFFE377C2, 0 };
  uint64_t bits = next_random (generator);
  event->extra[0] = colors[event->name % 8];
  event->extra[1] = event->name % 5;
  if (bits % 8 == 0)
    {
      event->extra[2] = LNS_PAYLOAD_INT64;
      event->extra[3] = bits >> 40;
    }
}

static void
write_batch (Generator *generator)
{
  double begin_s = now_s ();
  for (unsigned i = 0; i < generator->n_made; i++)
    lns_writer_append (generator->writer, generator->made[i].lane, &generator->made[i].event);
  generator->n_made = 0;
  generator->write_s += now_s () - begin_s;
}

/* Writes a range of thread T at DEPTH from START_NS, and the ranges inside it. Returns its end. */
static int64_t
make_range (Generator *generator, unsigned t, unsigned depth, int64_t start_ns)
{
  uint64_t bits = next_random (generator);
  int64_t end_ns = start_ns;
  unsigned n_children = depth + 1 == MAX_DEPTH ? 0 : depth < 3 ? 1 + bits % 4 : bits % 3;
  for (unsigned i = 0; i < n_children; i++)
    end_ns = make_range (generator, t, depth + 1, end_ns + random_ns (generator, GAP_MEDIAN_NS));
  end_ns += random_ns (generator, n_children == 0 ? LEAF_MEDIAN_NS : GAP_MEDIAN_NS);
  if (generator->n_left == 0)
    return end_ns;
  generator->n_left--;
  Made *made = &generator->made[generator->n_made++];
  *made = (Made){
    generator->lanes[t][depth],
    { .start_ns = start_ns, .duration_ns = end_ns - start_ns, .name = generator->names[bits >> 48] }
  };
  if (generator->is_irregular)
    decorate (generator, &made->event);
  if (generator->n_made == BATCH)
    write_batch (generator);
  return end_ns;
}

static bool
commit (Generator *generator, int64_t now_ns, LnsError *error)
{
  double begin_s = now_s ();
  bool committed = lns_writer_commit (generator->writer, now_ns, error);
  generator->write_s += now_s () - begin_s;
  return committed;
}

static bool
generate (Generator *generator, LnsError *error)
{
  int64_t now_ns[N_THREADS] = { 0 };
  for (unsigned t = 0; generator->n_left > 0; t = (t + 1) % N_THREADS)
    {
      int64_t gap_ns = random_ns (generator, ROOT_GAP_MEDIAN_NS);
      if (generator->is_irregular && next_random (generator) % 256 == 0)
        gap_ns *= 1000;
      now_ns[t] = make_range (generator, t, 0, now_ns[t] + gap_ns);
      if (lns_writer_waiting_bytes (generator->writer) > COMMIT_BYTES &&
          !commit (generator, now_ns[t], error))
        return false;
    }
  int64_t end_ns = 0;
  for (unsigned t = 0; t < N_THREADS; t++)
    end_ns = now_ns[t] > end_ns ? now_ns[t] : end_ns;
  write_batch (generator);
  double begin_s = now_s ();
  bool finished = lns_writer_finish (generator->writer, LNS_STATE_COMPLETE, end_ns, error);
  generator->write_s += now_s () - begin_s;
  return finished;
}

/* Decodes every column of every lane. Returns the number of events, or 0 if a chunk is damaged. */
static uint64_t
decode_all (const char *path, double *ret_seconds, LnsError *error)
{
  LnsReport *report = lns_report_open (path, NULL, error);
  if (report == NULL)
    return 0;
  double begin_s = now_s ();
  uint64_t n = 0;
  uint32_t n_lanes;
  lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    {
      LnsChunkWalker *walker = lns_chunk_walker_new (report, lane, 0);
      for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, error)) != NULL;)
        n += chunk->n;
      lns_chunk_walker_free (walker);
    }
  *ret_seconds = now_s () - begin_s;
  lns_report_close (report);
  return n;
}

int
main (int argc, char **argv)
{
  uint64_t n_events = argc > 2 ? strtoull (argv[1], NULL, 10) : 0;
  if (n_events == 0)
    {
      fprintf (stderr, "usage: store-bench EVENTS OUT.rep [--irregular]\n");
      return 2;
    }
  LnsError error = { 0 };
  const LnsWriterOptions options = { .overwrite = true };
  Generator *generator = calloc (1, sizeof *generator);
  generator->writer = lns_writer_create (argv[2], &options, &error);
  generator->n_left = n_events;
  generator->is_irregular = argc > 3 && strcmp (argv[3], "--irregular") == 0;
  double decode_s = 0;
  uint64_t n_decoded = 0;
  if (generator->writer != NULL)
    {
      prepare (generator);
      if (generate (generator, &error))
        n_decoded = decode_all (argv[2], &decode_s, &error);
    }
  struct stat status;
  double write_s = generator->write_s;
  free (generator);
  if (error.domain != LNS_ERROR_NONE || n_decoded != n_events || stat (argv[2], &status) != 0)
    {
      fprintf (stderr, "store-bench: %s (%" PRIu64 " of %" PRIu64 " events came back)\n",
               error.message, n_decoded, n_events);
      return 1;
    }
  printf ("{\"file\": \"%s\", \"events\": %" PRIu64 ", \"lanes\": %d, \"write_meps\": %.2f, "
          "\"bytes_per_event\": %.3f, \"decode_meps\": %.1f}\n",
          argv[2], n_events, N_THREADS * MAX_DEPTH, (double)n_events / write_s * 1e-6,
          (double)status.st_size / (double)n_events, (double)n_events / decode_s * 1e-6);
  return 0;
}
