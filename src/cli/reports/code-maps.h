/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The files in which just-in-time compilers name the code that they make: a jitdump file, which they map, or the perf map
 * /tmp/perf-PID.map. Anybody may write into /tmp, and the ids of processes come back. So a file is used only if this boot of
 * the machine recorded the report, this user or root owns the file, it is no link, and it was last written while the process
 * ran. */

#pragma once

#include "src/store/read/report.h"
#include "src/symbols/symbols.h"

/* Fills RET_MODULE with the map of the code that PROCESS of REPORT made. The path, which is set in any case, is the caller's
 * to free. Returns NULL, or why the map cannot be used: a sentence without capital and full stop, not translated; static. */
const char *
lns_cli_find_code_map (LnsReport *report, uint32_t process, LnsSymbolModule *ret_module);

/* Whether this boot of this machine recorded REPORT. */
bool lns_cli_is_same_boot (const LnsReport *report);
