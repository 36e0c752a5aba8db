/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/view-store.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "src/base/compare.h"
#include "ui/model/display-text.h"
#include "ui/model/row-identity.h"

#define KEPT_FILES 1000

/* What is to be written: the path of each file → its contents (GBytes). They stay until they are written, for who reads before that. */
static GHashTable *pending;
static GMutex pending_lock;
/* Held by the one that writes, so that no older contents come after newer ones. */
static GMutex writing_lock;

/* --- Which files --------------------------------------------------------------------------- */

static char *
folder_path (void)
{
  return g_build_filename (g_get_user_state_dir (), "lanescope", "views", NULL);
}

/* The file of KIND of what is called KEY. */
static char *
file_path (const char *kind, const char *key)
{
  g_autofree char *folder = folder_path ();
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, key, -1);
  g_autofree char *name = g_strdup_printf ("%s-%.32s.json", kind, hash);
  return g_build_filename (folder, name, NULL);
}

static char *
report_path (LnsReport *report)
{
  const LnsReportInfo *info = lns_report_info (report);
  GString *key = g_string_new (NULL);
  /* An import may be made anew, with another UUID; the path of its cache follows from the file that was imported. */
  if (lns_report_meta (report, "imported_from") != NULL)
    g_string_append (key, info->path);
  else
    for (gsize i = 0; i < sizeof info->uuid; i++)
      g_string_append_printf (key, "%02x", info->uuid[i]);
  char *path = file_path ("report", key->str);
  g_string_free (key, TRUE);
  return path;
}

/* NULL: the program is not known. */
static char *
program_path (LnsReport *report)
{
  g_autofree char *program = lns_program_identity (report);
  return program != NULL ? file_path ("program", program) : NULL;
}

/* --- Reading ------------------------------------------------------------------------------- */

static GBytes *
pending_contents (const char *path)
{
  g_mutex_lock (&pending_lock);
  GBytes *bytes = pending != NULL ? g_hash_table_lookup (pending, path) : NULL;
  if (bytes != NULL)
    g_bytes_ref (bytes);
  g_mutex_unlock (&pending_lock);
  return bytes;
}

/* The contents of a file, no more than may be in one and one byte. NULL: RET_PROBLEM says why, or is NULL if there is no such file. */
static GBytes *
file_contents (const char *path, char **ret_problem)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = g_file_new_for_path (path);
  /* A pipe would never end. */
  g_autoptr (GFileInfo) info = g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_TYPE,
                                                  G_FILE_QUERY_INFO_NONE, NULL, &error);
  if (info != NULL && g_file_info_get_file_type (info) != G_FILE_TYPE_REGULAR)
    {
      *ret_problem = g_strdup (_ ("it is not a regular file"));
      return NULL;
    }
  g_autoptr (GFileInputStream) stream = info != NULL ? g_file_read (file, NULL, &error) : NULL;
  g_autoptr (GBytes) bytes = stream != NULL
                                 ? g_input_stream_read_bytes (G_INPUT_STREAM (stream),
                                                              LNS_KEPT_MAX_BYTES + 1, NULL, &error)
                                 : NULL;
  if (bytes == NULL && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    *ret_problem = g_strdup (error->message);
  return g_steal_pointer (&bytes);
}

/* The view in the file at PATH. NULL: there is none, or RET_PROBLEM says what is wrong with it, unless it has a text already. */
static LnsKeptView *
read_view (const char *path, char **ret_problem)
{
  g_autofree char *problem = NULL;
  LnsKeptView *view = NULL;
  g_autoptr (GBytes) bytes = pending_contents (path);
  if (bytes == NULL)
    bytes = file_contents (path, &problem);
  if (bytes != NULL)
    view = lns_kept_view_from_json (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                                    &problem);
  if (problem != NULL && *ret_problem == NULL)
    {
      g_autofree char *shown = lns_display_text (path, strlen (path), TRUE);
      /* Translators: a file, and why */
      *ret_problem = g_strdup_printf (
          _ ("How the report was left is not known: %s is ignored, as %s."), shown, problem);
    }
  return view;
}

void
lns_view_store_read (LnsReport *report, LnsStoredView *ret_stored)
{
  g_autofree char *of_report = report_path (report), *of_program = program_path (report);
  *ret_stored = (LnsStoredView){ 0 };
  ret_stored->view = read_view (of_report, &ret_stored->problem);
  ret_stored->is_of_report = ret_stored->view != NULL;
  if (ret_stored->view == NULL && of_program != NULL)
    ret_stored->view = read_view (of_program, &ret_stored->problem);
}

void
lns_stored_view_clear (LnsStoredView *stored)
{
  g_clear_pointer (&stored->view, lns_kept_view_free);
  g_clear_pointer (&stored->problem, g_free);
}

/* --- Writing ------------------------------------------------------------------------------- */

