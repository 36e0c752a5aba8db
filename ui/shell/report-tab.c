/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/report-tab.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <malloc.h>
#include <string.h>

#include "ui/model/display-text.h"
#include "ui/model/job.h"
#include "ui/model/pair.h"
#include "ui/model/report-loader.h"
#include "ui/shell/recents.h"

/* How often progress is shown. Files that open faster show no progress page, which would only flash by. */
#define PROGRESS_MS 150

struct _LnsReportTab
{
  AdwBin parent_instance;

  GSettings *settings; /* owned                                                           */
  GFile *file;         /* owned; shown, being opened, or not to be opened; or NULL        */
  char *title;         /* owned                                                           */
  char *path;          /* owned                                                           */
  GFile *other;        /* owned; that is to be shown beside it once it is open, or NULL … */
  gboolean compares;   /* … and compared with it                                          */

  GCancellable *opening;       /* owned; NULL while nothing is being opened */
  gboolean recovering;         /* with recovery                             */
  const LnsLoadProgress *load; /* of the opening                            */
  guint progress_timer;        /* shows it; or 0                            */
  gboolean recoverable;        /* the error page's file                     */

  LnsReportPage *page;   /* child of stack, or NULL                                  */
  GCancellable *looking; /* whether the file is still what is shown; NULL: no one is */
  gboolean wants_focus;  /* what the stack shows is new, and was not seen yet */

  GtkStack *stack; /* pages "empty", "loading", "error", "report" */
  AdwStatusPage *loading_page;
  GtkProgressBar *progress;
  AdwStatusPage *error_page;
  GtkWidget *recover_button;
  GtkWidget *another_button;
};

G_DEFINE_FINAL_TYPE (LnsReportTab, lns_report_tab, ADW_TYPE_BIN)

enum
{
  PROP_0,
  PROP_TITLE,
  PROP_PATH,
  PROP_IS_OPENING,
  PROP_PAGE,
  N_PROPS
};
static GParamSpec *props[N_PROPS];

static guint changed_signal;

/* --- What it shows ------------------------------------------------------------------------- */

static void
emit_changed (LnsReportTab *self)
{
  g_signal_emit (self, changed_signal, 0);
}

void
lns_report_tab_focus (LnsReportTab *self)
{
  const char *name = gtk_stack_get_visible_child_name (self->stack);

  if (!self->wants_focus || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  self->wants_focus = FALSE;
  if (strcmp (name, "report") == 0)
    gtk_widget_grab_focus (GTK_WIDGET (lns_report_page_get_parts (self->page)->timeline));
  else if (strcmp (name, "error") == 0)
    gtk_widget_grab_focus (self->recoverable ? self->recover_button : self->another_button);
  else
    gtk_widget_child_focus (GTK_WIDGET (self->stack), GTK_DIR_TAB_FORWARD);
}

/* Shows page NAME of the stack. */
static void
show_page (LnsReportTab *self, const char *name)
{
  gtk_stack_set_visible_child_name (self->stack, name);
  self->wants_focus = TRUE;
  /* Otherwise the menu bar would get the focus and look as if it were in use. */
  lns_report_tab_focus (self);
  emit_changed (self);
}

static void
set_file (LnsReportTab *self, GFile *file)
{
  if (!g_set_object (&self->file, file))
    return;
  g_free (self->title);
  g_free (self->path);
  self->title = lns_display_file (file, FALSE);
  self->path = lns_display_file (file, TRUE);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_TITLE]);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_PATH]);
}

/* Takes OPENING over. The one under way is cancelled, if there is one, and its answer does not count. */
static void
set_opening (LnsReportTab *self, GCancellable *opening)
{
  g_autoptr (GCancellable) before = g_steal_pointer (&self->opening);

  g_clear_handle_id (&self->progress_timer, g_source_remove);
  self->opening = opening;
  g_cancellable_cancel (before);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_IS_OPENING]);
}

