/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/rules/maker.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/projection/cuda-links.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

static const LnsRuleMaker *const makers[] = {
  &_lns_rule_copies_async, &_lns_rule_copies_sync, &_lns_rule_sets,   &_lns_rule_waits,
  &_lns_rule_gaps,         &_lns_rule_utilization, &_lns_rule_clocks,
};

#define N_MAKERS (sizeof makers / sizeof *makers)

/* The longest first. */
static int
compare_durations (const void *a, const void *b)
{
  const LnsRuleRow *ra = a, *rb = b;

  return LNS_COMPARE (rb->duration_ns, ra->duration_ns)
             ?: LNS_COMPARE (ra->start_ns, rb->start_ns)
             ?: LNS_COMPARE (ra->lane, rb->lane);
}

const LnsRule *
lns_rule_at (size_t i)
{
  return i < N_MAKERS ? &makers[i]->rule : NULL;
}

/* An argument that may follow a rule's name, as a number from LEAST to MOST. */
typedef struct
{
  const char *name;
  double least, most;
  void (*set) (LnsRuleOptions *options, double value);
} Argument;

static void
set_rows (LnsRuleOptions *options, double value)
{
  options->n_rows = (int64_t)value;
}

static void
set_gap (LnsRuleOptions *options, double value)
{
  options->gap_ns = (int64_t)(value * 1e6);
}

static void
set_threshold (LnsRuleOptions *options, double value)
{
  options->busy_percent = value;
}

static void
set_chunks (LnsRuleOptions *options, double value)
{
  options->n_chunks = (int64_t)value;
}

static const Argument arguments[] = {
  { "rows", -1, 1e12, set_rows }, /* -1 = all                                                    */
  { "gap", 0, 1e12, set_gap },    /* in milliseconds                                             */
  { "threshold", 0, 1e12, set_threshold },
  { "chunks", 1, 10000, set_chunks },
};

/* Reads the argument "NAME=NUMBER" of SIZE bytes at TEXT, which LIST ("[:NAME=N]…") must have. */
static bool
read_argument (const char *list, const char *text, size_t size, LnsRuleOptions *options)
{
  const size_t n = strcspn (text, "=:");

  if (n >= size || text[n] != '=')
    return false;
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
    {
      const Argument *argument = &arguments[i];
      char in_list[32], *end;
      if (strlen (argument->name) != n || strncmp (argument->name, text, n) != 0)
        continue;
      const double value = strtod (text + n + 1, &end);
      snprintf (in_list, sizeof in_list, "[:%s=", argument->name);
      if (strstr (list, in_list) == NULL || end != text + size || end == text + n + 1 ||
          !(value >= argument->least && value < argument->most + 1))
        return false;
      argument->set (options, value);
      return true;
    }
  return false;
}

const LnsRule *
lns_rule_find (const char *name, LnsRuleOptions *options, LnsError *error)
{
  size_t length = strcspn (name, ":"), i = 0;

  while (i < N_MAKERS && (strlen (makers[i]->rule.name) != length ||
                          strncmp (makers[i]->rule.name, name, length) != 0))
    i++;
  if (i == N_MAKERS)
    {
      lns_error_set (error, LNS_ERROR_USAGE, 0,
                     "--rule: unknown rule “%s”; --help-rules lists the rules", name);
      return NULL;
    }
  const LnsRule *rule = &makers[i]->rule;
  for (const char *at = name + length; *at == ':'; at += 1 + length)
    {
      length = strcspn (at + 1, ":");
      if (!read_argument (rule->arguments, at + 1, length, options))
        {
          lns_error_set (error, LNS_ERROR_USAGE, 0, "--rule: “%s” is not valid; write %s%s", name,
                         rule->name, rule->arguments);
          return NULL;
        }
    }
  return rule;
}

