/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tells one gap: all that its time was lost to, in order. */

#include <inttypes.h>
#include <stdlib.h>

#include "src/analysis/why/maker.h"
#include "src/analysis/why/why.h"
#include "src/base/compare.h"
#include "src/base/json.h"
#include "src/base/memory.h"

/* Of a gap of more parts the longest are shown. */
#define MOST_PARTS 12

bool
lns_why_find_gap (const LnsWhy *why, int64_t from_ns, int64_t to_ns, LnsWhyStretch *ret_gap)
{
  const LnsWhyGap *parts = why->gaps.items;
  int64_t best_ns = -1, next_ns = INT64_MAX;

  *ret_gap = (LnsWhyStretch){ 0 };
  for (size_t first = 0, end; first < why->gaps.n; first = end)
    {
      for (end = first + 1; end < why->gaps.n && parts[end].ledger == parts[first].ledger &&
                            parts[end].start_ns == parts[end - 1].end_ns;
           end++)
        ;
      const LnsWhyStretch gap = { parts[first].start_ns, parts[end - 1].end_ns, first,
                                  end - first };
      if (gap.start_ns <= to_ns && gap.end_ns >= from_ns)
        {
          if (gap.end_ns - gap.start_ns > best_ns)
            *ret_gap = gap;
          best_ns = gap.end_ns - gap.start_ns > best_ns ? gap.end_ns - gap.start_ns : best_ns;
        }
      else if (best_ns < 0 && gap.start_ns > to_ns && gap.start_ns < next_ns)
        {
          next_ns = gap.start_ns;
          *ret_gap = gap;
        }
    }
  return ret_gap->n_parts > 0;
}

/* What PART is about: "thread 4711: fetch > sem_wait". To be freed. */
static char *
subject_of (LnsTables *tables, const LnsWhyGap *part)
{
  const LnsWhyFinding finding = { .cause = part->cause,
                                  .own = { part->thread, part->call, part->range, 0 } };
  const LnsLedger ledger = { .thread = part->thread };
  char *what = _lns_why_subject_of (tables, &finding), *text;

  if (part->thread == LNS_ID_NONE)
    return what;
  char *thread = lns_why_subject (tables, &ledger);
  text = lns_asprintf ("%s%s%s", thread, *what != '\0' ? ": " : "", what);
  free (thread);
  free (what);
  return text;
}

/* Whether A and B, which follows it, are one for the reader. */
static bool
is_same (const LnsWhyGap *a, const LnsWhyGap *b)
{
  return a->cause == b->cause && a->thread == b->thread && a->call == b->call &&
         a->range == b->range;
}

/* The parts of GAP, those that are one put together, into RET_PARTS (to be freed). Returns how many. */
static size_t
join (const LnsWhy *why, const LnsWhyStretch *gap, LnsWhyGap **ret_parts)
{
  LnsWhyGap *parts = lns_calloc (gap->n_parts, sizeof *parts);
  size_t n = 0;

  for (size_t i = 0; i < gap->n_parts; i++)
    {
      const LnsWhyGap *part = &why->gaps.items[gap->first + i];
      if (n > 0 && is_same (&parts[n - 1], part))
        parts[n - 1].end_ns = part->end_ns;
      else
        parts[n++] = *part;
    }
  *ret_parts = parts;
  return n;
}

static int64_t
length_of (const LnsWhyGap *part)
{
  return part->end_ns - part->start_ns;
}

static int
compare_lengths (const void *a, const void *b)
{
  const LnsWhyGap *pa = a, *pb = b;
  return LNS_COMPARE (length_of (pb), length_of (pa));
}

static int
compare_starts (const void *a, const void *b)
{
  const LnsWhyGap *pa = a, *pb = b;
  return LNS_COMPARE (pa->start_ns, pb->start_ns);
}

void
lns_why_write_gap (LnsTables *tables, const LnsWhy *why, const LnsWhyStretch *gap, FILE *stream)
{
  LnsWhyGap *parts;
  const size_t n_all = join (why, gap, &parts);
  const LnsLedger *ledger = &why->ledgers.items[parts[0].ledger];
  const size_t n = n_all < MOST_PARTS ? n_all : MOST_PARTS;
  int64_t shown_ns = 0;
  char *subject = lns_why_subject (tables, ledger), text[LNS_WHY_NS_SIZE];

  fprintf (stream,
           ledger->is_device ? _ ("%s was idle for %s, from %.6f to %.6f s.\n")
                             : _ ("%s: what it did for %s, from %.6f to %.6f s.\n"),
           subject, _lns_why_ns (gap->end_ns - gap->start_ns, text), (double)gap->start_ns / 1e9,
           (double)gap->end_ns / 1e9);
  free (subject);
  if (n < n_all)
    {
      qsort (parts, n_all, sizeof *parts, compare_lengths);
      qsort (parts, n, sizeof *parts, compare_starts);
    }
  for (size_t i = 0; i < n; i++)
    {
      char *what = subject_of (tables, &parts[i]);
      shown_ns += length_of (&parts[i]);
      fprintf (stream, "  %12.6f s  %9s  %-15s  %s", (double)parts[i].start_ns / 1e9,
               _lns_why_ns (length_of (&parts[i]), text), lns_cause_name (parts[i].cause), what);
      if (parts[i].finding > 0)
        fprintf (stream, _ ("  (finding %u)"), (unsigned)parts[i].finding);
      putc ('\n', stream);
      free (what);
    }
  if (n < n_all)
    fprintf (stream, _ ("  %zu more, shorter ones: %s.\n"), n_all - n,
             _lns_why_ns (gap->end_ns - gap->start_ns - shown_ns, text));
  free (parts);
}

static void
put_string (FILE *stream, const char *key, LnsReport *report, uint32_t id)
{
  size_t size;
  const char *text = lns_report_string (report, id, &size);

  if (id == 0)
    return;
  fprintf (stream, ",\"%s\":", key);
  lns_json_write_string (stream, text, size);
}

void
lns_why_write_gap_json (LnsTables *tables,
                        const LnsWhy *why,
                        const LnsWhyStretch *gap,
                        FILE *stream)
{
  LnsReport *report = lns_tables_report (tables);
  uint32_t n_threads, n_devices;
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);
  const LnsLedger *ledger = &why->ledgers.items[why->gaps.items[gap->first].ledger];
  LnsWhyGap *parts;
  const size_t n = join (why, gap, &parts);

  fprintf (stream, "{\"start\":%" PRId64 ",\"end\":%" PRId64, gap->start_ns, gap->end_ns);
  if (ledger->is_device && ledger->device < n_devices)
    fprintf (stream, ",\"device\":%" PRIu32, devices[ledger->device].number);
  fputs (",\"parts\":[", stream);
  for (size_t i = 0; i < n; i++)
    {
      fprintf (stream, "%s\n {\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"cause\":\"%s\"",
               i > 0 ? "," : "", parts[i].start_ns, parts[i].end_ns,
               lns_cause_name (parts[i].cause));
      if (parts[i].thread < n_threads)
        fprintf (stream, ",\"tid\":%" PRId64, (int64_t)threads[parts[i].thread].tid);
      put_string (stream, "range", report, parts[i].range);
      put_string (stream, "call", report, parts[i].call);
      if (parts[i].finding > 0)
        fprintf (stream, ",\"finding\":%" PRIu32, parts[i].finding);
      putc ('}', stream);
    }
  fputs ("]}\n", stream);
  free (parts);
}
