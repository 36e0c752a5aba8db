/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What holds for the answer to any report: ledgers close, gaps are what they say, shares are shares. Reports are random, with
 * times as far apart as the writer allows, lost and open ends, records that were dropped, and states that are not known. */

#include <stdatomic.h>

#include "src/analysis/compare/compare.h"
#include "src/analysis/graph/build.h"
#include "src/analysis/graph/path.h"
#include "src/analysis/graph/replay.h"
#include "src/analysis/why/why.h"
#include "src/base/memory.h"
#include "src/store/write/kept-table.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_REPORTS 400

static uint64_t seed;

static uint64_t
draw (uint64_t below)
{
  return fixture_random (&seed) % below;
}

static bool
one_in (uint64_t n)
{
  return draw (n) == 0;
}

/* --- Reports ---------------------------------------------------------------------------------- */

static const char *const texts[] = { "cudaLaunchKernel_v7000",
                                     "cudaDeviceSynchronize_v3020",
                                     "cudaMalloc_v3020",
                                     "cudaMemcpy_v3020",
                                     "cudaGraphLaunch_v10000",
                                     "cuModuleLoadData",
                                     "cudaFuncGetAttributes_v3020",
                                     "sem_wait",
                                     "sem_post",
                                     "read",
                                     "nanosleep",
                                     "ioctl",
                                     "puts",
                                     "MPI_Allreduce",
                                     "MPI_Recv",
                                     "MPI_Init",
                                     "step 1",
                                     "step 2",
                                     "load",
                                     "aten::add",
                                     "ncclAllReduce" };

#define N_TEXTS    (sizeof texts / sizeof *texts)
#define FIRST_STEP 16

typedef struct
{
  LnsWriter *writer;
  uint32_t names[N_TEXTS];
  uint32_t n_processes, n_threads, n_devices, n_streams, n_lanes;
  int64_t scale_ns; /* how long events and the times between them are                            */
  int64_t first_ns;
  LnsKeptTableMaker *wakings;
  uint32_t process_of[16]; /* of threads                                                         */
} Making;

static int64_t
length_ns (const Making *making)
{
  return one_in (8) ? 0 : (int64_t)draw ((uint64_t)making->scale_ns);
}

/* Who had a thread run, and how long before: it may be longer than the report tells. */
static uint64_t
waking (Making *making)
{
  const int64_t latency_ns = one_in (4)   ? INT64_MAX
                             : one_in (4) ? -1
                                          : (int64_t)draw ((uint64_t)making->scale_ns);
  const LnsKeptValue values[] = {
    { .type = LNS_KEPT_INTEGER, .integer = (INT64_C (10) << 24) + 10 + (int64_t)draw (4) },
    { .type = LNS_KEPT_INTEGER, .integer = latency_ns },
  };
  return lns_kept_table_maker_remainder (making->wakings, values);
}

static uint64_t
column_of (Making *making, LnsLaneKind kind, LnsColumnId id)
{
  switch (id)
    {
    case LNS_COLUMN_CORRELATION:
      return draw (40);
    case LNS_COLUMN_THREAD:
    case LNS_COLUMN_END_THREAD:
      return draw (making->n_threads + 1);
    case LNS_COLUMN_OVERHEAD_KIND:
      return draw (9) << 16;
    case LNS_COLUMN_RETURN_VALUE:
      return one_in (10);
    case LNS_COLUMN_SCHED_IN:
      return draw (2);
    case LNS_COLUMN_THREAD_STATE:
      return draw (8);
    case LNS_COLUMN_MEMORY_KINDS:
      return draw (3) | draw (3) << 8;
    case LNS_COLUMN_REMAINDER:
      return kind == LNS_LANE_SCHED && one_in (2) ? waking (making) : 0;
    default:
      return 0;
    }
}

static void
fill_lane (Making *making, uint32_t lane, LnsLaneKind kind, uint32_t depth)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  const bool is_of_steps = kind == LNS_LANE_NVTX_PUSH_POP && depth == 0 && one_in (2);
  int64_t at_ns = making->first_ns + length_ns (making);

  for (uint64_t n = draw (60); n > 0; n--)
    {
      LnsEvent event = { .start_ns = at_ns, .duration_ns = length_ns (making) };
      if (kind == LNS_LANE_NVTX_PUSH_POP)
        event.duration_ns >>= depth;
      if (kind == LNS_LANE_CPU_SAMPLE || (kind == LNS_LANE_SCHED && one_in (2)))
        event.duration_ns = 0;
      event.name = one_in (20) ? 0 : making->names[draw (N_TEXTS)];
      if (is_of_steps)
        {
          event.duration_ns = making->scale_ns / (one_in (20) ? 2 : 4);
          event.name = making->names[FIRST_STEP + draw (2)];
        }
      event.flags = one_in (8) ? 1u << draw (6) : 0;
      for (unsigned k = 0; info->extra[k] != 0; k++)
        event.extra[k] = column_of (making, kind, info->extra[k]);
      lns_writer_append (making->writer, lane, &event);
      /* Earlier times are moved to the end of the event before. */
      at_ns = one_in (20) ? LNS_TIME_MIN
                          : event.start_ns + event.duration_ns +
                                (is_of_steps || one_in (3) ? 0 : length_ns (making));
      if (at_ns > -LNS_TIME_MIN)
        at_ns = -LNS_TIME_MIN;
    }
  if (one_in (6))
    lns_writer_set_open (making->writer, lane,
                         &(LnsEvent){ .start_ns = at_ns, .name = making->names[draw (N_TEXTS)] });
}

