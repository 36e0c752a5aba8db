/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/find-bar.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/model/job.h"
#include "ui/model/shortcuts.h"
#include "ui/model/tooltip.h"
#include "ui/timeline/find-search.h"

struct _LnsFindBar
{
  AdwBin parent_instance;

  LnsView *view; /* owned */

  LnsFindSearch *search;   /* owned; of what the entry says, or NULL: not known yet */
  GCancellable *searching; /* of the search under way, or NULL */
  GCancellable *stepping;  /* of the step under way, or NULL */
  LnsFindPlace place;      /* the match shown last */
  uint64_t number;         /* and its number; 0 = none yet */
  LnsEventId before;       /* what was selected then            */
  int wanted;              /* a step to take once the search is done: 1, -1, or 0 */

  GtkRevealer *revealer;
  GtkEditable *entry;
  GtkToggleButton *match_case;
  GtkToggleButton *regex;
  GtkLabel *status;
  GtkProgressBar *progress;
};

G_DEFINE_FINAL_TYPE (LnsFindBar, lns_find_bar, ADW_TYPE_BIN)

static void
set_status (LnsFindBar *self, const char *text, gboolean is_error)
{
  gtk_label_set_text (self->status, text);
  lns_tooltip_set (GTK_WIDGET (self->status), *text != '\0' ? text : NULL);
  void (*change) (GtkWidget *, const char *) =
      is_error ? gtk_widget_add_css_class : gtk_widget_remove_css_class;
  change (GTK_WIDGET (self->entry), "error");
  change (GTK_WIDGET (self->status), "error");
}

static void
update_status (LnsFindBar *self)
{
  char number[LNS_FORMAT_SIZE], events[LNS_FORMAT_SIZE], names[LNS_FORMAT_SIZE];
  uint64_t n_events = lns_find_search_n_events (self->search);
  uint64_t n_names = lns_find_search_n_names (self->search);

  if (n_events == 0)
    {
      set_status (self, _ ("No event has this name"), FALSE);
      return;
    }
  lns_format_unsigned (n_events, events);
  g_autofree char *of_names = g_strdup_printf (ngettext ("%s name", "%s names", n_names),
                                               lns_format_unsigned (n_names, names));
  g_autofree char *text =
      self->number > 0
          ? g_strdup_printf (_ ("%s of %s · %s"), lns_format_unsigned (self->number, number),
                             events, of_names)
          : g_strdup_printf (ngettext ("%s event · %s", "%s events · %s", n_events), events,
                             of_names);
  set_status (self, text, FALSE);
}

/* --- Steps --------------------------------------------------------------------------------- */

typedef struct
{
  LnsFindSearch *search; /* owned */
  LnsFindPlace from, place;
  gboolean forward, found;
  uint64_t number;
} Step;

static void
step_free (gpointer data)
{
  Step *step = data;
  lns_find_search_unref (step->search);
  g_free (step);
}

static void
step (LnsWorker *worker, gpointer job)
{
  Step *it = job;
  it->found = lns_find_search_step (it->search, &it->from, it->forward, &it->place, &it->number);
}

static void
stepped_cb (gpointer job, gpointer owner)
{
  const Step *step = job;
  LnsFindBar *self = owner;
  if (!step->found)
    {
      set_status (
          self, _ ("The matching events cannot be read because the report is damaged there"), TRUE);
      return;
    }
  self->before = lns_view_get_selected_event (self->view, NULL);
  self->place = step->place;
  self->number = step->number;
  update_status (self);
  lns_view_reveal_event (self->view,
                         lns_view_event (self->view, step->place.lane, step->place.ordinal));
}

static const LnsJobFuncs step_funcs = { step, stepped_cb, step_free };

/* The place from which a step starts: the last match while it is selected or about to be, or else the selected event,
 * or else the start of the view. */
static LnsFindPlace
place_now (LnsFindBar *self)
{
  LnsEvent event;
  LnsEventId id = lns_view_get_selected_event (self->view, &event);
  LnsEventId last = lns_view_event (self->view, self->place.lane, self->place.ordinal);
  if (self->number > 0 && (lns_event_id_equal (id, last) || lns_event_id_equal (id, self->before)))
    return self->place;
  if (id.lane != LNS_ID_NONE)
    return (LnsFindPlace){ event.start_ns, id.lane, id.ordinal };
  return (LnsFindPlace){ lns_view_get_start_ns (self->view), 0, 0 };
}

static void
take_step (LnsFindBar *self, gboolean forward)
{
  /* A key that is held down must not queue steps faster than they can be shown. */
  if (self->stepping != NULL || lns_find_search_n_events (self->search) == 0)
    return;
  Step *job = g_new0 (Step, 1);
  job->search = lns_find_search_ref (self->search);
  job->from = place_now (self);
  job->forward = forward;
  lns_job_start (&self->stepping, self->view, &step_funcs, job, self);
}

/* --- The search ---------------------------------------------------------------------------- */

typedef struct
{
  LnsNameMatch *match;  /* owned */
  LnsFindSearch *found; /* owned, or NULL */
} Search;

static void
search_free (gpointer data)
{
  Search *search = data;
  lns_name_match_free (search->match);
  lns_find_search_unref (search->found);
  g_free (search);
}

static void
search (LnsWorker *worker, gpointer job)
{
  Search *it = job;
  it->found =
      lns_find_search_new (worker->report, it->match, &worker->permille, worker->cancellable);
}

