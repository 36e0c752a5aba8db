/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/what-if/what-if.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/graph/build.h"
#include "src/analysis/graph/path.h"
#include "src/analysis/why/maker.h"
#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* A change of less than this share is none. */
#define SAME 0.0005

typedef struct
{
  LnsTables *tables;
  LnsReport *report;
  LnsEdit *const *edits;
  uint32_t n_edits;
  const atomic_bool *cancel;
  LnsError *error;
  LnsGraph *graph;
  int64_t *measured, *times; /* by point                                                         */
  LnsForecastSteps steps;
  LnsWhatIf *answer;
} Asking;

static bool
build (Asking *asking)
{
  LnsGraphMarks marks = { 0 };
  bool good = true;

  for (uint32_t i = 0; good && i < asking->n_edits; i++)
    good = lns_edit_add_marks (asking->edits[i], i, asking->report, asking->cancel, &marks,
                               asking->error);
  if (good)
    {
      lns_graph_marks_sort (&marks);
      asking->graph =
          lns_graph_build (asking->report, marks.items, marks.n, asking->cancel, asking->error);
    }
  lns_array_clear (&marks);
  return asking->graph != NULL;
}

/* Replays the run as it was, and says how much of that is known. */
static void
replay (Asking *asking)
{
  const LnsGraph *graph = asking->graph;
  LnsWhatIf *answer = asking->answer;
  LnsPath path;

  asking->measured = lns_calloc (graph->n, sizeof *asking->measured);
  asking->times = lns_calloc (graph->n, sizeof *asking->times);
  lns_graph_replay (graph, NULL, asking->measured);
  const uint32_t end = lns_graph_end (graph, asking->measured);
  lns_path_find (graph, asking->measured, end, asking->measured[0], asking->measured[end], 0, false,
                 &path);
  answer->measured_ns = graph->measured_ns;
  answer->replayed_ns = lns_graph_length (graph, asking->measured);
  answer->n_points = graph->n;
  answer->shares = lns_path_shares (graph, &path);
  lns_path_clear (&path);
}

/* Applies edit ONLY, or all of them where that is UINT32_MAX, to CHANGES. */
static bool
apply (Asking *asking, uint32_t only, LnsEditChanges *changes)
{
  for (uint32_t i = 0; i < asking->n_edits; i++)
    {
      LnsEditEffect *effect = &asking->answer->effects.items[i];
      if (only != UINT32_MAX && only != i)
        continue;
      if (!lns_edit_apply (asking->edits[i], i, asking->graph, changes, &effect->n, &effect->ns,
                           asking->error))
        return false;
      if (effect->n == 0)
        return lns_error_set (asking->error, LNS_ERROR_USAGE, 0,
                              "“%s” names nothing in the report; `lanescope why --critical-path` "
                              "lists what takes most of the time",
                              effect->text);
    }
  return true;
}

/* Whether CHANGES are of nodes of graphs with branches. */
static bool
has_branches (const LnsGraph *graph, const LnsEditChanges *changes)
{
  for (size_t i = 0; i < graph->labels.n; i++)
    if (graph->labels.items[i].has_branches && changes->of_labels[i].factor != 1)
      return true;
  return false;
}

/* Foretells the run with edit ONLY, or with all, which says how much of it is known, too. */
static bool
foretell (Asking *asking, uint32_t only, LnsForecast *ret_forecast)
{
  LnsEditChanges changes = lns_edit_changes (asking->graph, asking->n_edits);
  const bool good = apply (asking, only, &changes);

  if (good)
    {
      const LnsGraphChanges asked = lns_edit_changes_of (&changes);
      if (only == UINT32_MAX && has_branches (asking->graph, &changes))
        asking->answer->shares = lns_path_shares_without_branches (&asking->answer->shares);
      lns_forecast_make (asking->graph, asking->measured, &asked, &asking->steps,
                         asking->answer->shares.unknown, asking->times, ret_forecast);
    }
  lns_edit_changes_clear (&changes);
  return good;
}

static bool
ask (Asking *asking)
{
  LnsWhatIf *answer = asking->answer;
  LnsForecast alone;

  if (!build (asking))
    return false;
  replay (asking);
  for (uint32_t i = 0; i < asking->n_edits; i++)
    *lns_array_add (&answer->effects) = (LnsEditEffect){ .text = lns_edit_text (asking->edits[i]) };
  if (!foretell (asking, UINT32_MAX, &answer->forecast))
    return false;
  for (uint32_t i = 0; i < asking->n_edits; i++)
    {
      if (asking->n_edits == 1)
        alone = answer->forecast;
      else if (!lns_go_on (asking->cancel, asking->error) || !foretell (asking, i, &alone))
        return false;
      answer->effects.items[i].alone_ns = alone.ns;
    }
  return true;
}