/* Drops the report that is shown. */
static void
drop_report (LnsReportTab *self)
{
  lns_job_cancel (&self->looking);
  if (self->page == NULL)
    return;
  GtkWidget *page = GTK_WIDGET (g_steal_pointer (&self->page));
  gtk_stack_set_visible_child_name (self->stack, "empty");
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_PAGE]);
  gtk_stack_remove (self->stack, page);
}

/* Shows REPORT as STORED says, and takes them over. */
static void
show_report (LnsReportTab *self, LnsReport *report, LnsStoredView *stored)
{
  static const char *const changes[] = { "span-changed", "time-selection-changed",
                                         "event-selected" };
  g_autoptr (LnsView) view = lns_view_new (report);
  lns_view_set_file (view, self->file);
  GtkWidget *page = lns_report_page_new (view, self->settings, stored);

  for (size_t i = 0; i < G_N_ELEMENTS (changes); i++)
    g_signal_connect_object (view, changes[i], G_CALLBACK (emit_changed), self, G_CONNECT_SWAPPED);
  self->page = LNS_REPORT_PAGE (page);
  g_signal_connect_object (lns_report_page_get_parts (self->page)->timeline, "rows-changed",
                           G_CALLBACK (emit_changed), self, G_CONNECT_SWAPPED);
  gtk_stack_add_named (self->stack, page, "report");
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_PAGE]);
  show_page (self, "report");
}

static void
show_error (LnsReportTab *self, const GError *error, gboolean may_recover)
{
  g_autofree char *text = lns_display_text (error->message, strlen (error->message), FALSE);
  g_autofree char *markup = g_markup_escape_text (text, -1);

  adw_status_page_set_description (self->error_page, markup);
  self->recoverable = may_recover;
  gtk_widget_set_visible (self->recover_button, self->recoverable);
  show_page (self, "error");
}

/* --- Opening ------------------------------------------------------------------------------- */

/* A new reference on the pair of the report that is shown. */
static LnsPair *
own_pair (LnsReportTab *self)
{
  return lns_pair_of (lns_report_page_get_parts (self->page)->view);
}

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsReportTab) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = NULL;
  g_autoptr (GFile) other = NULL;
  gboolean may_recover = FALSE;
  LnsStoredView stored = { 0 };
  LnsReport *report = lns_report_load_finish (result, &file, &may_recover, &stored, &error);

  /* Another file is being opened, or the tab was closed: nobody waits for this answer. */
  if (g_task_get_cancellable (G_TASK (result)) != self->opening)
    {
      lns_stored_view_clear (&stored);
      lns_report_close (report);
      return;
    }
  set_opening (self, NULL);
  if (file != NULL)
    set_file (self, file);
  if (report == NULL)
    {
      show_error (self, error, may_recover);
      return;
    }
  lns_recents_add (self->file);
  show_report (self, report, &stored);
  other = g_steal_pointer (&self->other);
  if (other != NULL && self->compares)
    lns_report_tab_compare_with (self, other);
  else if (other != NULL)
    {
      g_autoptr (LnsPair) pair = own_pair (self);
      lns_pair_open (pair, other, FALSE);
    }
}

static gboolean
show_progress_cb (gpointer data)
{
  LnsReportTab *self = LNS_REPORT_TAB (data);

  adw_status_page_set_title (self->loading_page, self->recovering ? _ ("Recovering…")
                                                 : atomic_load (&self->load->imports)
                                                     ? _ ("Importing…")
                                                     : _ ("Opening…"));
  if (strcmp (gtk_stack_get_visible_child_name (self->stack), "loading") != 0)
    show_page (self, "loading");
  gtk_progress_bar_set_fraction (self->progress, atomic_load (&self->load->permille) / 1000.0);
  return G_SOURCE_CONTINUE;
}

