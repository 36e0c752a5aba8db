/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gio/gio.h>

#include "src/analysis/rules/doctor.h"

G_BEGIN_DECLS

#define LNS_TYPE_DIAGNOSTICS_MODEL (lns_diagnostics_model_get_type ())

/* A problem of a report: a diagnostic, or a finding of the doctor. Texts are as in the report. */
typedef struct
{
  const char *code;
  const char *text;
  LnsSeverity severity;
  int64_t time_ns;  /* LNS_TIME_UNKNOWN = of the whole session                                  */
  uint32_t process; /* or LNS_ID_NONE                                                           */
} LnsDiagnosticRow;

/* The diagnostics of a report as a list of LnsDiagnosticItem, worst first and else in their order, then
 * what the doctor finds besides. Items are made when asked for. */
G_DECLARE_FINAL_TYPE (LnsDiagnosticsModel, lns_diagnostics_model, LNS, DIAGNOSTICS_MODEL, GObject)

#define LNS_TYPE_DIAGNOSTIC_ITEM (lns_diagnostic_item_get_type ())
G_DECLARE_FINAL_TYPE (LnsDiagnosticItem, lns_diagnostic_item, LNS, DIAGNOSTIC_ITEM, GObject)

/* REPORT must outlive the model. */
LnsDiagnosticsModel *lns_diagnostics_model_new (LnsReport *report) G_GNUC_WARN_UNUSED_RESULT;

/* Shows N FINDINGS, which the model takes (malloc ()), in place of those before. */
void lns_diagnostics_model_set_findings (LnsDiagnosticsModel *self, LnsFinding *findings, size_t n);

/* Owned by the item; texts by the model or its report. */
const LnsDiagnosticRow *lns_diagnostic_item_get (LnsDiagnosticItem *self);

G_END_DECLS
