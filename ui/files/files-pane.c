/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/files/files-pane.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/files/file-tables.h"
#include "ui/model/display-text.h"
#include "ui/model/job.h"
#include "ui/table/result-view.h"

struct _LnsFilesPane
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  GCancellable *running; /* or NULL */
  gboolean is_asked;     /* a section is there or under way */
  char **paths;          /* owned, or NULL: of the source files, by row of their table */

  GtkListBox *sections;
  GtkStack *stack; /* pages "sentence", "table", "output", "source" */
  GtkLabel *sentence;
  GtkTextView *output;
  LnsResultView *table, *source;
  GtkLabel *source_title;
};

G_DEFINE_FINAL_TYPE (LnsFilesPane, lns_files_pane, ADW_TYPE_BIN)

/* --- The job ---------------------------------------------------------------------------------- */

typedef struct
{
  LnsFileSection section;
  char *path;        /* owned: of a source file, or NULL: the section itself */
  LnsResult *result; /* owned, or NULL */
  char *output;      /* owned, or NULL */
  char **paths;      /* owned, or NULL */
  bool is_newer;
  guint hottest; /* row of the line with most samples */
  LnsError error;
} Reading;

static void
reading_free (gpointer data)
{
  Reading *it = data;

  lns_result_free (it->result);
  g_strfreev (it->paths);
  g_free (it->output);
  g_free (it->path);
  g_free (it);
}

/* The paths of RESULT, which is that of the sources, as they are on disk. */
static char **
paths_of (const LnsResult *result)
{
  const size_t n = lns_result_n_rows (result);
  char **paths = g_new0 (char *, n + 1);

  for (size_t i = 0; i < n; i++)
    {
      const LnsResultCell cell = lns_result_cell (result, i, 0);
      paths[i] = g_strndup (cell.bytes, cell.size_bytes);
    }
  return paths;
}

/* The row of RESULT, which is a source file, with most samples. */
static guint
find_hottest (const LnsResult *result)
{
  guint hottest = 0;

  for (guint i = 1; i < lns_result_n_rows (result); i++)
    if (lns_result_cell (result, i, 1).number > lns_result_cell (result, hottest, 1).number)
      hottest = i;
  return hottest;
}

static void
read_work (LnsWorker *worker, gpointer data)
{
  Reading *it = data;

  if (it->path != NULL)
    it->result =
        lns_file_source (worker->report, it->path, &worker->cancelled, &it->is_newer, &it->error);
  else if (it->section == LNS_FILE_OUTPUT)
    it->output = lns_file_output (worker->report);
  else
    it->result = lns_file_table (worker->report, it->section, &worker->cancelled, &it->error);
  if (it->section == LNS_FILE_SOURCES && it->path == NULL && it->result != NULL)
    it->paths = paths_of (it->result);
  else if (it->path != NULL && it->result != NULL)
    it->hottest = find_hottest (it->result);
}

/* --- What is shown ---------------------------------------------------------------------------- */

static void
show_sentence (LnsFilesPane *self, const char *sentence)
{
  gtk_label_set_text (self->sentence, sentence);
  gtk_stack_set_visible_child_name (self->stack, "sentence");
}

static void
show_source (LnsFilesPane *self, Reading *it)
{
  g_autofree char *path = lns_display_text (it->path, strlen (it->path), TRUE);
  g_autofree char *title =
      it->is_newer ? g_strdup_printf (_ ("%s was changed after the recording began: its lines may "
                                         "be others"),
                                      path)
                   : g_steal_pointer (&path);

  gtk_label_set_text (self->source_title, title);
  lns_result_view_set (self->source, g_steal_pointer (&it->result));
  gtk_stack_set_visible_child_name (self->stack, "source");
  lns_result_view_go_to (self->source, it->hottest);
}

static void
read_done (gpointer data, gpointer owner)
{
  Reading *it = data;
  LnsFilesPane *self = owner;

  if (it->error.domain != LNS_ERROR_NONE)
    show_sentence (self, it->error.message);
  else if (it->output != NULL)
    {
      gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->output), it->output, -1);
      gtk_stack_set_visible_child_name (self->stack, "output");
    }
  else if (it->result == NULL || lns_result_n_rows (it->result) == 0)
    show_sentence (self, lns_file_section_lacks (it->section));
  else if (it->path != NULL)
    show_source (self, it);
  else
    {
      g_strfreev (self->paths);
      self->paths = g_steal_pointer (&it->paths);
      lns_result_view_set (self->table, g_steal_pointer (&it->result));
      gtk_stack_set_visible_child_name (self->stack, "table");
    }
}

static const LnsJobFuncs read_funcs = { read_work, read_done, reading_free, NULL };

