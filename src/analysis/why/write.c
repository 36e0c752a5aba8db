/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes the answer: lines for people, JSON, and tables. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/graph/forecast.h"
#include "src/analysis/stats/maker.h"
#include "src/analysis/why/maker.h"
#include "src/analysis/why/why.h"
#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

static double
percent_of (int64_t ns, const LnsLedger *ledger)
{
  const int64_t span_ns = ledger->span.end_ns - ledger->span.start_ns - ledger->omitted_ns;
  return span_ns > 0 ? 100 * (double)ns / (double)span_ns : 0;
}

/* Below this share of the whole, the time before and after all work is not told beside what was between. */
#define LEAST_OF_ENDS 0.03

/* Less of a run than this is not worth a number. */
#define SAME 0.001

/* How many columns TEXT takes: its characters. */
static int
width_of (const char *text)
{
  int n = 0;

  for (; *text != '\0'; text++)
    n += ((unsigned char)*text & 0xc0) != 0x80;
  return n;
}

/* Writes TEXT to the right in WIDTH columns. */
static void
put_right (const char *text, int width, FILE *stream)
{
  fprintf (stream, "%*s%s", width > width_of (text) ? width - width_of (text) : 0, "", text);
}

/* --- Lines ------------------------------------------------------------------------------------ */

static void
put_line (const char *mark, LnsCause cause, int64_t ns, double percent, uint64_t n, FILE *stream)
{
  char text[LNS_WHY_NS_SIZE], share[32], count[32];

  snprintf (share, sizeof share, "%.1f %%", percent);
  snprintf (count, sizeof count, "%" PRIu64 "×", n);
  put_right (mark, 3, stream);
  fprintf (stream, "  %-15s", lns_cause_name (cause));
  put_right (_lns_why_ns (ns, text), 9, stream);
  put_right (share, 9, stream);
  put_right (count, 8, stream);
}

static void
put_finding (LnsTables *tables, const LnsWhy *why, size_t i, FILE *stream)
{
  const LnsWhyFinding *finding = &why->findings.items[i];
  char mark[24], longest[LNS_WHY_NS_SIZE], at[LNS_WHY_NS_SIZE];
  char *subject = _lns_why_subject_of (tables, finding);

  snprintf (mark, sizeof mark, "%zu", i + 1);
  put_line (mark, finding->cause, finding->ns, 100 * finding->share, finding->count, stream);
  if (why->ledgers.n > 1)
    {
      char *whose = lns_why_subject (tables, &why->ledgers.items[finding->ledger]);
      fprintf (stream, "  %s%s", whose, *subject != '\0' ? ":" : "");
      free (whose);
    }
  if (*subject != '\0')
    fprintf (stream, "  %s", subject);
  if (finding->count > 1 && finding->longest_ns > 0)
    fprintf (stream, _ ("  longest: %s at %s"), _lns_why_ns (finding->longest_ns, longest),
             _lns_why_ns (finding->longest.start_ns, at));
  else if (finding->longest.end_ns > finding->longest.start_ns)
    fprintf (stream, _ ("  at %s"), _lns_why_ns (finding->longest.start_ns, at));
  putc ('\n', stream);
  free (subject);
}

/* Whether finding I is shown where the first N are: so is how the program began and ended, where the verdict is on what was between. */
static bool
is_shown (const LnsWhy *why, size_t i, size_t n)
{
  const LnsWhyFinding *finding = &why->findings.items[i];
  return i < n || (why->is_about_work && finding->share >= LEAST_OF_ENDS &&
                   (finding->cause == LNS_CAUSE_START_UP || finding->cause == LNS_CAUSE_TEAR_DOWN));
}

