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

bool
_lns_report_read (LnsReport *report,
                  const LnsReport *older,
                  LnsConnection *connection,
                  const LnsOpenOptions *options,
                  LnsError *error)
{
  LnsReportFile *file = &report->shared->file;
  struct stat status;

  if (stat (file->real_path, &status) == 0)
    atomic_store_explicit (&file->size_bytes, (uint64_t)status.st_size, memory_order_relaxed);
  report->info.path = file->path;
  report->info.file_bytes = atomic_load_explicit (&file->size_bytes, memory_order_relaxed);
  return _lns_report_file_check_kind (file, connection, error) &&
         _lns_report_read_meta (report, connection, error) &&
         _lns_report_read_definitions (report, older, connection, options, error) &&
         _lns_report_read_lanes (report, older, connection, options, error);
}

static void
unref_shared (LnsReportShared *shared)
{
  if (shared == NULL || atomic_fetch_sub_explicit (&shared->refs, 1, memory_order_acq_rel) != 1)
    return;
  _lns_report_free_strings (shared);
  _lns_chunk_cache_free (shared->cache);
  _lns_report_file_clear (&shared->file);
  free (shared);
}

/* NULL if memory runs out. */
static LnsReportShared *
new_shared (const char *path, size_t cache_bytes)
{
  LnsReportShared *shared = calloc (1, sizeof *shared);

  if (shared == NULL)
    return NULL;
  atomic_init (&shared->refs, 1);
  shared->cache = _lns_chunk_cache_new (cache_bytes != 0 ? cache_bytes : CACHE_BYTES_DEFAULT);
  if (_lns_report_file_init (&shared->file, path) && shared->cache != NULL)
    return shared;
  unref_shared (shared);
  return NULL;
}

LnsReport *
_lns_report_new (LnsReportShared *shared)
{
  LnsReport *report = shared != NULL ? calloc (1, sizeof *report) : NULL;

  if (report == NULL)
    {
      unref_shared (shared);
      return NULL;
    }
  atomic_init (&report->refs, 1);
  report->shared = shared;
  return report;
}

static LnsReport *
open_as_it_is (const char *path, const LnsOpenOptions *options, LnsError *error)
{
  LnsReport *report = _lns_report_new (new_shared (path, options->cache_bytes));

  if (report == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to open it", path);
      return NULL;
    }
  LnsReportFile *file = &report->shared->file;

  LnsConnection *connection = NULL;
  uint64_t size_bytes = 0;
  bool ok = _lns_report_file_check (path, &size_bytes, error);
  atomic_init (&file->size_bytes, size_bytes);
  if (ok)
    {
      /* The working directory may change before the next connection is opened. */
      file->real_path = realpath (path, NULL);
      if (file->real_path == NULL)
        ok = lns_error_set_errno (error, errno, "cannot access %s", path);
    }
  if (ok)
    ok = (connection = _lns_report_file_begin (file, error)) != NULL;
  if (ok)
    {
      struct stat status;
      if (stat (file->real_path, &status) == 0)
        {
          file->device = status.st_dev;
          file->inode = status.st_ino;
        }
      connection->cancel = options->cancel;
      ok = _lns_report_read (report, NULL, connection, options, error);
      connection->cancel = NULL;
      sqlite3_exec (connection->db, "ROLLBACK", NULL, NULL, NULL);
    }
  if (connection != NULL)
    _lns_report_file_give (file, connection);
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

LnsReport *
lns_report_ref (LnsReport *report)
{
  atomic_fetch_add_explicit (&report->refs, 1, memory_order_relaxed);
  return report;
}

void
lns_report_close (LnsReport *report)
{
  if (report == NULL || atomic_fetch_sub_explicit (&report->refs, 1, memory_order_acq_rel) != 1)
    return;
  lns_report_close (report->derived);
  _lns_report_free_lanes (report);
  _lns_report_free_definitions (report);
  unref_shared (report->shared);
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
  const char *slash = strrchr (report->shared->file.path, '/');
  const char *own = slash != NULL ? slash + 1 : report->shared->file.path;
  const size_t own_length = strlen (own);
  char *path = NULL;

  /* The file is not trusted: only names that the writer itself gives are accepted. */
  if (report->info.state != LNS_STATE_CUT_OFF || report->info.n_events > 0 || name == NULL ||
      strncmp (name, own, own_length) != 0 || strncmp (name + own_length, ".old", 4) != 0 ||
      strspn (name + own_length + 4, "0123456789") != strlen (name + own_length + 4) ||
      asprintf (&path, "%.*s%s", (int)(own - report->shared->file.path), report->shared->file.path,
                name) < 0)
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
    .bytes_read = atomic_load_explicit (&report->shared->file.bytes_read, memory_order_relaxed),
    .chunks_decoded = atomic_load_explicit (&report->shared->chunks_decoded, memory_order_relaxed),
    .nodes_visited = atomic_load_explicit (&report->shared->nodes_visited, memory_order_relaxed),
    .cache_bytes = _lns_chunk_cache_bytes (report->shared->cache),
  };
}
