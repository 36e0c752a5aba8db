/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/samples.h"

#include "lns-config.h"

/* The folder of samples: beside the installed viewer, or in the tree that it was built from. */
static char *
find_folder (void)
{
  const char *given = g_getenv ("LNS_SAMPLES");
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = self != NULL ? g_path_get_dirname (self) : g_strdup (".");
  g_autofree char *installed =
      g_build_filename (folder, "..", "share", "lanescope", "samples", NULL);

  if (given != NULL)
    return g_strdup (given);
  if (g_file_test (installed, G_FILE_TEST_IS_DIR))
    return g_steal_pointer (&installed);
  return g_strdup (LNS_SOURCEDIR "/data/samples");
}

/* Whether A is to be shown rather than B, which may be NULL. */
static gboolean
is_better (const char *a, const char *b)
{
  if (b == NULL || g_str_has_suffix (a, "-device.rep") != g_str_has_suffix (b, "-device.rep"))
    return b == NULL || g_str_has_suffix (a, "-device.rep");
  return g_strcmp0 (a, b) < 0;
}

GFile *
lns_samples_first (void)
{
  g_autofree char *folder = find_folder ();
  g_autofree char *best = NULL;
  g_autoptr (GDir) entries = g_dir_open (folder, 0, NULL);
  const char *name;

  while (entries != NULL && (name = g_dir_read_name (entries)) != NULL)
    if (g_str_has_suffix (name, ".rep") && is_better (name, best))
      {
        g_free (best);
        best = g_strdup (name);
      }
  if (best == NULL)
    return NULL;
  g_autofree char *path = g_build_filename (folder, best, NULL);
  return g_file_new_for_path (path);
}
