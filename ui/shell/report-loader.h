/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Opens a report on a worker thread. */

#pragma once

#include <gio/gio.h>
#include <stdatomic.h>

#include "src/store/read/report.h"

/* Errors of this domain carry an LnsErrorDomain as their code, and the sentence of the LnsError. */
#define LNS_LOAD_ERROR (lns_load_error_quark ())
GQuark lns_load_error_quark (void);

/* Opens FILE on a worker thread. RECOVER rebuilds a damaged report into a copy under the user's cache folder first; a file
 * that is not a report is imported into one. Calls CALLBACK with DATA on the main thread; if it is cancelled, at once, with
 * G_IO_ERROR_CANCELLED. Returns the progress, which may be read until then. */
const atomic_uint *lns_report_load_async (GFile *file,
                                          gboolean recover,
                                          GCancellable *cancellable,
                                          GAsyncReadyCallback callback,
                                          gpointer data);

/* The report, owned by the caller, or NULL and ERROR in LNS_LOAD_ERROR or G_IO_ERROR. */
LnsReport *lns_report_load_finish (GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;