/* Writes what of the ledger number L no finding that was shown tells, as one line. */
static void
put_rest (const LnsWhy *why, size_t l, size_t n_shown, FILE *stream)
{
  const LnsLedger *ledger = &why->ledgers.items[l];
  int64_t ns = ledger->span.end_ns - ledger->span.start_ns - ledger->busy_ns - ledger->omitted_ns;

  for (size_t i = 0; i < why->findings.n; i++)
    if (is_shown (why, i, n_shown) && why->findings.items[i].ledger == l &&
        why->findings.items[i].group != 0)
      ns -= why->findings.items[i].ns;
  if (ns <= 0 || percent_of (ns, ledger) < 0.05)
    return;
  char text[LNS_WHY_NS_SIZE], share[32];
  snprintf (share, sizeof share, "%.1f %%", percent_of (ns, ledger));
  put_right ("–", 3, stream);
  fprintf (stream, "  %-15s", _ ("other"));
  put_right (_lns_why_ns (ns, text), 9, stream);
  put_right (share, 9, stream);
  putc ('\n', stream);
}

static void
put_steps (LnsTables *tables, const LnsWhy *why, FILE *stream)
{
  char p50[LNS_WHY_NS_SIZE], p99[LNS_WHY_NS_SIZE];

  if (why->steps.n == 0)
    return;
  char *name = lns_why_step_name (tables, why);
  if (why->steps.n_counted > 0)
    fprintf (stream, _ ("Steps: %zu of %ju × “%s” are in the report; of all, median %s, p99 %s.\n"),
             why->steps.n, (uintmax_t)why->steps.n_counted, name,
             _lns_why_ns (why->steps.p50_ns, p50), _lns_why_ns (why->steps.p99_ns, p99));
  else
    fprintf (stream,
             why->steps.is_cut ? _ ("Steps: the first %zu × %s“%s”, median %s, p99 %s.\n")
                               : _ ("Steps: %zu × %s“%s”, median %s, p99 %s.\n"),
             why->steps.n, why->steps.is_kernel ? _ ("from kernel ") : "", name,
             _lns_why_ns (why->steps.p50_ns, p50), _lns_why_ns (why->steps.p99_ns, p99));
  free (name);
}

/* Whether the run would take as long without a finding with GAIN. */
static bool
is_same (const LnsWhyGain *gain)
{
  return (double)(gain->run_ns - gain->ns) < SAME * (double)gain->run_ns;
}

const char *
_lns_why_unseen (int64_t run_ns, int64_t low_ns, int64_t high_ns)
{
  return low_ns <= run_ns && run_ns <= high_ns ? _ (": too little to be seen in one run") : "";
}

char *
lns_why_gain_sentence (const LnsWhyGain *gain)
{
  char run[LNS_WHY_NS_SIZE], ns[LNS_WHY_NS_SIZE], low[LNS_WHY_NS_SIZE], high[LNS_WHY_NS_SIZE];

  if (!gain->is_known)
    return NULL;
  if (is_same (gain))
    return lns_strdup (_ ("Without it, the run would take as long as it did."));
  return lns_asprintf (
      _ ("Without it, the run would take %s instead of %s (%s to %s, %d %% sure)%s."),
      _lns_why_ns (gain->ns, ns), _lns_why_ns (gain->run_ns, run), _lns_why_ns (gain->low_ns, low),
      _lns_why_ns (gain->high_ns, high), LNS_FORECAST_PERCENT,
      _lns_why_unseen (gain->run_ns, gain->low_ns, gain->high_ns));
}

