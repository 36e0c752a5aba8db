/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A report without rows, which SQLite made when Lanescope was built (generate-empty-report.py). */

#pragma once

#include <stdint.h>

typedef struct
{
  int64_t offset;
  uint32_t n_bytes;
  const uint8_t *bytes;
} LnsFileRun;

/* The parts of it that are not zero, to be written in this order. The first page, which makes it a database, comes last. */
extern const LnsFileRun lns_empty_report[];
extern const unsigned lns_empty_report_n_runs;
extern const int64_t lns_empty_report_bytes; /* its size, zeros included */
