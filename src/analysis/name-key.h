/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What names are told apart by where those that differ by numbers alone are one: "worker 3" and "worker 12". */

#pragma once

#include "src/base/id-map.h"
#include "src/store/read/report.h"

/* The key of the name with the string ID of REPORT, without its digits and by its first 256 other bytes; 0 for ID 0. KEYS remembers
 * those that were asked for. O(size) the first time. */
uint64_t lns_name_key (LnsReport *report, LnsIdMap *keys, uint32_t id);
