/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Pairs kernels with the calls that launched them. Replaces: a join of kernels and calls by process and correlation.
 * Kernels whose call was not recorded are left out. */

#pragma once

#include "src/store/read/report.h"

typedef struct
{
  int64_t call_start_ns, call_end_ns;
  int64_t start_ns, end_ns;
  uint32_t call_name, name; /* string ids                                                        */
  uint32_t launch;          /* LnsCudaLaunch id                                                  */
  uint32_t thread;          /* thread instance of the call                                       */
  uint32_t device;          /* device id, or LNS_ID_NONE                                         */
  uint32_t process;         /* process instance                                                  */
  uint32_t lane;            /* the kernel: an event of this lane                                 */
  uint32_t ordinal;         /* fits wherever the launches do                                     */
  uint64_t correlation;
} LnsLaunch;

/* The launches of REPORT: RET_LAUNCHES (to be freed) gets RET_N by thread, then by start of the call, then of the
 * kernel. Of calls with one correlation the outermost counts. CANCEL may be NULL. False and ERROR where a chunk is
 * damaged, or cancelled. O(n log n) in time, 40 bytes a call and 72 a kernel. */
bool lns_launches (LnsReport *report,
                   const atomic_bool *cancel,
                   LnsLaunch **ret_launches,
                   size_t *ret_n,
                   LnsError *error);

/* The first of N LAUNCHES whose call is of THREAD and does not start before START_NS. O(log n). */
size_t lns_launches_from (const LnsLaunch *launches, size_t n, uint32_t thread, int64_t start_ns);
