/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs of programs that never ran: a tree of ranges, some of which launch kernels, in steps; on a machine that warms up, drifts, is
 * disturbed, and is faster one time than the other. The same program must give no alarm; a part that takes longer must be named. */

#include "src/analysis/compare/votes.h"

#include <math.h>

#include "src/base/memory.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define MOST_RANGES 12
#define MOST_DEPTH  4

static uint64_t seed;

static uint64_t
draw (uint64_t below)
{
  return fixture_random (&seed) % below;
}

static double
draw_real (void)
{
  return (double)(fixture_random (&seed) >> 11) / 9007199254740992.0;
}

static double
draw_normal (void)
{
  return sqrt (-2 * log (draw_real () + 1e-300)) * cos (2 * M_PI * draw_real ());
}

/* --- Programs and machines -------------------------------------------------------------------- */

typedef struct
{
  unsigned depth;   /* in the step, from 0 on                                                    */
  double own_ns;    /* that the thread computes                                                  */
  double kernel_ns; /* of the kernel that it launches, 0 = none                                  */
  char name[24], kernel[32];
} Range;

typedef struct
{
  Range ranges[MOST_RANGES]; /* in order                                                         */
  unsigned n;
  bool has_gpu;
  char step[24];
} Program;

/* Shares of the time that things take. */
typedef struct
{
  double noise,
      memory;       /* of each range for itself, and how much of it a step has of the one before */
  double pace;      /* the same of all ranges together                                       */
  double bursts;    /* how often some steps in a row take up to half longer                  */
  double drift;     /* over the run, at most, up or down                                     */
  double between;   /* how much faster one run is than the other, as a standard deviation    */
  double placement; /* the same of each range for itself, by where its memory lies for instance */
  unsigned n_warm_up;
  unsigned unseen_percent; /* of the run, for which the program had no CPU, and nobody saw when  */
} Machine;

/* What is another way in a run. */
typedef struct
{
  int slower; /* the range whose own time is `times` as long, or -1                              */
  double times;
  int slower_kernel; /* the same of a kernel                                                     */
  int renamed;       /* the kernel that has another name                                         */
  int gone;          /* the range that is left out                                               */
} Plant;

static const Plant nothing = { -1, 1, -1, -1, -1 };

static void
draw_name (char *name, size_t size)
{
  static const char *const syllables[] = {
    "ba", "re", "ti", "mo", "ku", "za", "shi", "lon", "ver"
  };
  size_t n = 0;

  for (unsigned i = 0; i < 4; i++)
    n += (size_t)snprintf (name + n, size - n, "%s", syllables[draw (9)]);
}

static Program
draw_program (bool has_gpu)
{
  Program program = { .n = 4 + (unsigned)draw (MOST_RANGES - 4), .has_gpu = has_gpu };

  draw_name (program.step, sizeof program.step);
  for (unsigned i = 0; i < program.n; i++)
    {
      Range *range = &program.ranges[i];
      range->depth = i == 0 ? 0 : (unsigned)draw (program.ranges[i - 1].depth + 2);
      range->depth = range->depth < MOST_DEPTH - 1 ? range->depth : MOST_DEPTH - 2;
      range->own_ns = 2e5 + 1e6 * draw_real ();
      draw_name (range->name, sizeof range->name);
      if (has_gpu && draw (3) > 0)
        {
          range->kernel_ns = 2e5 + 1e6 * draw_real ();
          draw_name (range->kernel, sizeof range->kernel);
        }
    }
  return program;
}

/* --- Runs ------------------------------------------------------------------------------------- */

typedef struct
{
  LnsWriter *writer;
  uint32_t ranges[MOST_DEPTH], calls, kernels; /* lanes */
  double now_ns, gpu_ns;
  uint64_t correlation;
} Run;

static uint32_t
string (Run *run, const char *text)
{
  return lns_writer_string (run->writer, text, strlen (text));
}

static uint32_t
add_track (Run *run, LnsTrackKind kind, uint32_t stream)
{
  return lns_writer_add_track (run->writer,
                               &(LnsTrack){ .kind = kind, .device = stream, .stream = stream });
}