/* Adds a track of KIND with N lanes. */
static void
add_track (Making *making,
           LnsTrackKind kind,
           uint32_t process,
           uint32_t thread,
           uint32_t stream,
           uint32_t n)
{
  const LnsLaneKind lane = lns_track_kind_info (kind)->lane;
  const LnsTrack track = { .kind = kind,
                           .process = process,
                           .thread = thread,
                           .domain = 0,
                           .device =
                               stream != LNS_ID_NONE ? stream % making->n_devices : LNS_ID_NONE,
                           .stream = stream };
  const uint32_t id = lns_writer_add_track (making->writer, &track);

  for (uint32_t depth = 0; depth < n; depth++)
    fill_lane (making,
               lns_writer_add_lane (making->writer,
                                    &(LnsLane){ id, one_in (200) ? UINT32_MAX : depth, lane }),
               lane, depth);
}

static void
add_programs (Making *making)
{
  making->n_processes = 1 + (uint32_t)draw (3);
  for (uint32_t i = 0; i < making->n_processes; i++)
    lns_writer_add_process (making->writer,
                            &(LnsProcess){ .pid = 10 + (int32_t)i,
                                           .parent = one_in (2) && i > 0 ? 0 : LNS_ID_NONE,
                                           .start_ns = LNS_TIME_UNKNOWN,
                                           .end_ns = LNS_TIME_UNKNOWN });
  for (uint32_t i = 0; i < making->n_processes; i++)
    for (uint64_t n = 1 + draw (4); n > 0; n--)
      {
        making->process_of[making->n_threads++] = i;
        lns_writer_add_thread (making->writer,
                               &(LnsThread){ .process = i, .tid = 9 + (int32_t)making->n_threads });
      }
  lns_writer_add_domain (making->writer, &(LnsDomain){ .thread = 0 });
}

static void
add_devices (Making *making)
{
  making->n_devices = (uint32_t)draw (3);
  for (uint32_t i = 0; i < making->n_devices; i++)
    {
      lns_writer_add_device (making->writer,
                             &(LnsCudaDevice){ .process = i % making->n_processes,
                                               .number = i,
                                               .bus = (uint32_t)draw (2),
                                               .n_multiprocessors = (uint32_t)draw (100) });
      lns_writer_add_context (making->writer, &(LnsCudaContext){ .device = i, .number = i });
    }
  making->n_streams = making->n_devices > 0 ? 1 + (uint32_t)draw (4) : 0;
  for (uint32_t i = 0; i < making->n_streams; i++)
    lns_writer_add_stream (making->writer,
                           &(LnsCudaStream){ .context = i % making->n_devices, .number = i });
}

static void
add_lanes (Making *making)
{
  static const LnsTrackKind of_thread[] = { LNS_TRACK_CUDA_API,    LNS_TRACK_MPI,
                                            LNS_TRACK_OS_CALLS,    LNS_TRACK_SYSTEM_CALLS,
                                            LNS_TRACK_SCHED,       LNS_TRACK_NVTX_RANGES,
                                            LNS_TRACK_NVTX_RANGES, LNS_TRACK_CPU_SAMPLES },
                            of_stream[] = { LNS_TRACK_CUDA_KERNELS, LNS_TRACK_CUDA_MEMCPY,
                                            LNS_TRACK_CUDA_MEMSET, LNS_TRACK_CUDA_GRAPHS };

  for (uint32_t i = 0; i < making->n_threads; i++)
    for (size_t k = 0; k < sizeof of_thread / sizeof *of_thread; k++)
      if (!one_in (3))
        add_track (making, of_thread[k], making->process_of[i], i, LNS_ID_NONE,
                   of_thread[k] == LNS_TRACK_SCHED || of_thread[k] == LNS_TRACK_CPU_SAMPLES
                       ? 1
                       : 1 + (uint32_t)draw (4));
  for (uint32_t i = 0; i < making->n_processes; i++)
    {
      if (one_in (2))
        add_track (making, LNS_TRACK_NVTX_START_END, i, LNS_ID_NONE, LNS_ID_NONE,
                   1 + (uint32_t)draw (4));
      if (one_in (2))
        add_track (making, LNS_TRACK_CUDA_OVERHEAD, i, LNS_ID_NONE, LNS_ID_NONE,
                   1 + (uint32_t)draw (4));
    }
  for (uint32_t i = 0; i < making->n_streams; i++)
    for (size_t k = 0; k < sizeof of_stream / sizeof *of_stream; k++)
      if (k == 0 ? !one_in (8) : one_in (2))
        add_track (making, of_stream[k], (uint32_t)draw (making->n_processes), LNS_ID_NONE, i, 1);
}

