/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/compare.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/compare/align.h"
#include "src/analysis/compare/sentences.h"
#include "src/analysis/compare/step-times.h"
#include "src/analysis/why/query.h"
#include "src/base/hash.h"
#include "src/base/memory.h"

/* A finding weighs from this share of the time on, as severity `medium` does. */
#define WEIGHS 0.03

/* Its share changed if it is so many times the other one, and by WEIGHS. */
#define OTHER_SHARE 1.3

/* --- Reading ---------------------------------------------------------------------------------- */

typedef struct
{
  LnsTables *tables;
  const LnsCompareOptions *options;
  const char *step_range;
  uint32_t device;
  const atomic_bool *cancel;
  LnsWhy *why;
  LnsStepTimes *times;
  bool good;
  LnsError error;
} Side;

static void
clear_side (Side *side)
{
  lns_why_free (side->why);
  lns_step_times_free (side->times);
  side->why = NULL;
  side->times = NULL;
}

static void *
read_side (void *data)
{
  Side *side = data;
  const LnsWhyOptions asked = { .span = lns_filter_span (lns_tables_report (side->tables)),
                                .in_language = side->options->in_language,
                                .step_range = side->step_range,
                                .device = side->device };

  clear_side (side);
  side->why = lns_why_run (side->tables, &asked, side->cancel, &side->error);
  if (side->why != NULL)
    side->times = lns_step_times_new (side->tables, side->why, side->cancel, &side->error);
  side->good = side->times != NULL;
  return NULL;
}

static bool
read_both (Side sides[2])
{
  pthread_t thread;
  const bool is_parallel = pthread_create (&thread, NULL, read_side, &sides[0]) == 0;

  read_side (&sides[1]);
  if (is_parallel)
    pthread_join (thread, NULL);
  else
    read_side (&sides[0]);
  return sides[0].good && sides[1].good;
}

/* CUDA's number of the GPU that the steps are of, or LNS_ID_NONE. */
static uint32_t
device_of (const Side *side)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (lns_tables_report (side->tables), &n);
  const LnsWhy *why = side->why;
  return why->ledgers.n > 0 && why->ledgers.items[0].is_device && why->ledgers.items[0].device < n
             ? devices[why->ledgers.items[0].device].number
             : LNS_ID_NONE;
}

/* Reads B again if its steps are those of another GPU or of another range than A's. */
static bool
read_alike (Side sides[2])
{
  const uint32_t device = device_of (&sides[0]);
  char *names[2] = { NULL, NULL };
  bool is_again = false;

  if (device != LNS_ID_NONE && device_of (&sides[1]) != LNS_ID_NONE &&
      device_of (&sides[1]) != device)
    {
      sides[1].device = device + 1;
      is_again = true;
    }
  for (int side = 0; side < 2; side++)
    names[side] = lns_why_step_name (sides[side].tables, sides[side].why);
  const LnsWhySteps *steps = &sides[0].why->steps;
  if (sides[0].step_range == NULL && steps->n > 0 && !steps->is_kernel &&
      strcmp (names[0], names[1]) != 0)
    {
      const char *name = lns_report_string (lns_tables_report (sides[0].tables), steps->name, NULL);
      uint32_t id;
      if (!lns_tables_find_string (sides[1].tables, name, strlen (name), &id, &sides[1].error))
        sides[1].good = false;
      else if (id != LNS_ID_NONE)
        {
          sides[1].step_range = name;
          is_again = true;
        }
    }
  if (is_again && sides[1].good)
    read_side (&sides[1]);
  free (names[0]);
  free (names[1]);
  return sides[1].good;
}

/* --- Which parts are the same ----------------------------------------------------------------- */

/* Notes in RENAMED that part A is B under another name; in TAKEN, which of B's are. The first that aligns decides; a part that the
 * other run has, too, is itself. */
static void
note_renamed (
    const LnsComparison *comparison, size_t a, size_t b, LnsIdMap *renamed, LnsIdMap *taken)
{
  const LnsStepTimes *times[2] = { comparison->runs[0].times, comparison->runs[1].times };
  const uint64_t key_a = times[0]->parts.items[a].key, key_b = times[1]->parts.items[b].key;

  if (key_a == key_b || lns_id_map_number (&times[1]->by_key, key_a) != 0 ||
      lns_id_map_number (&times[0]->by_key, key_b) != 0 ||
      lns_id_map_number (renamed, key_a) != 0 || lns_id_map_number (taken, key_b) != 0)
    return;
  lns_id_map_set_number (renamed, key_a, key_b);
  lns_id_map_set_number (taken, key_b, key_a);
}

