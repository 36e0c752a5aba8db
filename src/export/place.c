/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/export/place.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/folders.h"
#include "src/base/memory.h"

static bool
ends_in (const char *name, const char *ending)
{
  size_t n = strlen (name), n_ending = strlen (ending);

  return n >= n_ending && strcmp (name + n - n_ending, ending) == 0;
}

/* Calls ACTION with the path of each entry of FOLDER until it returns false. */
static bool
each_entry (const char *folder, bool (*action) (const char *path, void *data), void *data)
{
  DIR *listing = opendir (folder);
  bool good = listing != NULL;

  for (struct dirent *entry; good && (entry = readdir (listing)) != NULL;)
    {
      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      char *path = lns_asprintf ("%s/%s", folder, entry->d_name);
      good = action (path, data);
      free (path);
    }
  if (listing != NULL)
    closedir (listing);
  return good;
}

static bool
is_ours (const char *path, void *data)
{
  const char *ending = data;
  struct stat status;

  return ends_in (path, ending) && lstat (path, &status) == 0 && S_ISREG (status.st_mode);
}

static bool
remove_file (const char *path, void *data)
{
  return unlink (path) == 0;
}

static void
remove_made (const LnsExportPlace *place, const char *path)
{
  if (place->type->file_ending != NULL)
    {
      each_entry (path, remove_file, NULL);
      rmdir (path);
    }
  else
    unlink (path);
}

static bool
is_same_file (const char *path, const struct stat *other)
{
  struct stat status;

  return path != NULL && stat (path, &status) == 0 && status.st_dev == other->st_dev &&
         status.st_ino == other->st_ino;
}

/* Returns whether the existing file or folder may be replaced. Fills ERROR if not. */
static bool
may_replace (const LnsExportPlace *place,
             LnsReport *report,
             const struct stat *status,
             LnsError *error)
{
  const char *path = place->path, *file_ending = place->type->file_ending;

  if (file_ending == NULL && S_ISDIR (status->st_mode))
    return lns_error_set (error, LNS_ERROR_IO, EISDIR, "%s is a folder; name a file with --output",
                          path);
  if (file_ending != NULL && !S_ISDIR (status->st_mode))
    return lns_error_set (error, LNS_ERROR_IO, ENOTDIR,
                          "%s is a file, but --type %s writes a folder; choose another name with "
                          "--output",
                          path, place->type->name);
  if (is_same_file (lns_report_info (report)->path, status) ||
      is_same_file (lns_report_meta (report, "imported_from"), status))
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "%s: a report cannot be replaced by its export; choose another name with "
                          "--output",
                          path);
  if (file_ending != NULL && place->append)
    return true;
  if (!place->overwrite)
    return lns_error_set (
        error, LNS_ERROR_IO, EEXIST,
        "%s exists; use --force-overwrite=true to replace it, or choose another name with --output",
        path);
  if (file_ending != NULL && !each_entry (path, is_ours, (void *)file_ending))
    return lns_error_set (
        error, LNS_ERROR_IO, ENOTEMPTY,
        "%s also holds files other than %s, so it is not replaced; choose another "
        "folder with --output",
        path, file_ending);
  return true;
}

bool
lns_export_place_open (LnsExportPlace *place,
                       LnsReport *report,
                       const LnsExportType *type,
                       const char *path,
                       const LnsExportOptions *options,
                       LnsError *error)
{
  struct stat status;

  *place = (LnsExportPlace){ .path = path,
                             .type = type,
                             .overwrite = options->overwrite,
                             .append = options->append,
                             .mode = lns_mode_like (options->source != NULL
                                                        ? options->source
                                                        : lns_report_info (report)->path) };
  if (strcmp (path, "-") == 0 && !type->is_stream)
    return lns_error_set (
        error, LNS_ERROR_USAGE, 0,
        "--type %s cannot write to the standard output; give a name with --output", type->name);
  if (strcmp (path, "-") == 0)
    {
      place->temporary = lns_strdup ("-");
      return true;
    }
  if ((stat (path, &status) == 0 && !may_replace (place, report, &status, error)) ||
      !lns_make_folders (path, 0777, error))
    return false;
  size_t length = strlen (path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  place->temporary = lns_asprintf ("%.*s.%ld.part", (int)length, path, (long)getpid ());
  remove_made (place, place->temporary);
  return type->file_ending == NULL ||
         mkdir (place->temporary, place->mode | (place->mode & 0444) >> 2) == 0 ||
         lns_error_set_errno (error, errno, "%s cannot be created", path);
}

/* Moves a file into the folder DATA unless it has one of that name. */
static bool
move_if_new (const char *path, void *data)
{
  char *target = lns_asprintf ("%s/%s", (const char *)data, strrchr (path, '/') + 1);
  bool good = access (target, F_OK) == 0 || rename (path, target) == 0;

  free (target);
  return good;
}

/* Renames an existing folder first, because rename () does not replace a folder that has files. */
static bool
publish_folder (const LnsExportPlace *place)
{
  if (rename (place->temporary, place->path) == 0)
    return true;
  if (errno != ENOTEMPTY && errno != EEXIST)
    return false;
  if (place->append)
    return each_entry (place->temporary, move_if_new, (void *)place->path);
  char *aside = lns_asprintf ("%s.old", place->temporary);
  bool good = place->overwrite && rename (place->path, aside) == 0;
  if (good && rename (place->temporary, place->path) != 0)
    {
      rename (aside, place->path);
      good = false;
    }
  else if (good)
    remove_made (place, aside);
  free (aside);
  return good;
}

/* link () refuses a name that another program has created meanwhile. rename (), for file systems without links, does
 * not. */
static bool
publish_file (const LnsExportPlace *place)
{
  if (place->overwrite)
    return rename (place->temporary, place->path) == 0;
  return link (place->temporary, place->path) == 0 ||
         (errno != EEXIST && rename (place->temporary, place->path) == 0);
}

bool
lns_export_place_close (LnsExportPlace *place, bool good, LnsError *error)
{
  bool is_stdout = place->temporary == NULL || strcmp (place->temporary, "-") == 0;

  if (good && !is_stdout)
    {
      good = place->type->file_ending != NULL ? publish_folder (place) : publish_file (place);
      if (!good)
        lns_error_set (error, LNS_ERROR_IO, errno, "%s cannot be written: %s", place->path,
                       errno == EEXIST ? "another program has created it" : strerror (errno));
    }
  if (!is_stdout)
    remove_made (place, place->temporary);
  free (place->temporary);
  return good;
}

bool
lns_export_fail (const LnsExportJob *job, int code, LnsError *error)
{
  if (code == ENOSPC || code == EDQUOT)
    return lns_error_set (
        error, LNS_ERROR_IO, ENOSPC,
        "%s cannot be written: its disk is full; make room, or choose another disk "
        "with --output",
        job->path);
  return lns_error_set_errno (error, code, "%s cannot be written", job->path);
}
