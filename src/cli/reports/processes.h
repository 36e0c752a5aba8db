/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The processes of a report, for `lanescope info`. */

#pragma once

#include "src/store/read/report.h"

/* Prints them to stdout, each below the one that started it, and how many threads there are. If there are many, those that have
 * the same name and were started by the same one, or by those of one line, are one line. */
void lns_cli_print_processes (LnsReport *report);
