/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/rules/doctor.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/projection/cuda-links.h"
#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/base/language.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* Clocks are steady to far less than a thousandth; network time corrects by less than half of it. */
#define UNSTEADY        1e-3
#define SET_NS          5e8
#define PAIR_NS         1e9 /* pairs that are closer tell no rate                                */
#define SAMPLED_LANES   64
#define SAMPLES_A_LANE  8
#define EARLY_NS        INT64_C (1000)
#define FINDINGS_A_CODE 8

typedef struct
{
  LnsReport *report;
  const LnsReportInfo *info;
  const LnsLane *lanes;
  const LnsTrack *tracks;
  const LnsProcess *processes;
  uint32_t n_lanes, n_processes;
  LNS_ARRAY (LnsFinding) findings;
  bool is_part; /* of another report: what is not there may have been left out */
} Patient;

static __attribute__ ((format (printf, 5, 6))) void
add (Patient *patient,
     const char *code,
     LnsSeverity severity,
     uint32_t process,
     const char *format,
     ...)
{
  LnsFinding *finding = lns_array_add (&patient->findings);
  va_list arguments;

  *finding = (LnsFinding){ .code = code, .severity = severity, .process = process };
  va_start (arguments, format);
  vsnprintf (finding->text, sizeof finding->text, format, arguments);
  va_end (arguments);
}

/* Whether a diagnostic of the report has a code that begins with one of the comma-separated CODES. */
static bool
is_told (const Patient *patient, const char *codes)
{
  uint32_t n;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (patient->report, &n);

  for (uint32_t i = 0; i < n; i++)
    for (const char *at = codes; *at != '\0';)
      {
        size_t size = strcspn (at, ",");
        if (strncmp (lns_report_string (patient->report, diagnostics[i].code, NULL), at, size) == 0)
          return true;
        at += size + (at[size] == ',');
      }
  return false;
}

/* ---- Missing data ----------------------------------------------------------------------------- */

static void
look_for_events (Patient *patient)
{
  const char *trace = lns_report_meta (patient->report, "trace"),
             *asked = lns_report_meta (patient->report, "trace_asked");
  bool wants_nothing = trace != NULL && strcmp (trace, "none") == 0;
  bool wants_cuda = asked != NULL && strstr (asked, "cuda") != NULL;
  bool has_cuda = lns_count_events (patient->report, LNS_LANE_CUDA_API) > 0;

  for (uint32_t i = 0; i < patient->n_lanes && !has_cuda; i++)
    has_cuda = lns_is_gpu_operation (patient->lanes[i].kind) &&
               lns_report_lane_info (patient->report, i)->n_events > 0;
  /* A report that was to keep nothing says so. */
  if (patient->info->state == LNS_STATE_RECORDING || is_told (patient, "LNS-KEEP-006"))
    return;
  if (wants_cuda && !has_cuda && !is_told (patient, "LNS-CUDA-"))
    add (patient, "LNS-DOCTOR-001", LNS_SEVERITY_WARNING, LNS_ID_NONE,
         "CUDA was asked for, but nothing of it was recorded: the program may not have used it by "
         "then, or may have dropped CUDA_INJECTION64_PATH from its environment");
  else if (patient->info->n_events == 0 && patient->info->state == LNS_STATE_CUT_OFF &&
           lns_report_meta (patient->report, "keep_ns") != NULL)
    add (patient, "LNS-DOCTOR-009", LNS_SEVERITY_ERROR, LNS_ID_NONE,
         "there are no events: the seconds that --keep holds are in memory until the report "
         "ends, and the lanescope that recorded them was killed; end it with `lanescope "
         "stop` or Ctrl-C, or record without --keep");
  else if (patient->info->n_events == 0 &&
           lns_report_meta (patient->report, "imported_from") != NULL)
    add (patient, "LNS-DOCTOR-012", LNS_SEVERITY_WARNING, LNS_ID_NONE,
         "the file that this report was imported from has no events: export or record it "
         "again with the traces that are wanted");
  else if (patient->info->n_events == 0 && patient->info->n_lost == 0 && !wants_nothing &&
           !is_told (patient, "LNS-NVTX-00,LNS-CUDA-0,LNS-POOL-00"))
    add (patient, "LNS-DOCTOR-008", LNS_SEVERITY_WARNING, LNS_ID_NONE,
         "there are no events: check that the program does what --trace names (%s), and "
         "that it does so while data are collected",
         trace != NULL ? trace : "nvtx, cuda");
}