typedef struct
{
  char *name; /* owned */
  gint64 modified_s;
} Found;

static void
found_clear (gpointer found)
{
  g_free (((Found *)found)->name);
}

static int
compare_age (gconstpointer a, gconstpointer b)
{
  return LNS_COMPARE (((const Found *)b)->modified_s, ((const Found *)a)->modified_s);
}

/* Leaves the KEPT_FILES files that were written last. */
static void
prune (const char *folder)
{
  const char *name;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Found));
  g_array_set_clear_func (all, found_clear);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      GStatBuf status;
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (!g_str_has_suffix (name, ".json") || g_lstat (path, &status) != 0)
        continue;
      const Found found = { g_steal_pointer (&path), status.st_mtime };
      g_array_append_val (all, found);
    }
  g_array_sort (all, compare_age);
  for (guint i = KEPT_FILES; i < all->len; i++)
    g_unlink (g_array_index (all, Found, i).name);
}

/* Takes one of what is pending. FALSE: there is nothing. */
static gboolean
take_pending (char **ret_path, GBytes **ret_bytes)
{
  GHashTableIter iter;
  gpointer path, bytes;
  g_mutex_lock (&pending_lock);
  g_hash_table_iter_init (&iter, pending);
  const gboolean found = g_hash_table_iter_next (&iter, &path, &bytes);
  if (found)
    {
      *ret_path = g_strdup (path);
      *ret_bytes = g_bytes_ref (bytes);
    }
  g_mutex_unlock (&pending_lock);
  return found;
}

/* What was written, or cannot be, is pending no more, unless it has changed again. */
static void
drop_pending (const char *path, const GBytes *bytes)
{
  g_mutex_lock (&pending_lock);
  if (g_hash_table_lookup (pending, path) == bytes)
    g_hash_table_remove (pending, path);
  g_mutex_unlock (&pending_lock);
}

/* On a worker. */
static void
write_pending (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  char *path;
  GBytes *bytes;
  g_autofree char *folder = folder_path ();
  g_mutex_lock (&writing_lock);
  if (g_mkdir_with_parents (folder, 0700) != 0)
    error = g_error_new (G_FILE_ERROR, g_file_error_from_errno (errno), "%s: %s", folder,
                         g_strerror (errno));
  while (take_pending (&path, &bytes))
    {
      if (error == NULL)
        g_file_set_contents_full (path, g_bytes_get_data (bytes, NULL),
                                  (gssize)g_bytes_get_size (bytes), G_FILE_SET_CONTENTS_CONSISTENT,
                                  0600, &error);
      drop_pending (path, bytes);
      g_bytes_unref (bytes);
      g_free (path);
    }
  if (error == NULL)
    prune (folder);
  g_mutex_unlock (&writing_lock);
  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, TRUE);
}

typedef struct
{
  GApplication *application; /* owned and held, or NULL */
  LnsViewStoreFunc failed;
  GWeakRef owner;
} Writing;

static void
writing_free (gpointer data)
{
  Writing *writing = data;
  g_weak_ref_clear (&writing->owner);
  g_clear_object (&writing->application);
  g_free (writing);
}

static void
written_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  Writing *writing = g_task_get_task_data (G_TASK (result));
  g_autoptr (GObject) owner = g_weak_ref_get (&writing->owner);
  if (!g_task_propagate_boolean (G_TASK (result), &error) && owner != NULL)
    {
      g_autofree char *shown = lns_display_text (error->message, strlen (error->message), TRUE);
      g_autofree char *text = g_strdup_printf (_ ("The view could not be kept: %s"), shown);
      writing->failed (text, owner);
    }
  if (writing->application != NULL)
    g_application_release (writing->application);
}

/* Takes PATH and TEXT over. */
static void
add_pending (char *path, char *text)
{
  g_mutex_lock (&pending_lock);
  if (pending == NULL)
    pending =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
  g_hash_table_insert (pending, path, g_bytes_new_take (text, strlen (text)));
  g_mutex_unlock (&pending_lock);
}

void
lns_view_store_write (LnsReport *report,
                      const LnsKeptView *view,
                      const char *json,
                      LnsViewStoreFunc failed,
                      GObject *owner)
{
  char *of_program = program_path (report);
  GApplication *application = g_application_get_default ();
  Writing *writing = g_new0 (Writing, 1);
  add_pending (report_path (report), g_strdup (json));
  if (of_program != NULL)
    add_pending (of_program, lns_kept_view_to_json (view, TRUE));
  writing->failed = failed;
  g_weak_ref_init (&writing->owner, owner);
  if (application != NULL)
    {
      writing->application = g_object_ref (application);
      g_application_hold (application);
    }
  g_autoptr (GTask) task = g_task_new (NULL, NULL, written_cb, NULL);
  g_task_set_task_data (task, writing, writing_free);
  g_task_run_in_thread (task, write_pending);
}
