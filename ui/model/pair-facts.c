/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/pair-facts.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "src/base/saturate.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"

/* TEXT, which is freed and may be NULL, as it can be shown. */
static char *
shown (char *text)
{
  char *result = text != NULL ? lns_display_text (text, strlen (text), TRUE) : NULL;

  free (text);
  return result;
}

static LnsResultCell
text_cell (const char *text)
{
  return text == NULL ? (LnsResultCell){ .is_empty = true }
                      : (LnsResultCell){ .bytes = text, .size_bytes = strlen (text) };
}

static LnsPairTable
table_new (const LnsResultColumn *columns, unsigned n_columns)
{
  return (LnsPairTable){ lns_result_new (columns, n_columns, SIZE_MAX),
                         g_array_new (FALSE, FALSE, sizeof (LnsPairPlaces)) };
}

static void
table_add (LnsPairTable *table, const LnsResultCell *cells, const LnsPairPlaces *places)
{
  lns_rows_add (lns_result_rows (table->result), cells, NULL);
  g_array_append_val (table->places, *places);
}

static LnsPlace
place_of (const LnsEvidence *evidence)
{
  return lns_place (evidence->lane, evidence->ordinal, evidence->start_ns,
                    evidence->end_ns - evidence->start_ns);
}

/* --- Steps ------------------------------------------------------------------------------------ */

/* "step: 18.4 ms → 20.1 ms, +9.2 % (+8.1 … +10.4 %), p < 0.0001". Free with g_free (). */
static char *
steps_text (const LnsComparison *it)
{
  char a[LNS_FORMAT_SIZE], b[LNS_FORMAT_SIZE], change[LNS_FORMAT_SIZE], low[LNS_FORMAT_SIZE],
      high[LNS_FORMAT_SIZE], p[LNS_FORMAT_SIZE];
  const double least_p = 0.0001;
  g_autofree char *name = shown (lns_why_step_name (it->tables[0], it->why[0]));

  if (!it->is_known || it->p50_ns[0] <= 0)
    return NULL;
  lns_format_duration (llround (it->p50_ns[0]), a);
  lns_format_duration (llround (it->p50_ns[1]), b);
  lns_format_fixed (100 * it->change, 1, change);
  lns_format_fixed (100 * it->low, 1, low);
  lns_format_fixed (100 * it->high, 1, high);
  lns_format_fixed (fmax (it->found.p, least_p), 4, p);
  /* Translators: the name of a step, its median in A and in B, by how many percent that differs, between which two values the difference
   * lies with 95 % confidence, and "=" or "<" with the p-value */
  return g_strdup_printf (_ ("%s: median %s → %s, %s%s %% (95 %%: %s%s to %s%s %%), p %s %s"),
                          *name != '\0' ? name : _ ("Step"), a, b, it->change > 0 ? "+" : "",
                          change, it->low > 0 ? "+" : "", low, it->high > 0 ? "+" : "", high,
                          it->found.p < least_p ? "<" : "=", p);
}

static GArray *
list_steps (const LnsWhySteps *steps)
{
  GArray *spans = g_array_sized_new (FALSE, FALSE, sizeof (LnsSpan), (guint)steps->all.n);

  for (size_t i = 0; i < steps->all.n; i++)
    {
      const LnsSpan span = { steps->all.items[i].start_ns, steps->all.items[i].end_ns };
      g_array_append_val (spans, span);
    }
  return spans;
}

/* --- Changes ---------------------------------------------------------------------------------- */

static const char *
type_text (LnsChangeType type)
{
  static const char *const texts[] = { N_ ("slower"), N_ ("faster"), N_ ("new"), N_ ("gone") };

  return _ (texts[type]);
}

static const char *
kind_text (LnsPartKind kind)
{
  static const char *const texts[] = { N_ ("Kernel"), N_ ("Copy"),          N_ ("Range"),
                                       N_ ("Call"),   N_ ("Idle GPU time"), N_ ("Function") };
  G_STATIC_ASSERT (G_N_ELEMENTS (texts) == LNS_N_PART_KINDS);

  return _ (texts[kind]);
}