static void
begin (Run *run, const char *path, const Program *program)
{
  LnsError error = { 0 };

  *run =
      (Run){ .writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error) };
  if (run->writer == NULL)
    LNS_FAIL ("%s", error.message);
  const int32_t pid = 100 + (int32_t)draw (100000);
  lns_writer_add_process (
      run->writer, &(LnsProcess){ .pid = pid, .parent = LNS_ID_NONE, .name = string (run, "run") });
  lns_writer_add_thread (run->writer, &(LnsThread){ .tid = pid, .name = string (run, "run") });
  lns_writer_add_domain (run->writer, &(LnsDomain){ .thread = 0 });
  const uint32_t track = add_track (run, LNS_TRACK_NVTX_RANGES, LNS_ID_NONE);
  for (uint32_t depth = 0; depth < MOST_DEPTH; depth++)
    run->ranges[depth] =
        lns_writer_add_lane (run->writer, &(LnsLane){ track, depth, LNS_LANE_NVTX_PUSH_POP });
  if (!program->has_gpu)
    return;
  lns_writer_add_device (run->writer, &(LnsCudaDevice){ .n_multiprocessors = 4 });
  lns_writer_add_context (run->writer, &(LnsCudaContext){ .number = 1 });
  lns_writer_add_stream (run->writer, &(LnsCudaStream){ .number = 7 });
  run->calls = lns_writer_add_lane (
      run->writer,
      &(LnsLane){ add_track (run, LNS_TRACK_CUDA_API, LNS_ID_NONE), 0, LNS_LANE_CUDA_API });
  run->kernels =
      lns_writer_add_lane (run->writer, &(LnsLane){ add_track (run, LNS_TRACK_CUDA_KERNELS, 0), 0,
                                                    LNS_LANE_CUDA_KERNEL });
}

static void
append (Run *run,
        uint32_t lane,
        LnsLaneKind kind,
        double from_ns,
        double to_ns,
        const char *name,
        uint64_t launch)
{
  LnsEvent event = { .start_ns = (int64_t)from_ns,
                     .duration_ns = (int64_t)to_ns - (int64_t)from_ns,
                     .name = string (run, name) };
  const int correlation = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION),
            at = lns_lane_kind_extra (kind, LNS_COLUMN_LAUNCH);

  if (correlation >= 0)
    event.extra[correlation] = run->correlation;
  if (at >= 0)
    event.extra[at] = launch;
  lns_writer_append (run->writer, lane, &event);
}