static void
open_file (LnsReportTab *self, gboolean recover)
{
  g_autofree char *markup = g_markup_escape_text (self->path, -1);

  drop_report (self);
  adw_status_page_set_description (self->loading_page, markup);
  self->recoverable = FALSE;
  self->recovering = recover;
  set_opening (self, g_cancellable_new ());
  self->progress_timer = g_timeout_add (PROGRESS_MS, show_progress_cb, self);
  self->load =
      lns_report_load_async (self->file, recover, self->opening, loaded_cb, g_object_ref (self));
  emit_changed (self);
}

void
lns_report_tab_open (LnsReportTab *self, GFile *file, GFile *other, gboolean compares)
{
  self->compares = compares;
  g_set_object (&self->other, other);
  set_file (self, file);
  open_file (self, FALSE);
}

void
lns_report_tab_recover (LnsReportTab *self)
{
  open_file (self, TRUE);
}

void
lns_report_tab_reload (LnsReportTab *self)
{
  g_autoptr (GFile) file = g_object_ref (self->file);
  g_autoptr (LnsPair) pair = self->page != NULL ? own_pair (self) : NULL;
  GFile *with = pair != NULL ? lns_pair_get_file (pair) : NULL;
  g_autoptr (GFile) other = with != NULL ? g_object_ref (with) : NULL;

  lns_report_tab_open (self, file, other, other != NULL && lns_pair_compares (pair));
}

/* --- Whether the file is still what is shown ----------------------------------------------- */

typedef struct
{
  gboolean is_other; /* the file holds something else than the report that is open */
} Look;

static void
look_work (LnsWorker *worker, gpointer job)
{
  LnsReport *newer = NULL;
  LnsError error = { 0 };
  const bool looked = lns_report_refresh (worker->report, &newer, &error);

  /* The page follows a report that is being recorded by itself. */
  ((Look *)job)->is_other =
      looked ? newer != NULL && lns_report_info (worker->report)->state != LNS_STATE_RECORDING
             : error.code != EBUSY;
  lns_report_close (newer);
}

static void
looked_cb (gpointer job, gpointer owner)
{
  if (((Look *)job)->is_other)
    lns_report_tab_reload (owner);
}

static const LnsJobFuncs look_funcs = { look_work, looked_cb, g_free, NULL };

void
lns_report_tab_renew (LnsReportTab *self)
{
  if (lns_report_tab_has_failed (self))
    lns_report_tab_reload (self);
  else if (self->page != NULL)
    lns_job_start (&self->looking, lns_report_page_get_parts (self->page)->view, &look_funcs,
                   g_new0 (Look, 1), self);
}

/* --- The report that is shown -------------------------------------------------------------- */

void
lns_report_tab_compare_with (LnsReportTab *self, GFile *file)
{
  g_autoptr (LnsPair) pair = own_pair (self);

  lns_pair_open (pair, file, TRUE);
  g_settings_set_string (self->settings, "bottom-page", "compare");
}

void
lns_report_tab_compare_spans (LnsReportTab *self)
{
  g_autoptr (LnsPair) pair = own_pair (self);

  lns_pair_open_spans (pair);
  g_settings_set_string (self->settings, "bottom-page", "compare");
}

void
lns_report_tab_swap (LnsReportTab *self)
{
  g_autoptr (LnsPair) pair = own_pair (self);
  g_autoptr (GFile) a = g_object_ref (self->file), b = NULL;

  if (lns_pair_get_file (pair) == NULL)
    return;
  b = g_object_ref (lns_pair_get_file (pair));
  lns_report_tab_open (self, b, a, lns_pair_compares (pair));
}

/* --- What is known of it ------------------------------------------------------------------- */

GFile *
lns_report_tab_get_file (LnsReportTab *self)
{
  return self->file;
}

LnsReportPage *
lns_report_tab_get_page (LnsReportTab *self)
{
  return self->page;
}

const char *
lns_report_tab_get_title (LnsReportTab *self)
{
  return self->title;
}

const char *
lns_report_tab_get_path (LnsReportTab *self)
{
  return self->path;
}

gboolean
lns_report_tab_is_opening (LnsReportTab *self)
{
  return self->opening != NULL;
}

