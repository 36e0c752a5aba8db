/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/recents.h"

#include <glib/gi18n.h>

#include "lns-config.h"
#include "ui/model/display-text.h"

#define REPORT_TYPE "application/x-lanescope-report"
#define RECENT_ITEM 1 /* where "Open Recent" stands in its section: below "Open…" */

void
lns_recents_add (GFile *file)
{
  g_autofree char *uri = g_file_get_uri (file);
  g_autofree char *name = g_file_get_parse_name (file);
  g_autofree char *base = g_path_get_basename (name);
  GtkRecentData data = {
    .display_name = base,
    .mime_type = (char *)REPORT_TYPE,
    .app_name = (char *)"Lanescope",
    .app_exec = (char *)"lanescope-ui %u",
  };

  gtk_recent_manager_add_full (gtk_recent_manager_get_default (), uri, &data);
}

static gint
compare_recents (gconstpointer a, gconstpointer b)
{
  GDateTime *at = gtk_recent_info_get_modified (*(GtkRecentInfo *const *)a);
  GDateTime *bt = gtk_recent_info_get_modified (*(GtkRecentInfo *const *)b);

  return g_date_time_compare (bt, at);
}

/* The URIs of all reports of the list, latest first. */
static GPtrArray *
all_uris (void)
{
  g_autoptr (GPtrArray) recents =
      g_ptr_array_new_with_free_func ((GDestroyNotify)gtk_recent_info_unref);
  GPtrArray *uris = g_ptr_array_new_with_free_func (g_free);
  GList *items = gtk_recent_manager_get_items (gtk_recent_manager_get_default ());

  for (GList *item = items; item != NULL; item = item->next)
    if (strcmp (gtk_recent_info_get_mime_type (item->data), REPORT_TYPE) == 0)
      g_ptr_array_add (recents, gtk_recent_info_ref (item->data));
  g_list_free_full (items, (GDestroyNotify)gtk_recent_info_unref);
  g_ptr_array_sort (recents, compare_recents);
  for (guint i = 0; i < recents->len; i++)
    g_ptr_array_add (uris, g_strdup (gtk_recent_info_get_uri (g_ptr_array_index (recents, i))));
  return uris;
}

/* --- Which of them exist ------------------------------------------------------------------------ */

/* Who follows the list. */
typedef struct
{
  GWeakRef owner;
  LnsRecentsFunc show;
  guint n_looks; /* begun so far */
} Following;

static void
following_clear (gpointer data)
{
  g_weak_ref_clear (&((Following *)data)->owner);
}

static void
following_unref (gpointer data)
{
  g_rc_box_release_full (data, following_clear);
}

/* One look at the files. */
typedef struct
{
  Following *following; /* owned; the main thread's */
  guint number;
  GPtrArray *uris; /* owned; the worker drops those that do not exist */
} Look;

static void
look_free (gpointer data)
{
  Look *look = data;

  following_unref (look->following);
  g_ptr_array_unref (look->uris);
  g_free (look);
}

/* On the worker. */
static void
look (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GPtrArray *uris = ((Look *)data)->uris;

  for (guint i = 0; i < uris->len && i < LNS_RECENTS_MAX;)
    {
      g_autofree char *path = g_filename_from_uri (g_ptr_array_index (uris, i), NULL, NULL);
      if (path != NULL && g_file_test (path, G_FILE_TEST_EXISTS))
        i++;
      else
        g_ptr_array_remove_index (uris, i);
    }
  g_task_return_boolean (task, TRUE);
}

static void
looked_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  const Look *look = g_task_get_task_data (G_TASK (result));
  g_autoptr (GObject) owner = g_weak_ref_get (&look->following->owner);

  /* A later look may have been faster. */
  if (owner != NULL && look->number == look->following->n_looks)
    look->following->show (owner, (char **)look->uris->pdata,
                           MIN (look->uris->len, LNS_RECENTS_MAX));
}

static void
changed_cb (GtkRecentManager *manager, Following *following)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, looked_cb, NULL);
  Look *it = g_new0 (Look, 1);

  it->following = g_rc_box_acquire (following);
  it->number = ++following->n_looks;
  it->uris = all_uris ();
  g_task_set_task_data (task, it, look_free);
  g_task_run_in_thread (task, look);
}

static void
owner_gone_cb (gpointer data, GObject *owner)
{
  g_signal_handlers_disconnect_by_data (gtk_recent_manager_get_default (), data);
  following_unref (data);
}

void
lns_recents_follow (GObject *owner, LnsRecentsFunc show)
{
  GtkRecentManager *manager = gtk_recent_manager_get_default ();
  Following *following = g_rc_box_new0 (Following);

  g_weak_ref_init (&following->owner, owner);
  following->show = show;
  g_object_weak_ref (owner, owner_gone_cb, following);
  g_signal_connect (manager, "changed", G_CALLBACK (changed_cb), following);
  changed_cb (manager, following);
}

/* --- The menu ----------------------------------------------------------------------------------- */

static void
fill_menu (gpointer owner, char **uris, guint n)
{
  GMenu *section = owner;
  g_autoptr (GMenu) submenu = g_menu_new ();

  for (guint i = 0; i < n; i++)
    {
      /* An underscore would underline the next letter as a mnemonic. */
      g_autoptr (GFile) file = g_file_new_for_uri (uris[i]);
      g_autofree char *name = lns_display_file (file, FALSE);
      g_auto (GStrv) parts = g_strsplit (name, "_", -1);
      g_autofree char *label = g_strjoinv ("__", parts);
      g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);
      g_menu_item_set_action_and_target (item, "win.open-uri", "s", uris[i]);
      g_menu_append_item (submenu, item);
    }
  g_autoptr (GMenuModel) old =
      g_menu_model_get_item_link (G_MENU_MODEL (section), RECENT_ITEM, G_MENU_LINK_SUBMENU);
  if (old != NULL)
    g_menu_remove (section, RECENT_ITEM);
  if (n > 0)
    g_menu_insert_submenu (section, RECENT_ITEM, _ ("Open _Recent"), G_MENU_MODEL (submenu));
}

void
lns_recents_fill_menu (GMenu *section)
{
  lns_recents_follow (G_OBJECT (section), fill_menu);
}
