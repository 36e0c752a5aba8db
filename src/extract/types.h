/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How the files of this house are called, and written: for places (src/export/place.h). */

#pragma once

#include "src/export/sink.h"
#include "src/extract/extract.h"

extern const LnsExportType _lns_extract_rep, _lns_extract_html;