/* Writes how long the run would take without the first N findings, a line each, where that is known. */
static void
put_gains (const LnsWhy *why, size_t n, FILE *stream)
{
  for (size_t i = 0; i < n && i < LNS_WHY_GAINS; i++)
    {
      const LnsWhyGain *gain = &why->findings.items[i].gain;
      char run[LNS_WHY_NS_SIZE], ns[LNS_WHY_NS_SIZE], low[LNS_WHY_NS_SIZE], high[LNS_WHY_NS_SIZE];
      if (gain->is_known && is_same (gain))
        fprintf (stream, _ ("Without finding %zu the run would take as long as it did.\n"), i + 1);
      else if (gain->is_known)
        fprintf (stream,
                 _ ("Without finding %zu the run would take %s instead of %s (%s to %s, %d %% "
                    "sure)%s.\n"),
                 i + 1, _lns_why_ns (gain->ns, ns), _lns_why_ns (gain->run_ns, run),
                 _lns_why_ns (gain->low_ns, low), _lns_why_ns (gain->high_ns, high),
                 LNS_FORECAST_PERCENT, _lns_why_unseen (gain->run_ns, gain->low_ns, gain->high_ns));
    }
}

void
lns_why_write_text (LnsTables *tables, const LnsWhy *why, int64_t top, FILE *stream)
{
  size_t n = top < 0 || (uint64_t)top > why->findings.n ? why->findings.n : (size_t)top;

  /* What is shown behind them is among so many, too. */
  for (size_t i = n; n > 1 && i < why->findings.n; i++)
    n -= is_shown (why, i, 0);
  for (size_t i = 0; i < why->findings.n; i++)
    if (is_shown (why, i, n))
      put_finding (tables, why, i, stream);
  for (size_t i = 0; i < why->ledgers.n && i < 2; i++)
    put_rest (why, i, n, stream);
  put_steps (tables, why, stream);
  put_gains (why, n, stream);
  if (why->next != NULL)
    fprintf (stream, _ ("Next: %s.\n"), why->next);
  for (size_t i = 0; i < why->abstained.n && i < 2; i++)
    fprintf (stream, _ ("Not known: %s %s\n"), why->abstained.items[i].reason,
             why->abstained.items[i].advice);
  if (why->abstained.n > 2)
    fprintf (stream, _ ("Not known: %zu more; --format=json has all.\n"), why->abstained.n - 2);
}

void
lns_why_write_steps (LnsTables *tables, const LnsWhy *why, FILE *stream)
{
  char ns[LNS_WHY_NS_SIZE], excess[LNS_WHY_NS_SIZE], at[LNS_WHY_NS_SIZE];

  if (why->steps.n == 0)
    fputs (
        "Neither ranges of the thread that launches work nor the names of kernels repeat: name a "
        "range with --steps=RANGE.\n",
        stream);
  put_steps (tables, why, stream);
  for (size_t i = 0; i < why->steps.outliers.n; i++)
    {
      const LnsStep *step = &why->steps.outliers.items[i];
      fprintf (stream, _ ("  step %zu at %s took %s: %s more than usual of %s\n"), step->index,
               _lns_why_ns (step->start_ns, at), _lns_why_ns (step->end_ns - step->start_ns, ns),
               _lns_why_ns (step->excess_ns, excess),
               step->is_busy ? _ ("GPU work") : lns_cause_name (step->cause));
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void
put_string (const char *text, FILE *stream)
{
  lns_json_write_string (stream, text, strlen (text));
}

static int32_t
pid_of (LnsReport *report, uint32_t process)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);
  return process < n ? processes[process].pid : 0;
}

static int32_t
tid_of (LnsReport *report, uint32_t thread)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (report, &n);
  return thread < n ? threads[thread].tid : 0;
}