/* A run of N steps of PROGRAM with PLANT on MACHINE, as a report at PATH. */
static void
write_run (
    const char *path, const Program *program, const Plant *plant, const Machine *machine, size_t n)
{
  double noise[MOST_RANGES] = { 0 }, kernel_noise[MOST_RANGES] = { 0 }, pace = draw_normal (),
         burst = 0;
  const double drift = machine->drift * (2 * draw_real () - 1),
               level = 1 + machine->between * draw_normal (),
               fresh = sqrt (1 - machine->memory * machine->memory);
  unsigned n_burst = 0;
  double places[MOST_RANGES];
  Run run;

  for (unsigned i = 0; i < program->n; i++)
    places[i] = 1 + (machine->placement > 0 ? machine->placement * draw_normal () : 0);

  begin (&run, path, program);
  if (machine->unseen_percent > 0)
    {
      char text[8];
      snprintf (text, sizeof text, "%u", 100 - machine->unseen_percent);
      lns_writer_set_meta (run.writer, "main_thread_on_cpu_ns", text);
      snprintf (text, sizeof text, "%u", machine->unseen_percent);
      lns_writer_set_meta (run.writer, "main_thread_waited_ns", text);
    }
  for (unsigned i = 0; i < program->n; i++)
    {
      char name[40];
      if (program->ranges[i].kernel_ns <= 0)
        continue;
      snprintf (name, sizeof name, "%s%s", plant->renamed == (int)i ? "tuned_" : "",
                program->ranges[i].kernel);
      lns_writer_add_launch (run.writer, &(LnsCudaLaunch){ .short_name = string (&run, name),
                                                           .grid = { 10 + i, 1, 1 },
                                                           .block = { 32, 1, 1 } });
    }
  for (size_t step = 0; step < n; step++)
    {
      const double from_ns = run.now_ns;
      double open[MOST_DEPTH] = { 0 };
      unsigned depth = 0;
      const char *names[MOST_DEPTH] = { NULL };
      uint64_t launch = 0;

      pace = machine->memory * pace + fresh * draw_normal ();
      if (n_burst > 0)
        n_burst--;
      else if (draw_real () < machine->bursts)
        {
          n_burst = 1 + (unsigned)draw (4);
          burst = 0.02 + 0.5 * draw_real ();
        }
      const double slow = level * (1 + machine->pace * pace + (n_burst > 0 ? burst : 0) +
                                   drift * ((double)step / (double)n - 0.5) +
                                   (step < machine->n_warm_up ? 0.5 : 0));
      for (unsigned i = 0; i <= program->n; i++)
        {
          const Range *range = &program->ranges[i];
          /* A range ends where none in it follows. */
          for (; depth > 0 && (i == program->n || depth > range->depth); depth--)
            append (&run, run.ranges[depth], LNS_LANE_NVTX_PUSH_POP, open[depth - 1],
                    run.now_ns += 300, names[depth - 1], 0);
          if (i == program->n)
            break;
          if (plant->gone == (int)i)
            continue;
          noise[i] = machine->memory * noise[i] + fresh * draw_normal ();
          kernel_noise[i] = machine->memory * kernel_noise[i] + fresh * draw_normal ();
          names[depth] = range->name;
          open[depth++] = run.now_ns += 500;
          run.now_ns += range->own_ns * slow * places[i] * (1 + machine->noise * noise[i]) *
                        (plant->slower == (int)i ? plant->times : 1);
          if (range->kernel_ns <= 0)
            continue;
          const double call_ns = run.now_ns;
          run.now_ns += 6000 * slow;
          run.correlation++;
          append (&run, run.calls, LNS_LANE_CUDA_API, call_ns, run.now_ns, "cudaLaunchKernel_v7000",
                  0);
          const double start_ns = fmax (run.gpu_ns + 1000, call_ns + 4000);
          run.gpu_ns = start_ns + range->kernel_ns * (1 + 0.5 * machine->noise * kernel_noise[i]) *
                                      (plant->slower_kernel == (int)i ? plant->times : 1);
          char renamed[40];
          snprintf (renamed, sizeof renamed, "tuned_%s", range->kernel);
          append (&run, run.kernels, LNS_LANE_CUDA_KERNEL, start_ns, run.gpu_ns,
                  plant->renamed == (int)i ? renamed : range->kernel, launch);
          launch++;
        }
      if (program->has_gpu)
        {
          const double call_ns = run.now_ns += 500;
          run.now_ns = fmax (run.now_ns, run.gpu_ns) + 5000;
          run.correlation++;
          append (&run, run.calls, LNS_LANE_CUDA_API, call_ns, run.now_ns,
                  "cudaDeviceSynchronize_v3020", 0);
        }
      append (&run, run.ranges[0], LNS_LANE_NVTX_PUSH_POP, from_ns, run.now_ns += 500,
              program->step, 0);
      run.now_ns += 2000;
    }
  fixture_finish (run.writer, (int64_t)run.now_ns);
}

/* --- Comparisons ------------------------------------------------------------------------------ */

typedef struct
{
  LnsReport *reports[2];
  LnsTables *tables[2];
  LnsComparison *comparison;
} Pair;