/* What CHANGE is called: of what was renamed both names. Free with g_free (). */
static char *
name_text (const LnsComparison *it, const LnsChange *change)
{
  LnsChange before = *change;
  g_autofree char *name = shown (lns_change_name (it, change));

  if (!change->is_renamed)
    return g_steal_pointer (&name);
  before.b = 0;
  g_autofree char *old = shown (lns_change_name (it, &before));
  return g_strdup_printf ("%s → %s", old, name);
}

/* Where CHANGE is in a step: "mlp, GPU 0". Free with g_free (); NULL where that is the step itself. */
static char *
where_text (const LnsComparison *it, const LnsChange *change)
{
  g_autofree char *range = shown (lns_change_range (it, change));
  const uint32_t device = lns_change_device (it, change);

  if (range != NULL && device != LNS_ID_NONE)
    return g_strdup_printf (_ ("%s, GPU %u"), range, device);
  return device != LNS_ID_NONE ? g_strdup_printf (_ ("GPU %u"), device) : g_steal_pointer (&range);
}

/* Where CHANGE is: in each run the longest event of the part, or of the step itself a typical one. */
static LnsPairPlaces
places_of (const LnsComparison *it, const LnsChange *change)
{
  const size_t parts[] = { change->a, change->b };
  LnsPairPlaces places = { 0 };

  for (int side = 0; side < 2; side++)
    {
      const LnsStepTimes *times = it->runs[side].times;
      const LnsStepPart *part = parts[side] != 0 ? &times->parts.items[parts[side] - 1] : NULL;
      if (part != NULL && part->n_events_kept > 0)
        places.in[side] = place_of (&part->events[0]);
      else if (part == NULL && change->is_step && times->n > 0)
        places.in[side] =
            lns_place (LNS_ID_NONE, 0, times->spans[times->typical].start_ns,
                       times->spans[times->typical].end_ns - times->spans[times->typical].start_ns);
      else
        continue;
      places.has[side] = true;
    }
  return places;
}

static LnsPairTable
list_changes (const LnsComparison *it)
{
  const LnsResultColumn columns[] = {
    { _ ("Change"), LNS_RESULT_TEXT, 0 },
    { _ ("Kind"), LNS_RESULT_TEXT, 0 },
    { _ ("Name"), LNS_RESULT_TEXT, 0 },
    { _ ("In"), LNS_RESULT_TEXT, 0 },
    { _ ("A"), LNS_RESULT_TIME, 0 },
    { _ ("B"), LNS_RESULT_TIME, 0 },
    { _ ("Difference"), LNS_RESULT_CHANGE, 0 },
    { _ ("Percent"), LNS_RESULT_NUMBER, 1 },
    { _ ("p ≤"), LNS_RESULT_NUMBER, 4 },
    { _ ("At Least"), LNS_RESULT_CHANGE, 0 },
    { _ ("At Most"), LNS_RESULT_CHANGE, 0 },
  };
  LnsPairTable table = table_new (columns, G_N_ELEMENTS (columns));

  for (size_t i = 0; i < it->found.changes.n; i++)
    {
      const LnsChange *change = &it->found.changes.items[i];
      g_autofree char *name = name_text (it, change), *where = where_text (it, change);
      const LnsResultCell cells[] = {
        text_cell (type_text (change->type)),
        text_cell (change->is_step ? _ ("Step") : kind_text (change->kind)),
        text_cell (name),
        text_cell (where),
        { .number = llround (change->a_ns), .is_empty = change->type == LNS_CHANGE_NEW },
        { .number = llround (change->b_ns), .is_empty = change->type == LNS_CHANGE_GONE },
        { .number = llround (change->change_ns) },
        { .number = isnan (change->change) ? 0 : llround (1000 * change->change),
          .is_empty = isnan (change->change) },
        { .number = llround (ceil (10000 * change->p)) },
        { .number = llround (change->low_ns) },
        { .number = llround (change->high_ns) },
      };
      const LnsPairPlaces places = places_of (it, change);
      table_add (&table, cells, &places);
    }
  return table;
}

/* --- Findings, and what differs ----------------------------------------------------------------- */