static void
add_losses (Making *making)
{
  for (uint64_t n = one_in (2) ? draw (4) : 0; n > 0; n--)
    {
      LnsLoss loss = { .process = one_in (3) ? LNS_ID_NONE : (uint32_t)draw (making->n_processes),
                       .thread = LNS_ID_NONE,
                       .first_ns = LNS_TIME_UNKNOWN,
                       .last_ns = LNS_TIME_UNKNOWN,
                       .others = draw (3) };
      if (!one_in (4))
        {
          loss.first_ns = making->first_ns + (int64_t)draw ((uint64_t)making->scale_ns);
          loss.last_ns = loss.first_ns + (int64_t)draw ((uint64_t)making->scale_ns);
        }
      lns_writer_add_loss (making->writer, &loss);
    }
}

/* Writes a random report and opens it. */
static LnsReport *
make_report (void)
{
  static const LnsKeptColumn columns[] = { { "wakerTid", "INTEGER", false },
                                           { "wakeLatency", "INTEGER", false } };
  static const int64_t scales[] = { 10, 2000, 2000000, INT64_C (1) << 40, INT64_C (1) << 60 };
  const char *path = fixture_path ("random.rep");
  LnsError error = { 0 };
  Making making = { .scale_ns = scales[draw (sizeof scales / sizeof *scales)] };

  making.first_ns = one_in (4) ? LNS_TIME_MIN : (int64_t)draw (2000) - 1000;
  making.writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  LNS_CHECK (making.writer != NULL);
  for (size_t i = 0; i < N_TEXTS; i++)
    making.names[i] = lns_writer_string (making.writer, texts[i], strlen (texts[i]));
  making.wakings = lns_kept_table_maker_new (making.writer, "SCHED_EVENTS", columns, 2, true);
  LNS_CHECK (making.wakings != NULL);
  add_programs (&making);
  add_devices (&making);
  add_losses (&making);
  add_lanes (&making);
  lns_kept_table_maker_free (making.wakings);
  fixture_finish (making.writer, making.first_ns / 2 + making.scale_ns);
  return fixture_open (path, NULL);
}

/* --- Checks ----------------------------------------------------------------------------------- */

static void
check_ledger (const LnsWhy *why, size_t l)
{
  const LnsLedger *ledger = &why->ledgers.items[l];
  int64_t sum_ns = ledger->busy_ns, gaps_ns[LNS_N_IDLE_CAUSES] = { 0 },
          reached_ns = ledger->span.start_ns;

  LNS_CHECK (ledger->span.start_ns <= ledger->span.end_ns);
  LNS_CHECK (ledger->busy_ns >= 0);
  for (size_t i = 0; i < why->gaps.n; i++)
    {
      const LnsWhyGap *gap = &why->gaps.items[i];
      if (gap->ledger != l)
        continue;
      LNS_CHECK (gap->start_ns >= reached_ns);
      LNS_CHECK (gap->end_ns > gap->start_ns);
      LNS_CHECK (gap->end_ns <= ledger->span.end_ns);
      LNS_CHECK (gap->cause < LNS_N_IDLE_CAUSES);
      LNS_CHECK (gap->finding <= why->findings.n);
      LNS_CHECK (gap->finding == 0 || why->findings.items[gap->finding - 1].cause == gap->cause);
      gaps_ns[gap->cause] += gap->end_ns - gap->start_ns;
      reached_ns = gap->end_ns;
    }
  for (LnsCause cause = 0; cause < LNS_N_IDLE_CAUSES; cause++)
    {
      LNS_CHECK (ledger->cause_ns[cause] >= 0);
      LNS_CHECK_INT (ledger->cause_ns[cause], gaps_ns[cause]);
      LNS_CHECK ((ledger->cause_ns[cause] > 0) == (ledger->n_gaps[cause] > 0));
      sum_ns += ledger->cause_ns[cause];
    }
  LNS_CHECK_INT (sum_ns, ledger->span.end_ns - ledger->span.start_ns);
}