static Pair
compare (const Program *program,
         const Plant *const plants[2],
         const Machine *machine,
         const size_t n[2])
{
  Pair pair = { 0 };
  LnsError error = { 0 };

  for (int side = 0; side < 2; side++)
    {
      const char *path = fixture_path (side == 0 ? "a.rep" : "b.rep");
      write_run (path, program, plants[side], machine, n[side]);
      pair.reports[side] = fixture_open (path, NULL);
      pair.tables[side] = lns_tables_new (pair.reports[side], &error);
      if (pair.tables[side] == NULL)
        LNS_FAIL ("%s", error.message);
    }
  pair.comparison = lns_compare (pair.tables, &(LnsCompareOptions){ 0 }, NULL, &error);
  if (pair.comparison == NULL)
    LNS_FAIL ("%s", error.message);
  return pair;
}

static void
clear (Pair *pair)
{
  lns_comparison_free (pair->comparison);
  for (int side = 0; side < 2; side++)
    {
      lns_tables_free (pair->tables[side]);
      lns_report_close (pair->reports[side]);
    }
}

static bool
is_alarm (const LnsComparison *comparison)
{
  return comparison->found.is_sure || comparison->found.changes.n > 0;
}

/* The change of NAME, or NULL. */
static const LnsChange *
change_of (const LnsComparison *comparison, const char *name)
{
  for (size_t i = 0; i < comparison->found.changes.n; i++)
    {
      char *own = lns_change_name (comparison, &comparison->found.changes.items[i]);
      const bool is_it = strcmp (own, name) == 0;
      free (own);
      if (is_it)
        return &comparison->found.changes.items[i];
    }
  return NULL;
}

static const Machine quiet = { .noise = 0.003, .n_warm_up = 2 },
                     common = { .noise = 0.006,
                                .memory = 0.3,
                                .pace = 0.005,
                                .bursts = 0.03,
                                .drift = 0.02,
                                .between = 0.002,
                                .n_warm_up = 2 },
                     disturbed = { .noise = 0.006,
                                   .memory = 0.5,
                                   .pace = 0.02,
                                   .bursts = 0.08,
                                   .drift = 0.08,
                                   .between = 0.01,
                                   .n_warm_up = 3 },
                     busy = { .noise = 0.05,
                              .memory = 0.2,
                              .pace = 0.05,
                              .bursts = 0.1,
                              .drift = 0.1,
                              .between = 0.05 };

static void
count_alarms (unsigned n_pairs)
{
  const Machine *machines[] = { &quiet, &common, &disturbed, &busy };
  unsigned n_alarms[4] = { 0 }, n_all = 0;

  seed = lns_tap_seed () * 77;
  for (unsigned i = 0; i < n_pairs; i++)
    {
      const Program program = draw_program (i % 8 >= 4);
      const size_t n[] = { 30 + draw (30), 30 + draw (30) };
      Pair pair =
          compare (&program, (const Plant *const[]){ &nothing, &nothing }, machines[i % 4], n);
      if (is_alarm (pair.comparison) && getenv ("LNS_TEST_VERBOSE") != NULL)
        {
          fprintf (stderr, "machine %u: %s p %g\n", i % 4, pair.comparison->verdict,
                   pair.comparison->found.p);
          lns_comparison_write_text (pair.comparison, 5, stderr);
        }
      n_alarms[i % 4] += is_alarm (pair.comparison);
      clear (&pair);
    }
  for (int i = 0; i < 4; i++)
    n_all += n_alarms[i];
  fprintf (stderr,
           "# %u pairs: alarms on a quiet machine %u, a common one %u, a disturbed one %u, a busy "
           "one %u\n",
           n_pairs, n_alarms[0], n_alarms[1], n_alarms[2], n_alarms[3]);
  if (n_all * 100 > n_pairs)
    LNS_FAIL ("%u alarms of %u pairs", n_all, n_pairs);
}

static void
test_the_same_program_gives_no_alarm (void)
{
  count_alarms (120);
}

static void
test_a_thousand_pairs_give_no_alarm (void)
{
  count_alarms (1000);
}