/* Finds the parts of B that are A's under another name: RENAMED gets their keys. */
static void
find_renamed (const LnsComparison *comparison, LnsIdMap *renamed)
{
  const LnsStepTimes *a = comparison->runs[0].times, *b = comparison->runs[1].times;
  LnsAlignment aligned = lns_align (a->order.items, a->order.n, b->order.items, b->order.n);
  LnsIdMap taken = { 0 };

  for (size_t i = 0; i < aligned.n; i++)
    {
      if (aligned.items[i].a == SIZE_MAX || aligned.items[i].b == SIZE_MAX)
        continue;
      const LnsStepOperation *one = &a->order.items[aligned.items[i].a],
                             *other = &b->order.items[aligned.items[i].b];
      note_renamed (comparison, one->part, other->part, renamed, &taken);
      if (one->total != 0 && other->total != 0)
        note_renamed (comparison, one->total - 1, other->total - 1, renamed, &taken);
    }
  lns_id_map_clear (&taken);
  lns_array_clear (&aligned);
}

/* --- Findings --------------------------------------------------------------------------------- */

static uint64_t
finding_key (LnsTables *tables, const LnsWhyFinding *finding)
{
  char *label = lns_why_label (tables, finding);
  size_t n = 0;

  for (const char *c = label; *c != '\0'; c++)
    if (!isdigit ((unsigned char)*c))
      label[n++] = *c;
  const uint64_t keys[] = { finding->cause, lns_hash (label, n) };
  free (label);
  return lns_hash (keys, sizeof keys) | 1;
}

/* The shares of the findings of one key. */
static double
share_of (const LnsComparison *comparison, int side, uint64_t key, size_t *ret_first)
{
  const LnsWhy *why = comparison->why[side];
  double share = 0;

  *ret_first = 0;
  for (size_t i = 0; i < why->findings.n; i++)
    if (finding_key (comparison->tables[side], &why->findings.items[i]) == key)
      {
        share += why->findings.items[i].share;
        *ret_first = *ret_first == 0 ? i + 1 : *ret_first;
      }
  return share;
}

static void
compare_findings (LnsComparison *comparison)
{
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < comparison->why[side]->findings.n; i++)
      {
        const uint64_t key =
            finding_key (comparison->tables[side], &comparison->why[side]->findings.items[i]);
        size_t own, other;
        const double share = share_of (comparison, side, key, &own),
                     others = share_of (comparison, 1 - side, key, &other);
        if (own != i + 1)
          continue;
        if (other == 0 && share >= WEIGHS && side == 0)
          *lns_array_add (&comparison->gone) = (LnsFindingPair){ own, 0 };
        else if (other == 0 && share >= WEIGHS)
          *lns_array_add (&comparison->fresh) = (LnsFindingPair){ 0, own };
        else if (other != 0 && side == 0 && fabs (share - others) >= WEIGHS &&
                 fmax (share, others) >= OTHER_SHARE * fmin (share, others))
          *lns_array_add (&comparison->changed) = (LnsFindingPair){ own, other };
      }
}

/* --- What differs ----------------------------------------------------------------------------- */

/* Values that differ between runs of one program on one machine. */
static bool
is_of_run (const char *name)
{
  static const char *const words[] = { "DURATION",        "UUID", "PID",      "SESSION",
                                       "HAS_ANNOTATIONS", "Pid",  "StartTime" };

  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr (name, words[i]) != NULL)
      return true;
  return false;
}

static char *
text_of (const LnsResult *result, size_t row, unsigned column)
{
  const LnsResultCell cell = lns_result_cell (result, row, column);
  return cell.is_empty        ? lns_strdup ("")
         : cell.bytes == NULL ? lns_asprintf ("%jd", (intmax_t)cell.number)
                              : lns_memdup (cell.bytes, cell.size_bytes);
}

/* The value that RESULT has for NAME the second time after N others of that name, or NULL. To be freed. */
static char *
value_of (const LnsResult *result, const char *name)
{
  for (size_t i = 0; result != NULL && i < lns_result_n_rows (result); i++)
    {
      char *own = text_of (result, i, 0);
      const bool is_it = strcmp (own, name) == 0;
      free (own);
      if (is_it)
        return text_of (result, i, 1);
    }
  return NULL;
}

static void
compare_values (LnsComparison *comparison, LnsResult *const results[2])
{
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; results[side] != NULL && i < lns_result_n_rows (results[side]); i++)
      {
        char *name = text_of (results[side], i, 0), *a = value_of (results[0], name),
             *b = value_of (results[1], name);
        bool is_told = is_of_run (name) || (a != NULL && b != NULL && strcmp (a, b) == 0);
        for (size_t k = 0; !is_told && k < comparison->differs.n; k++)
          is_told = strcmp (comparison->differs.items[k].name, name) == 0;
        if (!is_told)
          *lns_array_add (&comparison->differs) = (LnsDifference){ name, a, b };
        else
          {
            free (name);
            free (a);
            free (b);
          }
      }
}

