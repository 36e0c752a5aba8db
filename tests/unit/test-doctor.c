/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests each finding of the doctor on a report that has the problem, and on one that does not. */

#include "src/analysis/rules/doctor.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

/* What a report is made of. */
typedef struct
{
  const char *trace;      /* that was asked for, or NULL                                        */
  const char *diagnostic; /* code, or NULL                                                      */
  LnsSeverity severity;   /* of that                                                            */
  unsigned n_calls;       /* of cudaLaunchKernel                                                */
  unsigned n_kernels;     /* of those                                                           */
  unsigned n_graphs;
  int64_t kernel_after_ns; /* its call's start                                                  */
  bool has_range;
  bool is_imported, is_live; /* still being recorded                                              */
  const char *traced;        /* what was traced, or NULL                                         */
  uint64_t n_lost;
  int64_t tick_error, set_ns; /* in the last of three clock pairs                               */
} Make;

static LnsWriter *live; /* of the report that is being recorded, or NULL                         */

static uint32_t
add_lane (LnsWriter *writer, LnsTrackKind track_kind, LnsLaneKind kind, uint32_t thread)
{
  uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .kind = track_kind,
                                                              .thread = thread,
                                                              .device = LNS_ID_NONE,
                                                              .stream = LNS_ID_NONE,
                                                              .domain = LNS_ID_NONE });
  return lns_writer_add_lane (writer, &(LnsLane){ .track = track, .kind = kind });
}

static void
append (LnsWriter *writer,
        uint32_t lane,
        LnsLaneKind kind,
        int64_t start_ns,
        uint64_t correlation,
        const char *name)
{
  LnsEvent event = { .start_ns = start_ns, .duration_ns = 100 };

  event.name = lns_writer_string (writer, name, strlen (name));
  event.extra[lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION)] = correlation;
  lns_writer_append (writer, lane, &event);
}

static void
set_clocks (LnsWriter *writer, const Make *make)
{
  char key[32], value[96];

  for (unsigned i = 0; i < 3; i++)
    {
      int64_t seconds = 10 * (int64_t)i;
      snprintf (key, sizeof key, "clock_pair.%u", i);
      snprintf (value, sizeof value, "%lld %lld %lld",
                (long long)(seconds * 2000000000 + (i == 2 ? make->tick_error : 0)),
                (long long)(seconds * 1000000000),
                (long long)(seconds * 1000000000 + (i == 2 ? make->set_ns : 0)));
      lns_writer_set_meta (writer, key, value);
    }
}

static LnsReport *
write_report (const Make *make)
{
  const char *path = fixture_path ("doctor.rep");
  LnsWriter *writer = fixture_writer (path);

  lns_writer_add_process (writer, &(LnsProcess){ .pid = 77, .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 0, .tid = 77 });
  if (make->trace != NULL)
    lns_writer_set_meta (writer, "trace_asked", make->trace);
  if (make->traced != NULL)
    lns_writer_set_meta (writer, "trace", make->traced);
  if (make->is_imported)
    lns_writer_set_meta (writer, "imported_from", "other.sqlite");
  set_clocks (writer, make);
  uint32_t calls = add_lane (writer, LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, 0),
           kernels = add_lane (writer, LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, LNS_ID_NONE),
           graphs = add_lane (writer, LNS_TRACK_CUDA_GRAPHS, LNS_LANE_CUDA_GRAPH, LNS_ID_NONE),
           ranges = add_lane (writer, LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP, 0);
  for (unsigned i = 0; i < make->n_calls; i++)
    append (writer, calls, LNS_LANE_CUDA_API, 1000000 * (int64_t)i, i + 1,
            "cudaLaunchKernel_v7000");
  for (unsigned i = 0; i < make->n_kernels; i++)
    append (writer, kernels, LNS_LANE_CUDA_KERNEL, 1000000 * (int64_t)i + make->kernel_after_ns,
            i + 1, "kernel");
  for (unsigned i = 0; i < make->n_graphs; i++)
    append (writer, graphs, LNS_LANE_CUDA_GRAPH, 1000000 * (int64_t)i, 1000 + i, "graph");
  if (make->has_range)
    lns_writer_append (writer, ranges, &(LnsEvent){ .start_ns = 5, .duration_ns = 5 });
  if (make->n_lost > 0)
    lns_writer_add_loss (writer, &(LnsLoss){ .process = 0,
                                             .thread = LNS_ID_NONE,
                                             .first_ns = 1,
                                             .last_ns = 2,
                                             .pushes = make->n_lost });
  if (make->diagnostic != NULL)
    lns_writer_add_diagnostic (
        writer, &(LnsDiagnostic){
                    .code = lns_writer_string (writer, make->diagnostic, strlen (make->diagnostic)),
                    .severity = make->severity,
                    .time_ns = LNS_TIME_UNKNOWN,
                    .process = LNS_ID_NONE });
  if (make->is_live)
    {
      LNS_CHECK (lns_writer_commit (writer, 1000000000, NULL));
      live = writer;
    }
  else
    fixture_finish (writer, 1000000000);
  return fixture_open (path, NULL);
}