/* Plants 2 % into a range, or a kernel, and counts how often it is found and named. */
static void
find_planted (unsigned n_pairs, unsigned least_percent)
{
  const Machine *machines[] = { &quiet, &common };
  unsigned n_found[2][2] = { { 0 } }, n_of[2][2] = { { 0 } }, n_all = 0;

  seed = lns_tap_seed () * 79;
  for (unsigned i = 0; i < n_pairs; i++)
    {
      const bool has_gpu = i % 4 >= 2;
      const Program program = draw_program (has_gpu);
      const size_t n[] = { 30, 30 };
      Plant plant = nothing;
      const int at = (int)draw (program.n);
      const bool is_kernel = program.ranges[at].kernel_ns > 0;
      plant.times = 1.02;
      *(is_kernel ? &plant.slower_kernel : &plant.slower) = at;
      Pair pair =
          compare (&program, (const Plant *const[]){ &nothing, &plant }, machines[i % 2], n);
      const char *name = is_kernel ? program.ranges[at].kernel : program.ranges[at].name;
      const LnsChange *change = change_of (pair.comparison, name);
      const bool found = change != NULL && change->type == LNS_CHANGE_SLOWER;
      if (!found && getenv ("LNS_TEST_VERBOSE") != NULL)
        {
          fprintf (stderr, "planted %s (machine %u, %s): %s\n", name, i % 2,
                   is_kernel ? "kernel" : "range", pair.comparison->verdict);
          lns_comparison_write_text (pair.comparison, 5, stderr);
        }
      n_of[i % 2][is_kernel]++;
      n_found[i % 2][is_kernel] += found;
      n_all += found;
      clear (&pair);
    }
  fprintf (stderr,
           "# found and named: ranges %u of %u and kernels %u of %u on a quiet machine, %u of %u "
           "and %u of %u on a common one\n",
           n_found[0][0], n_of[0][0], n_found[0][1], n_of[0][1], n_found[1][0], n_of[1][0],
           n_found[1][1], n_of[1][1]);
  if (n_all * 100 < n_pairs * least_percent)
    LNS_FAIL ("%u of %u", n_all, n_pairs);
}

static void
test_two_percent_are_found (void)
{
  find_planted (80, 85);
}

static void
test_two_percent_are_found_often (void)
{
  find_planted (1000, 95);
}

/* --- What else is told ------------------------------------------------------------------------ */

static void
test_what_is_new_or_gone_is_named (void)
{
  seed = lns_tap_seed () * 83;
  for (unsigned i = 0; i < 6; i++)
    {
      const Program program = draw_program (false);
      const size_t n[] = { 25, 30 };
      Plant plant = nothing;
      plant.gone = (int)program.n - 1;
      Pair pair = compare (
          &program,
          (const Plant *const[]){ i % 2 == 0 ? &plant : &nothing, i % 2 == 0 ? &nothing : &plant },
          &quiet, n);
      const LnsChange *change = change_of (pair.comparison, program.ranges[plant.gone].name);
      LNS_CHECK (change != NULL);
      LNS_CHECK_INT (change->type, i % 2 == 0 ? LNS_CHANGE_NEW : LNS_CHANGE_GONE);
      LNS_CHECK (isnan (change->change) == (i % 2 == 0));
      LNS_CHECK (pair.comparison->found.is_sure);
      LNS_CHECK_INT (pair.comparison->change > 0, i % 2 == 0);
      clear (&pair);
    }
}

static void
test_a_renamed_kernel_is_the_same (void)
{
  unsigned n_kernels = 0;

  seed = lns_tap_seed () * 89;
  while (n_kernels < 6)
    {
      const Program program = draw_program (true);
      const size_t n[] = { 30, 30 };
      Plant plant = nothing;
      const int at = (int)draw (program.n);
      if (program.ranges[at].kernel_ns <= 0)
        continue;
      plant.renamed = at;
      plant.times = n_kernels++ % 2 == 0 ? 1 : 1.2;
      plant.slower_kernel = at;
      Pair pair = compare (&program, (const Plant *const[]){ &nothing, &plant }, &quiet, n);
      char name[40];
      snprintf (name, sizeof name, "tuned_%s", program.ranges[at].kernel);
      LNS_CHECK (change_of (pair.comparison, program.ranges[at].kernel) == NULL);
      const LnsChange *change = change_of (pair.comparison, name);
      LNS_CHECK_INT (change != NULL, plant.times > 1);
      if (change != NULL)
        LNS_CHECK (change->is_renamed && change->type == LNS_CHANGE_SLOWER &&
                   fabs (change->change - 0.2) < 0.02);
      clear (&pair);
    }
}