static void
check_evidence (LnsReport *report, const LnsSpan *span, const LnsEvidence *evidence)
{
  uint32_t n_lanes;

  lns_report_lanes (report, &n_lanes);
  LNS_CHECK (evidence->start_ns <= evidence->end_ns);
  LNS_CHECK (evidence->start_ns >= span->start_ns && evidence->end_ns <= span->end_ns);
  LNS_CHECK (evidence->lane == LNS_ID_NONE || evidence->lane < n_lanes);
  LNS_CHECK (evidence->lane == LNS_ID_NONE ||
             evidence->ordinal < lns_report_lane_info (report, evidence->lane)->n_events);
}

static void
check_finding (LnsReport *report, const LnsWhy *why, size_t f)
{
  const LnsWhyFinding *finding = &why->findings.items[f];
  uint32_t n_threads;
  int64_t gaps_ns = 0;

  lns_report_threads (report, &n_threads);
  LNS_CHECK (finding->ledger < why->ledgers.n);
  const LnsLedger *ledger = &why->ledgers.items[finding->ledger];
  LNS_CHECK (finding->ns >= 0);
  LNS_CHECK (finding->share >= 0 && finding->share <= 1);
  LNS_CHECK (finding->own.thread == LNS_ID_NONE || finding->own.thread < n_threads);
  for (unsigned i = 0; i < finding->n_waits; i++)
    LNS_CHECK (finding->waits[i].thread < n_threads);
  LNS_CHECK (finding->n_evidence > 0);
  const LnsSpan *span = finding->cause == LNS_CAUSE_SLOW_STEP ? &why->span : &ledger->span;
  check_evidence (report, span, &finding->longest);
  for (unsigned i = 0; i < finding->n_evidence; i++)
    check_evidence (report, span, &finding->evidence[i]);
  for (size_t i = 0; i < why->gaps.n; i++)
    if (why->gaps.items[i].finding == f + 1)
      gaps_ns += why->gaps.items[i].end_ns - why->gaps.items[i].start_ns;
  LNS_CHECK_INT (gaps_ns, finding->group != 0 ? finding->ns : 0);
  const LnsWhyGain *gain = &finding->gain;
  LNS_CHECK (!gain->is_known || (f < LNS_WHY_GAINS && gain->low_ns >= 0 &&
                                 gain->low_ns <= gain->ns && gain->ns <= gain->high_ns));
}

static void
check_steps (const LnsWhy *why)
{
  const LnsWhySteps *steps = &why->steps;

  LNS_CHECK_INT (steps->all.n, steps->n);
  size_t n_slow = 0;
  LNS_CHECK (steps->p50_ns <= steps->p99_ns);
  for (size_t i = 0; i < steps->n; i++)
    {
      const LnsStep *step = &steps->all.items[i];
      LNS_CHECK_INT (step->index, i);
      LNS_CHECK (step->start_ns >= why->span.start_ns && step->end_ns <= why->span.end_ns);
      LNS_CHECK (step->busy_ns >= 0 && step->busy_ns <= step->end_ns - step->start_ns);
      n_slow += step->is_slow;
      LNS_CHECK (!step->is_slow || step->end_ns - step->start_ns > steps->p50_ns);
      LNS_CHECK (i == 0 || step->start_ns >= steps->all.items[i - 1].end_ns);
    }
  /* Where many are long, none is slow. */
  LNS_CHECK_INT (n_slow, steps->n_slow);
  LNS_CHECK (n_slow <= steps->n / 10 + 1);
}

/* Writes WHY in all forms: none may fail over what it says. */
static void
write_all (LnsTables *tables, const LnsWhy *why)
{
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream (&text, &size);
  const LnsStatsStyle style = { .format = LNS_STATS_CSV };

  LNS_CHECK (stream != NULL);
  lns_why_write_text (tables, why, -1, stream);
  lns_why_write_json (tables, why, stream);
  lns_why_write_table (tables, why, stream, &style);
  lns_why_write_steps (tables, why, stream);
  fclose (stream);
  LNS_CHECK (strstr (text, why->verdict) != NULL);
  free (text);
}

static uint64_t n_device, n_thread, n_findings, n_steps;