static void
add_findings (const LnsComparison *it,
              const LnsFindingPairs *pairs,
              const char *what,
              LnsPairTable *table)
{
  for (size_t i = 0; i < pairs->n; i++)
    {
      const size_t at[] = { pairs->items[i].a, pairs->items[i].b };
      const LnsWhyFinding *findings[2] = { NULL, NULL };
      LnsPairPlaces places = { 0 };
      for (int side = 0; side < 2; side++)
        if (at[side] != 0)
          {
            findings[side] = &it->why[side]->findings.items[at[side] - 1];
            places.in[side] = place_of (&findings[side]->longest);
            places.has[side] = true;
          }
      const LnsWhyFinding *told = findings[1] != NULL ? findings[1] : findings[0];
      g_autofree char *sentence = lns_display_text (told->sentence, strlen (told->sentence), TRUE);
      const LnsResultCell cells[] = {
        text_cell (what),
        text_cell (lns_cause_name (told->cause)),
        { .number = findings[0] != NULL ? llround (1000 * findings[0]->share) : 0,
          .is_empty = findings[0] == NULL },
        { .number = findings[1] != NULL ? llround (1000 * findings[1]->share) : 0,
          .is_empty = findings[1] == NULL },
        text_cell (sentence),
      };
      table_add (table, cells, &places);
    }
}

static LnsPairTable
list_findings (const LnsComparison *it)
{
  const LnsResultColumn columns[] = {
    { _ ("Change"), LNS_RESULT_TEXT, 0 },  { _ ("Cause"), LNS_RESULT_TEXT, 0 },
    { _ ("A"), LNS_RESULT_SHARE, 1 },      { _ ("B"), LNS_RESULT_SHARE, 1 },
    { _ ("Finding"), LNS_RESULT_TEXT, 0 },
  };
  LnsPairTable table = table_new (columns, G_N_ELEMENTS (columns));

  add_findings (it, &it->fresh, _ ("new"), &table);
  add_findings (it, &it->changed, _ ("changed"), &table);
  add_findings (it, &it->gone, _ ("gone"), &table);
  return table;
}

static LnsPairTable
list_differences (const LnsComparison *it)
{
  const LnsResultColumn columns[] = {
    { _ ("What"), LNS_RESULT_TEXT, 0 },
    { _ ("A"), LNS_RESULT_TEXT, 0 },
    { _ ("B"), LNS_RESULT_TEXT, 0 },
  };
  LnsPairTable table = table_new (columns, G_N_ELEMENTS (columns));

  for (size_t i = 0; i < it->differs.n; i++)
    {
      const LnsDifference *difference = &it->differs.items[i];
      const LnsResultCell cells[] = { text_cell (difference->name), text_cell (difference->a),
                                      text_cell (difference->b) };
      table_add (&table, cells, &(LnsPairPlaces){ 0 });
    }
  return table;
}

/* --- All -------------------------------------------------------------------------------------- */

static LnsPairFacts *
tell (const LnsComparison *it)
{
  LnsPairFacts *self = g_new0 (LnsPairFacts, 1);

  self->verdict = lns_display_text (it->verdict, strlen (it->verdict), TRUE);
  self->steps = steps_text (it);
  self->changes = list_changes (it);
  self->findings = list_findings (it);
  self->differs = list_differences (it);
  self->notes = g_new0 (char *, it->notes.n + 1);
  for (size_t i = 0; i < it->notes.n; i++)
    self->notes[i] = lns_display_text (it->notes.items[i], strlen (it->notes.items[i]), TRUE);
  for (int side = 0; side < 2; side++)
    self->step_spans[side] = list_steps (&it->why[side]->steps);
  return self;
}

LnsPairFacts *
lns_pair_facts_new (LnsReport *const reports[2], const atomic_bool *cancel, LnsError *error)
{
  const LnsCompareOptions options = { .in_language = true };
  LnsTables *tables[2] = { lns_tables_new (reports[0], error), NULL };
  LnsComparison *comparison = NULL;
  LnsPairFacts *self = NULL;

  if (tables[0] != NULL)
    tables[1] = lns_tables_new (reports[1], error);
  if (tables[1] != NULL)
    comparison = lns_compare (tables, &options, cancel, error);
  if (comparison != NULL)
    self = tell (comparison);
  lns_comparison_free (comparison);
  lns_tables_free (tables[0]);
  lns_tables_free (tables[1]);
  return self;
}

