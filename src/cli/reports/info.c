/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope info`: prints the facts about a report, one on each line. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/analysis/call-tree.h"
#include "src/analysis/rules/doctor.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/base/plain-name.h"
#include "src/base/visible.h"
#include "src/cli/reports/processes.h"
#include "src/cli/reports/report.h"
#include "src/cli/reports/several.h"
#include "src/cli/reports/topology.h"
#include "src/cli/terminal/terminal.h"
#include "src/store/read/pixels.h"
#include "src/tables/lanes.h"
#include "src/tables/omissions.h"
#include "src/cli/terminal/language.h"

#define CHECK_PIXELS 2048

/* Keeps a fact on one line, even if a program has a newline in its name. */
static void
print_escaped (const char *bytes)
{
  lns_visible_write (stdout, bytes, strlen (bytes));
}

/* What a diagnostic or a finding says. */
typedef struct
{
  const char *code, *text;
  LnsSeverity severity;
} Told;

/* How far behind a diagnostic others of its kind are looked for. */
#define LOOK_AHEAD 1000

/* Whether A and B say the same, perhaps with other numbers: of another process, for example. */
static bool
are_of_one_kind (const Told *a, const Told *b)
{
  const char *x = a->text, *y = b->text;
  if (a->severity != b->severity || strcmp (a->code, b->code) != 0)
    return false;
  for (; *x != '\0' && *y != '\0'; x += strspn (x, "0123456789"), y += strspn (y, "0123456789"))
    {
      const size_t n_x = strcspn (x, "0123456789"), n_y = strcspn (y, "0123456789");
      if (n_x != n_y || memcmp (x, y, n_x) != 0)
        return false;
      x += n_x;
      y += n_y;
    }
  return *x == *y;
}

/* Prints N of them, each sentence in the person's language. Those of one kind are one line, with their number. */
static void
print_told (const char *title, const Told *told, size_t n)
{
  bool *is_shown = lns_calloc (n, sizeof *is_shown);
  printf ("%s: %zu\n", title, n);
  for (size_t i = 0; i < n; i++)
    {
      size_t n_alike = 0;
      for (size_t k = i; !is_shown[i] && k < n && k - i < LOOK_AHEAD; k++)
        if (k == i || (!is_shown[k] && are_of_one_kind (&told[i], &told[k])))
          {
            is_shown[k] = k != i;
            n_alike++;
          }
      if (n_alike == 0)
        continue;
      char *shown = lns_text_of_sentence (told[i].text);
      fputs ("  ", stdout);
      print_escaped (told[i].code);
      printf (" %s: ", lns_cli_severity (told[i].severity));
      print_escaped (shown);
      if (n_alike > 1)
        printf (" (and %zu more of this kind)", n_alike - 1);
      putchar ('\n');
      free (shown);
    }
  free (is_shown);
}

static void
print_fact (const char *label, const char *value)
{
  printf ("%s: ", label);
  print_escaped (value);
  putchar ('\n');
}

static void
print_time (const char *label, int64_t realtime_ns)
{
  time_t seconds = realtime_ns / 1000000000;
  struct tm parts;
  char text[64];

  if (realtime_ns != 0 && gmtime_r (&seconds, &parts) != NULL &&
      strftime (text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts) > 0)
    printf ("%s: %s\n", label, text);
}

static void
print_meta (LnsReport *report, const char *label, const char *key)
{
  const char *value = lns_report_meta (report, key);

  if (value != NULL)
    print_fact (label, value);
}

static const char *
text (LnsReport *report, uint32_t id)
{
  return lns_report_string (report, id, NULL);
}

/* Whether an earlier device is the same GPU, as another process saw it. */
static bool
is_known_gpu (const LnsCudaDevice *devices, uint32_t i)
{
  for (uint32_t other = 0; other < i; other++)
    if (devices[i].uuid != 0
            ? devices[other].uuid == devices[i].uuid
            : devices[other].bus == devices[i].bus && devices[other].number == devices[i].number)
      return true;
  return false;
}

/* Prints nothing if CUDA was not used. */
static void
print_gpus (LnsReport *report)
{
  uint32_t n, n_gpus = 0;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  char bytes[LNS_FORMAT_SIZE];

  for (uint32_t i = 0; i < n; i++)
    n_gpus += !is_known_gpu (devices, i);
  if (n_gpus > 0)
    printf ("GPUs: %" PRIu32 "\n", n_gpus);
  for (uint32_t i = 0; i < n; i++)
    {
      if (is_known_gpu (devices, i))
        continue;
      const char *bus = text (report, devices[i].bus);
      printf ("  %" PRIu32 " ", devices[i].number);
      print_escaped (text (report, devices[i].name));
      if (*bus != '\0')
        {
          fputs (", ", stdout);
          print_escaped (bus);
        }
      if (devices[i].memory_bytes > 0)
        printf (", %s, compute capability %" PRIu32 ".%" PRIu32,
                lns_format_bytes (devices[i].memory_bytes, bytes), devices[i].compute_major,
                devices[i].compute_minor);
      putchar ('\n');
    }
}

static void
print_tracks (LnsReport *report)
{
  static const char *const names[LNS_N_TRACK_KINDS] = {
    [LNS_TRACK_NVTX_RANGES] = "NVTX push/pop ranges",
    [LNS_TRACK_NVTX_START_END] = "NVTX start/end ranges",
    [LNS_TRACK_NVTX_MARKS] = "NVTX marks",
    [LNS_TRACK_COUNTER] = "counters",
    [LNS_TRACK_CUDA_API] = "CUDA API calls",
    [LNS_TRACK_CUDA_KERNELS] = "CUDA kernels",
    [LNS_TRACK_CUDA_MEMCPY] = "CUDA copies",
    [LNS_TRACK_CUDA_MEMSET] = "CUDA memsets",
    [LNS_TRACK_CUDA_SYNC] = "CUDA synchronisation",
    [LNS_TRACK_CUDA_EVENTS] = "CUDA events",
    [LNS_TRACK_CUDA_GRAPHS] = "CUDA graph launches",
    [LNS_TRACK_CUDA_GRAPH_NODES] = "CUDA graph creation",
    [LNS_TRACK_CUDA_OVERHEAD] = "profiler overhead",
    [LNS_TRACK_CUDA_MEMORY] = "CUDA memory operations",
    [LNS_TRACK_CUDA_POOLS] = "CUDA memory pools",
    [LNS_TRACK_CUDA_CPU_FAULTS] = "unified memory faults of CPUs",
    [LNS_TRACK_CUDA_GPU_FAULTS] = "unified memory faults of GPUs",
    [LNS_TRACK_CUDA_JIT] = "CUDA compilations",
    [LNS_TRACK_CUBLAS] = "cuBLAS calls",
    [LNS_TRACK_CUDNN] = "cuDNN calls",
    [LNS_TRACK_CUSPARSE] = "cuSPARSE calls",
    [LNS_TRACK_CUSOLVER] = "cuSOLVER calls",
    [LNS_TRACK_OS_CALLS] = "OS runtime calls",
    [LNS_TRACK_SYSTEM_CALLS] = "system calls",
    [LNS_TRACK_SCHED] = "CPU scheduling",
    [LNS_TRACK_CPU_SAMPLES] = "CPU samples",
    [LNS_TRACK_CPU] = "CPUs",
    [LNS_TRACK_MPI] = "MPI calls",
    [LNS_TRACK_GPU_METRIC] = "GPU metrics",
    [LNS_TRACK_NVTX_PROJECTED] = "NVTX ranges on the GPU",
    [LNS_TRACK_CUDA_BACKTRACES] = "call chains of CUDA calls",
    [LNS_TRACK_CUDA_HOST] = "host functions in CUDA streams",
    [LNS_TRACK_CUDA_UNIFIED] = "contention for unified memory",
    [LNS_TRACK_GPU_SWITCHES] = "GPU context switches",
    [LNS_TRACK_PYTHON_SAMPLES] = "Python samples",
  };
  uint32_t n, n_lanes;
  const LnsTrack *tracks = lns_report_tracks (report, &n);
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);

  printf ("tracks: %" PRIu32 "\nlanes: %" PRIu32 "\n", n, n_lanes);
  for (int kind = 1; kind < LNS_N_TRACK_KINDS; kind++)
    {
      uint64_t n_tracks = 0, n_events = 0;
      for (uint32_t i = 0; i < n; i++)
        n_tracks += (int)tracks[i].kind == kind;
      for (uint32_t i = 0; i < n_lanes; i++)
        if (lanes[i].track < n && (int)tracks[lanes[i].track].kind == kind)
          n_events += lns_report_lane_info (report, i)->n_events;
      if (n_tracks > 0)
        printf ("  %s: %" PRIu64 " event%s in %" PRIu64 " track%s\n", names[kind], n_events,
                lns_plural (n_events, "", "s"), n_tracks, lns_plural (n_tracks, "", "s"));
    }
}

/* Prints which share of the samples of CPUs tells all callers. */
static void
print_chains (LnsReport *report)
{
  const LnsCallQuery query = { .kind = LNS_LANE_CPU_SAMPLE,
                               .start_ns = INT64_MIN,
                               .end_ns = INT64_MAX };
  char share[LNS_FORMAT_SIZE];
  LnsCallSums sums = { 0 };
  LnsError error = { 0 };

  if (!lns_call_has_samples (report, query.kind))
    return;
  LnsCallTree *tree = lns_call_tree_new (report, NULL, &error);
  const bool good = tree != NULL && lns_call_tree_sum (tree, &query, NULL, &sums, &error);
  const uint64_t n = sums.n_samples - sums.n_without_chain;
  if (good && lns_call_sums_share_whole (tree, &sums, query.kind, share) != NULL)
    printf ("call chains complete: %s of %" PRIu64 " sample%s\n", share, n,
            lns_plural (n, "", "s"));
  else if (n > 0 || !good)
    printf ("call chains complete: unknown: %s\n",
            good ? "callers were found by frame pointers alone" : error.message);
  lns_call_sums_clear (&sums);
  lns_call_tree_free (tree);
}

/* Prints how wrong the times of hardware counters may be: GPUs have a clock of their own. */
static void
print_metrics (LnsReport *report)
{
  static const char prefix[] = "gpu_metrics_early_ns.";
  char early[LNS_FORMAT_SIZE], late[LNS_FORMAT_SIZE], other[64];
  const char *key, *value;

  for (size_t i = 0; (key = lns_report_meta_at (report, prefix, i, &value)) != NULL; i++)
    {
      const char *number = key + strlen (prefix);
      lns_format_duration (strtoll (value, NULL, 10), early);
      snprintf (other, sizeof other, "gpu_metrics_late_ns.%.20s", number);
      value = lns_report_meta (report, other);
      if (value != NULL)
        printf ("metrics of GPU %.20s: times at most %s too early or %s too late\n", number, early,
                lns_format_duration (strtoll (value, NULL, 10), late));
    }
}

/* Prints what must be known to compare measurements on GPUs: versions and models. */
static void
print_devices (LnsReport *report)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);

  print_meta (report, "NVIDIA driver", "driver_version");
  print_meta (report, "CUDA driver", "cuda_driver_version");
  print_meta (report, "CUPTI", "cupti_version");
  print_meta (report, "CUPTI's file", "cupti_path");
  for (uint32_t i = 0; i < n; i++)
    if (devices[i].name != 0)
      print_fact ("GPU", text (report, devices[i].name));
  print_metrics (report);
}

/* Orders losses by process and thread, those of one thread by time. */
static int
compare_losses (const void *a, const void *b)
{
  const LnsLoss *x = a, *y = b;
  if (x->process != y->process)
    return x->process < y->process ? -1 : 1;
  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  return (x->last_ns > y->last_ns) - (x->last_ns < y->last_ns);
}

/* Adds MORE, of the same thread, to SUM. */
static void
add_loss (LnsLoss *sum, const LnsLoss *more)
{
  sum->pushes += more->pushes;
  sum->pops += more->pops;
  sum->marks += more->marks;
  sum->starts += more->starts;
  sum->ends += more->ends;
  sum->others += more->others;
  /* One that is not known makes the whole unknown. */
  if (sum->first_ns != LNS_TIME_UNKNOWN &&
      (more->first_ns == LNS_TIME_UNKNOWN || more->first_ns < sum->first_ns))
    sum->first_ns = more->first_ns;
  if (sum->last_ns != LNS_TIME_UNKNOWN &&
      (more->last_ns == LNS_TIME_UNKNOWN || more->last_ns > sum->last_ns))
    sum->last_ns = more->last_ns;
}

/* Prints the gaps, those of one thread summed up. */
static void
print_losses (LnsReport *report)
{
  uint32_t n, n_threads;
  const LnsLoss *stored = lns_report_losses (report, &n);
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  char from[LNS_FORMAT_SIZE], to[LNS_FORMAT_SIZE];
  LnsLoss *losses = lns_calloc (n, sizeof *losses);

  if (n > 0)
    memcpy (losses, stored, n * sizeof *losses);
  qsort (losses, n, sizeof *losses, compare_losses);
  printf ("gaps: %" PRIu32 "\n", n);
  for (uint32_t i = 0, next; i < n; i = next)
    {
      LnsLoss sum = losses[i];
      for (next = i + 1;
           next < n && losses[next].process == sum.process && losses[next].thread == sum.thread;
           next++)
        add_loss (&sum, &losses[next]);
      const uint64_t n_events = lns_loss_events (&sum);
      printf ("  %" PRIu64 " event%s lost", n_events, lns_plural (n_events, "", "s"));
      if (sum.pops + sum.ends > 0)
        printf (" and %" PRIu64 " ends", sum.pops + sum.ends);
      if (next - i > 1)
        printf (" in %" PRIu32 " gaps", next - i);
      if (sum.first_ns != LNS_TIME_UNKNOWN && sum.last_ns != LNS_TIME_UNKNOWN)
        printf (" from %s to %s", lns_format_duration_exact (sum.first_ns, from),
                lns_format_duration_exact (sum.last_ns, to));
      if (sum.thread < n_threads)
        printf (" in thread %" PRId32, threads[sum.thread].tid);
      putchar ('\n');
    }
  free (losses);
}

/* Prints the problems that the doctor finds, which are not stored in the report. */
static bool
print_findings (LnsReport *report, LnsError *error)
{
  LnsFinding *findings;
  size_t n;

  if (!lns_doctor_examine (report, &findings, &n, error))
    return false;
  Told *told = lns_calloc (n, sizeof *told);
  for (size_t i = 0; i < n; i++)
    told[i] = (Told){ findings[i].code, findings[i].text, findings[i].severity };
  print_told ("problems", told, n);
  free (told);
  free (findings);
  return true;
}

static void
print_diagnostics (LnsReport *report)
{
  uint32_t n;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n);

  Told *told = lns_calloc (n, sizeof *told);
  for (uint32_t i = 0; i < n; i++)
    told[i] = (Told){ text (report, diagnostics[i].code), text (report, diagnostics[i].text),
                      diagnostics[i].severity };
  print_told ("diagnostics", told, n);
  free (told);
}

/* Beginning of the keys that hold environment variables. */
#define ENVIRONMENT "env."

/* Hidden output of the program (--show-output=false), by the names that --print has for it. */
static const char *const outputs[] = { "stdout", "stderr" };

/* Piece NUMBER of the stored OUTPUT; NULL behind the last. */
static const char *
output_piece (LnsReport *report, const char *output, unsigned number)
{
  char key[24];
  snprintf (key, sizeof key, "%s.%u", output, number);
  return lns_report_meta (report, key);
}

static size_t
output_bytes (LnsReport *report, const char *output)
{
  const char *piece;
  size_t n = 0;
  for (unsigned i = 0; (piece = output_piece (report, output, i)) != NULL; i++)
    n += strlen (piece);
  return n;
}

static void
print_output (LnsReport *report, const char *output)
{
  const char *piece;
  for (unsigned i = 0; (piece = output_piece (report, output, i)) != NULL; i++)
    fputs (piece, stdout);
}

/* Prints what is missing in a report that did not end normally. */
static void
print_missing (LnsReport *report, const LnsReportInfo *info)
{
  char from[LNS_FORMAT_SIZE], to[LNS_FORMAT_SIZE];

  if (info->state == LNS_STATE_RECOVERED || info->state == LNS_STATE_INCOMPLETE)
    print_meta (report, "missing", "missing");
  if (info->state != LNS_STATE_CUT_OFF)
    return;
  lns_format_duration (info->seen_ns, to);
  if (lns_report_meta (report, "keep_ns") != NULL && info->n_events == 0)
    puts ("missing: all: what --keep held was in the memory of who was killed");
  else if (info->n_waiting == 0)
    printf ("missing: everything after %s\n",
            info->is_least ? lns_format_duration (info->reached_ns, from) : to);
  else
    printf (
        "missing: %s%" PRIu64 " event%s recorded between %s and %s, and everything after that\n",
        info->is_least ? "at least " : "", info->n_waiting, lns_plural (info->n_waiting, "", "s"),
        lns_format_duration (info->reached_ns, from), to);
}

/* Prints the environment variables that --env-record stored. */
static void
print_environment (LnsReport *report)
{
  const char *key, *value;
  for (size_t i = 0; (key = lns_report_meta_at (report, ENVIRONMENT, i, &value)) != NULL; i++)
    {
      print_escaped (key + strlen (ENVIRONMENT));
      putchar ('=');
      print_escaped (value);
      putchar ('\n');
    }
}

static const char *
state_name (LnsState state)
{
  static const char *const names[] = {
    [LNS_STATE_RECORDING] = "recording",   [LNS_STATE_COMPLETE] = "complete",
    [LNS_STATE_RECOVERED] = "recovered",   [LNS_STATE_CUT_OFF] = "cut off",
    [LNS_STATE_INCOMPLETE] = "incomplete",
  };
  return names[state];
}

/* Prints which span of a recording the report is, if it is not all of it. */
static void
print_part (LnsReport *report)
{
  char from[LNS_FORMAT_SIZE], to[LNS_FORMAT_SIZE];
  int64_t start_ns, end_ns;

  if (lns_part_of_report (report, &start_ns, &end_ns))
    printf ("part: from %s to %s\n", lns_format_duration_exact (start_ns, from),
            lns_format_duration_exact (end_ns, to));
}

/* Prints which steps the report keeps, if it does not keep all. */
static void
print_kept_steps (LnsReport *report)
{
  const char *condition = lns_report_meta (report, "keep_steps"),
             *n_omitted = lns_report_meta (report, "kept_steps_omitted");
  char times[4][LNS_FORMAT_SIZE];
  LnsCountedSteps steps;

  if (condition == NULL)
    return;
  LnsOmissions omissions = lns_omissions_of (report);
  int64_t kept_ns, whole_ns;
  lns_keeps_part (report, &kept_ns, &whole_ns);
  print_fact ("keeps", condition);
  for (unsigned i = 0; lns_counted_steps (report, i, &steps); i++)
    {
      printf ("  %" PRIu64 " of %" PRIu64 " × ", steps.n_kept, steps.n);
      char plain[LNS_PLAIN_NAME_SIZE + 1];
      plain[lns_plain_title (steps.range, strlen (steps.range), plain)] = '\0';
      print_escaped (plain);
      printf (", %" PRIu64 " slow; of all, median %s, p95 %s, p99 %s, longest %s\n", steps.n_slow,
              lns_format_duration (steps.p50_ns, times[0]),
              lns_format_duration (steps.p95_ns, times[1]),
              lns_format_duration (steps.p99_ns, times[2]),
              lns_format_duration (steps.most_ns, times[3]));
    }
  printf ("  not kept: %s in %zu %s, %s events\n",
          lns_format_duration (whole_ns - kept_ns, times[0]), omissions.n,
          omissions.n == 1 ? "stretch" : "stretches",
          n_omitted != NULL ? n_omitted : "an unknown number of");
  lns_omissions_clear (&omissions);
}

static void
print_report (LnsReport *report, const char *path)
{
  const LnsReportInfo *info = lns_report_info (report);
  uint32_t n_domains;
  char duration[LNS_FORMAT_SIZE], bytes[LNS_FORMAT_SIZE];

  print_fact ("path", path);
  const char *imported = lns_report_meta (report, "imported_from");
  if (imported != NULL)
    print_fact ("imported from", imported);
  else if (strcmp (info->path, path) != 0)
    printf ("damaged: what follows was recovered into %s\n", info->path);
  printf ("state: %s\n", state_name (info->state));
  print_missing (report, info);
  char *aside = lns_report_aside (report);
  if (aside != NULL)
    printf ("overwrites: %s, which is still there: nothing was recorded here\n", aside);
  free (aside);
  printf ("events: %" PRIu64 "\n", info->n_events);
  uint64_t n_open;
  LnsError error = { 0 };
  if (lns_report_count_open (report, &n_open, &error))
    printf ("open: %" PRIu64 "\n", n_open);
  else
    printf ("open: unknown: %s\n", error.message);
  printf ("lost: %" PRIu64 "\n", info->n_lost);
  printf ("duration: %s\n", lns_format_duration (lns_recorded_ns (report), duration));
  print_part (report);
  print_time ("started", info->t0_realtime_ns);
  const char *keep = lns_report_meta (report, "keep_ns"),
             *kept = lns_report_meta (report, "keep_memory_bytes");
  if (keep != NULL)
    {
      printf ("kept: the last %s", lns_format_duration (strtoll (keep, NULL, 10), duration));
      if (kept != NULL)
        printf (", in %s", lns_format_bytes (strtoull (kept, NULL, 10), bytes));
      else if (info->state != LNS_STATE_COMPLETE)
        printf (", in memory, until the report ends");
      putchar ('\n');
    }
  print_kept_steps (report);
  for (int i = 0; i < 2; i++)
    if (output_bytes (report, outputs[i]) > 0)
      printf ("%s: %s, which `lanescope info --print=%s` shows\n", outputs[i],
              lns_format_bytes (output_bytes (report, outputs[i]), bytes), outputs[i]);
  print_meta (report, "host", "host_name");
  print_meta (report, "command line", "command_line");
  print_meta (report, "working directory", "working_directory");
  print_meta (report, "written by", "product");
  print_devices (report);
  printf ("size: %s\n", lns_format_bytes (info->file_bytes, bytes));
  lns_report_domains (report, &n_domains);
  lns_cli_print_processes (report);
  print_gpus (report);
  lns_cli_print_topology (report);
  printf ("domains: %" PRIu32 "\n", n_domains);
  print_tracks (report);
  print_chains (report);
  printf ("strings: %" PRIu32 "\n", lns_report_n_strings (report));
  print_losses (report);
  print_diagnostics (report);
}

/* Whether the level of detail of LANE can be read. The viewer does not rebuild it. */
static bool
check_lane (
    LnsReport *report, uint32_t lane, LnsLaneKind kind, LnsPixelResult *result, LnsError *error)
{
  const LnsLaneInfo *info = lns_report_lane_info (report, lane);
  int64_t span_ns = info->end_ns - info->start_ns;
  LnsPixelQuery query = { .origin_ns = info->start_ns, .n_px = CHECK_PIXELS };
  static LnsCounterPixel pixels[CHECK_PIXELS];

  query.ns_per_px = span_ns > CHECK_PIXELS ? (double)span_ns / CHECK_PIXELS : 1;
  if (kind == LNS_LANE_COUNTER)
    return lns_report_query_counter (report, lane, &query, pixels, error);
  return lns_report_query_pixels (report, lane, &query, result, error);
}

static bool
check_detail (LnsReport *report, LnsError *error)
{
  LnsPixelResult result = { 0 };
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  bool good = true;

  /* The level of detail of a lane with one chunk is in the directory, which has been read already. */
  for (uint32_t i = 0; good && i < n; i++)
    if (lns_report_lane_info (report, i)->n_chunks > 1)
      good = check_lane (report, i, lanes[i].kind, &result, error);
  lns_pixel_result_clear (&result);
  return good;
}

typedef struct
{
  const char *print;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("print", CHOICE, Values, print), .choices = "env,stdout,stderr",
    .default_text = N_ ("the facts"),
    .help = N_ (
        "Print the environment variables that the report keeps (see --env-record of `lanescope "
        "profile`), or what the program printed, if it was recorded with --show-output=false.") },
};

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  if (argc > 2 && values.print == NULL)
    {
      const bool is_whole = lns_cli_print_several (argv + 1, (size_t)argc - 1);
      return !lns_cli_flush (&error) ? lns_cli_fail (&error) : is_whole ? 0 : LNS_EXIT_FAILED;
    }
  const char *path = lns_cli_only_word (command, argc, argv, N_ ("one report"), &error);
  LnsReport *report = path != NULL ? lns_cli_open_report (path, &error) : NULL;
  if (report == NULL)
    return lns_cli_fail (&error);
  bool good = true;
  if (values.print != NULL && strcmp (values.print, "env") == 0)
    print_environment (report);
  else if (values.print != NULL)
    print_output (report, values.print);
  else
    {
      print_report (report, path);
      good = print_findings (report, &error) && check_detail (report, &error);
    }
  if (!good)
    printf ("damaged: %s\n", error.message);
  good = lns_cli_flush (&error) && good;
  lns_report_close (report);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_info = {
  .name = "info",
  .usage = N_ ("[switches] REPORT…"),
  .summary = N_ ("tell what is in a report, what was lost, and what went wrong"),
  .details =
      N_ ("A fact is a line. For scripts: `events: N` and `lost: N` are what the report holds and\n"
          "what the recording could not keep; `state:` is complete, recording (go on reading: the\n"
          "report grows), cut off (the recording was killed; what was committed is here) or "
          "recovered.\n"
          "\n"
          "Of several reports, such as those of a job's ranks, a line each, and which are cut off, "
          "empty or missing."),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};