gboolean
lns_report_tab_has_failed (LnsReportTab *self)
{
  return self->file != NULL && self->opening == NULL && self->page == NULL;
}

gboolean
lns_report_tab_can_recover (LnsReportTab *self)
{
  return self->recoverable;
}

gboolean
lns_report_tab_may_grow (LnsReportTab *self)
{
  return self->page == NULL || lns_view_is_live (lns_report_page_get_parts (self->page)->view);
}

/* --- Memory -------------------------------------------------------------------------------- */

/* How long after a tab was closed: workers may have something of its report until then. */
#define TRIM_S 2

static void
trim_work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  malloc_trim (0);
  g_task_return_boolean (task, TRUE);
}

static guint trim_timer; /* or 0 */

static gboolean
trim_cb (gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, NULL, NULL);

  trim_timer = 0;
  g_task_run_in_thread (task, trim_work);
  return G_SOURCE_REMOVE;
}

/* Gives back to the system what closed reports had: malloc () would keep nearly all of it, as other reports have the ends of its arenas. */
static void
trim_soon (void)
{
  if (trim_timer == 0)
    trim_timer = g_timeout_add_seconds (TRIM_S, trim_cb, NULL);
}

/* --- The object ---------------------------------------------------------------------------- */

GtkWidget *
lns_report_tab_new (GSettings *settings)
{
  LnsReportTab *self = g_object_new (LNS_TYPE_REPORT_TAB, NULL);

  self->settings = g_object_ref (settings);
  return GTK_WIDGET (self);
}

static void
lns_report_tab_dispose (GObject *object)
{
  LnsReportTab *self = LNS_REPORT_TAB (object);

  set_opening (self, NULL);
  lns_job_cancel (&self->looking);
  self->page = NULL;
  g_clear_object (&self->settings);
  g_clear_object (&self->file);
  g_clear_object (&self->other);
  G_OBJECT_CLASS (lns_report_tab_parent_class)->dispose (object);
}

static void
lns_report_tab_finalize (GObject *object)
{
  LnsReportTab *self = LNS_REPORT_TAB (object);

  g_free (self->title);
  g_free (self->path);
  G_OBJECT_CLASS (lns_report_tab_parent_class)->finalize (object);
  trim_soon ();
}

static void
lns_report_tab_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LnsReportTab *self = LNS_REPORT_TAB (object);

  switch (id)
    {
    case PROP_TITLE:
      g_value_set_string (value, self->title);
      break;
    case PROP_PATH:
      g_value_set_string (value, self->path);
      break;
    case PROP_IS_OPENING:
      g_value_set_boolean (value, self->opening != NULL);
      break;
    case PROP_PAGE:
      g_value_set_object (value, self->page);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
lns_report_tab_class_init (LnsReportTabClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->dispose = lns_report_tab_dispose;
  object_class->finalize = lns_report_tab_finalize;
  object_class->get_property = lns_report_tab_get_property;

  props[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, NULL, flags);
  props[PROP_PATH] = g_param_spec_string ("path", NULL, NULL, NULL, flags);
  props[PROP_IS_OPENING] = g_param_spec_boolean ("is-opening", NULL, NULL, FALSE, flags);
  props[PROP_PAGE] = g_param_spec_object ("page", NULL, NULL, LNS_TYPE_REPORT_PAGE, flags);
  g_object_class_install_properties (object_class, N_PROPS, props);
  changed_signal = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/report-tab.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsReportTab, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsReportTab, loading_page);
  gtk_widget_class_bind_template_child (widget_class, LnsReportTab, progress);
  gtk_widget_class_bind_template_child (widget_class, LnsReportTab, error_page);
  gtk_widget_class_bind_template_child (widget_class, LnsReportTab, recover_button);
  gtk_widget_class_bind_template_child (widget_class, LnsReportTab, another_button);
}

static void
lns_report_tab_init (LnsReportTab *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
