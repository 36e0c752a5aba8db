/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/lns-shortcuts.h"

#include <glib/gi18n.h>
#include <stdbool.h>

typedef struct
{
  const char *group;
  const char *title;
  const char *action; /* detailed name, or NULL for what only the mouse does      */
  const char *keys;   /* GTK accelerators, separated by spaces, or NULL           */
  const char *mouse;  /* what the mouse does, in words, or NULL                   */
} Shortcut;

/* In the order of the Keyboard Shortcuts window; rows of one group stand together. */
static const Shortcut shortcuts[] = {
  { N_ ("General"), N_ ("Open a report"), "win.open", "<Control>o", NULL },
  { N_ ("General"), N_ ("Launch a program"), "win.launch", "<Control>l", NULL },
  { N_ ("General"), N_ ("Close the window"), "win.close", "<Control>w", NULL },
  { N_ ("General"), N_ ("Quit"), "app.quit", "<Control>q", NULL },
  { N_ ("General"), N_ ("Keyboard shortcuts"), "win.show-help-overlay", "<Control>question F1",
    NULL },
  { N_ ("Timeline"), N_ ("Zoom in and out at the pointer"), NULL, NULL, N_ ("Ctrl + wheel") },
  { N_ ("Timeline"), N_ ("Zoom in"), "timeline.zoom-in", "plus equal KP_Add", NULL },
  { N_ ("Timeline"), N_ ("Zoom out"), "timeline.zoom-out", "minus KP_Subtract", NULL },
  { N_ ("Timeline"), N_ ("Show the whole report"), "timeline.zoom-fit", "0 KP_0", NULL },
  { N_ ("Timeline"), N_ ("Select time"), NULL, NULL, N_ ("Drag") },
  { N_ ("Timeline"), N_ ("Zoom to the selected time"), "timeline.zoom-to-selection", "z <Shift>z",
    NULL },
  { N_ ("Timeline"), N_ ("Zoom to the selected event"), "timeline.zoom-to-event", "e", NULL },
  { N_ ("Timeline"), N_ ("Undo the last zoom"), "timeline.undo-zoom", "BackSpace", NULL },
  { N_ ("Timeline"), N_ ("Remove the selection"), "timeline.clear-selection", "Escape", NULL },
  { N_ ("Timeline"), N_ ("Move through time"), NULL, NULL,
    N_ ("Shift + wheel, Shift + drag, middle button") },
  { N_ ("Timeline"), N_ ("Earlier"), "timeline.pan-left", "Left", NULL },
  { N_ ("Timeline"), N_ ("Later"), "timeline.pan-right", "Right", NULL },
  { N_ ("Timeline"), N_ ("Go to the start"), "timeline.go-start", "Home", NULL },
  { N_ ("Timeline"), N_ ("Go to the end"), "timeline.go-end", "End", NULL },
};

/* Calls FUNC with each accelerator of KEYS. */
static void
split_keys (const char *keys, void (*func) (const char *key, gpointer data), gpointer data)
{
  g_auto (GStrv) each = g_strsplit (keys != NULL ? keys : "", " ", -1);

  for (char **key = each; *key != NULL; key++)
    func (*key, data);
}

void
lns_shortcuts_add_to_application (GtkApplication *application)
{
  for (size_t i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    {
      const Shortcut *shortcut = &shortcuts[i];
      if (shortcut->action == NULL || shortcut->keys == NULL ||
          !(g_str_has_prefix (shortcut->action, "app.") ||
            g_str_has_prefix (shortcut->action, "win.")))
        continue;
      g_auto (GStrv) keys = g_strsplit (shortcut->keys, " ", -1);
      gtk_application_set_accels_for_action (application, shortcut->action,
                                             (const char *const *)keys);
    }
}

typedef struct
{
  GtkWidgetClass *widget_class;
  const char *action;
} ClassBinding;

static void
add_class_key (const char *key, gpointer data)
{
  const ClassBinding *binding = data;
  g_autoptr (GtkShortcut) shortcut = gtk_shortcut_new (gtk_shortcut_trigger_parse_string (key),
                                                       gtk_named_action_new (binding->action));

  gtk_widget_class_add_shortcut (binding->widget_class, shortcut);
}

void
lns_shortcuts_add_to_class (GtkWidgetClass *widget_class, const char *prefix)
{
  for (size_t i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    if (shortcuts[i].action != NULL && g_str_has_prefix (shortcuts[i].action, prefix))
      split_keys (shortcuts[i].keys, add_class_key,
                  &(ClassBinding){ widget_class, shortcuts[i].action });
}

/* One line of the window: keys, or else what the mouse does. */
static void
append_row (GString *xml, const Shortcut *shortcut)
{
  g_autofree char *row = g_markup_printf_escaped (
      "<child><object class='GtkShortcutsShortcut'>"
      "<property name='title'>%s</property><property name='subtitle'>%s</property>",
      _ (shortcut->title), shortcut->mouse != NULL ? _ (shortcut->mouse) : "");

  g_string_append (xml, row);
  if (shortcut->keys != NULL)
    {
      g_autofree char *keys =
          g_markup_printf_escaped ("<property name='accelerator'>%s</property>", shortcut->keys);
      g_string_append (xml, keys);
    }
  else
    g_string_append (xml, "<property name='shortcut-type'>gesture</property>"
                          "<property name='icon-set'>1</property>"
                          "<property name='icon'>input-mouse-symbolic</property>");
  g_string_append (xml, "</object></child>");
}

/* GTK 4.8 fills this window only from XML. */
GtkWidget *
lns_shortcuts_window_new (void)
{
  g_autoptr (GString) xml =
      g_string_new ("<interface><object class='GtkShortcutsWindow' id='window'>"
                    "<property name='modal'>1</property>"
                    "<child><object class='GtkShortcutsSection'>"
                    "<property name='section-name'>all</property>"
                    "<property name='max-height'>14</property>");

  for (size_t i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    {
      bool first = i == 0 || strcmp (shortcuts[i].group, shortcuts[i - 1].group) != 0;
      bool last = i + 1 == G_N_ELEMENTS (shortcuts) ||
                  strcmp (shortcuts[i].group, shortcuts[i + 1].group) != 0;
      if (first)
        {
          g_autofree char *group = g_markup_printf_escaped (
              "<child><object class='GtkShortcutsGroup'><property name='title'>%s</property>",
              _ (shortcuts[i].group));
          g_string_append (xml, group);
        }
      append_row (xml, &shortcuts[i]);
      if (last)
        g_string_append (xml, "</object></child>");
    }
  g_string_append (xml, "</object></child></object></interface>");

  g_autoptr (GtkBuilder) builder = gtk_builder_new_from_string (xml->str, xml->len);
  return GTK_WIDGET (gtk_builder_get_object (builder, "window"));
}