/* Leaves the worst rows alone. */
static bool
choose (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error)
{
  const LnsRuleMaker *maker = result->maker;
  LnsRuleRow *rows = result->rows.items;
  const size_t n_rows = result->rows.n;
  size_t n = 0;
  bool keep = true;

  if (n_rows > 0)
    qsort (rows, n_rows, sizeof *rows, maker->compare != NULL ? maker->compare : compare_durations);
  for (size_t i = 0;
       i < n_rows && (result->options.n_rows < 0 || n < (uint64_t)result->options.n_rows); i++)
    {
      LnsRuleRow row = rows[i];
      if (!lns_go_on (cancel, error) ||
          (maker->call != LNS_RULE_ANY_CALL && !_lns_rule_find_call (result, &row, &keep, error)))
        return false;
      if (keep)
        rows[n++] = row;
    }
  result->rows.n = n;
  return true;
}

LnsRuleResult *
lns_rule_run (const LnsRule *rule,
              const LnsRuleOptions *options,
              LnsTables *tables,
              const atomic_bool *cancel,
              LnsError *error)
{
  LnsRuleResult *result = lns_calloc (1, sizeof *result);

  result->maker = (const LnsRuleMaker *)rule; /* its first member                                */
  result->options = *options;
  result->tables = tables;
  if (result->maker->run (result, cancel, error) && choose (result, cancel, error))
    return result;
  lns_rule_result_free (result);
  return NULL;
}

void
lns_rule_result_free (LnsRuleResult *result)
{
  if (result == NULL)
    return;
  lns_cuda_links_free (result->links);
  lns_array_clear (&result->rows);
  free (result);
}

bool
lns_rule_result_has_data (const LnsRuleResult *result)
{
  return result->has_data;
}

uint32_t
lns_rule_result_kinds (const LnsRuleResult *result)
{
  uint32_t kinds = 0;

  if (result->maker->kind != LNS_LANE_NONE)
    return 1u << result->maker->kind;
  if (result->maker == &_lns_rule_clocks)
    return 1u << LNS_LANE_COUNTER;
  for (LnsLaneKind kind = 0; kind < LNS_N_LANE_KINDS; kind++)
    kinds |= lns_is_gpu_operation (kind) ? 1u << kind : 0;
  return kinds;
}

size_t
lns_rule_result_n_rows (const LnsRuleResult *result)
{
  return result->rows.n;
}

int64_t
lns_rule_result_ns (const LnsRuleResult *result)
{
  int64_t ns = 0;

  for (size_t i = 0; i < result->rows.n; i++)
    ns = lns_sum (ns, result->rows.items[i].duration_ns);
  return ns;
}

/* Gives the rows of RESULT to ROWS. */
static bool
give_rows (const LnsRuleResult *result, LnsRows *rows, LnsError *error)
{
  LnsResultCell cells[LNS_RULE_MAX_COLUMNS];

  for (size_t i = 0; i < result->rows.n; i++)
    {
      const LnsRuleRow *row = &result->rows.items[i];
      const LnsPlace place = lns_place (row->lane, row->ordinal, row->start_ns, row->duration_ns);
      if (!result->maker->fill (result, i, cells, error))
        return false;
      lns_rows_add (rows, cells, &place);
    }
  return true;
}

bool
lns_rule_result_write (const LnsRuleResult *result,
                       FILE *stream,
                       const LnsStatsStyle *style,
                       LnsError *error)
{
  const LnsRuleMaker *maker = result->maker;
  LnsStatsTable *table = lns_stats_table_new (stream, style, maker->columns, maker->n_columns);
  const bool good = give_rows (result, lns_stats_table_rows (table), error);

  lns_stats_table_finish (table);
  return good;
}

LnsResult *
lns_rule_result_collect (const LnsRuleResult *result, size_t max_rows, LnsError *error)
{
  const LnsRuleMaker *maker = result->maker;
  LnsResult *collected = lns_result_new (maker->columns, maker->n_columns, max_rows);

  if (give_rows (result, lns_result_rows (collected), error))
    return collected;
  lns_result_free (collected);
  return NULL;
}
