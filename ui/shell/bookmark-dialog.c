/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/bookmark-dialog.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#define NOTE_PX       90
#define LIST_PX       320
#define LIST_WIDTH_PX 440

/* --- One bookmark -------------------------------------------------------------------------- */

typedef struct
{
  LnsBookmarks *bookmarks; /* owned */
  int64_t start_ns, end_ns;
  int edited; /* its number, or -1: it is a new one */
  GtkEditable *name;
  GtkTextBuffer *note;
} Editing;

static void
editing_free (gpointer data, GClosure *closure)
{
  g_object_unref (((Editing *)data)->bookmarks);
  g_free (data);
}

/* The number of the bookmark that EDITING is about now, or -1. */
static int
number_of (const Editing *editing)
{
  guint n;
  const LnsMark *marks = lns_bookmarks_get (editing->bookmarks, &n);
  for (guint i = 0; i < n; i++)
    if (marks[i].start_ns == editing->start_ns && marks[i].end_ns == editing->end_ns)
      return (int)i;
  return -1;
}

static void
response_cb (AdwMessageDialog *dialog, const char *response, Editing *editing)
{
  if (strcmp (response, "remove") == 0)
    {
      const int i = number_of (editing);
      if (i >= 0)
        lns_bookmarks_remove (editing->bookmarks, (guint)i);
    }
  if (strcmp (response, "keep") != 0)
    return;
  GtkTextIter start, end;
  gtk_text_buffer_get_bounds (editing->note, &start, &end);
  g_autofree char *note = gtk_text_buffer_get_text (editing->note, &start, &end, FALSE);
  const char *name = gtk_editable_get_text (editing->name);
  g_autofree char *text = *note != '\0' ? g_strdup_printf ("%s\n%s", name, note) : g_strdup (name);
  lns_bookmarks_add (editing->bookmarks, editing->start_ns, editing->end_ns, text);
}

static void
name_changed_cb (GtkEditable *entry, AdwMessageDialog *dialog)
{
  adw_message_dialog_set_response_enabled (dialog, "keep", *gtk_editable_get_text (entry) != '\0');
}

static GtkWidget *
note_new (const char *note, GtkTextBuffer **ret_buffer)
{
  GtkWidget *view = gtk_text_view_new (), *scrolled = gtk_scrolled_window_new ();
  g_object_set (view, "wrap-mode", GTK_WRAP_WORD_CHAR, "accepts-tab", FALSE, "top-margin", 6,
                "bottom-margin", 6, "left-margin", 6, "right-margin", 6, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Note"),
                                  -1);
  *ret_buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (view));
  gtk_text_buffer_set_text (*ret_buffer, note, -1);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), view);
  gtk_widget_set_size_request (scrolled, -1, NOTE_PX);
  gtk_widget_set_overflow (scrolled, GTK_OVERFLOW_HIDDEN); /* of the corners */
  gtk_widget_add_css_class (scrolled, "note");
  return scrolled;
}

/* Shows the dialog of EDITING, which is taken over, for a mark that is called TEXT. */
static void
show (GtkWindow *parent, Editing *editing, const char *heading, const char *when, const char *text)
{
  GtkWidget *dialog = adw_message_dialog_new (parent, heading, when);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8), *entry = gtk_entry_new ();
  const char *end = strchr (text, '\n');
  g_autofree char *name = end != NULL ? g_strndup (text, (gsize)(end - text)) : g_strdup (text);

  editing->name = GTK_EDITABLE (entry);
  gtk_editable_set_text (editing->name, name);
  gtk_entry_set_placeholder_text (GTK_ENTRY (entry), _ ("Name"));
  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Name"),
                                  -1);
  gtk_box_append (GTK_BOX (box), entry);
  gtk_box_append (GTK_BOX (box),
                  g_object_new (GTK_TYPE_LABEL, "label", _ ("Note"), "xalign", 0.0, NULL));
  gtk_box_append (GTK_BOX (box), note_new (end != NULL ? end + 1 : "", &editing->note));
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), box);
  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"));
  if (editing->edited >= 0)
    {
      adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "remove", _ ("_Remove"));
      adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "remove",
                                                  ADW_RESPONSE_DESTRUCTIVE);
    }
  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "keep", _ ("_Keep"));
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "keep",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "keep");
  g_signal_connect (entry, "changed", G_CALLBACK (name_changed_cb), dialog);
  name_changed_cb (editing->name, ADW_MESSAGE_DIALOG (dialog));
  g_signal_connect_data (dialog, "response", G_CALLBACK (response_cb), editing, editing_free, 0);
  gtk_window_present (GTK_WINDOW (dialog));
  gtk_widget_grab_focus (entry);
}

