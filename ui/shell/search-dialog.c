/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/search-dialog.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/model/shortcuts.h"

/* More are not shown: whoever looks for one types more. */
#define MAX_COMMANDS 12
#define MAX_ROWS     15

struct _LnsSearchDialog
{
  AdwWindow parent_instance;

  LnsReportPage *page; /* weak, or NULL */

  GtkSearchEntry *entry;
  GtkListBox *list; /* its rows have a Target as their data "target" */
};

G_DEFINE_FINAL_TYPE (LnsSearchDialog, lns_search_dialog, ADW_TYPE_WINDOW)

/* What a line of the list leads to: an action, a row, or events. */
typedef struct
{
  const char *action; /* static, or NULL */
  uint32_t row;       /* or LNS_ID_NONE */
  char *events;       /* owned: the name that is looked for, or NULL */
} Target;

static void
target_free (gpointer data)
{
  Target *target = data;

  g_free (target->events);
  g_free (target);
}

/* Appends a line: TITLE, what kind of thing it is, and KEYS (between blanks) or NULL. */
static void
add (LnsSearchDialog *self, const char *title, const char *kind, const char *keys, Target target)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *row = gtk_list_box_row_new ();
  GtkWidget *label = g_object_new (GTK_TYPE_LABEL, "label", title, "xalign", 0.0, "hexpand", TRUE,
                                   "ellipsize", PANGO_ELLIPSIZE_MIDDLE, NULL),
            *kind_label = gtk_label_new (kind);

  gtk_widget_add_css_class (box, "search-line");
  gtk_widget_add_css_class (kind_label, "dim-label");
  gtk_widget_add_css_class (kind_label, "caption");
  gtk_box_append (GTK_BOX (box), label);
  if (keys != NULL)
    {
      g_auto (GStrv) each = g_strsplit (keys, " ", 2);
      gtk_box_append (GTK_BOX (box), gtk_shortcut_label_new (each[0]));
    }
  gtk_box_append (GTK_BOX (box), kind_label);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  g_object_set_data_full (G_OBJECT (row), "target", g_memdup2 (&target, sizeof target),
                          target_free);
  gtk_list_box_append (self->list, row);
}

/* Whether each of WORDS, which are folded, is in TEXT. */
static gboolean
has_words (const char *text, const char *const *words)
{
  g_autofree char *folded = g_utf8_casefold (text, -1);

  for (gsize i = 0; words[i] != NULL; i++)
    if (strstr (folded, words[i]) == NULL)
      return FALSE;
  return TRUE;
}

static void
add_commands (LnsSearchDialog *self, const char *const *words)
{
  const char *group, *title, *action, *keys;
  unsigned n = 0;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (size_t i = 0; n < MAX_COMMANDS && lns_shortcuts_at (i, &group, &title, &action, &keys); i++)
    {
      const gboolean is_for_all = action != NULL && (g_str_has_prefix (action, "win.") ||
                                                     g_str_has_prefix (action, "app."));
      const gboolean is_of_page =
          action != NULL && self->page != NULL && g_str_has_prefix (action, "timeline.");
      g_autofree char *text = g_strdup_printf ("%s: %s", _ (group), _ (title));
      /* Whoever types Latin letters more easily finds a command by its English name, too. */
      g_autofree char *english = g_strdup_printf ("%s: %s", group, title);
      if ((!is_for_all && !is_of_page) ||
          (!has_words (text, words) && !has_words (english, words)) ||
          !g_hash_table_add (seen, (gpointer)title))
        continue;
      add (self, text, _ ("Command"), keys, (Target){ .action = action, .row = LNS_ID_NONE });
      n++;
    }
}

/* Adds the rows that are called so themselves or, if not OWN, those that only what they stand under makes so. */
static void
add_rows (LnsSearchDialog *self, const char *const *words, gboolean own)
{
  const LnsRowTree *tree = lns_timeline_get_tree (lns_report_page_get_parts (self->page)->timeline);
  unsigned n = 0;

  for (uint32_t rank = 0; rank < lns_row_tree_n_ranks (tree) && n < MAX_ROWS; rank++)
    {
      const uint32_t id = lns_row_tree_at_rank (tree, rank);
      const LnsRow *row = lns_row_tree_row (tree, id);
      const LnsRow *parent =
          row->parent != LNS_ID_NONE ? lns_row_tree_row (tree, row->parent) : NULL;
      g_autofree char *text = parent != NULL
                                  ? g_strdup_printf ("%s › %s", parent->label, row->label)
                                  : g_strdup (row->label);
      if (has_words (row->label, words) != own || (!own && !has_words (text, words)))
        continue;
      add (self, text, _ ("Row"), NULL, (Target){ .row = id });
      n++;
    }
}

