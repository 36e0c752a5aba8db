/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/problem-count.h"

#include <glib/gi18n.h>

#include "ui/model/tooltip.h"
#include "ui/shell/problems.h"

#define KEY "lns-problem-count"

typedef struct
{
  GtkWidget *button;         /* borrowed: it has this */
  AdwButtonContent *content; /* borrowed: the button's */
  LnsProblems *problems;     /* owned */
} ProblemCount;

static void
update (ProblemCount *self)
{
  guint n;

  g_object_get (self->problems, "count", &n, NULL);
  g_autofree char *label = g_strdup_printf ("%u", n);
  g_autofree char *tooltip =
      g_strdup_printf (ngettext ("%u warning or error", "%u warnings and errors", n), n);
  adw_button_content_set_label (self->content, label);
  lns_tooltip_set (self->button, tooltip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->button),
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, tooltip, -1);
  gtk_widget_set_visible (self->button, n > 0);
}

static void
problem_count_free (gpointer data)
{
  ProblemCount *self = data;

  g_signal_handlers_disconnect_by_data (self->problems, self);
  g_object_unref (self->problems);
  g_free (self);
}

void
lns_problem_count_follow (GtkWidget *button, AdwButtonContent *content, LnsView *view)
{
  g_object_set_data (G_OBJECT (button), KEY, NULL);
  gtk_widget_set_visible (button, FALSE);
  if (view == NULL)
    return;
  ProblemCount *self = g_new0 (ProblemCount, 1);
  self->button = button;
  self->content = content;
  self->problems = lns_problems_of (view);
  g_object_set_data_full (G_OBJECT (button), KEY, self, problem_count_free);
  g_signal_connect_swapped (self->problems, "notify::count", G_CALLBACK (update), self);
  update (self);
}