/* Cancels the search and the step under way, and drops the matches. */
static void
cancel (LnsFindBar *self)
{
  lns_job_cancel (&self->searching);
  lns_job_cancel (&self->stepping);
  g_clear_pointer (&self->search, lns_find_search_unref);
  self->number = 0;
  self->wanted = 0;
}

static void
searched_cb (gpointer job, gpointer owner)
{
  Search *search = job;
  LnsFindBar *self = owner;
  int wanted = self->wanted;
  cancel (self);
  self->search = g_steal_pointer (&search->found);
  gtk_widget_set_visible (GTK_WIDGET (self->progress), FALSE);
  update_status (self);
  if (wanted != 0)
    take_step (self, wanted > 0);
}

static void
show_progress (unsigned permille, gpointer owner)
{
  LnsFindBar *self = owner;
  gtk_widget_set_visible (GTK_WIDGET (self->progress), TRUE);
  gtk_progress_bar_set_fraction (self->progress, permille / 1000.0);
}

static const LnsJobFuncs search_funcs = { search, searched_cb, search_free, show_progress };

static void
start_search (LnsFindBar *self)
{
  const char *text = gtk_editable_get_text (self->entry);
  g_autoptr (GError) error = NULL;

  cancel (self);
  gtk_widget_set_visible (GTK_WIDGET (self->progress), FALSE);
  set_status (self, "", FALSE);
  if (*text == '\0')
    return;
  LnsNameMatch *match =
      lns_name_match_new (text, gtk_toggle_button_get_active (self->regex),
                          gtk_toggle_button_get_active (self->match_case), &error);
  if (match == NULL)
    {
      set_status (self, error->message, TRUE);
      return;
    }
  set_status (self, _ ("Searching…"), FALSE);

  Search *job = g_new0 (Search, 1);
  job->match = match;
  lns_job_start (&self->searching, self->view, &search_funcs, job, self);
}

/* --- The bar ------------------------------------------------------------------------------- */

void
lns_find_bar_open (LnsFindBar *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
  gtk_revealer_set_reveal_child (self->revealer, TRUE);
  gtk_widget_grab_focus (GTK_WIDGET (self->entry));
  gtk_editable_select_region (self->entry, 0, -1);
}

void
lns_find_bar_search (LnsFindBar *self, const char *text)
{
  gtk_editable_set_text (self->entry, text);
  lns_find_bar_open (self);
  lns_find_bar_step (self, TRUE);
}

static void
close_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsFindBar *self = LNS_FIND_BAR (widget);
  /* Finished searches are kept, so that F3 still works; a search under way is cancelled. */
  if (self->search == NULL)
    {
      cancel (self);
      set_status (self, "", FALSE);
      gtk_widget_set_visible (GTK_WIDGET (self->progress), FALSE);
    }
  gtk_revealer_set_reveal_child (self->revealer, FALSE);
}

void
lns_find_bar_step (LnsFindBar *self, gboolean forward)
{
  if (*gtk_editable_get_text (self->entry) == '\0')
    {
      lns_find_bar_open (self);
      return;
    }
  if (self->search == NULL && self->searching == NULL)
    start_search (self);
  if (self->search != NULL)
    take_step (self, forward);
  else
    self->wanted = forward ? 1 : -1;
}

static void
activate_cb (GtkEntry *entry, LnsFindBar *self)
{
  lns_find_bar_step (self, TRUE);
}

static void
step_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_find_bar_step (LNS_FIND_BAR (widget), g_str_equal (action, "find.next"));
}

/* A bar that is folded away takes neither room nor keys. */
static void
child_revealed_cb (GtkRevealer *revealer, GParamSpec *pspec, LnsFindBar *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self), gtk_revealer_get_reveal_child (revealer) ||
                                                 gtk_revealer_get_child_revealed (revealer));
}

GtkWidget *
lns_find_bar_new (LnsView *view)
{
  LnsFindBar *self = g_object_new (LNS_TYPE_FIND_BAR, "visible", FALSE, NULL);

  self->view = g_object_ref (view);
  return GTK_WIDGET (self);
}

static void
lns_find_bar_dispose (GObject *object)
{
  LnsFindBar *self = LNS_FIND_BAR (object);

  cancel (self);
  G_OBJECT_CLASS (lns_find_bar_parent_class)->dispose (object);
  g_clear_object (&self->view);
}

static void
lns_find_bar_class_init (LnsFindBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_find_bar_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/find-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsFindBar, revealer);
  gtk_widget_class_bind_template_child (widget_class, LnsFindBar, entry);
  gtk_widget_class_bind_template_child (widget_class, LnsFindBar, match_case);
  gtk_widget_class_bind_template_child (widget_class, LnsFindBar, regex);
  gtk_widget_class_bind_template_child (widget_class, LnsFindBar, status);
  gtk_widget_class_bind_template_child (widget_class, LnsFindBar, progress);
  gtk_widget_class_bind_template_callback (widget_class, start_search);
  gtk_widget_class_bind_template_callback (widget_class, activate_cb);
  gtk_widget_class_bind_template_callback (widget_class, child_revealed_cb);
  gtk_widget_class_install_action (widget_class, "find.next", NULL, step_cb);
  gtk_widget_class_install_action (widget_class, "find.previous", NULL, step_cb);
  gtk_widget_class_install_action (widget_class, "find.close", NULL, close_cb);
  lns_shortcuts_add_to_class (widget_class, "find.");
}

static void
lns_find_bar_init (LnsFindBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