void
lns_bookmark_dialog_edit (GtkWindow *parent, LnsView *view, guint i)
{
  guint n;
  g_autoptr (LnsBookmarks) bookmarks = lns_bookmarks_of (view);
  const LnsMark *marks = lns_bookmarks_get (bookmarks, &n);
  if (i >= n)
    return;
  Editing *editing = g_new0 (Editing, 1);
  g_autofree char *when = lns_bookmarks_time_text (bookmarks, i);
  *editing = (Editing){ g_object_ref (bookmarks), marks[i].start_ns, marks[i].end_ns, (int)i };
  show (parent, editing, _ ("Bookmark"), when, marks[i].name);
}

void
lns_bookmark_dialog_add (GtkWindow *parent, LnsView *view)
{
  Editing *editing = g_new0 (Editing, 1);
  editing->bookmarks = lns_bookmarks_of (view);
  if (!lns_view_get_time_selection (view, &editing->start_ns, &editing->end_ns))
    {
      if (lns_view_get_selected_event (view, NULL).lane != LNS_ID_NONE)
        lns_view_get_selected_times (view, &editing->start_ns, &editing->end_ns);
      else
        editing->start_ns = editing->end_ns =
            lns_view_get_start_ns (view) / 2 + lns_view_get_end_ns (view) / 2;
    }
  editing->edited = number_of (editing);
  if (editing->edited >= 0)
    {
      const guint i = (guint)editing->edited;
      editing_free (editing, NULL);
      lns_bookmark_dialog_edit (parent, view, i);
      return;
    }
  show (parent, editing, _ ("Add a Bookmark"),
        _ ("The note is saved with the view and shown below the ruler."), "");
}

/* --- All of them --------------------------------------------------------------------------- */

static void
go_cb (GtkListBox *list, GtkListBoxRow *row, GtkWindow *dialog)
{
  LnsBookmarks *bookmarks = g_object_get_data (G_OBJECT (list), "bookmarks");
  lns_bookmarks_go (bookmarks, (guint)gtk_list_box_row_get_index (row));
  gtk_window_close (dialog);
}

static void
edit_cb (GtkButton *button, GtkWindow *dialog)
{
  GtkWidget *row = gtk_widget_get_ancestor (GTK_WIDGET (button), GTK_TYPE_LIST_BOX_ROW);
  const int i = gtk_list_box_row_get_index (GTK_LIST_BOX_ROW (row));
  GtkWindow *parent = gtk_window_get_transient_for (dialog);
  g_object_ref (parent);
  gtk_window_close (dialog);
  gtk_widget_activate_action (GTK_WIDGET (parent), "win.edit-bookmark", "i", i);
  g_object_unref (parent);
}

static GtkWidget *
row_new (LnsBookmarks *bookmarks, guint i, GtkWidget *dialog)
{
  guint n;
  g_autofree char *when = lns_bookmarks_time_text (bookmarks, i);
  GtkWidget *edit = gtk_button_new_from_icon_name ("document-edit-symbolic");
  /* Rows take markup. */
  g_autofree char *title = g_markup_escape_text (lns_bookmarks_get (bookmarks, &n)[i].name, -1);
  GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "title", title, "title-lines", 1, "subtitle",
                                 when, "activatable", TRUE, NULL);
  gtk_widget_set_valign (edit, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (edit, "flat");
  gtk_widget_set_tooltip_text (edit, _ ("Change or remove"));
  g_signal_connect_object (edit, "clicked", G_CALLBACK (edit_cb), dialog, 0);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), edit);
  return row;
}

void
lns_bookmark_dialog_list (GtkWindow *parent, LnsView *view)
{
  guint n;
  g_autoptr (LnsBookmarks) bookmarks = lns_bookmarks_of (view);
  lns_bookmarks_get (bookmarks, &n);
  GtkWidget *dialog = adw_message_dialog_new (
      parent, _ ("Bookmarks"),
      n == 0 ? _ ("There are none. Select a time or an event, and press Ctrl+D.") : NULL);
  GtkWidget *list = gtk_list_box_new (), *scrolled = gtk_scrolled_window_new ();
  g_object_set_data_full (G_OBJECT (list), "bookmarks", g_object_ref (bookmarks), g_object_unref);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  for (guint i = 0; i < n; i++)
    gtk_list_box_append (GTK_LIST_BOX (list), row_new (bookmarks, i, dialog));
  g_signal_connect_object (list, "row-activated", G_CALLBACK (go_cb), dialog, 0);
  g_object_set (scrolled, "child", list, "hscrollbar-policy", GTK_POLICY_NEVER,
                "propagate-natural-height", TRUE, "max-content-height", LIST_PX, "width-request",
                LIST_WIDTH_PX, NULL);
  if (n > 0)
    adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), scrolled);
  else
    g_object_unref (g_object_ref_sink (scrolled));
  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", _ ("_Close"));
  gtk_window_present (GTK_WINDOW (dialog));
}
