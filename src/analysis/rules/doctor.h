/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Examines a report for missing data and unreliable clocks. Findings add to the diagnostics that were written while it was
 * recorded, and do not repeat them. Each finding says what to do.
 *
 *   LNS-DOCTOR-001   CUDA was asked for, but nothing of it was recorded
 *   LNS-DOCTOR-002   a process began work on a GPU, but nothing of what the GPU did was recorded
 *   LNS-DOCTOR-003   graphs are recorded as a whole; their kernels are not known
 *   LNS-DOCTOR-004   events are lost
 *   LNS-DOCTOR-005   work began on a GPU before its call
 *   LNS-DOCTOR-006   the processor's clock did not run steadily
 *   LNS-DOCTOR-007   the system's time was set
 *   LNS-DOCTOR-008   there are no events
 *   LNS-DOCTOR-009   there are no events, because --keep held them in memory and lanescope was killed
 *   LNS-DOCTOR-010   MPI was asked for, but nothing of it was recorded
 *   LNS-DOCTOR-011   the report could not be written completely
 *   LNS-DOCTOR-012   the imported file has no events */

#pragma once

#include "src/store/read/report.h"

typedef struct
{
  const char *code; /* static                                                                   */
  LnsSeverity severity;
  uint32_t process; /* instance, or LNS_ID_NONE                                                 */
  char text[320];   /* UTF-8, a sentence: what was found and what to do                         */
} LnsFinding;

/* Examines REPORT: RET_FINDINGS (to be freed; NULL where there are none) gets RET_N, the gravest first.
 * False and ERROR where a chunk is damaged. O(lanes): only a sample of their events is read. Any thread. */
bool
lns_doctor_examine (LnsReport *report, LnsFinding **ret_findings, size_t *ret_n, LnsError *error);

/* Whether something that was asked for is missing, as the N FINDINGS or the report's own diagnostics say.
 * O(diagnostics). */
bool lns_doctor_lacks_data (LnsReport *report, const LnsFinding *findings, size_t n);
