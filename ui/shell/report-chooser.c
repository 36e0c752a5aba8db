/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/report-chooser.h"

#include <glib/gi18n.h>

#define CHOSEN "lns-chosen"

static void
response_cb (GtkNativeDialog *dialog, int response, GtkWindow *window)
{
  void (*chosen) (GPtrArray * files, gpointer window) =
      g_object_get_data (G_OBJECT (dialog), CHOSEN);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);

  if (response == GTK_RESPONSE_ACCEPT)
    {
      g_autoptr (GListModel) all = gtk_file_chooser_get_files (GTK_FILE_CHOOSER (dialog));
      for (guint i = 0; i < g_list_model_get_n_items (all); i++)
        g_ptr_array_add (files, g_list_model_get_item (all, i));
    }
  if (files->len > 0)
    chosen (files, window);
  gtk_native_dialog_destroy (dialog);
  g_object_unref (dialog);
}

void
lns_report_chooser_show (GtkWindow *window,
                         const char *title,
                         gboolean is_multiple,
                         void (*chosen) (GPtrArray *files, gpointer window))
{
  static const char *const patterns[] = { "*.rep",  "*.nsys-rep", "*.qdrep",  "*.sqlite",
                                          "*.json", "*.json.gz",  "*.sqlite3" };
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      title, window, GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"), _ ("_Cancel"));
  g_autoptr (GtkFileFilter) reports = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();

  gtk_file_filter_set_name (reports, _ ("Reports"));
  for (size_t i = 0; i < G_N_ELEMENTS (patterns); i++)
    gtk_file_filter_add_pattern (reports, patterns[i]);
  gtk_file_filter_set_name (all, _ ("All Files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), reports);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), all);
  gtk_file_chooser_set_select_multiple (GTK_FILE_CHOOSER (dialog), is_multiple);
  g_object_set_data (G_OBJECT (dialog), CHOSEN, chosen);
  g_signal_connect_object (dialog, "response", G_CALLBACK (response_cb), window, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}
