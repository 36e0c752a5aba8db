/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Opening and closing a report. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/store/read/report-private.h"
#include "src/store/database/sql.h"

#define CACHE_BYTES_DEFAULT ((size_t)128 << 20)
#define N_TRIES_MAX         200 /* 10 ms apart: creating a report takes 2 s at most */

static bool
read_snapshot (LnsReport *report,
               LnsConnection *connection,
               const LnsOpenOptions *options,
               LnsError *error)
{
  return _lns_report_file_check_kind (&report->file, connection, error) &&
         _lns_report_read_meta (report, connection, error) &&
         _lns_report_read_definitions (report, connection, options, error) &&
         _lns_report_init_strings (report, error) &&
         _lns_report_read_lanes (report, connection, options, error);
}

static LnsReport *
open_as_it_is (const char *path, const LnsOpenOptions *options, LnsError *error)
{
  LnsReport *report = calloc (1, sizeof *report);

  if (report != NULL)
    {
      _lns_report_file_init (&report->file, path);
      report->info.path = report->file.path;
      report->cache = _lns_chunk_cache_new (options->cache_bytes != 0 ? options->cache_bytes
                                                                      : CACHE_BYTES_DEFAULT);
    }
  if (report == NULL || report->file.path == NULL || report->cache == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to open it", path);
      lns_report_close (report);
      return NULL;
    }

  LnsConnection *connection = NULL;
  bool ok = _lns_report_file_check (path, &report->file.size_bytes, error);
  if (ok)
    {
      /* The working directory may change before the next connection is opened. */
      report->file.real_path = realpath (path, NULL);
      if (report->file.real_path == NULL)
        ok = lns_error_set_errno (error, errno, "cannot access %s", path);
    }
  if (ok)
    ok = (connection = _lns_report_file_begin (&report->file, error)) != NULL;
  if (ok)
    {
      connection->cancel = options->cancel;
      struct stat status;
      if (stat (report->file.real_path, &status) == 0)
        report->file.size_bytes = (uint64_t)status.st_size;
      report->info.file_bytes = report->file.size_bytes;
      ok = read_snapshot (report, connection, options, error);
      connection->cancel = NULL;
      sqlite3_exec (connection->db, "ROLLBACK", NULL, NULL, NULL);
    }
  if (connection != NULL)
    _lns_report_file_give (&report->file, connection);
  if (!ok)
    {
      lns_report_close (report);
      return NULL;
    }
  if (options->progress != NULL)
    options->progress (1.0, options->progress_data);
  return report;
}

/* Whether the file at PATH may be a report that is just being created. Its writer marks it, but not from the first moment
 * to the last; so if MAY_BE_YOUNG, a file that changed within the last second counts too. */
static bool
is_in_the_making (const char *path, bool may_be_young)
{
  struct stat status;
  struct timespec now;

  return stat (path, &status) == 0 && S_ISREG (status.st_mode) &&
         (lns_sql_is_claimed (path) ||
          (may_be_young && clock_gettime (CLOCK_REALTIME_COARSE, &now) == 0 &&
           now.tv_sec - status.st_mtim.tv_sec <= 1));
}

/* A file that is being created is empty at first and then has no identity, so it is tried again. */
LnsReport *
lns_report_open (const char *path, const LnsOpenOptions *options, LnsError *error)
{
  static const LnsOpenOptions no_options;
  static const struct timespec pause = { .tv_nsec = 10000000 };
  LnsReport *report;
  LnsError cause = { 0 };
  bool was_in_the_making = false;

  if (options == NULL)
    options = &no_options;
  for (unsigned n_tries = 0; (report = open_as_it_is (path, options, &cause)) == NULL; n_tries++)
    {
      const bool is_unfinished = cause.domain == LNS_ERROR_FORMAT && n_tries < N_TRIES_MAX &&
                                 is_in_the_making (path, n_tries == 0);
      /* Its writer may have finished it after it was read and before its mark was looked at. */
      if (!is_unfinished && !was_in_the_making)
        break;
      was_in_the_making = is_unfinished;
      nanosleep (&pause, NULL);
    }
  if (report == NULL && error != NULL)
    *error = cause;
  return report;
}

void
lns_report_close (LnsReport *report)
{
  if (report == NULL)
    return;
  lns_report_close (report->derived);
  _lns_report_free_lanes (report);
  _lns_report_free_strings (report);
  _lns_report_free_definitions (report);
  _lns_chunk_cache_free (report->cache);
  _lns_report_file_clear (&report->file);
  free (report);
}

const LnsReportInfo *
lns_report_info (const LnsReport *report)
{
  return &report->info;
}

char *
lns_report_aside (const LnsReport *report)
{
  const char *name = lns_report_meta (report, "aside");
  const char *slash = strrchr (report->file.path, '/');
  const char *own = slash != NULL ? slash + 1 : report->file.path;
  const size_t own_length = strlen (own);
  char *path = NULL;

  /* The file is not trusted: only names that the writer itself gives are accepted. */
  if (report->info.state != LNS_STATE_CUT_OFF || report->info.n_events > 0 || name == NULL ||
      strncmp (name, own, own_length) != 0 || strncmp (name + own_length, ".old", 4) != 0 ||
      strspn (name + own_length + 4, "0123456789") != strlen (name + own_length + 4) ||
      asprintf (&path, "%.*s%s", (int)(own - report->file.path), report->file.path, name) < 0)
    return NULL;
  if (access (path, F_OK) == 0)
    return path;
  free (path);
  return NULL;
}

LnsReportCounters
lns_report_counters (LnsReport *report)
{
  return (LnsReportCounters){
    .bytes_read = atomic_load_explicit (&report->file.bytes_read, memory_order_relaxed),
    .chunks_decoded = atomic_load_explicit (&report->chunks_decoded, memory_order_relaxed),
    .nodes_visited = atomic_load_explicit (&report->nodes_visited, memory_order_relaxed),
    .cache_bytes = _lns_chunk_cache_bytes (report->cache),
  };
}