/* The steps that WHY found, in their order. To be freed. */
static LnsSpan *
steps_of (const LnsWhy *why)
{
  LnsSpan *spans = lns_calloc (why->steps.all.n + 1, sizeof *spans);

  for (size_t i = 0; i < why->steps.all.n; i++)
    spans[i] = (LnsSpan){ why->steps.all.items[i].start_ns, why->steps.all.items[i].end_ns };
  return spans;
}

LnsWhatIf *
lns_what_if_run (LnsTables *tables,
                 LnsEdit *const *edits,
                 size_t n,
                 const char *step_range,
                 const atomic_bool *cancel,
                 LnsError *error)
{
  const LnsWhyOptions options = {
    .span = { INT64_MIN, INT64_MAX, LNS_ID_NONE },
    .step_range = step_range,
  };
  LnsWhy *why = lns_why_run (tables, &options, cancel, error);
  Asking asking = { .tables = tables,
                    .report = lns_tables_report (tables),
                    .edits = edits,
                    .n_edits = (uint32_t)n,
                    .cancel = cancel,
                    .error = error };

  if (why == NULL)
    return NULL;
  LnsSpan *spans = steps_of (why);
  asking.answer = lns_calloc (1, sizeof *asking.answer);
  asking.steps = (LnsForecastSteps){ spans, why->steps.all.n,
                                     why->steps.is_kernel ? LNS_ID_NONE : why->steps.thread };
  asking.answer->n_steps = why->steps.all.n;
  asking.answer->step_name = lns_why_step_name (tables, why);
  const bool good = ask (&asking);
  lns_why_free (why);
  free (spans);
  free (asking.measured);
  free (asking.times);
  lns_graph_free (asking.graph);
  if (good)
    return asking.answer;
  lns_what_if_free (asking.answer);
  return NULL;
}

void
lns_what_if_free (LnsWhatIf *answer)
{
  if (answer == NULL)
    return;
  lns_array_clear (&answer->effects);
  free (answer->step_name);
  free (answer);
}

/* --- Writing ---------------------------------------------------------------------------------- */

char *
lns_what_if_sentence (const LnsWhatIf *answer)
{
  const LnsForecast *forecast = &answer->forecast;
  char ns[LNS_WHY_NS_SIZE], was[LNS_WHY_NS_SIZE], low[LNS_WHY_NS_SIZE], high[LNS_WHY_NS_SIZE];
  const double change = (double)(forecast->ns - answer->measured_ns) / (double)answer->measured_ns;

  _lns_why_ns (forecast->ns, ns);
  _lns_why_ns (answer->measured_ns, was);
  _lns_why_ns (forecast->low_ns, low);
  _lns_why_ns (forecast->high_ns, high);
  if (answer->shares.unlaunched > answer->shares.unknown && !answer->shares.is_known)
    return lns_asprintf (_ ("How long the run would take is not known: the calls that launched "
                            "%.0f %% of the GPU work were not recorded."),
                         100 * answer->shares.unlaunched);
  if (!answer->shares.is_known)
    return lns_asprintf (_ ("How long the run would take is not known: of %.0f %% of its critical "
                            "path the report does not say what was done or waited for."),
                         100 * answer->shares.unknown);
  if (change > -SAME && change < SAME)
    return lns_asprintf (_ ("The run would take as long as it did: %s (%s to %s, %d %% sure)."), ns,
                         low, high, LNS_FORECAST_PERCENT);
  return lns_asprintf (
      change < 0
          ? _ ("The run would take %s instead of %s, %.1f %% less (%s to %s, %d %% sure)%s.")
          : _ ("The run would take %s instead of %s, %.1f %% more (%s to %s, %d %% sure)%s."),
      ns, was, 100 * (change < 0 ? -change : change), low, high, LNS_FORECAST_PERCENT,
      _lns_why_unseen (answer->measured_ns, forecast->low_ns, forecast->high_ns));
}