/* --- Two times of one report --------------------------------------------------------------------- */

static LnsPairTable
list_parts (LnsReport *report, const LnsSpanParts *parts)
{
  const LnsResultColumn columns[] = {
    { _ ("Name"), LNS_RESULT_TEXT, 0 },        { _ ("A"), LNS_RESULT_TIME, 0 },
    { _ ("B"), LNS_RESULT_TIME, 0 },           { _ ("Difference"), LNS_RESULT_CHANGE, 0 },
    { _ ("Percent"), LNS_RESULT_NUMBER, 1 },   { _ ("Count in A"), LNS_RESULT_COUNT, 0 },
    { _ ("Count in B"), LNS_RESULT_COUNT, 0 },
  };
  LnsPairTable table = table_new (columns, G_N_ELEMENTS (columns));

  for (size_t i = 0; i < parts->n; i++)
    {
      const LnsSpanPart *part = &parts->items[i];
      g_autofree char *name = lns_event_text_part (report, part);
      const int64_t change_ns = lns_difference (part->ns[1], part->ns[0]);
      const bool is_counted = part->sort == LNS_SPAN_PART_NAME;
      const LnsResultCell cells[] = {
        text_cell (name),
        { .number = part->ns[0] },
        { .number = part->ns[1] },
        { .number = change_ns },
        { .number =
              part->ns[0] > 0 ? llround (1000.0 * (double)change_ns / (double)part->ns[0]) : 0,
          .is_empty = part->ns[0] <= 0 },
        { .number = (int64_t)part->n[0], .is_empty = !is_counted },
        { .number = (int64_t)part->n[1], .is_empty = !is_counted },
      };
      table_add (&table, cells, &(LnsPairPlaces){ 0 });
    }
  return table;
}

/* "The time B is 12.300 ms long, A 10.200 ms (+20.6 %)." Free with g_free (). */
static char *
spans_text (const LnsSpan spans[2])
{
  char a[LNS_FORMAT_SIZE], b[LNS_FORMAT_SIZE], change[LNS_FORMAT_SIZE];
  const int64_t a_ns = lns_difference (spans[0].end_ns, spans[0].start_ns),
                b_ns = lns_difference (spans[1].end_ns, spans[1].start_ns);

  lns_format_duration (a_ns, a);
  lns_format_duration (b_ns, b);
  if (a_ns <= 0)
    return g_strdup_printf (_ ("The time B is %s long, and A has no length."), b);
  const double percent = 100 * ((double)b_ns / (double)a_ns - 1);
  lns_format_fixed (percent, 1, change);
  /* Translators: two lengths of time, and by how many percent the first is longer */
  return g_strdup_printf (_ ("The time B is %s long, A %s (%s%s %%)."), b, a,
                          percent > 0 ? "+" : "", change);
}

LnsPairFacts *
lns_pair_facts_of_spans (LnsReport *report,
                         const LnsSpan spans[2],
                         const atomic_bool *cancel,
                         LnsError *error)
{
  LnsSpanParts parts = { 0 };

  if (!lns_span_compare (report, spans, cancel, &parts, error))
    return NULL;
  LnsPairFacts *self = g_new0 (LnsPairFacts, 1);
  self->verdict = spans_text (spans);
  self->changes = list_parts (report, &parts);
  self->notes = g_new0 (char *, 1);
  for (int side = 0; side < 2; side++)
    self->step_spans[side] = g_array_new (FALSE, FALSE, sizeof (LnsSpan));
  lns_array_clear (&parts);
  return self;
}

/* --- Life ------------------------------------------------------------------------------------- */

static void
table_clear (LnsPairTable *table)
{
  lns_result_free (table->result);
  g_clear_pointer (&table->places, g_array_unref);
}

void
lns_pair_facts_free (LnsPairFacts *self)
{
  if (self == NULL)
    return;
  g_free (self->verdict);
  g_free (self->steps);
  table_clear (&self->changes);
  table_clear (&self->findings);
  table_clear (&self->differs);
  g_strfreev (self->notes);
  for (int side = 0; side < 2; side++)
    g_clear_pointer (&self->step_spans[side], g_array_unref);
  g_free (self);
}