static void
check_answer (LnsReport *report, LnsTables *tables, const LnsWhyOptions *options)
{
  LnsError error = { 0 };
  LnsWhy *why = lns_why_run (tables, options, NULL, &error);

  if (why == NULL || !lns_why_foretell (tables, why, NULL, &error))
    LNS_FAIL ("%s", error.message);
  for (size_t i = 0; i < why->ledgers.n; i++)
    {
      check_ledger (why, i);
      n_device += why->ledgers.items[i].is_device;
      n_thread += !why->ledgers.items[i].is_device;
    }
  for (size_t i = 0; i < why->findings.n; i++)
    check_finding (report, why, i);
  check_steps (why);
  write_all (tables, why);
  n_findings += why->findings.n;
  n_steps += why->steps.n;
  lns_why_free (why);
}

/* The graph of REPORT is in order, and its path is as long as the run. */
static void
check_graph (LnsReport *report)
{
  LnsError error = { 0 };
  LnsGraph *graph = lns_graph_build (report, NULL, 0, NULL, &error);
  LnsPath path;

  if (graph == NULL)
    LNS_FAIL ("%s", error.message);
  int64_t *times = lns_calloc (graph->n, sizeof *times);
  lns_graph_replay (graph, NULL, times);
  for (uint32_t i = 1; i < graph->n; i++)
    {
      LNS_CHECK (graph->before[i] < i);
      LNS_CHECK (graph->source[i] == LNS_POINT_NONE || graph->source[i] < i);
      LNS_CHECK (graph->label[i] < graph->labels.n);
      LNS_CHECK (times[i] >= times[graph->before[i]]);
    }
  const uint32_t end = lns_graph_end (graph, times);
  lns_path_find (graph, times, end, times[0], times[end], 3, false, &path);
  int64_t ns = 0;
  for (size_t i = 0; i < path.parts.n; i++)
    ns += path.parts.items[i].ns;
  LNS_CHECK (ns >= lns_graph_length (graph, times));
  lns_path_clear (&path);
  free (times);
  lns_graph_free (graph);
}

static void
test_ledgers_of_random_reports_close (void)
{
  for (unsigned i = 0; i < N_REPORTS; i++)
    {
      seed = lns_tap_seed () * 1000003 + i;
      LnsReport *report = make_report ();
      LnsTables *tables = lns_tables_new (report, NULL);
      LNS_CHECK (tables != NULL);
      LnsWhyOptions options = { .span = lns_filter_span (report), .keeps_gaps = true };
      const LnsReportInfo *info = lns_report_info (report);
      const int64_t quarter_ns = info->end_ns / 4 - info->start_ns / 4;
      fprintf (stderr, "# report %u\n", i);
      check_answer (report, tables, &options);
      check_graph (report);
      /* A part of it. */
      options.span.start_ns = info->start_ns + quarter_ns;
      options.span.end_ns = info->end_ns - quarter_ns;
      if (options.span.start_ns < options.span.end_ns)
        check_answer (report, tables, &options);
      lns_tables_free (tables);
      lns_report_close (report);
    }
  printf ("# %" PRIu64 " ledgers of GPUs, %" PRIu64 " of threads, %" PRIu64 " findings, %" PRIu64
          " steps\n",
          n_device, n_thread, n_findings, n_steps);
  LNS_CHECK (n_device > N_REPORTS / 2 && n_thread > N_REPORTS / 8 && n_findings > N_REPORTS);
  LNS_CHECK (n_steps > 0);
}

static void
test_a_cancelled_answer_says_so (void)
{
  const atomic_bool cancel = true;

  for (unsigned i = 0; i < 40; i++)
    {
      LnsError error = { 0 };
      seed = lns_tap_seed () * 1000003 + i;
      LnsReport *report = make_report ();
      LnsTables *tables = lns_tables_new (report, NULL);
      const LnsWhyOptions options = { .span = lns_filter_span (report) };
      LnsWhy *why = lns_why_run (tables, &options, &cancel, &error);
      LNS_CHECK (why == NULL);
      LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
      lns_tables_free (tables);
      lns_report_close (report);
    }
}

/* A run is what it is, whatever it holds: compared with itself, nothing changed. */
static void
test_random_reports_are_as_themselves (void)
{
  unsigned n_known = 0;

  for (unsigned i = 0; i < N_REPORTS; i++)
    {
      LnsError error = { 0 };
      seed = lns_tap_seed () * 1000003 + i;
      LnsReport *report = make_report ();
      LnsTables *tables = lns_tables_new (report, NULL);
      char *text;
      size_t n_bytes;
      LnsComparison *comparison = lns_compare ((LnsTables *const[]){ tables, tables },
                                               &(LnsCompareOptions){ 0 }, NULL, &error);
      if (comparison == NULL)
        LNS_FAIL ("%s", error.message);
      n_known += comparison->is_known;
      LNS_CHECK (!comparison->found.is_sure && comparison->found.changes.n == 0);
      LNS_CHECK (comparison->differs.n == 0 && comparison->fresh.n + comparison->gone.n == 0);
      FILE *stream = lns_memory_stream (&text, &n_bytes);
      lns_comparison_write_text (comparison, -1, stream);
      lns_comparison_write_markdown (comparison, -1, stream);
      lns_comparison_write_json (comparison, stream);
      lns_memory_stream_end (stream);
      LNS_CHECK (n_bytes > 0);
      free (text);
      lns_comparison_free (comparison);
      lns_tables_free (tables);
      lns_report_close (report);
    }
  LNS_CHECK (n_known > N_REPORTS / 100);
}

