/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/start-page.h"

#include "lns-config.h"
#include "ui/model/display-text.h"
#include "ui/shell/recents.h"

struct _LnsStartPage
{
  AdwBin parent_instance;

  GtkWidget *recent_box;
  GtkWidget *sample_button;
  GtkListBox *recent_list;
};

G_DEFINE_FINAL_TYPE (LnsStartPage, lns_start_page, ADW_TYPE_BIN)

/* --- Samples that come with Lanescope, for users who have no report yet ------------------------ */

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

/* The sample to show first, or NULL where none is installed: of those recorded on a GPU the first by name, else the
 * first. */
static GFile *
first_sample (void)
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

/* --- Recent reports ---------------------------------------------------------------------------- */

static GtkWidget *
recent_row_new (const char *uri)
{
  g_autoptr (GFile) file = g_file_new_for_uri (uri);
  g_autoptr (GFile) folder = g_file_get_parent (file);
  g_autofree char *place = folder != NULL ? lns_display_file (folder, TRUE) : g_strdup ("");
  g_autofree char *path = lns_display_file (file, TRUE);
  g_autofree char *name = lns_display_file (file, FALSE);
  g_autofree char *title = g_markup_escape_text (name, -1);
  g_autofree char *subtitle = g_markup_escape_text (place, -1);
  GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "title", title, "subtitle", subtitle,
                                 "title-lines", 1, "subtitle-lines", 1, "tooltip-text", path,
                                 "activatable", TRUE, "action-name", "win.open-uri", NULL);

  gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "s", uri);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row),
                             gtk_image_new_from_icon_name ("go-next-symbolic"));
  return row;
}

static void
fill (gpointer owner, char **uris, guint n)
{
  LnsStartPage *self = owner;
  GtkWidget *row;

  if (self->recent_list == NULL) /* on its way out */
    return;
  while ((row = gtk_widget_get_first_child (GTK_WIDGET (self->recent_list))) != NULL)
    gtk_list_box_remove (self->recent_list, row);
  for (guint i = 0; i < n; i++)
    gtk_list_box_append (self->recent_list, recent_row_new (uris[i]));
  gtk_widget_set_visible (self->recent_box, n > 0);
}

static void
lns_start_page_class_init (LnsStartPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/start-page.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsStartPage, recent_box);
  gtk_widget_class_bind_template_child (widget_class, LnsStartPage, recent_list);
  gtk_widget_class_bind_template_child (widget_class, LnsStartPage, sample_button);
}

static void
lns_start_page_init (LnsStartPage *self)
{
  g_autoptr (GFile) sample = first_sample ();

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_set_visible (self->sample_button, sample != NULL);
  if (sample != NULL)
    {
      g_autofree char *uri = g_file_get_uri (sample);
      gtk_actionable_set_action_target (GTK_ACTIONABLE (self->sample_button), "s", uri);
      gtk_actionable_set_action_name (GTK_ACTIONABLE (self->sample_button), "win.open-uri");
    }
  lns_recents_follow (G_OBJECT (self), fill);
}
