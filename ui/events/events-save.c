/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-save.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/events/event-write.h"
#include "ui/model/job.h"

struct _LnsEventsSave
{
  AdwBin parent_instance;

  LnsView *view;        /* owned */
  GCancellable *saving; /* or NULL */

  GtkLabel *label;
  GtkProgressBar *progress;
  GtkButton *close; /* cancels, or hides what is told */
};

G_DEFINE_FINAL_TYPE (LnsEventsSave, lns_events_save, ADW_TYPE_BIN)

typedef struct
{
  LnsEventRows *rows; /* owned */
  LnsEventColumnList columns;
  GFile *file; /* owned */
  GError *error;
} Save;

static void
save_free (gpointer data)
{
  Save *save = data;

  lns_event_rows_free (save->rows);
  g_object_unref (save->file);
  g_clear_error (&save->error);
  g_free (save);
}

static char
separator_of (GFile *file)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *folded = g_utf8_casefold (name, -1);

  return g_str_has_suffix (folded, ".tsv") ? '\t' : ',';
}

/* Closes STREAM without what was written taking FILE's place. */
static void
abandon (GOutputStream *stream, GFile *file, gboolean is_new)
{
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();

  g_cancellable_cancel (cancelled);
  g_output_stream_close (stream, cancelled, NULL);
  if (is_new)
    g_file_delete (file, NULL, NULL);
}

static void
save (LnsWorker *worker, gpointer job)
{
  Save *it = job;
  const gboolean is_new = !g_file_query_exists (it->file, NULL);
  g_autoptr (GFileOutputStream) stream =
      g_file_replace (it->file, NULL, FALSE, G_FILE_CREATE_NONE, worker->cancellable, &it->error);

  if (stream != NULL &&
      (!lns_event_rows_write (it->rows, &it->columns, separator_of (it->file),
                              G_OUTPUT_STREAM (stream), &worker->permille, worker->cancellable,
                              &it->error) ||
       !g_output_stream_close (G_OUTPUT_STREAM (stream), worker->cancellable, &it->error)))
    abandon (G_OUTPUT_STREAM (stream), it->file, is_new);
}

/* Tells TEXT, which is freed. */
static void
tell (LnsEventsSave *self, char *text, gboolean is_error)
{
  void (*change) (GtkWidget *, const char *) =
      is_error ? gtk_widget_add_css_class : gtk_widget_remove_css_class;

  change (GTK_WIDGET (self->label), "error");
  gtk_label_set_text (self->label, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->label), text);
  gtk_widget_set_visible (GTK_WIDGET (self->progress), self->saving != NULL);
  gtk_button_set_label (self->close, self->saving != NULL ? _ ("Cancel") : _ ("Close"));
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
  g_free (text);
}

static void
saved_cb (gpointer job, gpointer owner)
{
  const Save *it = job;
  LnsEventsSave *self = owner;
  char n[LNS_FORMAT_SIZE];
  g_autofree char *name = g_file_get_parse_name (it->file);

  if (it->error != NULL)
    tell (self, g_strdup_printf (_ ("%s could not be saved: %s"), name, it->error->message), TRUE);
  else
    tell (self,
          g_strdup_printf (ngettext ("%s row saved in %s", "%s rows saved in %s", it->rows->n),
                           lns_format_unsigned (it->rows->n, n), name),
          FALSE);
}

static void
show_progress (unsigned permille, gpointer owner)
{
  gtk_progress_bar_set_fraction (((LnsEventsSave *)owner)->progress, permille / 1000.0);
}

static const LnsJobFuncs save_funcs = { save, saved_cb, save_free, show_progress };

void
lns_events_save_start (LnsEventsSave *self,
                       GFile *file,
                       LnsEventRows *rows,
                       const LnsEventColumnList *columns)
{
  Save *job = g_new0 (Save, 1);
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *shown = g_filename_display_name (name);

  job->rows = rows;
  job->columns = *columns;
  job->file = g_object_ref (file);
  gtk_progress_bar_set_fraction (self->progress, 0);
  lns_job_start (&self->saving, self->view, &save_funcs, job, self);
  tell (self, g_strdup_printf (_ ("Saving %s…"), shown), FALSE);
}

/* --- The question ----------------------------------------------------------------------------- */

typedef struct
{
  LnsEventsSave *save; /* weak */
  LnsEventRows *rows;  /* owned, or NULL */
  LnsEventColumnList columns;
  LnsView *view; /* owned: keeps the rows' report open */
} Question;

static void
question_free (gpointer data, GClosure *closure)
{
  Question *question = data;

  g_clear_weak_pointer (&question->save);
  lns_event_rows_free (question->rows);
  g_object_unref (question->view);
  g_free (question);
}

static void
chosen_cb (GtkNativeDialog *dialog, int response, Question *question)
{
  if (response == GTK_RESPONSE_ACCEPT && question->save != NULL)
    {
      g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      lns_events_save_start (question->save, file, g_steal_pointer (&question->rows),
                             &question->columns);
    }
  gtk_native_dialog_destroy (dialog);
  g_object_unref (dialog);
}

void
lns_events_save_ask (LnsEventsSave *self, LnsEventRows *rows, const LnsEventColumnList *columns)
{
  GtkWindow *parent = GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self)));
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Save Events (CSV or TSV)"), parent,
                                   GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), _ ("_Cancel"));
  Question *question = g_new0 (Question, 1);

  g_set_weak_pointer (&question->save, self);
  question->rows = rows;
  question->columns = *columns;
  question->view = g_object_ref (self->view);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), "events.csv");
  g_signal_connect_data (dialog, "response", G_CALLBACK (chosen_cb), question, question_free, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

/* --- Life ------------------------------------------------------------------------------------- */

static void
close_cb (GtkButton *button, LnsEventsSave *self)
{
  lns_job_cancel (&self->saving);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}

void
lns_events_save_set_view (LnsEventsSave *self, LnsView *view)
{
  g_set_object (&self->view, view);
}

static void
lns_events_save_dispose (GObject *object)
{
  LnsEventsSave *self = LNS_EVENTS_SAVE (object);

  lns_job_cancel (&self->saving);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_events_save_parent_class)->dispose (object);
}

static void
lns_events_save_class_init (LnsEventsSaveClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_events_save_dispose;
}

static void
lns_events_save_init (LnsEventsSave *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);

  self->label = GTK_LABEL (gtk_label_new (NULL));
  self->progress = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  self->close = GTK_BUTTON (gtk_button_new ());
  gtk_label_set_ellipsize (self->label, PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_xalign (self->label, 0);
  gtk_widget_set_hexpand (GTK_WIDGET (self->label), TRUE);
  gtk_widget_set_valign (GTK_WIDGET (self->progress), GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->progress), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Saving events"), -1);
  gtk_widget_add_css_class (GTK_WIDGET (self->close), "flat");
  g_signal_connect (self->close, "clicked", G_CALLBACK (close_cb), self);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->label));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->progress));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->close));
  gtk_widget_add_css_class (box, "pane-header");
  adw_bin_set_child (ADW_BIN (self), box);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