#define N_OVERHEADS 50000

/* Overhead that begins before that of the lane before, in more lanes than a stack has room for. */
static void
test_any_number_of_lanes_of_overhead_is_read (void)
{
  const char *path = fixture_path ("overheads.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);

  LNS_CHECK (writer != NULL);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 10 });
  lns_writer_add_domain (writer, &(LnsDomain){ .thread = 0 });
  LnsTrack track = { .kind = LNS_TRACK_OS_CALLS, .device = LNS_ID_NONE, .stream = LNS_ID_NONE };
  uint32_t id = lns_writer_add_track (writer, &track);
  lns_writer_append (
      writer, lns_writer_add_lane (writer, &(LnsLane){ .track = id, .kind = LNS_LANE_OS_CALL }),
      &(LnsEvent){ .duration_ns = 2 * N_OVERHEADS, .name = lns_writer_string (writer, "read", 4) });
  track.kind = LNS_TRACK_CUDA_OVERHEAD;
  track.thread = LNS_ID_NONE;
  id = lns_writer_add_track (writer, &track);
  LnsEvent overhead = { .duration_ns = 1 };
  overhead.extra[lns_lane_kind_extra (LNS_LANE_CUDA_OVERHEAD, LNS_COLUMN_OVERHEAD_KIND)] = 1 << 16;
  for (uint32_t i = 0; i < N_OVERHEADS; i++)
    {
      const uint32_t lane = lns_writer_add_lane (
          writer, &(LnsLane){ .track = id, .ordinal = i, .kind = LNS_LANE_CUDA_OVERHEAD });
      overhead.start_ns = N_OVERHEADS - (int64_t)i;
      lns_writer_append (writer, lane, &overhead);
      lns_writer_close_lane (writer, lane);
    }
  fixture_finish (writer, 2 * N_OVERHEADS);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  LnsWhy *why = lns_why_run (
      tables, &(LnsWhyOptions){ .span = lns_filter_span (report), .keeps_gaps = true }, NULL, NULL);
  LNS_CHECK (why != NULL);
  LNS_CHECK_INT (why->ledgers.n, 1);
  check_ledger (why, 0);
  LNS_CHECK (why->ledgers.items[0].cause_ns[LNS_CAUSE_PROFILER] > 0);
  lns_why_free (why);
  lns_tables_free (tables);
  lns_report_close (report);
}

#define N_LAUNCHERS 40
#define N_LAUNCHES  400

/* Which of many threads launched what ends a gap: each operation is of another one than that before. */
static void
test_the_launching_thread_of_many_is_found (void)
{
  const char *path = fixture_path ("launchers.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  uint32_t lanes[N_LAUNCHERS];

  LNS_CHECK (writer != NULL);
  const uint32_t name = lns_writer_string (writer, texts[0], strlen (texts[0]));
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE });
  for (uint32_t i = 0; i < N_LAUNCHERS; i++)
    lns_writer_add_thread (writer, &(LnsThread){ .tid = 10 + (int32_t)i });
  lns_writer_add_domain (writer, &(LnsDomain){ .thread = 0 });
  lns_writer_add_device (writer, &(LnsCudaDevice){ .number = 0 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .number = 0 });
  lns_writer_add_stream (writer, &(LnsCudaStream){ .number = 7 });
  LnsTrack track = { .kind = LNS_TRACK_CUDA_API, .device = LNS_ID_NONE, .stream = LNS_ID_NONE };
  for (track.thread = 0; track.thread < N_LAUNCHERS; track.thread++)
    lanes[track.thread] =
        lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                                 .kind = LNS_LANE_CUDA_API });
  track = (LnsTrack){ .kind = LNS_TRACK_CUDA_KERNELS, .thread = LNS_ID_NONE };
  const uint32_t kernels =
      lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                               .kind = LNS_LANE_CUDA_KERNEL });
  for (uint32_t i = 0; i < N_LAUNCHES; i++)
    {
      LnsEvent call = { .start_ns = 10000 * i, .duration_ns = 1000, .name = name },
               kernel = { .start_ns = 10000 * i + 2000, .duration_ns = 3000, .name = name };
      call.extra[lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION)] = 100 + i;
      kernel.extra[lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION)] = 100 + i;
      lns_writer_append (writer, lanes[i * 7 % N_LAUNCHERS], &call);
      lns_writer_append (writer, kernels, &kernel);
    }
  fixture_finish (writer, 10000 * N_LAUNCHES);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  LnsWhy *why = lns_why_run (
      tables, &(LnsWhyOptions){ .span = lns_filter_span (report), .keeps_gaps = true }, NULL, NULL);
  LNS_CHECK (why != NULL);
  uint32_t n = 0;
  for (size_t i = 0; i < why->gaps.n; i++)
    {
      const LnsWhyGap *gap = &why->gaps.items[i];
      if (gap->cause != LNS_CAUSE_LAUNCH_RATE)
        continue;
      LNS_CHECK_INT (gap->thread, (gap->end_ns + 7999) / 10000 * 7 % N_LAUNCHERS);
      n++;
    }
  LNS_CHECK (n >= N_LAUNCHES - 1);
  check_ledger (why, 0);
  lns_why_free (why);
  lns_tables_free (tables);
  lns_report_close (report);
}

