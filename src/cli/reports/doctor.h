/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Prints what the doctor finds. */

#pragma once

#include "src/analysis/rules/doctor.h"
#include "src/analysis/stats/table.h"

/* "info", "warning" or "error". Static. */
const char *lns_cli_severity (LnsSeverity severity);

/* What is wrong with a report: its diagnostics and the findings of the doctor. */
typedef struct
{
  LnsReport *report; /* borrowed                                                                */
  LnsFinding *findings;
  size_t n;
  uint32_t *counts; /* by string id: how many diagnostics say it, where the first of them is met */
  uint32_t *shown;  /* ids of the diagnostics that are rows                                      */
  size_t n_shown;
} LnsCliDoctor;

/* Examines REPORT; to be cleared. False and ERROR without memory or where a chunk is damaged. */
bool lns_cli_doctor_init (LnsCliDoctor *doctor, LnsReport *report, LnsError *error);
void lns_cli_doctor_clear (LnsCliDoctor *doctor);

/* The number of rows that lns_cli_doctor_write () writes. */
size_t lns_cli_doctor_n_rows (const LnsCliDoctor *doctor);

/* Writes DOCTOR (an LnsCliDoctor) as a table, the gravest first: LnsCliTableFunc. What several processes are
 * told of is one row; what another tool noted, and is no warning, is left out. */
bool lns_cli_doctor_write (void *doctor, FILE *stream, const LnsStatsStyle *style, LnsError *error);
