/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gio/gio.h>

#include "src/analysis/rules/doctor.h"

/* A problem of a report: a diagnostic, or a finding of the doctor. Texts are as in the report. */
typedef struct
{
  const char *code;
  const char *text;
  LnsSeverity severity;
  int64_t time_ns;  /* LNS_TIME_UNKNOWN = of the whole session                                  */
  uint32_t process; /* or LNS_ID_NONE                                                           */
} LnsDiagnosticRow;

#define LNS_TYPE_DIAGNOSTIC_ITEM (lns_diagnostic_item_get_type ())
G_DECLARE_FINAL_TYPE (LnsDiagnosticItem, lns_diagnostic_item, LNS, DIAGNOSTIC_ITEM, GObject)

/* Lists the diagnostics of REPORT as LnsDiagnosticItems, the most severe first, otherwise in the report's order. The
 * report must outlive the items. */
GListStore *lns_diagnostics_new (LnsReport *report) G_GNUC_WARN_UNUSED_RESULT;

/* Appends the N FINDINGS of the doctor to LIST. They must outlive the items. */
void lns_diagnostics_append (GListStore *list, const LnsFinding *findings, size_t n);

/* Owned by the item; its texts belong to the report or the findings. */
const LnsDiagnosticRow *lns_diagnostic_item_get (LnsDiagnosticItem *self);
