/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What an answer is about, and in which order it is told. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/why/maker.h"
#include "src/analysis/why/why.h"
#include "src/base/compare.h"
#include "src/base/memory.h"

/* From its first to its last work, a program has to have taken so much, and this share of the whole, to be judged by that alone, … */
#define LEAST_WORK_NS 100e6
#define LEAST_WORK    0.02
/* … and to have lost this share of it to one thing. */
#define OF_WORK 0.1

bool
_lns_why_accuses (LnsCause cause)
{
  return cause != LNS_CAUSE_NOT_RECORDED && cause != LNS_CAUSE_UNKNOWN;
}

static int
compare_findings (const void *a, const void *b)
{
  const LnsWhyFinding *fa = a, *fb = b;

  return LNS_COMPARE (fb->ns, fa->ns)
             ?: LNS_COMPARE (fa->cause, fb->cause)
             ?: LNS_COMPARE (fa->longest.start_ns, fb->longest.start_ns);
}

bool
_lns_why_is_told_by (const LnsWhyFinding *slow, const LnsWhyFinding *finding)
{
  return slow->cause == LNS_CAUSE_SLOW_STEP && slow->part == finding->cause &&
         slow->ledger == finding->ledger && finding->group != 0 &&
         slow->own.thread == finding->own.thread && slow->own.call == finding->own.call &&
         slow->own.range == finding->own.range && slow->part_ns > finding->ns / 2;
}

/* Puts slow steps behind the finding that tells why they are slow. */
static void
put_reasons_first (LnsWhy *why)
{
  LnsWhyFinding *items = why->findings.items;

  for (size_t i = 0; i < why->findings.n; i++)
    for (size_t k = i + 1; items[i].cause == LNS_CAUSE_SLOW_STEP && k < why->findings.n; k++)
      if (_lns_why_is_told_by (&items[i], &items[k]) &&
          (double)items[k].ns >= 0.6 * (double)items[i].part_ns)
        {
          const LnsWhyFinding slow = items[i];
          memmove (&items[i], &items[i + 1], (k - i) * sizeof *items);
          items[k] = slow;
          break;
        }
}

static bool
is_at_an_end (const LnsWhyFinding *finding)
{
  return finding->cause == LNS_CAUSE_START_UP || finding->cause == LNS_CAUSE_TEAR_DOWN;
}

LnsSpan
_lns_why_work_span (const LnsLedger *ledger)
{
  return (LnsSpan){ ledger->span.start_ns + ledger->cause_ns[LNS_CAUSE_START_UP],
                    ledger->span.end_ns - ledger->cause_ns[LNS_CAUSE_TEAR_DOWN] };
}

const LnsWhyFinding *
_lns_why_in_work (const LnsWhy *why)
{
  for (size_t i = 0; i < why->findings.n; i++)
    if (why->findings.items[i].ledger == why->findings.items[0].ledger &&
        _lns_why_accuses (why->findings.items[i].cause) && !is_at_an_end (&why->findings.items[i]))
      return &why->findings.items[i];
  return NULL;
}

/* A program that is looked at for a short time, as is usual, starts for most of it. What is slow in its work then comes first, or
 * that this is not known, if there is enough work to tell. */
static void
put_work_first (LnsWhy *why)
{
  const LnsWhyFinding *found = _lns_why_in_work (why);
  if (why->findings.items[0].ledger >= why->ledgers.n)
    return;

  const LnsLedger *ledger = &why->ledgers.items[why->findings.items[0].ledger];
  const LnsSpan work = _lns_why_work_span (ledger);
  const double work_ns = (double)(work.end_ns - work.start_ns);
  const int64_t ends_ns =
      ledger->cause_ns[LNS_CAUSE_START_UP] + ledger->cause_ns[LNS_CAUSE_TEAR_DOWN];
  const int64_t unknown_ns = ledger->cause_ns[LNS_CAUSE_UNKNOWN];
  const int64_t lost_ns = found != NULL && found->ns > unknown_ns ? found->ns : unknown_ns;
  if (work_ns < LEAST_WORK_NS ||
      work_ns < LEAST_WORK * (double)(ledger->span.end_ns - ledger->span.start_ns) ||
      (double)lost_ns < OF_WORK * work_ns || lost_ns > ends_ns)
    return;
  why->is_about_work = true;
  LnsWhyFinding *sorted = lns_calloc (why->findings.n, sizeof *sorted);
  size_t n = 0;
  for (int turn = 0; turn < 2; turn++)
    for (size_t i = 0; i < why->findings.n; i++)
      if (is_at_an_end (&why->findings.items[i]) == turn)
        sorted[n++] = why->findings.items[i];
  memcpy (why->findings.items, sorted, n * sizeof *sorted);
  free (sorted);
}

LnsSpan
lns_why_judged_span (const LnsWhy *why, const LnsLedger *ledger)
{
  return why->is_about_work ? _lns_why_work_span (ledger) : ledger->span;
}

int64_t
_lns_why_judged_ns (const LnsWhy *why, const LnsLedger *ledger)
{
  const LnsSpan span = lns_why_judged_span (why, ledger);
  return span.end_ns - span.start_ns - lns_omitted_ns (&why->omissions, span.start_ns, span.end_ns);
}

const LnsWhyFinding *
_lns_why_main (const LnsWhy *why)
{
  const LnsWhyFinding *found = NULL;

  for (size_t i = 0; found == NULL && i < why->findings.n; i++)
    if (_lns_why_accuses (why->findings.items[i].cause))
      found = &why->findings.items[i];
  if (found == NULL || found->ledger >= why->ledgers.n ||
      (!why->is_about_work && found->share < LNS_WHY_WORTH))
    return NULL;
  /* Where most is not known, the rest is no answer. */
  const LnsLedger *ledger = &why->ledgers.items[found->ledger];
  const int64_t unknown_ns = _lns_why_unknown_ns (ledger);
  return unknown_ns > found->ns &&
                 unknown_ns > (_lns_why_judged_ns (why, ledger) - ledger->busy_ns) / 2
             ? NULL
             : found;
}

void
_lns_why_sort_findings (LnsWhy *why)
{
  LnsWhyFinding *items = why->findings.items;

  if (why->findings.n == 0)
    return;
  qsort (items, why->findings.n, sizeof *items, compare_findings);
  put_reasons_first (why);
  put_work_first (why);
  const LnsWhyFinding *found = _lns_why_main (why);
  if (found == NULL || found == items)
    return;
  const LnsWhyFinding first = *found;
  memmove (&items[1], items, (size_t)(found - items) * sizeof *items);
  items[0] = first;
}
