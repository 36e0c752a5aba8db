/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes and imports an export with a few rows of each table about the operating system, GPU
 * metrics and MPI. */

#pragma once

#include "src/store/read/report.h"

/* The report, to be closed; ends the program where it cannot be made. */
LnsReport *system_fixture_open (void);