/* --- Page faults ------------------------------------------------------------------------------ */

static uint32_t
add_node (LnsWriter *writer, uint32_t parent, uint32_t module, const char *symbol)
{
  const LnsStackFrame frame = { .module = module,
                                .symbol = lns_writer_string (writer, symbol, strlen (symbol)),
                                .offset = strlen (symbol),
                                .is_resolved = true };
  return lns_writer_add_call_node (writer,
                                   &(LnsCallNode){ parent, lns_writer_add_frame (writer, &frame) });
}

/* The verdict on a thread that runs all the time: of 10 samples, N_OTHERS are in as many other functions, and the rest in touch (), of which
 * N_FAULTS are in the kernel's code for page faults. Free it. */
static char *
verdict_on_faults (int n_faults, int n_others)
{
  const char *path = fixture_path ("faults.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  LnsTrack track = {
    .kind = LNS_TRACK_SCHED, .domain = LNS_ID_NONE, .device = LNS_ID_NONE, .stream = LNS_ID_NONE
  };

  LNS_CHECK (writer != NULL);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 10 });
  const uint32_t states = lns_writer_add_lane (
      writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track), .kind = LNS_LANE_SCHED });
  LnsEvent run = { .duration_ns = 11000000 };
  run.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 1;
  lns_writer_append (writer, states, &run);
  track.kind = lns_lane_kind_info (LNS_LANE_CPU_SAMPLE)->track;
  const uint32_t samples =
      lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                               .kind = LNS_LANE_CPU_SAMPLE });
  const uint32_t program = lns_writer_add_module (
      writer, &(LnsModule){ .path = lns_writer_string (writer, "/bin/work", 9), .end = 1 << 20 });
  const uint32_t kernel = lns_writer_add_module (
      writer, &(LnsModule){ .kind = LNS_MODULE_KERNEL,
                            .path = lns_writer_string (writer, "[kernel.kallsyms]", 17),
                            .start = UINT64_C (1) << 63,
                            .file_offset = UINT64_C (1) << 63,
                            .end = UINT64_MAX });
  const uint32_t touch = add_node (writer, LNS_ID_NONE, program, "touch");
  const uint32_t cleared = add_node (writer, add_node (writer, touch, kernel, "asm_exc_page_fault"),
                                     kernel, "clear_page_erms");
  const uint32_t called = add_node (writer, touch, kernel, "do_syscall_64");
  for (int i = 0; i < 10; i++)
    {
      LnsEvent sample = { .start_ns = 1000000 * (i + 1) };
      sample.extra[lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN)] =
          1 + (i < n_faults         ? cleared
               : i >= 10 - n_others ? add_node (writer, LNS_ID_NONE, program, "abcdefghij" + i)
               : i % 2 == 0         ? called
                                    : touch);
      lns_writer_append (writer, samples, &sample);
    }
  fixture_finish (writer, 11000000);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  LnsWhy *why =
      lns_why_run (tables, &(LnsWhyOptions){ .span = lns_filter_span (report) }, NULL, NULL);
  LNS_CHECK (why != NULL);
  char *verdict = strdup (why->verdict);
  lns_why_free (why);
  lns_tables_free (tables);
  lns_report_close (report);
  return verdict;
}

static void
test_time_in_page_faults_is_called_so (void)
{
  char *many = verdict_on_faults (8, 0), *few = verdict_on_faults (3, 0);

  LNS_CHECK (strstr (many, "mostly in page faults of touch") != NULL);
  LNS_CHECK (strstr (few, "mostly in touch") != NULL);
  free (many);
  free (few);
}

