/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gio/gio.h>

#include "src/store/lns-report.h"

G_BEGIN_DECLS

#define LNS_TYPE_DIAGNOSTICS_MODEL (lns_diagnostics_model_get_type ())

/* The diagnostics of a report as a list of LnsDiagnosticItem, worst first and else in their order.
 * Items are made when asked for. */
G_DECLARE_FINAL_TYPE (LnsDiagnosticsModel, lns_diagnostics_model, LNS, DIAGNOSTICS_MODEL, GObject)

#define LNS_TYPE_DIAGNOSTIC_ITEM (lns_diagnostic_item_get_type ())
G_DECLARE_FINAL_TYPE (LnsDiagnosticItem, lns_diagnostic_item, LNS, DIAGNOSTIC_ITEM, GObject)

/* REPORT must outlive the model. */
LnsDiagnosticsModel *lns_diagnostics_model_new (LnsReport *report) G_GNUC_WARN_UNUSED_RESULT;

/* Owned by the report. */
const LnsDiagnostic *lns_diagnostic_item_get (LnsDiagnosticItem *self);

G_END_DECLS
