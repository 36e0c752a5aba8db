/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/pair.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/model/display-text.h"
#include "ui/model/job.h"
#include "ui/model/report-loader.h"

/* Of a view's data: the pair that others hold a reference on. */
#define KEY "lns-pair"

struct _LnsPair
{
  GObject parent_instance;

  LnsView *views[2]; /* owned; that of B may be NULL */
  LnsPairState state;
  GFile *file;                 /* owned, or NULL: of B */
  GCancellable *opening;       /* owned, or NULL */
  const LnsLoadProgress *load; /* of the opening */
  GCancellable *comparing;     /* of the job under way, or NULL */
  LnsPairFacts *facts;         /* owned, or NULL */
  char *problem;               /* owned, or NULL: why there is no B, or no comparison */
};

G_DEFINE_FINAL_TYPE (LnsPair, lns_pair, G_TYPE_OBJECT)

static void
set_state (LnsPair *self, LnsPairState state)
{
  self->state = state;
  g_signal_emit_by_name (self, "changed");
}

/* --- Comparing -------------------------------------------------------------------------------- */

typedef struct
{
  LnsReport *other;    /* a reference */
  LnsPairFacts *facts; /* owned, or NULL and ERROR */
  LnsError error;
} Comparing;

static void
comparing_free (gpointer data)
{
  Comparing *it = data;

  lns_pair_facts_free (it->facts);
  lns_report_close (it->other);
  g_free (it);
}

static void
compare_work (LnsWorker *worker, gpointer data)
{
  Comparing *it = data;

  it->facts = lns_pair_facts_new ((LnsReport *const[]){ worker->report, it->other },
                                  &worker->cancelled, &it->error);
}

static void
compare_done (gpointer data, gpointer owner)
{
  Comparing *it = data;
  LnsPair *self = owner;

  self->facts = g_steal_pointer (&it->facts);
  if (self->facts == NULL)
    self->problem = lns_display_text (it->error.message, strlen (it->error.message), TRUE);
  set_state (self, self->facts != NULL ? LNS_PAIR_THERE : LNS_PAIR_NONE);
}

static const LnsJobFuncs compare_funcs = { compare_work, compare_done, comparing_free, NULL };

/* Compares the reports, unless one of them is still being recorded. */
static void
compare (LnsPair *self)
{
  if (lns_view_is_live (self->views[0]) || lns_view_is_live (self->views[1]))
    {
      set_state (self, LNS_PAIR_WAITING);
      return;
    }
  Comparing *it = g_new0 (Comparing, 1);
  it->other = lns_report_ref (lns_view_get_report (self->views[1]));
  lns_job_start (&self->comparing, self->views[0], &compare_funcs, it, self);
  set_state (self, LNS_PAIR_LOOKING);
}

static void
grown_cb (LnsPair *self)
{
  if (self->state == LNS_PAIR_WAITING)
    compare (self);
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* Cancels what is under way, and forgets what there was. */
static void
clear (LnsPair *self)
{
  g_cancellable_cancel (self->opening);
  g_clear_object (&self->opening);
  self->load = NULL;
  lns_job_cancel (&self->comparing);
  g_clear_pointer (&self->facts, lns_pair_facts_free);
  g_clear_pointer (&self->problem, g_free);
  g_clear_object (&self->views[1]);
  g_clear_object (&self->file);
}

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree GWeakRef *weak = data;
  g_autoptr (LnsPair) self = g_weak_ref_get (weak);
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = NULL;
  gboolean may_recover;
  LnsStoredView stored = { 0 };
  LnsReport *report = lns_report_load_finish (result, &file, &may_recover, &stored, &error);

  g_weak_ref_clear (weak);
  lns_stored_view_clear (&stored);
  /* The pair is gone, or opens another file by now. */
  if (self == NULL || g_task_get_cancellable (G_TASK (result)) != self->opening)
    {
      lns_report_close (report);
      return;
    }
  g_clear_object (&self->opening);
  self->load = NULL;
  if (file != NULL)
    g_set_object (&self->file, file);
  if (report == NULL)
    {
      self->problem = lns_display_text (error->message, strlen (error->message), TRUE);
      set_state (self, LNS_PAIR_FAILED);
      return;
    }
  self->views[1] = lns_view_new (report);
  compare (self);
}