static bool
find_differences (LnsComparison *comparison, const atomic_bool *cancel, LnsError *error)
{
  static const char *const statements[] = {
    "SELECT 'GPU ' || id, name FROM TARGET_INFO_GPU",
    "SELECT name, value FROM TARGET_INFO_SYSTEM_ENV WHERE length(value) < 200",
    "SELECT name, value FROM META_DATA_CAPTURE WHERE length(value) < 1000",
  };
  LnsQuery *queries[2];
  bool good = true;

  for (int side = 0; side < 2; side++)
    {
      queries[side] = good ? lns_query_new (lns_tables_report (comparison->tables[side]),
                                            &(LnsQueryOptions){ .cancel = cancel }, error)
                           : NULL;
      good = good && queries[side] != NULL;
    }
  for (size_t i = 0; good && i < sizeof statements / sizeof *statements; i++)
    {
      LnsResult *results[2];
      for (int side = 0; side < 2; side++)
        {
          LnsError missing = { 0 }; /* the table */
          results[side] = lns_query_collect (queries[side], statements[i], 1000, &missing);
        }
      compare_values (comparison, results);
      lns_result_free (results[0]);
      lns_result_free (results[1]);
    }
  lns_query_free (queries[0]);
  lns_query_free (queries[1]);
  return good;
}

/* --- All -------------------------------------------------------------------------------------- */

/* The quantile SHARE of the steps of RUN that count. */
static double
quantile_of (const LnsComparedRun *run, double share, bool with_outliers)
{
  double *values = lns_calloc (run->times->n + 1, sizeof *values);
  size_t n = 0;

  for (size_t i = 0; i < run->times->n; i++)
    if (with_outliers || !run->is_left_out[i])
      values[n++] = run->times->ns[i];
  const double found = lns_quantile (values, n, share);
  free (values);
  return found;
}

static void
compare_runs (LnsComparison *comparison, const LnsRunLevels *levels)
{
  LnsIdMap renamed = { 0 };

  comparison->is_known = true;
  comparison->tells_runs = levels != NULL;
  for (int side = 0; side < 2; side++)
    {
      LnsComparedRun *run = &comparison->runs[side];
      run->is_left_out = lns_calloc (run->times->n + 1, sizeof (bool));
      run->left = lns_series_clean (run->times->ns, run->times->n, run->is_left_out);
      comparison->n_runs[side] = levels != NULL ? levels[side].n : 1;
      comparison->p50_ns[side] = quantile_of (run, 0.5, false);
      comparison->p99_ns[side] = quantile_of (run, 0.99, true);
      comparison->has_steps[side] =
          run->times->n >= LNS_LEAST_COMPARED + run->left.n_warm_up + run->left.n_outliers &&
          run->times->unseen_share <= LNS_MOST_UNSEEN;
      comparison->is_known &= comparison->has_steps[side];
    }
  if (!comparison->is_known)
    return;
  find_renamed (comparison, &renamed);
  comparison->found = lns_changes_find (comparison->runs, &renamed, levels);
  lns_id_map_clear (&renamed);
  const LnsShift *steps = &comparison->found.steps;
  if (comparison->p50_ns[0] > 0 && steps->a > 0)
    {
      comparison->change = comparison->p50_ns[1] / comparison->p50_ns[0] - 1;
      comparison->low = fmin (steps->low / steps->a, comparison->change);
      comparison->high = fmax (steps->high / steps->a, comparison->change);
    }
}

LnsComparison *
lns_compare (LnsTables *const tables[2],
             const LnsCompareOptions *options,
             const atomic_bool *cancel,
             LnsError *error)
{
  LnsComparison *comparison = lns_calloc (1, sizeof *comparison);
  Side sides[2];

  for (int side = 0; side < 2; side++)
    sides[side] = (Side){ .tables = tables[side],
                          .options = options,
                          .step_range = options->step_range,
                          .cancel = cancel };
  const bool good = read_both (sides) && read_alike (sides);
  for (int side = 0; side < 2; side++)
    {
      comparison->tables[side] = tables[side];
      comparison->why[side] = sides[side].why;
      comparison->runs[side].times = sides[side].times;
    }
  if (!good && error != NULL)
    *error = sides[sides[0].good ? 1 : 0].error;
  if (!good || !find_differences (comparison, cancel, error))
    {
      lns_comparison_free (comparison);
      return NULL;
    }
  compare_runs (comparison, options->levels);
  compare_findings (comparison);
  _lns_comparison_write_sentences (comparison, options->in_language);
  return comparison;
}

void
lns_comparison_free (LnsComparison *comparison)
{
  if (comparison == NULL)
    return;
  for (int side = 0; side < 2; side++)
    {
      lns_why_free (comparison->why[side]);
      lns_step_times_free (comparison->runs[side].times);
      free (comparison->runs[side].is_left_out);
    }
  lns_changes_clear (&comparison->found);
  lns_array_clear (&comparison->gone);
  lns_array_clear (&comparison->fresh);
  lns_array_clear (&comparison->changed);
  for (size_t i = 0; i < comparison->differs.n; i++)
    {
      free (comparison->differs.items[i].name);
      free (comparison->differs.items[i].a);
      free (comparison->differs.items[i].b);
    }
  lns_array_clear (&comparison->differs);
  for (size_t i = 0; i < comparison->notes.n; i++)
    free (comparison->notes.items[i]);
  lns_array_clear (&comparison->notes);
  free (comparison->verdict);
  free (comparison);
}