static void
test_few_steps_are_not_known (void)
{
  seed = lns_tap_seed () * 97;
  const Program program = draw_program (false);
  const size_t few[] = { 30, 8 }, enough[] = { 14, 14 };
  Pair pair = compare (&program, (const Plant *const[]){ &nothing, &nothing }, &quiet, few);
  LNS_CHECK (!pair.comparison->is_known);
  LNS_CHECK (strstr (pair.comparison->verdict, "cannot be known") != NULL);
  LNS_CHECK (strstr (pair.comparison->verdict, "B has 6 steps that count") != NULL ||
             strstr (pair.comparison->verdict, "B has 8 steps that count") != NULL);
  clear (&pair);
  pair = compare (&program, (const Plant *const[]){ &nothing, &nothing }, &quiet, enough);
  LNS_CHECK (pair.comparison->is_known);
  clear (&pair);
}

static void
test_times_without_a_cpu_that_nobody_saw_are_not_compared (void)
{
  const Machine machines[] = { { .noise = 0.003, .unseen_percent = 5 },
                               { .noise = 0.003, .unseen_percent = 40 } };
  const size_t n[] = { 30, 30 };
  Plant slow = nothing;

  seed = lns_tap_seed () * 103;
  const Program program = draw_program (false);
  slow.slower = 0;
  slow.times = 4;
  for (int i = 0; i < 2; i++)
    {
      Pair pair = compare (&program, (const Plant *const[]){ &nothing, &slow }, &machines[i], n);
      LNS_CHECK_INT (pair.comparison->is_known, i == 0);
      LNS_CHECK_INT (is_alarm (pair.comparison), i == 0);
      LNS_CHECK_INT (strstr (pair.comparison->verdict,
                             "in A the program had no CPU for 40 % of the time that it could have "
                             "run, and when was not recorded") != NULL,
                     i == 1);
      clear (&pair);
    }
}

static void
test_most_of_several_runs_decide (void)
{
  seed = lns_tap_seed () * 101;
  const Program program = draw_program (false);
  const size_t n[] = { 30, 30 };
  Plant slow = nothing;
  LnsVotes votes = { 0 };
  Pair pairs[3];

  slow.slower = 0;
  slow.times = 1.2;
  /* One of three earlier runs was as fast as B is slow: it alone tells a change. */
  for (unsigned i = 0; i < 3; i++)
    {
      pairs[i] =
          compare (&program, (const Plant *const[]){ i == 0 ? &nothing : &slow, &slow }, &quiet, n);
      lns_votes_add (&votes, pairs[i].comparison, (const bool[]){ true, i == 0 });
    }
  LNS_CHECK (is_alarm (pairs[0].comparison));
  LNS_CHECK (lns_votes_typical (&votes, 0) != 0);
  lns_votes_apply (&votes, pairs[0].comparison, false);
  LNS_CHECK (!is_alarm (pairs[0].comparison));
  /* That depends on how far the odd one is apart. */
  LNS_CHECK (strstr (pairs[0].comparison->verdict, "B takes as long as A") != NULL ||
             strstr (pairs[0].comparison->verdict, "Record more runs of each") != NULL);
  lns_votes_clear (&votes);
  for (unsigned i = 0; i < 3; i++)
    clear (&pairs[i]);
}

#define GROUP 5