void
lns_pair_open (LnsPair *self, GFile *file)
{
  g_autoptr (GFile) other = g_object_ref (file);
  GWeakRef *weak = g_new (GWeakRef, 1);

  clear (self);
  g_weak_ref_init (weak, self);
  self->file = g_steal_pointer (&other);
  self->opening = g_cancellable_new ();
  self->load = lns_report_load_async (self->file, FALSE, self->opening, loaded_cb, weak);
  set_state (self, LNS_PAIR_OPENING);
}

void
lns_pair_close (LnsPair *self)
{
  if (self->state == LNS_PAIR_ALONE)
    return;
  clear (self);
  set_state (self, LNS_PAIR_ALONE);
}

/* --- What it tells ---------------------------------------------------------------------------- */

LnsPairState
lns_pair_get_state (LnsPair *self)
{
  return self->state;
}

unsigned
lns_pair_get_permille (LnsPair *self)
{
  return self->load != NULL ? atomic_load (&self->load->permille) : 0;
}

LnsView *
lns_pair_get_view (LnsPair *self, int side)
{
  return self->views[side];
}

char *
lns_pair_get_name (LnsPair *self, int side)
{
  if (side == 1)
    return self->file != NULL ? lns_display_file (self->file, FALSE) : NULL;
  LnsReport *report = lns_view_get_report (self->views[0]);
  const char *imported = lns_report_meta (report, "imported_from");
  g_autoptr (GFile) file =
      g_file_new_for_path (imported != NULL ? imported : lns_report_info (report)->path);
  return lns_display_file (file, FALSE);
}

LnsPairFacts *
lns_pair_get_facts (LnsPair *self)
{
  return self->facts;
}

char *
lns_pair_get_excuse (LnsPair *self)
{
  g_autofree char *name = lns_pair_get_name (self, 1);

  switch (self->state)
    {
    case LNS_PAIR_ALONE:
      return g_strdup (_ ("Compare this run, A, with another one, B: whether B is slower, by how "
                          "much, how sure that is, and because of what."));
    case LNS_PAIR_OPENING:
      return g_strdup_printf (_ ("Opening %s…"), name);
    case LNS_PAIR_FAILED:
      return g_strdup_printf (_ ("%s could not be opened: %s"), name, self->problem);
    case LNS_PAIR_WAITING:
      return g_strdup (_ ("The runs are compared when the recording has ended."));
    case LNS_PAIR_LOOKING:
      return g_strdup_printf (_ ("Comparing with %s…"), name);
    case LNS_PAIR_NONE:
      return g_strdup_printf (_ ("The runs cannot be compared: %s"), self->problem);
    case LNS_PAIR_THERE:
      break;
    }
  return NULL;
}

/* --- Life ------------------------------------------------------------------------------------- */

LnsPair *
lns_pair_of (LnsView *view)
{
  LnsPair *self = g_object_get_data (G_OBJECT (view), KEY);

  if (self != NULL)
    return g_object_ref (self);
  self = g_object_new (LNS_TYPE_PAIR, NULL);
  self->views[0] = g_object_ref (view);
  g_object_set_data (G_OBJECT (view), KEY, self);
  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, G_CONNECT_SWAPPED);
  return self;
}

static void
lns_pair_dispose (GObject *object)
{
  LnsPair *self = LNS_PAIR (object);

  clear (self);
  if (self->views[0] != NULL)
    g_object_set_data (G_OBJECT (self->views[0]), KEY, NULL);
  g_clear_object (&self->views[0]);
  G_OBJECT_CLASS (lns_pair_parent_class)->dispose (object);
}

static void
lns_pair_class_init (LnsPairClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_pair_dispose;
  g_signal_new ("changed", LNS_TYPE_PAIR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lns_pair_init (LnsPair *self)
{
}