static void
test_a_function_has_most_only_with_half_of_the_samples (void)
{
  char *half = verdict_on_faults (0, 5), *less = verdict_on_faults (0, 6);

  LNS_CHECK (strstr (half, "mostly in touch") != NULL);
  LNS_CHECK (strstr (less, "most often in touch") != NULL);
  free (half);
  free (less);
}

/* --- What was waited for ----------------------------------------------------------------------- */

#define MS INT64_C (1000000)

/* Thread 0 waits for thread 1 once for 100 ms, and 60 times for 5 ms. In the first time thread 1 is in start (), then in serve (): most of what
 * was waited for, though the eight longest waits are of start (). */
static void
test_many_short_waits_tell_what_was_waited_for (void)
{
  const char *path = fixture_path ("waits.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  LnsTrack track = {
    .kind = LNS_TRACK_SCHED, .domain = LNS_ID_NONE, .device = LNS_ID_NONE, .stream = LNS_ID_NONE
  };
  static const LnsKeptColumn columns[] = { { "wakerTid", "INTEGER", false },
                                           { "wakeLatency", "INTEGER", false } };
  uint32_t states[2];
  int64_t at_ns = 0;

  LNS_CHECK (writer != NULL);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE });
  for (int i = 0; i < 2; i++)
    lns_writer_add_thread (writer, &(LnsThread){ .tid = 10 + i, .end_ns = LNS_TIME_UNKNOWN });
  LnsKeptTableMaker *wakings = lns_kept_table_maker_new (writer, "SCHED_EVENTS", columns, 2, true);
  for (track.thread = 0; track.thread < 2; track.thread++)
    states[track.thread] =
        lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                                 .kind = LNS_LANE_SCHED });
  track.kind = lns_lane_kind_info (LNS_LANE_CPU_SAMPLE)->track;
  track.thread = 1;
  const uint32_t samples =
      lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                               .kind = LNS_LANE_CPU_SAMPLE });
  const uint32_t program = lns_writer_add_module (
      writer, &(LnsModule){ .path = lns_writer_string (writer, "/bin/work", 9), .end = 1 << 20 });
  const uint32_t start = add_node (writer, LNS_ID_NONE, program, "start"),
                 serve = add_node (writer, LNS_ID_NONE, program, "serve_one");
  for (int i = 0; i <= 60; i++)
    {
      const int64_t wait_ns = i == 0 ? 100 * MS : 5 * MS;
      const LnsKeptValue values[] = {
        { .type = LNS_KEPT_INTEGER, .integer = (INT64_C (10) << 24) + 11 },
        { .type = LNS_KEPT_INTEGER, .integer = 0 },
      };
      LnsEvent run = { .start_ns = at_ns, .duration_ns = MS }, block = { .start_ns = at_ns + MS };
      run.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 1;
      if (i > 0)
        run.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_REMAINDER)] =
            lns_kept_table_maker_remainder (wakings, values);
      block.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] =
          2; /* ENUM_SAMPLING_THREAD_STATE */
      lns_writer_append (writer, states[0], &run);
      if (i < 60)
        lns_writer_append (writer, states[0], &block);
      for (int64_t ns = MS; ns < MS + wait_ns; ns += MS)
        {
          LnsEvent sample = { .start_ns = at_ns + ns };
          sample.extra[lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN)] =
              1 + (i == 0 ? start : serve);
          lns_writer_append (writer, samples, &sample);
        }
      at_ns += MS + wait_ns;
    }
  LnsEvent busy = { .duration_ns = at_ns };
  busy.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 1;
  lns_writer_append (writer, states[1], &busy);
  lns_kept_table_maker_free (wakings);
  fixture_finish (writer, at_ns);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  LnsWhy *why =
      lns_why_run (tables, &(LnsWhyOptions){ .span = lns_filter_span (report) }, NULL, NULL);
  LNS_CHECK (why != NULL);
  if (strstr (why->verdict, "for thread 11 in serve_one") == NULL)
    LNS_FAIL ("%s", why->verdict);
  lns_why_free (why);
  lns_tables_free (tables);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_the_launching_thread_of_many_is_found);
  LNS_TEST (test_random_reports_are_as_themselves);
  LNS_TEST (test_any_number_of_lanes_of_overhead_is_read);
  LNS_TEST (test_ledgers_of_random_reports_close);
  LNS_TEST (test_a_cancelled_answer_says_so);
  LNS_TEST (test_time_in_page_faults_is_called_so);
  LNS_TEST (test_a_function_has_most_only_with_half_of_the_samples);
  LNS_TEST (test_many_short_waits_tell_what_was_waited_for);
  return lns_tap_done ();
}
