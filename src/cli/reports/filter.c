/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"
#include "src/tables/lanes.h"

/* The part of the report that both switches select. */
static bool
find_span (const LnsCliFilterValues *values,
           LnsReport *report,
           LnsFilterSpan *ret_span,
           LnsError *error)
{
  LnsFilterSpan span = { INT64_MIN, INT64_MAX, LNS_ID_NONE };
  LnsTables *tables = NULL;

  if (values->time != NULL && !lns_filter_parse_time (values->time, &span, error))
    return false;
  *ret_span = span;
  if (values->range == NULL)
    return true;
  tables = lns_tables_new (report, error);
  bool good = tables != NULL && lns_filter_find_range (tables, values->range, ret_span, error);
  lns_tables_free (tables);
  if (!good)
    return false;
  ret_span->start_ns = span.start_ns > ret_span->start_ns ? span.start_ns : ret_span->start_ns;
  ret_span->end_ns = span.end_ns < ret_span->end_ns ? span.end_ns : ret_span->end_ns;
  return ret_span->start_ns <= ret_span->end_ns ||
         lns_cli_usage (
             error,
             "--filter-nvtx and --filter-time leave nothing; the range %s is not in that time",
             values->range);
}

/* Makes a temporary folder for the part. */
static bool
make_folder (LnsCliFilter *filter, LnsError *error)
{
  const char *base = getenv ("TMPDIR");

  if (base == NULL || *base == '\0')
    base = "/tmp";
  filter->folder = lns_asprintf ("%s/lanescope-filter-XXXXXX", base);
  if (mkdtemp (filter->folder) == NULL)
    {
      int code = errno;
      free (filter->folder);
      filter->folder = NULL;
      return lns_error_set_errno (
          error, code, "cannot make a folder for the filtered report in %s (TMPDIR)", base);
    }
  filter->path = lns_asprintf ("%s/part.rep", filter->folder);
  return true;
}

bool
lns_cli_filter_open (LnsCliFilter *filter,
                     const LnsCliFilterValues *values,
                     const char *path,
                     LnsError *error)
{
  bool is_whole = values->range == NULL && values->time == NULL;

  *filter = (LnsCliFilter){ .whole = lns_cli_open_report (path, error) };
  if (filter->whole == NULL)
    return false;
  if (!is_whole && find_span (values, filter->whole, &filter->span, error) &&
      make_folder (filter, error) &&
      lns_filter_write (filter->whole, &filter->span, filter->path, lns_cli_catch_interrupt (),
                        error))
    filter->part = lns_report_open (filter->path, NULL, error);
  if (is_whole || filter->part != NULL)
    filter->tables = lns_tables_new (is_whole ? filter->whole : filter->part, error);
  return filter->tables != NULL;
}

bool
lns_cli_filter_open_span (LnsCliFilter *filter,
                          const LnsCliFilterValues *values,
                          const char *path,
                          LnsError *error)
{
  *filter = (LnsCliFilter){ .whole = lns_cli_open_report (path, error) };
  if (filter->whole == NULL || !find_span (values, filter->whole, &filter->span, error))
    return false;
  const LnsFilterSpan all = lns_filter_span (filter->whole);
  if (filter->span.start_ns < all.start_ns)
    filter->span.start_ns = all.start_ns;
  if (filter->span.end_ns > all.end_ns)
    filter->span.end_ns = all.end_ns;
  if (filter->span.start_ns > filter->span.end_ns)
    return lns_cli_usage (error, "--filter-time: the report has nothing in that time");
  filter->tables = lns_tables_new (filter->whole, error);
  return filter->tables != NULL;
}

void
lns_cli_filter_clear (LnsCliFilter *filter)
{
  lns_tables_free (filter->tables);
  lns_report_close (filter->part);
  lns_report_close (filter->whole);
  if (filter->path != NULL)
    unlink (filter->path);
  if (filter->folder != NULL)
    rmdir (filter->folder);
  free (filter->path);
  free (filter->folder);
  *filter = (LnsCliFilter){ 0 };
}

void
lns_cli_filter_tell_none (FILE *stream, const LnsCliFilter *filter, uint32_t kinds)
{
  const LnsFilterSpan *span = &filter->span;
  char text[LNS_FORMAT_SIZE];
  int64_t start_ns, end_ns;

  fputs (", but none", stream);
  if (span->process != LNS_ID_NONE)
    fprintf (stream, " in process %d",
             lns_report_processes (filter->whole, NULL)[span->process].pid);
  if (span->start_ns > INT64_MIN)
    fprintf (stream, " %s %s", span->end_ns < INT64_MAX ? "from" : "after",
             lns_format_duration_exact (span->start_ns, text));
  if (span->end_ns < INT64_MAX)
    fprintf (stream, " %s %s", span->start_ns > INT64_MIN ? "to" : "before",
             lns_format_duration_exact (span->end_ns, text));
  if (lns_span_of_events (filter->whole, kinds, &start_ns, &end_ns))
    {
      fprintf (stream, ". Counted from the session's start, %s begin at %s",
               kinds != 0 ? "such events" : "the report's events",
               lns_format_duration_exact (start_ns, text));
      fprintf (stream, " and end at %s", lns_format_duration_exact (end_ns, text));
    }
  fputs (".\n", stream);
}
