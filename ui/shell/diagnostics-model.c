/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/diagnostics-model.h"

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

static void
append (GListStore *list, LnsDiagnosticRow row)
{
  g_autoptr (LnsDiagnosticItem) item = g_object_new (LNS_TYPE_DIAGNOSTIC_ITEM, NULL);

  item->row = row;
  g_list_store_append (list, item);
}

GListStore *
lns_diagnostics_new (LnsReport *report)
{
  GListStore *list = g_list_store_new (LNS_TYPE_DIAGNOSTIC_ITEM);
  uint32_t n;
  const LnsDiagnostic *all = lns_report_diagnostics (report, &n);

  /* A diagnostic of unknown severity is not shown. */
  for (int severity = LNS_SEVERITY_ERROR; severity >= LNS_SEVERITY_INFO; severity--)
    for (uint32_t i = 0; i < n; i++)
      if ((int)all[i].severity == severity)
        append (list, (LnsDiagnosticRow){ lns_report_string (report, all[i].code, NULL),
                                          lns_report_string (report, all[i].text, NULL),
                                          all[i].severity, all[i].time_ns, all[i].process });
  return list;
}

void
lns_diagnostics_append (GListStore *list, const LnsFinding *findings, size_t n)
{
  for (size_t i = 0; i < n; i++)
    append (list, (LnsDiagnosticRow){ findings[i].code, findings[i].text, findings[i].severity,
                                      LNS_TIME_UNKNOWN, findings[i].process });
}
