/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/analysis/filter.h"
#include "src/base/memory.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"

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
  LnsFilterSpan span;
  bool is_whole = values->range == NULL && values->time == NULL;

  *filter = (LnsCliFilter){ .whole = lns_cli_open_report (path, error) };
  if (filter->whole == NULL)
    return false;
  if (!is_whole && find_span (values, filter->whole, &span, error) && make_folder (filter, error) &&
      lns_filter_write (filter->whole, &span, filter->path, lns_cli_catch_interrupt (), error))
    filter->part = lns_report_open (filter->path, NULL, error);
  if (is_whole || filter->part != NULL)
    filter->tables = lns_tables_new (is_whole ? filter->whole : filter->part, error);
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