/* Shows SECTION, or of the sources the one at PATH, which is copied. */
static void
ask (LnsFilesPane *self, LnsFileSection section, const char *path)
{
  Reading *it = g_new0 (Reading, 1);

  self->is_asked = TRUE;
  it->section = section;
  it->path = g_strdup (path);
  lns_job_start (&self->running, self->view, &read_funcs, it, self);
}

static void
section_cb (GtkListBox *sections, GtkListBoxRow *row, LnsFilesPane *self)
{
  if (row != NULL && gtk_widget_get_mapped (GTK_WIDGET (self)))
    ask (self, (LnsFileSection)gtk_list_box_row_get_index (row), NULL);
}

/* A source file was activated. */
static void
row_cb (LnsResultView *table, guint row, LnsFilesPane *self)
{
  if (self->paths != NULL && row < g_strv_length (self->paths))
    ask (self, LNS_FILE_SOURCES, self->paths[row]);
}

static void
back_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  ask (LNS_FILES_PANE (widget), LNS_FILE_SOURCES, NULL);
}

/* What a report says of its run is whole when the recording has ended. A source file that is shown stays. */
static void
grown_cb (LnsView *view, LnsReport *before, LnsFilesPane *self)
{
  if (lns_report_info (before)->state != LNS_STATE_RECORDING || lns_view_is_live (view) ||
      g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), "source") == 0)
    return;
  self->is_asked = FALSE;
  section_cb (self->sections, gtk_list_box_get_selected_row (self->sections), self);
}

/* --- Life ------------------------------------------------------------------------------------- */

static void
lns_files_pane_map (GtkWidget *widget)
{
  LnsFilesPane *self = LNS_FILES_PANE (widget);
  GtkListBoxRow *row = gtk_list_box_get_selected_row (self->sections);

  GTK_WIDGET_CLASS (lns_files_pane_parent_class)->map (widget);
  if (!self->is_asked)
    ask (self, row != NULL ? (LnsFileSection)gtk_list_box_row_get_index (row) : LNS_FILE_RUN, NULL);
}

static gboolean
lns_files_pane_grab_focus (GtkWidget *widget)
{
  return gtk_widget_child_focus (GTK_WIDGET (LNS_FILES_PANE (widget)->sections),
                                 GTK_DIR_TAB_FORWARD);
}

GtkWidget *
lns_files_pane_new (LnsView *view)
{
  LnsFilesPane *self = g_object_new (LNS_TYPE_FILES_PANE, NULL);

  self->view = g_object_ref (view);
  self->table = LNS_RESULT_VIEW (lns_result_view_new (view, _ ("Files")));
  self->source = LNS_RESULT_VIEW (lns_result_view_new (view, _ ("Source")));
  lns_result_view_keep_columns (self->table);
  lns_result_view_keep_columns (self->source);
  gtk_widget_add_css_class (GTK_WIDGET (self->source), "source-lines");
  gtk_stack_add_named (self->stack, GTK_WIDGET (self->table), "table");
  gtk_box_append (GTK_BOX (gtk_stack_get_child_by_name (self->stack, "source")),
                  GTK_WIDGET (self->source));
  for (LnsFileSection i = 0; i < LNS_N_FILE_SECTIONS; i++)
    gtk_list_box_append (
        self->sections,
        g_object_new (GTK_TYPE_LABEL, "label", lns_file_section_title (i), "xalign", 0.0, NULL));
  gtk_list_box_select_row (self->sections, gtk_list_box_get_row_at_index (self->sections, 0));
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, 0);
  g_signal_connect (self->sections, "row-selected", G_CALLBACK (section_cb), self);
  g_signal_connect_object (self->table, "row-activated", G_CALLBACK (row_cb), self, 0);
  return GTK_WIDGET (self);
}

static void
lns_files_pane_dispose (GObject *object)
{
  LnsFilesPane *self = LNS_FILES_PANE (object);

  lns_job_cancel (&self->running);
  g_clear_pointer (&self->paths, g_strfreev);
  G_OBJECT_CLASS (lns_files_pane_parent_class)->dispose (object);
  g_clear_object (&self->view);
}

static void
lns_files_pane_class_init (LnsFilesPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_files_pane_dispose;
  widget_class->map = lns_files_pane_map;
  widget_class->grab_focus = lns_files_pane_grab_focus;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/files-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsFilesPane, sections);
  gtk_widget_class_bind_template_child (widget_class, LnsFilesPane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsFilesPane, sentence);
  gtk_widget_class_bind_template_child (widget_class, LnsFilesPane, output);
  gtk_widget_class_bind_template_child (widget_class, LnsFilesPane, source_title);
  gtk_widget_class_install_action (widget_class, "files.sources", NULL, back_cb);
}

static void
lns_files_pane_init (LnsFilesPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