/* MPI is recorded only if it is asked for. */
static void
look_for_mpi (Patient *patient)
{
  const char *trace = lns_report_meta (patient->report, "trace");

  if (patient->info->state != LNS_STATE_RECORDING && trace != NULL &&
      strstr (trace, "mpi") != NULL && patient->info->n_events > 0 &&
      lns_count_events (patient->report, LNS_LANE_MPI_CALL) == 0)
    add (patient, "LNS-DOCTOR-010", LNS_SEVERITY_WARNING, LNS_ID_NONE,
         "MPI was asked for, but no call of it was recorded: the program may not use MPI, may be "
         "linked with it statically, or may have dropped LD_PRELOAD from its environment");
}

static void
look_for_losses (Patient *patient)
{
  char text[LNS_FORMAT_SIZE];

  if (patient->info->n_lost == 0 ||
      is_told (patient, "LNS-POOL-00,LNS-CUDA-013,LNS-CUDA-025,LNS-CPU-006,LNS-GPU-013,LNS-REP-002,"
                        "LNS-NVTX-007,LNS-STORE-001"))
    return;
  if (patient->info->state == LNS_STATE_INCOMPLETE)
    {
      const char *missing = lns_report_meta (patient->report, "missing");
      add (patient, "LNS-DOCTOR-011", LNS_SEVERITY_ERROR, LNS_ID_NONE, "the report lacks %s",
           missing != NULL ? missing : "what could not be written");
    }
  else
    add (patient, "LNS-DOCTOR-004", LNS_SEVERITY_WARNING, LNS_ID_NONE,
         "%s %s lost: record with a larger --buffer-size, or to a faster disk",
         lns_format_unsigned (patient->info->n_lost, text),
         lns_plural (patient->info->n_lost, "event is", "events are"));
}

