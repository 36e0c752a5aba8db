/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/tables-private.h"

int64_t
lns_tables_global_pid (const LnsTables *tables, uint32_t process)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (tables->report, &n);

  return process < n ? (int64_t)((uint64_t)processes[process].machine << 48 |
                                 (uint64_t)(processes[process].pid & 0xFFFFFF) << 24)
                     : 0;
}

int64_t
lns_tables_global_tid (const LnsTables *tables, uint32_t thread)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (tables->report, &n);

  if (thread >= n)
    return 0;
  int32_t tid = threads[thread].tid != 0 ? threads[thread].tid : threads[thread].target_tid;
  return lns_tables_global_pid (tables, threads[thread].process) | (tid & 0xFFFFFF);
}
