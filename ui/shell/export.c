/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/export.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "src/base/format.h"
#include "src/base/saturate.h"
#include "src/export/export.h"
#include "src/extract/extract.h"
#include "ui/model/job.h"

#define RESOURCE "/io/github/lanescope/Lanescope/export.ui"

/* From the first question until the file is there: one that goes with its window. */
typedef struct
{
  GtkWindow *parent; /* weak */
  LnsView *view;
  GtkBuilder *builder;
  char *name;
  AdwMessageDialog *progress; /* while it is written, weak */
  GtkProgressBar *bar;        /* of that */
  GCancellable *running;
  const LnsExtractType *type;
  int64_t start_ns, end_ns;
} Export;

/* What a worker does. */
typedef struct
{
  const LnsExtractType *type;
  int64_t start_ns, end_ns;
  char *path;
  bool is_done;
  LnsError error;
} Run;

static void
export_free (Export *self)
{
  lns_job_cancel (&self->running);
  g_clear_weak_pointer (&self->parent);
  g_clear_weak_pointer (&self->progress);
  g_object_unref (self->view);
  g_clear_object (&self->builder);
  g_free (self->name);
  g_free (self);
}

/* --- Writing ---------------------------------------------------------------------------------- */

static void
tell_worker (double fraction, void *data)
{
  LnsWorker *worker = data;

  atomic_store (&worker->permille, (unsigned)(1000 * fraction));
}

/* On a worker. */
static void
run_work (LnsWorker *worker, gpointer data)
{
  Run *run = data;
  const LnsExtract wanted = { .start_ns = run->start_ns,
                              .end_ns = run->end_ns,
                              .overwrite = true, /* the file dialog has asked */
                              .cancel = &worker->cancelled,
                              .progress = tell_worker,
                              .progress_data = worker };

  run->is_done = run->type->write (worker->report, &wanted, run->path, &run->error);
}

static void
run_done (gpointer data, gpointer owner)
{
  Run *run = data;
  Export *self = owner;

  if (!run->is_done && self->parent != NULL)
    {
      GtkWidget *dialog =
          adw_message_dialog_new (self->parent, _ ("The export could not be written"), NULL);
      adw_message_dialog_format_body (ADW_MESSAGE_DIALOG (dialog), "%s", run->error.message);
      adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", _ ("_Close"));
      gtk_window_present (GTK_WINDOW (dialog));
    }
  gtk_window_destroy (GTK_WINDOW (self->progress)); /* which frees SELF */
}

static void
run_free (gpointer data)
{
  Run *run = data;

  g_free (run->path);
  g_free (run);
}

static void
run_tell (unsigned permille, gpointer owner)
{
  gtk_progress_bar_set_fraction (((Export *)owner)->bar, permille / 1000.0);
}

static const LnsJobFuncs run_funcs = { run_work, run_done, run_free, run_tell };

/* The type that the ending of PATH says, or else the one that was chosen. */
static const LnsExtractType *
type_of (Export *self, const char *path)
{
  g_autofree char *folded = g_utf8_casefold (path, -1);
  const LnsExtractType *type = lns_extract_type_find (g_str_has_suffix (folded, ".html")  ? "html"
                                                      : g_str_has_suffix (folded, ".rep") ? "rep"
                                                                                          : "");

  return type != NULL ? type : self->type;
}

/* Writes to PATH, which is taken over. SELF goes with the dialog that shows how far that is. */
static void
start (Export *self, char *path)
{
  Run *run = g_new0 (Run, 1);

  *run = (Run){
    .type = type_of (self, path), .start_ns = self->start_ns, .end_ns = self->end_ns, .path = path
  };
  self->bar = GTK_PROGRESS_BAR (gtk_builder_get_object (self->builder, "bar"));
  g_set_weak_pointer (&self->progress,
                      ADW_MESSAGE_DIALOG (gtk_builder_get_object (self->builder, "progress")));
  g_clear_object (&self->builder); /* the dialog keeps SELF, and the builder the dialog */
  g_object_set_data_full (G_OBJECT (self->progress), "lns-export", self,
                          (GDestroyNotify)export_free);
  gtk_window_set_transient_for (GTK_WINDOW (self->progress), self->parent);
  gtk_window_present (GTK_WINDOW (self->progress));
  lns_job_start (&self->running, self->view, &run_funcs, run, self);
}

