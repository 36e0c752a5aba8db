/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/mcp/reports.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/regular-file.h"
#include "src/cli/mcp/message.h"
#include "src/store/recover/recover.h"

/* One that is open, or a free place. */
typedef struct
{
  LnsMcpReport it;
  struct stat status; /* of its file, when it was opened */
  uint64_t used;      /* when, in calls; 0: the place is free */
} Place;

struct LnsMcpReports
{
  const atomic_bool *cancel;
  Place places[LNS_MCP_MAX_REPORTS];
  unsigned n_opened; /* ever: handles are not given twice */
  uint64_t n_uses;
};

LnsMcpReports *
lns_mcp_reports_new (const atomic_bool *cancel)
{
  LnsMcpReports *reports = lns_calloc (1, sizeof *reports);

  reports->cancel = cancel;
  return reports;
}

static int
remove_cb (const char *path, const struct stat *status, int type, struct FTW *walk)
{
  remove (path);
  return 0;
}

static void
close_place (Place *place)
{
  lns_query_free (place->it.query);
  lns_tables_free (place->it.tables);
  lns_report_close (place->it.report);
  if (place->it.folder != NULL)
    nftw (place->it.folder, remove_cb, 8, FTW_DEPTH | FTW_PHYS);
  free (place->it.folder);
  free (place->it.path);
  free (place->it.quoted);
  *place = (Place){ 0 };
}

void
lns_mcp_reports_free (LnsMcpReports *reports)
{
  if (reports == NULL)
    return;
  for (size_t i = 0; i < LNS_MCP_MAX_REPORTS; i++)
    close_place (&reports->places[i]);
  free (reports);
}

char *
lns_mcp_quote (const char *text)
{
  char *quoted = lns_realloc (NULL, 4 * strlen (text) + 3, 1), *to = quoted;

  *to++ = '\'';
  for (; *text != '\0'; text++)
    if (*text == '\'')
      to = stpcpy (to, "'\\''");
    else
      *to++ = *text;
  *to++ = '\'';
  *to = '\0';
  return quoted;
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* The path of a folder in TMPDIR that is not there yet; nobody else can make it, as its name is not known. Owned. */
static char *
new_folder (void)
{
  const char *base = getenv ("TMPDIR");
  uint64_t number = 0;

  if (getrandom (&number, sizeof number, 0) != sizeof number)
    number = (uint64_t)getpid ();
  return lns_asprintf ("%s/lanescope-mcp-%016" PRIx64,
                       base != NULL && base[0] == '/' ? base : "/tmp", number);
}

static bool
refuse_other (const char *path, LnsError *error)
{
  return lns_mcp_refuse (
      error, "%s is not a report; give a .rep file, a SQLite export of nsys, or a trace", path);
}

/* Whether the file at PATH begins as reports do. */
static bool
begins_as_report (const char *path)
{
  static const char magic[] = "SQLite format 3"; /* and a NUL */
  char head[sizeof magic];
  const int fd = lns_regular_file_open (path);
  const bool begins = fd >= 0 && read (fd, head, sizeof head) == sizeof head &&
                      memcmp (head, magic, sizeof head) == 0;

  if (fd >= 0)
    close (fd);
  return begins;
}

/* Makes IT of the file at PATH: opens the report, or what it can be made into. */
static bool
open_file (LnsMcpReports *reports, const char *path, LnsMcpReport *it, LnsError *error)
{
  const LnsOpenOptions opening = { .cancel = reports->cancel };
  const LnsImportOptions importing = { .cancel = reports->cancel };
  const LnsQueryOptions asking = { .cancel = reports->cancel, .in_memory = true };

  it->kind = lns_import_kind (path);
  if (it->kind == LNS_INPUT_NSYS)
    return lns_mcp_refuse (
        error,
        "only nsys can read %s; make a report of it with `lanescope import`, and "
        "open that",
        path);
  if (it->kind == LNS_INPUT_REPORT && !begins_as_report (path))
    return refuse_other (path, error);
  it->folder = new_folder ();
  setenv ("XDG_CACHE_HOME", it->folder, 1);
  it->report = it->kind == LNS_INPUT_REPORT
                   ? lns_report_open_or_recover (path, &opening, &it->is_recovered, error)
                   : lns_import_open (path, &importing, error);
  if (it->report != NULL)
    it->tables = lns_tables_new (it->report, error);
  if (it->tables != NULL)
    it->query = lns_query_new (it->report, &asking, error);
  return it->query != NULL;
}

/* The place for one more report: a free one, or that of the report which was used longest ago. */
static Place *
free_place (LnsMcpReports *reports)
{
  Place *oldest = &reports->places[0];

  for (size_t i = 1; i < LNS_MCP_MAX_REPORTS; i++)
    if (reports->places[i].used < oldest->used)
      oldest = &reports->places[i];
  close_place (oldest);
  return oldest;
}

static bool
is_of (const Place *place, const struct stat *status)
{
  return place->used != 0 && place->status.st_dev == status->st_dev &&
         place->status.st_ino == status->st_ino && place->status.st_size == status->st_size &&
         place->status.st_mtim.tv_sec == status->st_mtim.tv_sec &&
         place->status.st_mtim.tv_nsec == status->st_mtim.tv_nsec;
}

LnsMcpReport *
lns_mcp_reports_open (LnsMcpReports *reports, const char *path, LnsError *error)
{
  struct stat status;
  char *real = realpath (path, NULL);

  if (real == NULL || stat (real, &status) != 0)
    {
      lns_mcp_refuse (error, "cannot open %s: %m", path);
      free (real);
      return NULL;
    }
  /* Files of /proc say that they are empty; reading them may have effects. */
  if (!S_ISREG (status.st_mode) || status.st_size == 0)
    {
      refuse_other (path, error);
      free (real);
      return NULL;
    }
  for (size_t i = 0; i < LNS_MCP_MAX_REPORTS; i++)
    if (is_of (&reports->places[i], &status))
      {
        free (real);
        reports->places[i].used = ++reports->n_uses;
        return &reports->places[i].it;
      }
  Place made = { .it = { .path = real, .quoted = lns_mcp_quote (real) },
                 .status = status,
                 .used = ++reports->n_uses };
  if (!open_file (reports, real, &made.it, error))
    {
      close_place (&made);
      return NULL;
    }
  snprintf (made.it.handle, sizeof made.it.handle, "r%u", ++reports->n_opened);
  Place *place = free_place (reports);
  *place = made;
  return &place->it;
}

LnsMcpReport *
lns_mcp_reports_find (LnsMcpReports *reports, const char *handle, LnsError *error)
{
  char *end;
  const unsigned long number = handle[0] == 'r' ? strtoul (handle + 1, &end, 10) : 0;

  for (size_t i = 0; i < LNS_MCP_MAX_REPORTS; i++)
    if (reports->places[i].used != 0 && strcmp (reports->places[i].it.handle, handle) == 0)
      {
        reports->places[i].used = ++reports->n_uses;
        return &reports->places[i].it;
      }
  if (number >= 1 && number <= reports->n_opened)
    lns_mcp_refuse (error, "report “%s” was closed, as at most %d are kept; open its file again",
                    handle, LNS_MCP_MAX_REPORTS);
  else
    lns_mcp_refuse (error, "there is no report “%s”; call open with a path, and use its handle",
                    handle);
  return NULL;
}