/* Shows what TEXT finds. */
static void
fill (LnsSearchDialog *self, const char *text)
{
  g_autofree char *folded = g_utf8_casefold (text, -1);
  g_auto (GStrv) words = g_strsplit_set (folded, " \t", -1);
  GtkListBoxRow *row;

  while ((row = gtk_list_box_get_row_at_index (self->list, 0)) != NULL)
    gtk_list_box_remove (self->list, GTK_WIDGET (row));
  if (self->page != NULL && *text != '\0')
    {
      g_autofree char *events = g_strdup_printf (_ ("Events with “%s” in their name"), text);
      add_rows (self, (const char *const *)words, TRUE);
      add (self, events, _ ("Events"), "<Control>f",
           (Target){ .row = LNS_ID_NONE, .events = g_strdup (text) });
    }
  add_commands (self, (const char *const *)words);
  if (self->page != NULL && *text != '\0')
    add_rows (self, (const char *const *)words, FALSE);
  gtk_list_box_select_row (self->list, gtk_list_box_get_row_at_index (self->list, 0));
}

static void
changed_cb (GtkEditable *entry, LnsSearchDialog *self)
{
  fill (self, gtk_editable_get_text (entry));
}

/* Goes to what ROW stands for. */
static void
go (LnsSearchDialog *self, GtkListBoxRow *row)
{
  const Target *found = row != NULL ? g_object_get_data (G_OBJECT (row), "target") : NULL;
  GtkWidget *parent = GTK_WIDGET (gtk_window_get_transient_for (GTK_WINDOW (self)));
  LnsReportPage *page = self->page;

  if (found == NULL)
    return;
  const Target target = { found->action, found->row, g_strdup (found->events) };
  g_autofree char *events = target.events;
  gtk_window_close (GTK_WINDOW (self));
  if (target.action != NULL)
    gtk_widget_activate_action (g_str_has_prefix (target.action, "timeline.") && page != NULL
                                    ? GTK_WIDGET (lns_report_page_get_parts (page)->timeline)
                                    : parent,
                                target.action, NULL);
  else if (page == NULL)
    return;
  else if (target.row != LNS_ID_NONE)
    lns_timeline_reveal_row (lns_report_page_get_parts (page)->timeline, target.row);
  else if (events != NULL)
    lns_find_bar_search (lns_report_page_get_find_bar (page), events);
}

static void
row_activated_cb (GtkListBox *list, GtkListBoxRow *row, LnsSearchDialog *self)
{
  go (self, row);
}

static void
activate_cb (GtkSearchEntry *entry, LnsSearchDialog *self)
{
  go (self, gtk_list_box_get_selected_row (self->list));
}

/* Up and Down choose while the entry keeps the focus. */
static gboolean
key_cb (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType state,
        LnsSearchDialog *self)
{
  GtkListBoxRow *row = gtk_list_box_get_selected_row (self->list);
  const int step = key == GDK_KEY_Down ? 1 : key == GDK_KEY_Up ? -1 : 0;

  if (key == GDK_KEY_Escape)
    {
      gtk_window_close (GTK_WINDOW (self));
      return GDK_EVENT_STOP;
    }
  if (step == 0 || row == NULL)
    return GDK_EVENT_PROPAGATE;
  GtkListBoxRow *next =
      gtk_list_box_get_row_at_index (self->list, gtk_list_box_row_get_index (row) + step);
  if (next != NULL)
    gtk_list_box_select_row (self->list, next);
  return GDK_EVENT_STOP;
}

GtkWidget *
lns_search_dialog_new (GtkWindow *parent, LnsReportPage *page)
{
  LnsSearchDialog *self = g_object_new (LNS_TYPE_SEARCH_DIALOG, "transient-for", parent, NULL);

  g_set_weak_pointer (&self->page, page);
  fill (self, "");
  return GTK_WIDGET (self);
}

static void
lns_search_dialog_dispose (GObject *object)
{
  g_clear_weak_pointer (&LNS_SEARCH_DIALOG (object)->page);
  G_OBJECT_CLASS (lns_search_dialog_parent_class)->dispose (object);
}

static void
lns_search_dialog_class_init (LnsSearchDialogClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_search_dialog_dispose;

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/search-dialog.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsSearchDialog, entry);
  gtk_widget_class_bind_template_child (widget_class, LnsSearchDialog, list);
}

static void
lns_search_dialog_init (LnsSearchDialog *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  g_signal_connect (self->entry, "changed", G_CALLBACK (changed_cb), self);
  g_signal_connect (self->entry, "activate", G_CALLBACK (activate_cb), self);
  g_signal_connect (self->list, "row-activated", G_CALLBACK (row_activated_cb), self);
}