static void
put_ledger (LnsTables *tables, const LnsLedger *ledger, FILE *stream)
{
  LnsReport *report = lns_tables_report (tables);
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  const int64_t span_ns = ledger->span.end_ns - ledger->span.start_ns;
  const char *separator = "";

  fprintf (stream, "{\"pid\":%d", pid_of (report, ledger->process));
  if (ledger->is_device && ledger->device < n)
    {
      fprintf (stream, ",\"device\":%" PRIu32 ",\"name\":", devices[ledger->device].number);
      put_string (lns_report_string (report, devices[ledger->device].name, NULL), stream);
    }
  if (!ledger->is_device)
    fprintf (stream, ",\"tid\":%d", tid_of (report, ledger->thread));
  fprintf (stream,
           ",\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"span_ns\":%" PRId64 ",\"busy_ns\":%" PRId64
           ",\"idle_ns\":%" PRId64 ",\"causes\":[",
           ledger->span.start_ns, ledger->span.end_ns, span_ns, ledger->busy_ns,
           span_ns - ledger->busy_ns);
  for (LnsCause cause = 0; cause < LNS_N_IDLE_CAUSES; cause++)
    if (ledger->cause_ns[cause] > 0 && cause != LNS_CAUSE_UNKNOWN)
      {
        fprintf (stream, "%s{\"cause\":\"%s\",\"ns\":%" PRId64 ",\"gaps\":%" PRIu64 "}", separator,
                 lns_cause_name (cause), ledger->cause_ns[cause], ledger->n_gaps[cause]);
        separator = ",";
      }
  fprintf (stream, "],\"unknown_ns\":%" PRId64 ",\"omitted_ns\":%" PRId64 "}",
           ledger->cause_ns[LNS_CAUSE_UNKNOWN], ledger->omitted_ns);
}

static void
put_names (LnsReport *report, const LnsWhyFinding *finding, FILE *stream)
{
  uint32_t names[4 * (1 + LNS_MAX_WAITS)];
  unsigned n = 0;
  const char *separator = "";

  for (unsigned i = 0; i <= finding->n_waits; i++)
    {
      const LnsOccupation *it = i == 0 ? &finding->own : &finding->waits[i - 1];
      names[n++] = it->range;
      names[n++] = it->call;
      names[n++] = it->caller;
      names[n++] = it->function;
    }
  for (unsigned i = 0; i < n; i++)
    {
      bool is_known = names[i] == 0;
      for (unsigned k = 0; k < i; k++)
        is_known |= names[k] == names[i];
      if (is_known)
        continue;
      fputs (separator, stream);
      put_string (lns_report_string (report, names[i], NULL), stream);
      separator = ",";
    }
}

void
lns_why_write_event (LnsTables *tables, const LnsEvidence *evidence, FILE *stream)
{
  LnsReport *report = lns_tables_report (tables);
  unsigned n;
  const LnsTable *all = lns_tables_all (tables, &n);
  int64_t row = 0;

  /* Two tables share the lanes of overhead: neither tells which has a row. */
  const bool is_row =
      evidence->lane != LNS_ID_NONE &&
      lns_report_lanes (report, NULL)[evidence->lane].kind != LNS_LANE_CUDA_OVERHEAD;
  putc ('{', stream);
  for (unsigned i = 0; is_row && evidence->lane != LNS_ID_NONE && i < n && row == 0; i++)
    {
      row = lns_tables_rowid (tables, &all[i], evidence->lane, evidence->ordinal);
      if (row != 0)
        {
          fputs ("\"table\":", stream);
          put_string (all[i].name, stream);
          fprintf (stream, ",\"row\":%" PRId64 ",", row);
        }
    }
  LnsEvent event = { .start_ns = evidence->start_ns,
                     .duration_ns = evidence->end_ns - evidence->start_ns };
  if (is_row)
    lns_report_event (report, evidence->lane, evidence->ordinal, &event, NULL);
  fprintf (stream,
           "\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"from\":%" PRId64 ",\"to\":%" PRId64 "}",
           event.start_ns, lns_sum (event.start_ns, event.duration_ns), evidence->start_ns,
           evidence->end_ns);
}