/* --- Asking ----------------------------------------------------------------------------------- */

/* Ends SELF before anything is written. */
static void
give_up (Export *self)
{
  gtk_window_destroy (GTK_WINDOW (gtk_builder_get_object (self->builder, "progress")));
  export_free (self);
}

static void
chosen_cb (GtkNativeDialog *dialog, int response, Export *self)
{
  g_autoptr (GFile) file = response == GTK_RESPONSE_ACCEPT
                               ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog))
                               : NULL;
  char *path = file != NULL ? g_file_get_path (file) : NULL;

  if (path != NULL && self->parent != NULL)
    start (self, path);
  else
    give_up (self);
  gtk_native_dialog_destroy (dialog);
  g_object_unref (dialog);
}

static void
ask_where (Export *self)
{
  g_autofree char *offered =
      g_strconcat (self->name, lns_export_type_ending (self->type->place), NULL);
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      _ ("Export"), self->parent, GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), _ ("_Cancel"));

  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), offered);
  g_signal_connect (dialog, "response", G_CALLBACK (chosen_cb), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static gboolean
is_on (GtkBuilder *builder, const char *name)
{
  return gtk_check_button_get_active (GTK_CHECK_BUTTON (gtk_builder_get_object (builder, name)));
}

static void
response_cb (AdwMessageDialog *dialog, const char *response, Export *self)
{
  if (strcmp (response, "save") != 0 || self->parent == NULL)
    {
      give_up (self);
      return;
    }
  self->type = lns_extract_type_find (is_on (self->builder, "html") ? "html" : "rep");
  self->start_ns = INT64_MIN;
  self->end_ns = INT64_MAX;
  if (is_on (self->builder, "selection"))
    lns_view_get_time_selection (self->view, &self->start_ns, &self->end_ns);
  else if (is_on (self->builder, "visible"))
    {
      self->start_ns = lns_view_get_start_ns (self->view);
      self->end_ns = lns_view_get_end_ns (self->view);
    }
  ask_where (self);
}

/* Puts TEXT, which has a place for a length of time, onto the button NAME. */
static void
set_label (
    GtkBuilder *builder, const char *name, const char *text, int64_t start_ns, int64_t end_ns)
{
  char length[LNS_FORMAT_SIZE];
  g_autofree char *label = g_strdup_printf (
      "%s: %s", text, lns_format_duration (lns_difference (end_ns, start_ns), length));

  gtk_check_button_set_label (GTK_CHECK_BUTTON (gtk_builder_get_object (builder, name)), label);
}

/* Offers what there is: the selected time first, or what is in view unless that is all. */
static void
offer (GtkBuilder *builder, LnsView *view)
{
  int64_t first_ns, last_ns, start_ns = 0, end_ns = 0;
  const gboolean has_band = lns_view_get_time_selection (view, &start_ns, &end_ns),
                 shows_all = lns_view_shows_all (view);
  GObject *chosen = gtk_builder_get_object (builder, has_band    ? "selection"
                                                     : shows_all ? "whole"
                                                                 : "visible");

  lns_view_get_whole (view, &first_ns, &last_ns);
  set_label (builder, "selection", _ ("The selected time"), start_ns, end_ns);
  set_label (builder, "visible", _ ("What is in view"),
             MAX (lns_view_get_start_ns (view), first_ns),
             MIN (lns_view_get_end_ns (view), last_ns));
  set_label (builder, "whole", _ ("All of it"), first_ns, last_ns);
  gtk_widget_set_visible (GTK_WIDGET (gtk_builder_get_object (builder, "selection")), has_band);
  gtk_widget_set_visible (GTK_WIDGET (gtk_builder_get_object (builder, "visible")), !shows_all);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (chosen), TRUE);
}

void
lns_export_ask (GtkWindow *parent, LnsView *view, const char *name)
{
  GtkBuilder *builder = gtk_builder_new_from_resource (RESOURCE);
  GtkWindow *dialog = GTK_WINDOW (gtk_builder_get_object (builder, "dialog"));
  Export *self = g_new0 (Export, 1);

  self->view = g_object_ref (view);
  self->builder = builder;
  self->name = g_strdup (name);
  g_set_weak_pointer (&self->parent, parent);
  offer (builder, view);
  g_signal_connect (dialog, "response", G_CALLBACK (response_cb), self);
  gtk_window_set_transient_for (dialog, parent);
  gtk_window_present (dialog);
}
