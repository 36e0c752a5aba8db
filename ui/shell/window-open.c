/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Opening a report in a window: progress, cancel, and what is said when it cannot be. */

#include <glib/gi18n.h>
#include <string.h>

#include "src/import/open.h"
#include "ui/model/display-text.h"
#include "ui/shell/recents.h"
#include "ui/shell/report-loader.h"
#include "ui/shell/window-private.h"

/* Where SQLite keeps the application id, big-endian; FORMAT.md fixes ours. */
#define APPLICATION_ID_OFFSET 68

/* What is opened faster shows no progress: a page that flashes by says nothing. */
#define PROGRESS_AFTER_MS 150

static void
set_title (LnsWindow *self)
{
  g_autofree char *path = lns_display_file (self->file, TRUE);
  g_autofree char *name = lns_display_file (self->file, FALSE);

  adw_window_title_set_title (self->title, name);
  adw_window_title_set_subtitle (self->title, "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), path);
  gtk_window_set_title (GTK_WINDOW (self), name);
}

/* Whether recovery has a chance with FILE, which could not be opened: it says that it is a report, by its first
 * bytes or, where those may be lost, by its name, and is neither text nor empty. Pages have zeros. */
static gboolean
may_be_recovered (GFile *file)
{
  static const guint8 sqlite[16] = "SQLite format 3";
  guint8 head[APPLICATION_ID_OFFSET + 4];
  gsize n_read = 0;
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, NULL);

  if (stream == NULL ||
      !g_input_stream_read_all (G_INPUT_STREAM (stream), head, sizeof head, &n_read, NULL, NULL) ||
      n_read < sizeof head)
    return FALSE;
  if (memcmp (head, sqlite, sizeof sqlite) == 0)
    return memcmp (head + APPLICATION_ID_OFFSET, "LNSR", 4) == 0;
  g_autofree char *name = g_file_get_basename (file);
  return g_str_has_suffix (name, ".rep") && memchr (head, '\0', sizeof head) != NULL;
}

static void
show_error (LnsWindow *self, const GError *error)
{
  gboolean damaged = g_error_matches (error, LNS_LOAD_ERROR, LNS_ERROR_FORMAT);
  g_autofree char *text = lns_display_text (error->message, strlen (error->message), FALSE);
  g_autofree char *markup = g_markup_escape_text (text, -1);

  adw_status_page_set_title (self->error_page, _ ("The Report Could Not Be Opened"));
  adw_status_page_set_description (self->error_page, markup);
  self->recoverable = damaged && may_be_recovered (self->file);
  gtk_widget_set_visible (self->recover_button, self->recoverable);
  _lns_window_show_page (self, "error");
}

static void
progress_cb (double fraction, gpointer data)
{
  gtk_progress_bar_set_fraction (LNS_WINDOW (data)->progress, fraction);
}

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsWindow) self = data;
  g_autoptr (GError) error = NULL;
  LnsReport *report = lns_report_load_finish (result, &error);

  /* Another opening began meanwhile, or the window was closed: this answer is nobody's. */
  if (g_task_get_cancellable (G_TASK (result)) != self->opening)
    {
      lns_report_close (report);
      return;
    }
  g_clear_object (&self->opening);
  g_clear_handle_id (&self->progress_timer, g_source_remove);
  if (report == NULL)
    {
      show_error (self, error);
      return;
    }
  lns_recents_add (self->file);
  _lns_window_show_report (self, report);
}

static gboolean
show_progress_cb (gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);

  self->progress_timer = 0;
  _lns_window_show_page (self, "loading");
  return G_SOURCE_REMOVE;
}

static void
open_file (LnsWindow *self, gboolean recover)
{
  const char *path = g_file_peek_path (self->file);
  const gboolean imports = path != NULL && lns_import_kind (path) != LNS_INPUT_REPORT;

  _lns_window_drop_report (self);
  self->opening = g_cancellable_new ();
  set_title (self);
  gtk_progress_bar_set_fraction (self->progress, 0);
  adw_status_page_set_title (self->loading_page, recover   ? _ ("Recovering…")
                                                 : imports ? _ ("Importing…")
                                                           : _ ("Opening…"));
  self->progress_timer = g_timeout_add (PROGRESS_AFTER_MS, show_progress_cb, self);
  _lns_window_update_actions (self);
  lns_report_load_async (self->file, recover, self->opening, progress_cb, loaded_cb,
                         g_object_ref (self));
}

void
lns_window_open_file (LnsWindow *self, GFile *file)
{
  g_set_object (&self->file, file);
  open_file (self, FALSE);
}

void
_lns_window_recover (LnsWindow *self)
{
  open_file (self, TRUE);
}

void
_lns_window_cancel_opening (LnsWindow *self)
{
  g_autoptr (GCancellable) opening = g_steal_pointer (&self->opening);

  g_clear_handle_id (&self->progress_timer, g_source_remove);
  if (opening != NULL)
    g_cancellable_cancel (opening);
}

void
_lns_window_show_start_page (LnsWindow *self)
{
  _lns_window_drop_report (self);
  g_clear_object (&self->file);
  adw_window_title_set_title (self->title, "Lanescope");
  adw_window_title_set_subtitle (self->title, "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), NULL);
  gtk_window_set_title (GTK_WINDOW (self), "Lanescope");
  _lns_window_show_page (self, "start");
}