void
lns_what_if_write_text (const LnsWhatIf *answer, FILE *stream)
{
  char ns[LNS_WHY_NS_SIZE], alone[LNS_WHY_NS_SIZE], was[LNS_WHY_NS_SIZE];

  for (size_t i = 0; i < answer->effects.n; i++)
    {
      const LnsEditEffect *effect = &answer->effects.items[i];
      const int64_t won_ns = answer->measured_ns - effect->alone_ns;
      fprintf (stream, "  %s  ", effect->text);
      if (effect->ns > 0)
        fprintf (stream, _ ("%" PRIu64 "×, %s in all"), effect->n, _lns_why_ns (effect->ns, ns));
      else
        fprintf (stream, "%" PRIu64 "×", effect->n);
      if (answer->shares.is_known && answer->effects.n > 1)
        fprintf (stream, won_ns >= 0 ? _ ("; alone it saves %s") : _ ("; alone it costs %s"),
                 _lns_why_ns (won_ns >= 0 ? won_ns : -won_ns, alone));
      putc ('\n', stream);
    }
  if (answer->shares.is_known && answer->forecast.step_ns[0] > 0)
    fprintf (stream, _ ("Steps: %" PRIu64 " × “%s”, the median would be %s instead of %s.\n"),
             answer->n_steps, answer->step_name, _lns_why_ns (answer->forecast.step_ns[1], ns),
             _lns_why_ns (answer->forecast.step_ns[0], was));
  fprintf (stream, _ ("Replayed as it was, the run takes %s; it took %s.\n"),
           _lns_why_ns (answer->replayed_ns, ns), _lns_why_ns (answer->measured_ns, was));
  if (answer->shares.inferred >= 0.001)
    fprintf (stream, _ ("Timing alone tells what %.1f %% of the critical path waited for.\n"),
             100 * answer->shares.inferred);
  if (answer->shares.unknown >= 0.001)
    fprintf (stream, _ ("%.1f %% of the critical path is not known, and stays as it was.\n"),
             100 * answer->shares.unknown);
}

static void
put_number (const char *key, double value, FILE *stream)
{
  fprintf (stream, ",\"%s\":", key);
  lns_json_write_double (stream, value);
}

void
lns_what_if_write_json (const LnsWhatIf *answer, FILE *stream)
{
  const LnsForecast *forecast = &answer->forecast;

  fprintf (stream, "{\"measured_ns\":%" PRId64 ",\"replayed_ns\":%" PRId64 ",\"points\":%" PRIu64,
           answer->measured_ns, answer->replayed_ns, answer->n_points);
  if (answer->shares.is_known)
    fprintf (stream,
             ",\n \"predicted_ns\":%" PRId64 ",\"low_ns\":%" PRId64 ",\"high_ns\":%" PRId64
             ",\"confidence\":0.%d",
             forecast->ns, forecast->low_ns, forecast->high_ns, LNS_FORECAST_PERCENT);
  else
    fputs (",\n \"predicted_ns\":null,\"low_ns\":null,\"high_ns\":null,\"confidence\":null",
           stream);
  put_number ("inferred", answer->shares.inferred, stream);
  put_number ("unknown", answer->shares.unknown, stream);
  put_number ("unlaunched", answer->shares.unlaunched, stream);
  fputs (",\n \"sentence\":", stream);
  const bool was_english = lns_text_in_english (true);
  char *sentence = lns_what_if_sentence (answer);
  lns_text_in_english (was_english);
  lns_json_write_string (stream, sentence, strlen (sentence));
  free (sentence);
  fprintf (stream, ",\n \"steps\":{\"name\":");
  lns_json_write_string (stream, answer->step_name, strlen (answer->step_name));
  fprintf (stream,
           ",\"count\":%" PRIu64 ",\"p50_ns\":%" PRId64 ",\"predicted_p50_ns\":", answer->n_steps,
           forecast->step_ns[0]);
  if (answer->shares.is_known && forecast->step_ns[0] > 0)
    fprintf (stream, "%" PRId64 "}", forecast->step_ns[1]);
  else
    fputs ("null}", stream);
  fputs (",\n \"edits\":[", stream);
  for (size_t i = 0; i < answer->effects.n; i++)
    {
      const LnsEditEffect *effect = &answer->effects.items[i];
      fprintf (stream, "%s{\"edit\":", i > 0 ? "," : "");
      lns_json_write_string (stream, effect->text, strlen (effect->text));
      fprintf (stream, ",\"count\":%" PRIu64 ",\"ns\":%" PRId64, effect->n, effect->ns);
      if (answer->shares.is_known)
        fprintf (stream, ",\"alone_ns\":%" PRId64, effect->alone_ns);
      putc ('}', stream);
    }
  fputs ("]}\n", stream);
}