/* What is told of GROUP runs of PROGRAM, and as many with PLANT, on MACHINE. The comparison is of the first runs, whose reports stay open. */
static Pair
compare_groups (const Program *program, const Plant *plant, const Machine *machine)
{
  const Plant *const plants[] = { &nothing, plant };
  const size_t n[] = { 40, 40 };
  LnsVotes votes = { 0 };
  Pair first = { 0 };

  for (unsigned i = 0; i < GROUP; i++)
    {
      Pair pair = compare (program, plants, machine, n);
      lns_votes_add (&votes, pair.comparison, (const bool[]){ true, true });
      if (i == 0)
        first = pair;
      else
        clear (&pair);
    }
  lns_comparison_free (first.comparison);
  LnsError error = { 0 };
  first.comparison = lns_compare (
      first.tables, &(LnsCompareOptions){ .levels = lns_votes_levels (&votes) }, NULL, &error);
  if (first.comparison == NULL)
    LNS_FAIL ("%s", error.message);
  LNS_CHECK (first.comparison->tells_runs);
  lns_votes_clear (&votes);
  return first;
}

/* Runs of one program lie apart, as those of what is bound by memory do on a quiet machine: each pair tells a change, folders of runs do not; and
 * a change that is larger than that is found. */
static void
compare_runs_that_differ (unsigned n_groups, unsigned most_alarms, unsigned least_found)
{
  const Machine machine = { .noise = 0.003, .between = 0.01, .placement = 0.02, .n_warm_up = 2 };
  unsigned n_alarms[2] = { 0 }, n_found = 0;

  seed = lns_tap_seed () * 107;
  for (unsigned i = 0; i < n_groups; i++)
    {
      const Program program = draw_program (false);
      const size_t n[] = { 40, 40 };
      Plant plant = nothing;
      Pair pair = compare (&program, (const Plant *const[]){ &nothing, &nothing }, &machine, n),
           same = compare_groups (&program, &nothing, &machine);
      plant.slower = (int)draw (program.n);
      plant.times = 1.15;
      Pair slower = compare_groups (&program, &plant, &machine);
      n_alarms[0] += is_alarm (pair.comparison);
      n_alarms[1] += is_alarm (same.comparison);
      if (is_alarm (same.comparison) && getenv ("LNS_TEST_VERBOSE") != NULL)
        {
          fprintf (stderr, "%s p %g\n", same.comparison->verdict, same.comparison->found.p);
          lns_comparison_write_text (same.comparison, 5, stderr);
        }
      const LnsChange *change = change_of (slower.comparison, program.ranges[plant.slower].name);
      n_found += change != NULL && change->type == LNS_CHANGE_SLOWER;
      clear (&pair);
      clear (&same);
      clear (&slower);
    }
  fprintf (stderr, "# of %u: %u alarms of pairs, %u of groups; %u times 15 %% found and named\n",
           n_groups, n_alarms[0], n_alarms[1], n_found);
  LNS_CHECK (n_alarms[0] > n_groups / 2);
  LNS_CHECK (n_alarms[1] <= most_alarms);
  LNS_CHECK (n_found >= least_found);
}

static void
test_folders_of_runs_that_differ (void)
{
  compare_runs_that_differ (20, 2, 15);
}

static void
test_many_folders_of_runs_that_differ (void)
{
  compare_runs_that_differ (300, 6, 285); /* 1 %, and chance */
}

int
main (void)
{
  LNS_TEST (test_the_same_program_gives_no_alarm);
  LNS_TEST (test_two_percent_are_found);
  LNS_TEST (test_what_is_new_or_gone_is_named);
  LNS_TEST (test_a_renamed_kernel_is_the_same);
  LNS_TEST (test_few_steps_are_not_known);
  LNS_TEST (test_times_without_a_cpu_that_nobody_saw_are_not_compared);
  LNS_TEST (test_most_of_several_runs_decide);
  LNS_TEST (test_folders_of_runs_that_differ);
  LNS_TEST_LONG (test_many_folders_of_runs_that_differ);
  LNS_TEST_LONG (test_a_thousand_pairs_give_no_alarm);
  LNS_TEST_LONG (test_two_percent_are_found_often);
  return lns_tap_done ();
}
