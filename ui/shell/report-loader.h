/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Opens a report on a worker thread. */

#pragma once

#include <gio/gio.h>

#include "src/store/read/report.h"

/* Errors of this domain carry an LnsErrorDomain as their code, and the sentence of the LnsError. */
#define LNS_LOAD_ERROR (lns_load_error_quark ())
GQuark lns_load_error_quark (void);

/* How far the opening is: FRACTION is 0–1. Called on the main thread, never after the callback of
 * lns_report_load_async (). */
typedef void (*LnsLoadProgressFunc) (double fraction, gpointer data);

/* Opens FILE on a worker thread; with RECOVER a damaged report is first rebuilt into a copy under
 * the user's cache folder, and what is no report is imported into one. CALLBACK and PROGRESS (with DATA) are called on the main thread;
 * cancelling answers at once with G_IO_ERROR_CANCELLED. */
void lns_report_load_async (GFile *file,
                            gboolean recover,
                            GCancellable *cancellable,
                            LnsLoadProgressFunc progress,
                            GAsyncReadyCallback callback,
                            gpointer data);

/* The report, owned by the caller, or NULL and ERROR in LNS_LOAD_ERROR or G_IO_ERROR. */
LnsReport *lns_report_load_finish (GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;
