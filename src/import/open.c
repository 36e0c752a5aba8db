/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/import/nsys/import.h"
#include "src/import/trace/json.h"
#include "src/store/read/report-cache.h"
#include "src/store/database/sql.h"

/* Increase it when files are imported in another way. Cached reports of other versions are not used. */
#define IMPORT_VERSION "7"

/* Limits of the cache. */
#define COPIES_MAX       32
#define COPIES_MAX_BYTES (INT64_C (8) << 30)

/* The offset of the application id in SQLite's header, big-endian. */
#define HEAD_BYTES        100
#define APPLICATION_ID_AT 68

/* Returns where the ending of an nsys report begins in PATH, or NULL if PATH has another ending. */
static const char *
nsys_ending (const char *path)
{
  static const char *const endings[] = { ".nsys-rep", ".qdrep" };
  const size_t length = strlen (path);

  for (size_t i = 0; i < 2; i++)
    {
      const size_t n = strlen (endings[i]);
      if (length > n && strcmp (path + length - n, endings[i]) == 0)
        return path + length - n;
    }
  return NULL;
}

char *
lns_import_stand_in (const char *path)
{
  const char *ending = nsys_ending (path);

  if (ending == NULL || access (path, F_OK) == 0)
    return NULL;
  char *report = lns_asprintf ("%.*s.rep", (int)(ending - path), path);
  if (access (report, F_OK) == 0)
    return report;
  free (report);
  return NULL;
}

LnsInputKind
lns_import_kind (const char *path)
{
  unsigned char head[HEAD_BYTES] = { 0 };
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t n = fd >= 0 ? read (fd, head, sizeof head) : -1;
  const unsigned char *id = head + APPLICATION_ID_AT;

  if (fd >= 0)
    close (fd);
  if (n == HEAD_BYTES && memcmp (head, "SQLite format 3", 16) == 0)
    return ((uint32_t)id[0] << 24 | id[1] << 16 | id[2] << 8 | id[3]) == LNS_SQL_APPLICATION_ID
               ? LNS_INPUT_REPORT
               : LNS_INPUT_SQLITE;
  if (n > 0 && nsys_ending (path) != NULL)
    return LNS_INPUT_NSYS;
  return n > 0 && lns_trace_is_one (path) ? LNS_INPUT_TRACE : LNS_INPUT_REPORT;
}

/* Fills ERROR with the reason why PATH cannot be imported. */
static bool
refuse_report (const char *path, LnsError *error)
{
  LnsReport *report = lns_report_open (path, NULL, error); /* ERROR says why there is none */

  if (report != NULL)
    lns_error_set (error, LNS_ERROR_USAGE, 0, "%s is already a Lanescope report; open it directly",
                   path);
  lns_report_close (report);
  return false;
}

/* Returns whether both paths name the same file. */
static bool
is_same_file (const char *path, const char *other)
{
  struct stat one, two;
  return stat (path, &one) == 0 && stat (other, &two) == 0 && one.st_dev == two.st_dev &&
         one.st_ino == two.st_ino;
}

bool
lns_import_file (const char *path,
                 const char *out_path,
                 const LnsImportOptions *options,
                 LnsImportResult *ret_result,
                 LnsError *error)
{
  if (is_same_file (path, out_path))
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "%s: the report would replace it; choose another name for the report",
                          path);
  switch (lns_import_kind (path))
    {
    case LNS_INPUT_TRACE:
      return lns_import_trace (path, out_path, options, ret_result, error);
    case LNS_INPUT_NSYS:
      return lns_import_nsys (path, out_path, options, ret_result, error);
    case LNS_INPUT_REPORT:
      return refuse_report (path, error);
    default:
      return lns_import_sqlite (path, out_path, options, ret_result, error);
    }
}

/* Imports PATH into the cache at CACHED_PATH. It writes under another name first, because other processes may look. */
static bool
import_into (const char *path,
             const char *cached_path,
             const LnsImportOptions *options,
             LnsError *error)
{
  static atomic_uint n_imports; /* of this process, which may run several at once */
  LnsImportOptions own = options != NULL ? *options : (LnsImportOptions){ 0 };
  char *new_path = lns_asprintf ("%.*s-%d-%u.rep", (int)strlen (cached_path) - 4, cached_path,
                                 (int)getpid (), atomic_fetch_add (&n_imports, 1));

  own.overwrite = true;
  bool good = lns_import_file (path, new_path, &own, NULL, error);
  if (!good && (error->code == ENOSPC || error->code == EDQUOT || error->code == EROFS))
    lns_error_prefix (
        error, "cannot import %s into the cache; set XDG_CACHE_HOME to another folder", path);
  if (good && rename (new_path, cached_path) != 0)
    {
      good = lns_error_set_errno (error, errno, "%s: cannot move the report into the cache",
                                  cached_path);
      lns_sql_remove (new_path);
    }
  free (new_path);
  return good;
}

LnsReport *
lns_import_open (const char *path, const LnsImportOptions *options, LnsError *error)
{
  const LnsOpenOptions opening = { .cancel = options != NULL ? options->cancel : NULL };
  char *cached_path = lns_report_cache_path ("imported", IMPORT_VERSION, path, error);
  LnsReport *report = cached_path != NULL ? lns_report_open (cached_path, &opening, NULL) : NULL;

  if (report != NULL)
    utimensat (AT_FDCWD, cached_path, NULL,
               0); /* the report that was opened last stays longest   */
  else if (cached_path != NULL && import_into (path, cached_path, options, error))
    {
      report = lns_report_open (cached_path, &opening, error);
      lns_report_cache_prune (cached_path, COPIES_MAX, COPIES_MAX_BYTES);
    }
  free (cached_path);
  return report;
}
