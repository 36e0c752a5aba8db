/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Stores projected NVTX ranges (projection.h) as lanes: a track for each stream and domain, and one for all streams of a context and
 * domain, whose lanes nest as the ranges do. They are in a derived file (FORMAT.md), whose lanes
 * lns_report_attach () adds to the report that the file was made from. */

#pragma once

#include "src/store/read/report.h"

/* The version of the projection. A file of another version is replaced. */
#define LNS_PROJECTION_VERSION 1

/* The projected ranges of REPORT, from their file in FOLDER (made where it is missing) or worked out and
 * written there. Owned by the caller, until it is attached. NULL and ERROR where a chunk of REPORT is damaged, where
 * FOLDER cannot be written to, or cancelled (CANCEL may be NULL).
 * RET_PERMILLE (may be NULL) gets the progress. Blocks; call it on a worker thread. O(what lns_projection_by_stream ()
 * takes + ranges × their depth). */
LnsReport *lns_projection_open (LnsReport *report,
                                const char *folder,
                                const atomic_bool *cancel,
                                atomic_uint *ret_permille,
                                LnsError *error) __attribute__ ((warn_unused_result));