static void
put_json_finding (LnsTables *tables, const LnsWhy *why, const LnsWhyFinding *finding, FILE *stream)
{
  LnsReport *report = lns_tables_report (tables);
  const LnsLedger *ledger = &why->ledgers.items[finding->ledger];
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);

  fprintf (stream, "{\"cause\":\"%s\",\"severity\":\"%s\",\"pid\":%d",
           lns_cause_name (finding->cause), lns_why_severity_name (finding->severity),
           pid_of (report, ledger->process));
  if (finding->own.thread != LNS_ID_NONE)
    fprintf (stream, ",\"tid\":%d", tid_of (report, finding->own.thread));
  if (ledger->is_device && ledger->device < n)
    fprintf (stream, ",\"device\":%" PRIu32, devices[ledger->device].number);
  fprintf (stream, ",\"ns\":%" PRId64 ",\"share\":", finding->ns);
  lns_json_write_double (stream, finding->share);
  fprintf (stream,
           ",\"count\":%" PRIu64 ",\"longest_ns\":%" PRId64 ",\"sentence\":", finding->count,
           finding->longest_ns);
  put_string (finding->sentence, stream);
  fputs (",\"advice\":", stream);
  put_string (finding->advice, stream);
  char *sql = lns_why_finding_sql (why, finding);
  fputs (",\"sql\":", stream);
  put_string (sql, stream);
  free (sql);
  fprintf (stream, ",\"confidence\":\"%s\",\"names\":[", lns_confidence_name (finding->confidence));
  put_names (report, finding, stream);
  fputs ("],\"waits\":[", stream);
  for (unsigned i = 0; i < finding->n_waits; i++)
    fprintf (stream, "%s%d", i > 0 ? "," : "", tid_of (report, finding->waits[i].thread));
  fputs ("],\"gain\":", stream);
  if (finding->gain.is_known)
    fprintf (stream,
             "{\"run_ns\":%" PRId64 ",\"predicted_ns\":%" PRId64 ",\"low_ns\":%" PRId64
             ",\"high_ns\":%" PRId64 ",\"confidence\":0.%d}",
             finding->gain.run_ns, finding->gain.ns, finding->gain.low_ns, finding->gain.high_ns,
             LNS_FORECAST_PERCENT);
  else
    fputs ("null", stream);
  fputs (",\"events\":[", stream);
  for (unsigned i = 0; i < finding->n_evidence; i++)
    {
      if (i > 0)
        putc (',', stream);
      lns_why_write_event (tables, &finding->evidence[i], stream);
    }
  fputs ("]}", stream);
}

static void
put_json_steps (LnsTables *tables, const LnsWhy *why, FILE *stream)
{
  const LnsWhySteps *steps = &why->steps;

  fputs (",\n \"steps\":{\"source\":", stream);
  if (steps->n == 0)
    fputs ("null", stream);
  else
    {
      char *name = lns_why_step_name (tables, why),
           *text = lns_asprintf ("%s:%s", steps->is_kernel ? "kernels" : "nvtx", name);
      put_string (text, stream);
      free (text);
      free (name);
    }
  fprintf (stream,
           ",\"count\":%zu,\"counted\":%ju,\"is_cut\":%s,\"p50_ns\":%" PRId64 ",\"p99_ns\":%" PRId64
           ",\"outliers\":[",
           steps->n, (uintmax_t)(steps->n_counted > 0 ? steps->n_counted : steps->n),
           steps->is_cut ? "true" : "false", steps->p50_ns, steps->p99_ns);
  for (size_t i = 0; i < steps->outliers.n; i++)
    {
      const LnsStep *step = &steps->outliers.items[i];
      fprintf (stream,
               "%s{\"index\":%zu,\"start\":%" PRId64 ",\"end\":%" PRId64
               ",\"cause\":\"%s\",\"excess_ns\":%" PRId64 "}",
               i > 0 ? "," : "", step->index, step->start_ns, step->end_ns,
               step->is_busy ? "gpu-work" : lns_cause_name (step->cause), step->excess_ns);
    }
  fputs ("]}", stream);
}

