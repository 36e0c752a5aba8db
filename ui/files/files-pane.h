/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_FILES_PANE (lns_files_pane_get_type ())

/* Shows what a report holds beside events (file-tables.h): a section at a time, and source files with the samples of each line. Workers
 * read; what another section needs is given up. */
G_DECLARE_FINAL_TYPE (LnsFilesPane, lns_files_pane, LNS, FILES_PANE, AdwBin)

/* Holds a reference on VIEW. */
GtkWidget *lns_files_pane_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
