/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/diagnostics-model.h"

#include <stdlib.h>

struct _LnsDiagnosticItem
{
  GObject parent_instance;

  LnsDiagnosticRow row;
};

G_DEFINE_FINAL_TYPE (LnsDiagnosticItem, lns_diagnostic_item, G_TYPE_OBJECT)

static void
lns_diagnostic_item_class_init (LnsDiagnosticItemClass *klass)
{
}

static void
lns_diagnostic_item_init (LnsDiagnosticItem *self)
{
}

const LnsDiagnosticRow *
lns_diagnostic_item_get (LnsDiagnosticItem *self)
{
  return &self->row;
}

struct _LnsDiagnosticsModel
{
  GObject parent_instance;

  LnsReport *report;
  const LnsDiagnostic *diagnostics; /* the report's        */
  guint32 *order;                   /* owned; [n] indices  */
  guint n;
  LnsFinding *findings; /* owned; [n_findings] */
  guint n_findings;
};

static void list_model_init (GListModelInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (LnsDiagnosticsModel,
                               lns_diagnostics_model,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static GType
get_item_type (GListModel *model)
{
  return LNS_TYPE_DIAGNOSTIC_ITEM;
}

static guint
get_n_items (GListModel *model)
{
  return LNS_DIAGNOSTICS_MODEL (model)->n + LNS_DIAGNOSTICS_MODEL (model)->n_findings;
}

static gpointer
get_item (GListModel *model, guint position)
{
  LnsDiagnosticsModel *self = LNS_DIAGNOSTICS_MODEL (model);

  if (position >= self->n + self->n_findings)
    return NULL;
  LnsDiagnosticItem *item = g_object_new (LNS_TYPE_DIAGNOSTIC_ITEM, NULL);
  if (position < self->n)
    {
      const LnsDiagnostic *diagnostic = &self->diagnostics[self->order[position]];
      item->row =
          (LnsDiagnosticRow){ lns_report_string (self->report, diagnostic->code, NULL),
                              lns_report_string (self->report, diagnostic->text, NULL),
                              diagnostic->severity, diagnostic->time_ns, diagnostic->process };
    }
  else
    {
      const LnsFinding *finding = &self->findings[position - self->n];
      item->row = (LnsDiagnosticRow){ finding->code, finding->text, finding->severity,
                                      LNS_TIME_UNKNOWN, finding->process };
    }
  return item;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

LnsDiagnosticsModel *
lns_diagnostics_model_new (LnsReport *report)
{
  LnsDiagnosticsModel *self = g_object_new (LNS_TYPE_DIAGNOSTICS_MODEL, NULL);
  guint position = 0;

  self->report = report;
  self->diagnostics = lns_report_diagnostics (report, &self->n);
  self->order = g_new (guint32, self->n);
  for (int severity = LNS_SEVERITY_ERROR; severity >= LNS_SEVERITY_INFO; severity--)
    for (guint i = 0; i < self->n; i++)
      if ((int)self->diagnostics[i].severity == severity)
        self->order[position++] = i;
  self->n = position; /* an unknown severity is not shown */
  return self;
}

void
lns_diagnostics_model_set_findings (LnsDiagnosticsModel *self, LnsFinding *findings, size_t n)
{
  guint n_before = self->n_findings;

  free (self->findings);
  self->findings = findings;
  self->n_findings = (guint)n;
  g_list_model_items_changed (G_LIST_MODEL (self), self->n, n_before, self->n_findings);
}

static void
lns_diagnostics_model_finalize (GObject *object)
{
  free (LNS_DIAGNOSTICS_MODEL (object)->findings);
  g_free (LNS_DIAGNOSTICS_MODEL (object)->order);
  G_OBJECT_CLASS (lns_diagnostics_model_parent_class)->finalize (object);
}

static void
lns_diagnostics_model_class_init (LnsDiagnosticsModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_diagnostics_model_finalize;
}

static void
lns_diagnostics_model_init (LnsDiagnosticsModel *self)
{
}
