/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Opens a report on a worker thread. */

#pragma once

#include <gio/gio.h>
#include <stdatomic.h>

#include "src/store/read/report.h"
#include "ui/model/view-store.h"

/* Errors of this domain carry an LnsErrorDomain as their code, and the sentence of the LnsError. */
#define LNS_LOAD_ERROR (lns_load_error_quark ())
GQuark lns_load_error_quark (void);

/* What a load tells while it is under way. */
typedef struct
{
  atomic_uint permille;
  atomic_bool imports; /* FILE is not a report: it is imported into one */
} LnsLoadProgress;

/* Opens FILE, or the report that `lanescope profile` wrote in its place, on a worker thread: the caller never waits for the
 * file. RECOVER rebuilds a damaged report into a copy under the user's cache folder first; a file that is not a report is
 * imported into one. Calls CALLBACK with DATA on the main thread; if it is cancelled, at once, with G_IO_ERROR_CANCELLED.
 * Returns the progress, which may be read until then. */
const LnsLoadProgress *lns_report_load_async (GFile *file,
                                              gboolean recover,
                                              GCancellable *cancellable,
                                              GAsyncReadyCallback callback,
                                              gpointer data);

/* The report, owned by the caller, or NULL and ERROR in LNS_LOAD_ERROR or G_IO_ERROR. *RET_FILE gets the file that was
 * opened, owned by the caller, and *RET_MAY_RECOVER whether recovery has a chance, and was not tried, with one that could not be;
 * *RET_STORED how the report was left, for the caller to clear; none is set if the load was cancelled. */
LnsReport *lns_report_load_finish (GAsyncResult *result,
                                   GFile **ret_file,
                                   gboolean *ret_may_recover,
                                   LnsStoredView *ret_stored,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
