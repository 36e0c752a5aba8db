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

GPtrArray *
lns_recents_list (void)
{
  GPtrArray *recents = g_ptr_array_new_with_free_func ((GDestroyNotify)gtk_recent_info_unref);
  GList *items = gtk_recent_manager_get_items (gtk_recent_manager_get_default ());

  for (GList *item = items; item != NULL; item = item->next)
    {
      GtkRecentInfo *info = item->data;
      if (strcmp (gtk_recent_info_get_mime_type (info), REPORT_TYPE) == 0 &&
          gtk_recent_info_exists (info))
        g_ptr_array_add (recents, gtk_recent_info_ref (info));
    }
  g_list_free_full (items, (GDestroyNotify)gtk_recent_info_unref);
  g_ptr_array_sort (recents, compare_recents);
  if (recents->len > LNS_RECENTS_MAX)
    g_ptr_array_set_size (recents, LNS_RECENTS_MAX);
  return recents;
}

static void
fill_menu_cb (GtkRecentManager *manager, GMenu *section)
{
  g_autoptr (GPtrArray) recents = lns_recents_list ();
  g_autoptr (GMenu) submenu = g_menu_new ();

  for (guint i = 0; i < recents->len; i++)
    {
      GtkRecentInfo *info = g_ptr_array_index (recents, i);
      /* An underscore would underline the next letter as a mnemonic. */
      g_autoptr (GFile) file = g_file_new_for_uri (gtk_recent_info_get_uri (info));
      g_autofree char *name = lns_display_file (file, FALSE);
      g_auto (GStrv) parts = g_strsplit (name, "_", -1);
      g_autofree char *label = g_strjoinv ("__", parts);
      g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);
      g_menu_item_set_action_and_target (item, "win.open-uri", "s", gtk_recent_info_get_uri (info));
      g_menu_append_item (submenu, item);
    }
  g_autoptr (GMenuModel) old =
      g_menu_model_get_item_link (G_MENU_MODEL (section), RECENT_ITEM, G_MENU_LINK_SUBMENU);
  if (old != NULL)
    g_menu_remove (section, RECENT_ITEM);
  if (recents->len > 0)
    g_menu_insert_submenu (section, RECENT_ITEM, _ ("Open _Recent"), G_MENU_MODEL (submenu));
}

void
lns_recents_fill_menu (GMenu *section)
{
  GtkRecentManager *manager = gtk_recent_manager_get_default ();

  g_signal_connect_object (manager, "changed", G_CALLBACK (fill_menu_cb), section, 0);
  fill_menu_cb (manager, section);
}