/* Checks that the codes of what is found are WANTED, which spaces divide, and whether something is missing. */
static void
check (const char *what, Make make, const char *wanted, bool lacks)
{
  LnsReport *report = write_report (&make);
  LnsFinding *findings = NULL;
  char found[128] = "";
  size_t n = 0;

  LNS_CHECK (lns_doctor_examine (report, &findings, &n, NULL));
  for (size_t i = 0; i < n; i++)
    {
      const char *code = findings[i].code;
      snprintf (found + strlen (found), sizeof found - strlen (found), "%s%s", i > 0 ? " " : "",
                code);
      LNS_CHECK (strlen (findings[i].text) > 40);
      LNS_CHECK (strlen (findings[i].text) < sizeof findings[i].text - 1);
      LNS_CHECK (i == 0 || findings[i - 1].severity >= findings[i].severity);
    }
  if (strcmp (found, wanted) != 0)
    fprintf (stderr, "%s\n", what);
  LNS_CHECK_STR (found, wanted);
  LNS_CHECK_INT (lns_doctor_lacks_data (report, findings, n), lacks);
  free (findings);
  lns_report_close (report);
  if (live != NULL)
    lns_writer_abandon (live);
  live = NULL;
}

static void
test_what_is_missing (void)
{
  check ("healthy",
         (Make){ .trace = "cuda,nvtx", .n_calls = 20, .n_kernels = 20, .kernel_after_ns = 50 }, "",
         false);
  check ("nothing", (Make){ .trace = "nvtx" }, "LNS-DOCTOR-008", true);
  check ("nothing, and told",
         (Make){ .trace = "nvtx", .diagnostic = "LNS-NVTX-002", .severity = LNS_SEVERITY_WARNING },
         "", true);
  check ("no CUDA", (Make){ .trace = "cuda,nvtx", .has_range = true }, "LNS-DOCTOR-001", true);
  check ("no CUDA, not asked for", (Make){ .trace = "nvtx", .has_range = true }, "", false);
  check ("no CUDA, and told",
         (Make){ .trace = "cuda,nvtx",
                 .has_range = true,
                 .diagnostic = "LNS-CUDA-011",
                 .severity = LNS_SEVERITY_WARNING },
         "", true);
  check ("no GPU rows", (Make){ .trace = "cuda", .n_calls = 3 }, "LNS-DOCTOR-002", true);
  check ("no GPU rows yet", (Make){ .trace = "cuda", .n_calls = 3, .is_live = true }, "", false);
  check ("MPI", (Make){ .traced = "mpi,nvtx", .has_range = true }, "LNS-DOCTOR-010", true);
  check ("no GPU rows, and told",
         (Make){ .n_calls = 3, .diagnostic = "LNS-CUDA-013", .severity = LNS_SEVERITY_WARNING }, "",
         true);
  check ("losses", (Make){ .has_range = true, .n_lost = 9 }, "LNS-DOCTOR-004", true);
  check ("losses, and told",
         (Make){ .has_range = true,
                 .n_lost = 9,
                 .diagnostic = "LNS-POOL-001",
                 .severity = LNS_SEVERITY_WARNING },
         "", true);
  /* The cause of each has its own advice. */
  static const char *const causes[] = { "LNS-CPU-006", "LNS-CUDA-013", "LNS-CUDA-025",
                                        "LNS-GPU-013", "LNS-NVTX-007", "LNS-REP-002" };
  for (size_t k = 0; k < sizeof causes / sizeof *causes; k++)
    check (causes[k],
           (Make){ .has_range = true,
                   .n_lost = 9,
                   .diagnostic = causes[k],
                   .severity = LNS_SEVERITY_WARNING },
           "", true);
  check ("a note", (Make){ .has_range = true, .diagnostic = "LNS-CUDA-014" }, "", false);
  check (
      "a double",
      (Make){ .has_range = true, .diagnostic = "LNS-CUDA-015", .severity = LNS_SEVERITY_WARNING },
      "", false);
}

/* What another program recorded is not recorded better by our switches. */
static void
test_what_others_left_out (void)
{
  Make make = { .n_calls = 3, .is_imported = true };
  LnsReport *report = write_report (&make);
  LnsFinding *findings = NULL;
  size_t n = 0;

  LNS_CHECK (lns_doctor_examine (report, &findings, &n, NULL));
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_STR (findings[0].code, "LNS-DOCTOR-002");
  LNS_CHECK (strstr (findings[0].text, "--cuda-flush-interval") == NULL);
  LNS_CHECK (strstr (findings[0].text, "imported") != NULL);
  free (findings);
  lns_report_close (report);
}

static void
test_what_is_opaque (void)
{
  check ("graphs", (Make){ .n_calls = 9, .n_kernels = 9, .n_graphs = 4 }, "LNS-DOCTOR-003", false);
  check ("one", (Make){ .n_graphs = 1 }, "LNS-DOCTOR-003", false);
}

static void
test_clocks (void)
{
  check ("early", (Make){ .n_calls = 100, .n_kernels = 100, .kernel_after_ns = -5000 },
         "LNS-DOCTOR-005", false);
  check ("a little early", (Make){ .n_calls = 100, .n_kernels = 100, .kernel_after_ns = -900 }, "",
         false);
  check ("unsteady", (Make){ .has_range = true, .tick_error = 100000000 }, "LNS-DOCTOR-006", false);
  check ("steady enough", (Make){ .has_range = true, .tick_error = 10000000 }, "", false);
  check ("set", (Make){ .has_range = true, .set_ns = -3600000000000 }, "LNS-DOCTOR-007", false);
  check ("corrected", (Make){ .has_range = true, .set_ns = 3000000 }, "", false);
}

int
main (void)
{
  LNS_TEST (test_what_is_missing);
  LNS_TEST (test_what_others_left_out);
  LNS_TEST (test_what_is_opaque);
  LNS_TEST (test_clocks);
  return lns_tap_done ();
}
