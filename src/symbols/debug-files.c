/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/debug-files.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/debuginfod.h"

#define SYSTEM_FOLDER "/usr/lib/debug"

/* What is looked for. */
typedef struct
{
  const LnsDebugSearch *search;
  const LnsBuildId *build_id; /* 0 bytes: files are told by their CRC */
  uint32_t crc;
} Wanted;

static bool
has_debug_info (const LnsElfImage *image)
{
  return lns_elf_image_section (image, ".debug_info") != NULL ||
         lns_elf_image_section (image, ".zdebug_info") != NULL;
}

/* Opens PATH if it has the build-id. */
static LnsElfImage *
open_with_id (const char *path, const LnsBuildId *build_id)
{
  LnsElfImage *image = lns_elf_image_open (path);
  if (image == NULL)
    return NULL;
  const LnsBuildId id = lns_elf_image_build_id (image);
  if (build_id->n == 0 || lns_build_id_equal (&id, build_id))
    return image;
  lns_elf_image_free (image);
  return NULL;
}

/* Takes over PATH (owned) if it is the debug file that is wanted, and frees it otherwise. */
static bool
take_debug_file (const Wanted *wanted, char *path, char **ret_path)
{
  LnsElfImage *image = open_with_id (path, wanted->build_id);
  uint32_t crc;
  const bool fits =
      image != NULL &&
      (has_debug_info (image) || lns_elf_image_section (image, ".symtab") != NULL) &&
      (wanted->build_id->n > 0 || (lns_elf_image_crc (image, &crc) && crc == wanted->crc));
  lns_elf_image_free (image);
  if (fits)
    *ret_path = path;
  else
    free (path);
  return fits;
}

/* FOLDER/.build-id/xx/yyyy and ENDING. Owned. */
static char *
path_of_id (const char *folder, const LnsBuildId *id, const char *ending)
{
  char text[2 * LNS_MOST_BUILD_ID_BYTES + 1];
  lns_build_id_text (id, text);
  return lns_asprintf ("%s/.build-id/%.2s/%s%s", folder, text, text + 2, ending);
}

static const char *
base_name (const char *path)
{
  const char *slash = strrchr (path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* The module's own file: where it was, or in a folder that the user gave, or a server's. */
static LnsElfImage *
find_image (const LnsDebugSearch *search,
            const char *path,
            const LnsBuildId *build_id,
            char **ret_path)
{
  LnsElfImage *image = open_with_id (path, build_id);
  if (image != NULL)
    {
      *ret_path = lns_strdup (path);
      return image;
    }
  if (build_id->n == 0)
    return NULL;
  for (size_t i = 0; i < search->n_folders; i++)
    {
      char *const candidates[] = { path_of_id (search->folders[i], build_id, ""),
                                   lns_asprintf ("%s/%s", search->folders[i], path),
                                   lns_asprintf ("%s/%s", search->folders[i], base_name (path)) };
      for (size_t at = 0; at < sizeof candidates / sizeof *candidates; at++)
        if (image == NULL && (image = open_with_id (candidates[at], build_id)) != NULL)
          *ret_path = candidates[at];
        else
          free (candidates[at]);
      if (image != NULL)
        return image;
    }
  char *found =
      search->uses_debuginfod ? lns_debuginfod_find ("executable", build_id, search->stop) : NULL;
  image = found != NULL ? open_with_id (found, build_id) : NULL;
  if (image != NULL)
    *ret_path = found;
  else
    free (found);
  return image;
}

/* Looks for the file that .gnu_debuglink calls LINK, at the places where debuggers do. */
static bool
find_by_link (const Wanted *wanted, const char *image_path, const char *link, char **ret_path)
{
  const int n_folder = (int)(base_name (image_path) - image_path);
  if (take_debug_file (wanted, lns_asprintf ("%.*s%s", n_folder, image_path, link), ret_path) ||
      take_debug_file (wanted, lns_asprintf ("%.*s.debug/%s", n_folder, image_path, link),
                       ret_path))
    return true;
  for (size_t i = 0; i <= wanted->search->n_folders; i++)
    {
      const char *folder =
          i < wanted->search->n_folders ? wanted->search->folders[i] : SYSTEM_FOLDER;
      if (take_debug_file (wanted, lns_asprintf ("%s/%.*s%s", folder, n_folder, image_path, link),
                           ret_path) ||
          take_debug_file (wanted, lns_asprintf ("%s/%s", folder, link), ret_path))
        return true;
    }
  return false;
}

static bool
find_by_id (const Wanted *wanted, const char *image_path, char **ret_path)
{
  for (size_t i = 0; i <= wanted->search->n_folders; i++)
    {
      const bool is_users = i < wanted->search->n_folders;
      const char *folder = is_users ? wanted->search->folders[i] : SYSTEM_FOLDER;
      if (take_debug_file (wanted, path_of_id (folder, wanted->build_id, ".debug"), ret_path) ||
          (is_users &&
           (take_debug_file (wanted, lns_asprintf ("%s/%s.debug", folder, base_name (image_path)),
                             ret_path) ||
            take_debug_file (wanted, lns_asprintf ("%s/%s", folder, base_name (image_path)),
                             ret_path))))
        return true;
    }
  return false;
}

LnsDebugFiles
lns_debug_files_find (const LnsDebugSearch *search, const char *path, const LnsBuildId *build_id)
{
  LnsDebugFiles files = { .image = NULL };
  LnsElfImage *image = find_image (search, path, build_id, &files.image);
  if (image == NULL)
    return files;
  const LnsBuildId id = lns_elf_image_build_id (image);
  Wanted wanted = { .search = search, .build_id = &id };
  bool is_found = false;
  if (!has_debug_info (image))
    {
      is_found = id.n > 0 && find_by_id (&wanted, files.image, &files.debug);
      char *link = is_found ? NULL : lns_elf_image_debug_link (image, &wanted.crc);
      is_found =
          is_found || (link != NULL && find_by_link (&wanted, files.image, link, &files.debug));
      free (link);
      char *served = !is_found && id.n > 0 && search->uses_debuginfod
                         ? lns_debuginfod_find ("debuginfo", &id, search->stop)
                         : NULL;
      is_found = is_found || (served != NULL && take_debug_file (&wanted, served, &files.debug));
    }
  lns_elf_image_free (image);
  if (!is_found)
    files.debug = lns_strdup (files.image);
  return files;
}

void
lns_debug_files_free (LnsDebugFiles *files)
{
  free (files->image);
  free (files->debug);
  *files = (LnsDebugFiles){ .image = NULL };
}