/* RET_ANY gets whether a call of LANE launches GPU work. Reads up to the first such call. */
static bool
begins_work (const Patient *patient, uint32_t lane, bool *ret_any, LnsError *error)
{
  LnsChunkWalker *walker =
      lns_chunk_walker_new (patient->report, lane, LNS_COLUMN_BIT (LNS_COLUMN_NAME));
  const LnsChunk *chunk;
  LnsError local = { 0 };

  while (!*ret_any && (chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    for (uint32_t i = 0; !*ret_any && i < chunk->n; i++)
      {
        const char *name = lns_report_string (patient->report, chunk->name[i], NULL);
        *ret_any = strstr (name, "LaunchKernel") != NULL || strstr (name, "GraphLaunch") != NULL;
      }
  lns_chunk_walker_free (walker);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

/* Looks for processes that launched GPU work of which nothing was recorded. */
static bool
look_for_gpu_rows (Patient *patient, LnsError *error)
{
  uint8_t *has_work = lns_calloc (patient->n_processes, 1);
  unsigned n_told = 0;
  bool good = true;
  bool told = patient->is_part ||
              patient->info->state == LNS_STATE_RECORDING || /* they come behind their calls */
              is_told (patient, "LNS-CUDA-00,LNS-CUDA-013,LNS-CUDA-014,LNS-CUDA-020");
  bool is_imported = lns_report_meta (patient->report, "imported_from") != NULL;

  for (uint32_t i = 0; i < patient->n_lanes; i++)
    if (lns_is_gpu_operation (patient->lanes[i].kind) &&
        lns_report_lane_info (patient->report, i)->n_events > 0 &&
        patient->tracks[patient->lanes[i].track].process < patient->n_processes)
      has_work[patient->tracks[patient->lanes[i].track].process] = 1;
  for (uint32_t i = 0; good && !told && i < patient->n_lanes && n_told < FINDINGS_A_CODE; i++)
    {
      uint32_t process = patient->tracks[patient->lanes[i].track].process;
      bool any = false;
      if (patient->lanes[i].kind != LNS_LANE_CUDA_API || process >= patient->n_processes ||
          has_work[process])
        continue;
      good = begins_work (patient, i, &any, error);
      if (!any)
        continue;
      has_work[process] = 1;
      n_told++;
      add (patient, "LNS-DOCTOR-002", LNS_SEVERITY_WARNING, process,
           is_imported
               ? LNS_SENTENCE (
                     "process %" PRId32
                     " launched kernels, but the imported file holds nothing of what the GPU did; "
                     "export or record it again with its GPU work")
               : LNS_SENTENCE ("process %" PRId32 " launched kernels, but nothing of what the GPU "
                               "did was recorded: it may have been "
                               "killed before it handed that over (record with "
                               "--cuda-flush-interval=1000), or "
                               "another profiler held CUPTI"),
           patient->processes[process].pid);
    }
  free (has_work);
  return good;
}

static void
look_for_graphs (Patient *patient)
{
  uint64_t n = lns_count_events (patient->report, LNS_LANE_CUDA_GRAPH);
  double graphs_ns = 0, all_ns = 0;
  char text[LNS_FORMAT_SIZE];

  for (uint32_t i = 0; i < patient->n_lanes; i++)
    {
      double busy_ns = (double)lns_report_lane_info (patient->report, i)->busy_ns;
      all_ns += lns_is_gpu_operation (patient->lanes[i].kind) ? busy_ns : 0;
      graphs_ns += patient->lanes[i].kind == LNS_LANE_CUDA_GRAPH ? busy_ns : 0;
    }
  if (n > 0)
    add (patient, "LNS-DOCTOR-003", LNS_SEVERITY_INFO, LNS_ID_NONE,
         "%s launch%s of CUDA graphs, %.1f %% of the GPUs' time, %s recorded as a whole: which "
         "kernels ran is not known; --cuda-graph-trace=node records each, at a cost",
         lns_format_unsigned (n, text), lns_plural (n, "", "es"),
         all_ns > 0 ? 100 * graphs_ns / all_ns : 0, lns_plural (n, "is", "are"));
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

/* Whether kernel ORDINAL of LANE began before its call, and by how much: RET_EARLY_NS, 0 if not. RET_ANY
 * gets whether there is a call. */
static bool
compare_with_call (const Patient *patient,
                   const LnsCudaLinks *links,
                   uint32_t lane,
                   uint64_t ordinal,
                   bool *ret_any,
                   int64_t *ret_early_ns,
                   LnsError *error)
{
  LnsEventRun *calls;
  LnsEvent kernel, call;
  size_t n;

  *ret_early_ns = 0;
  if (!lns_cuda_links_find (links, lane, ordinal, &calls, &n, error))
    return false;
  *ret_any = n > 0;
  bool good =
      n == 0 || (lns_report_event (patient->report, lane, ordinal, &kernel, error) &&
                 lns_report_event (patient->report, calls[0].lane, calls[0].ordinal, &call, error));
  if (good && n > 0 && kernel.start_ns < call.start_ns)
    *ret_early_ns = call.start_ns - kernel.start_ns;
  free (calls);
  return good;
}

/* A kernel cannot start before its launch, so a sample of kernels shows whether the clocks of GPU and CPU agree. */
static bool
look_at_gpu_clock (Patient *patient, LnsError *error)
{
  LnsCudaLinks *links = lns_cuda_links_new (patient->report);
  unsigned n_lanes = 0, n_seen = 0, n_early = 0;
  int64_t most_ns = 0, early_ns;
  bool good = true, any;
  char text[LNS_FORMAT_SIZE];

  for (uint32_t lane = 0; good && lane < patient->n_lanes && n_lanes < SAMPLED_LANES; lane++)
    {
      uint64_t n = lns_report_lane_info (patient->report, lane)->n_events;
      if (patient->lanes[lane].kind != LNS_LANE_CUDA_KERNEL || n == 0)
        continue;
      n_lanes++;
      for (uint64_t i = 0; good && i < SAMPLES_A_LANE && i < n; i++)
        {
          good = compare_with_call (patient, links, lane,
                                    n < SAMPLES_A_LANE ? i : i * (n / SAMPLES_A_LANE), &any,
                                    &early_ns, error);
          n_seen += good && any;
          n_early += good && early_ns > EARLY_NS;
          most_ns = good && early_ns > most_ns ? early_ns : most_ns;
        }
    }
  lns_cuda_links_free (links);
  if (good && n_early * 10 > n_seen && !is_told (patient, "LNS-CUDA-015"))
    add (patient, "LNS-DOCTOR-005", LNS_SEVERITY_WARNING, LNS_ID_NONE,
         "%u of %u %s, up to %s: "
         "times of the GPU and of the CPU do not agree; a newer driver may help, and under "
         "WSL nothing but the CPU's times are to be trusted",
         n_early, n_seen,
         lns_plural (n_seen, "kernel looked at began before the call that launched it",
                     "kernels looked at began before the calls that launched them"),
         lns_format_duration (most_ns, text));
  return good;
}

typedef struct
{
  uint64_t ticks;
  int64_t monotonic_ns, realtime_ns;
} ClockPair;

static bool
read_pair (const Patient *patient, unsigned number, ClockPair *ret_pair)
{
  char key[32];

  snprintf (key, sizeof key, "clock_pair.%u", number);
  const char *value = lns_report_meta (patient->report, key);
  return value != NULL && sscanf (value, "%" SCNu64 " %" SCNd64 " %" SCNd64, &ret_pair->ticks,
                                  &ret_pair->monotonic_ns, &ret_pair->realtime_ns) == 3;
}

/* The CPU's clocks, as they were read together while recording. */
static void
look_at_cpu_clock (Patient *patient)
{
  ClockPair first, before, pair;
  double least = INFINITY, greatest = 0;
  char text[LNS_FORMAT_SIZE];

  if (!read_pair (patient, 0, &first))
    return;
  before = first;
  for (unsigned i = 1; read_pair (patient, i, &pair); i++, before = pair)
    {
      double time_ns = (double)pair.monotonic_ns - (double)before.monotonic_ns,
             rate = ((double)pair.ticks - (double)before.ticks) / time_ns;
      if (time_ns < PAIR_NS)
        continue;
      least = rate < least ? rate : least;
      greatest = rate > greatest ? rate : greatest;
    }
  double set_ns = ((double)before.realtime_ns - (double)first.realtime_ns) -
                  ((double)before.monotonic_ns - (double)first.monotonic_ns);
  if (greatest > least * (1 + UNSTEADY))
    add (patient, "LNS-DOCTOR-006", LNS_SEVERITY_WARNING, LNS_ID_NONE,
         "the processor's time-stamp counter did not run steadily (by %.2f %%): durations "
         "may be off by that much; a virtual machine that was moved or suspended does this",
         100 * (greatest / least - 1));
  if (fabs (set_ns) > SET_NS && fabs (set_ns) < 1e18)
    add (patient, "LNS-DOCTOR-007", LNS_SEVERITY_INFO, LNS_ID_NONE,
         "the system's time was set by %s while recording: times of day are those that "
         "held at its start",
         lns_format_duration ((int64_t)set_ns, text));
}

/* ---- All ------------------------------------------------------------------------------------- */

static int
compare_findings (const void *a, const void *b)
{
  const LnsFinding *fa = a, *fb = b;

  return LNS_COMPARE (fb->severity, fa->severity)
             ?: strcmp (fa->code, fb->code)
             ?: LNS_COMPARE (fa->process, fb->process);
}

bool
lns_doctor_examine (LnsReport *report, LnsFinding **ret_findings, size_t *ret_n, LnsError *error)
{
  Patient patient = { .report = report, .info = lns_report_info (report) };
  int64_t start_ns, end_ns;

  patient.is_part = lns_part_of_report (report, &start_ns, &end_ns);

  patient.lanes = lns_report_lanes (report, &patient.n_lanes);
  patient.tracks = lns_report_tracks (report, NULL);
  patient.processes = lns_report_processes (report, &patient.n_processes);
  if (!patient.is_part)
    {
      look_for_events (&patient);
      look_for_mpi (&patient);
    }
  look_for_losses (&patient);
  look_for_graphs (&patient);
  look_at_cpu_clock (&patient);
  if (!look_for_gpu_rows (&patient, error) || !look_at_gpu_clock (&patient, error))
    {
      lns_array_clear (&patient.findings);
      return false;
    }
  if (patient.findings.n > 0)
    qsort (patient.findings.items, patient.findings.n, sizeof *patient.findings.items,
           compare_findings);
  *ret_findings = patient.findings.items;
  *ret_n = patient.findings.n;
  return true;
}

bool
lns_doctor_lacks_data (LnsReport *report, const LnsFinding *findings, size_t n)
{
  /* Diagnostics about cost or estimated values; no data are missing. */
  static const char *const complete[] = { "LNS-CUDA-015", "LNS-CUDA-022", "LNS-NVTX-003" };
  uint32_t n_diagnostics;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n_diagnostics);
  bool lacks = false;

  for (size_t i = 0; i < n; i++)
    lacks = lacks || strcmp (findings[i].code, "LNS-DOCTOR-001") == 0 ||
            strcmp (findings[i].code, "LNS-DOCTOR-002") == 0 ||
            strcmp (findings[i].code, "LNS-DOCTOR-004") == 0 ||
            strcmp (findings[i].code, "LNS-DOCTOR-008") == 0 ||
            strcmp (findings[i].code, "LNS-DOCTOR-010") == 0;
  for (uint32_t i = 0; i < n_diagnostics && !lacks; i++)
    {
      const char *code = lns_report_string (report, diagnostics[i].code, NULL);
      lacks = diagnostics[i].severity >= LNS_SEVERITY_WARNING;
      for (size_t k = 0; k < sizeof complete / sizeof *complete; k++)
        lacks = lacks && strcmp (code, complete[k]) != 0;
    }
  return lacks;
}