void
lns_why_write_json (LnsTables *tables, const LnsWhy *why, FILE *stream)
{
  fprintf (stream, "{\"span\":{\"start\":%" PRId64 ",\"end\":%" PRId64 "},\n \"verdict\":",
           why->span.start_ns, why->span.end_ns);
  put_string (why->verdict, stream);
  fputs (",\n \"next\":", stream);
  if (why->next != NULL)
    put_string (why->next, stream);
  else
    fputs ("null", stream);
  for (int pass = 0; pass < 2; pass++)
    {
      const char *separator = "";
      fprintf (stream, ",\n \"%s\":[", pass == 0 ? "devices" : "threads");
      for (size_t i = 0; i < why->ledgers.n; i++)
        if (why->ledgers.items[i].is_device == (pass == 0))
          {
            fprintf (stream, "%s\n  ", separator);
            put_ledger (tables, &why->ledgers.items[i], stream);
            separator = ",";
          }
      putc (']', stream);
    }
  fputs (",\n \"findings\":[", stream);
  for (size_t i = 0; i < why->findings.n; i++)
    {
      fputs (i > 0 ? ",\n  " : "\n  ", stream);
      put_json_finding (tables, why, &why->findings.items[i], stream);
    }
  putc (']', stream);
  put_json_steps (tables, why, stream);
  fputs (",\n \"abstained\":[", stream);
  for (size_t i = 0; i < why->abstained.n; i++)
    {
      const LnsAbstention *abstention = &why->abstained.items[i];
      fputs (i > 0 ? ",\n  {\"reason\":" : "\n  {\"reason\":", stream);
      put_string (abstention->reason, stream);
      fprintf (stream,
               ",\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"advice\":", abstention->span.start_ns,
               abstention->span.end_ns);
      put_string (abstention->advice, stream);
      putc ('}', stream);
    }
  fputs ("]}\n", stream);
}

/* --- Tables ----------------------------------------------------------------------------------- */

void
lns_why_write_table (LnsTables *tables, const LnsWhy *why, FILE *stream, const LnsStatsStyle *style)
{
  static const LnsResultColumn columns[] = {
    { "Cause", LNS_RESULT_TEXT },  { "Severity", LNS_RESULT_TEXT },
    { "Time", LNS_RESULT_TIME },   { "Share (%)", LNS_RESULT_SHARE, 1 },
    { "Count", LNS_RESULT_COUNT }, { "PID", LNS_RESULT_ID },
    { "TID", LNS_RESULT_ID },      { "Finding", LNS_RESULT_TEXT },
    { "Advice", LNS_RESULT_TEXT }, { "Confidence", LNS_RESULT_TEXT },
  };
  LnsReport *report = lns_tables_report (tables);
  LnsStatsStyle whole = *style;

  whole.no_limit = true; /* sentences are not shortened                                          */
  LnsStatsTable *table =
      lns_stats_table_new (stream, &whole, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < why->findings.n; i++)
    {
      const LnsWhyFinding *finding = &why->findings.items[i];
      const char *cause = lns_cause_name (finding->cause),
                 *severity = lns_why_severity_name (finding->severity), *advice = finding->advice,
                 *confidence = lns_confidence_name (finding->confidence);
      const LnsResultCell cells[] = {
        _lns_stats_text (cause, strlen (cause)),
        _lns_stats_text (severity, strlen (severity)),
        _lns_stats_number (finding->ns),
        _lns_stats_number ((int64_t)(finding->share * 1000 + 0.5)),
        _lns_stats_number ((int64_t)finding->count),
        _lns_stats_number (pid_of (report, why->ledgers.items[finding->ledger].process)),
        { .is_empty = finding->own.thread == LNS_ID_NONE,
          .number = tid_of (report, finding->own.thread) },
        _lns_stats_text (finding->sentence, strlen (finding->sentence)),
        _lns_stats_text (advice, strlen (advice)),
        _lns_stats_text (confidence, strlen (confidence)),
      };
      lns_rows_add (lns_stats_table_rows (table), cells, NULL);
    }
  lns_stats_table_finish (table);
}
