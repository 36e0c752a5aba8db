/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How the GPUs of a report's machine are connected. */

#pragma once

#include "src/store/read/report.h"

/* Prints a line for each GPU's link to PCIe, and for each pair of devices with NVLink. Prints nothing if the report does not tell
 * that. */
void lns_cli_print_topology (LnsReport *report);
