/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How the GPUs of the machine are connected, by NVLink and PCIe, as CUPTI tells it. */

#pragma once

#include "capture/inject/cuda/engine.h"

/* Has CUPTI write its records of that, once in the life of the process. Only on the engine's own thread, as nobody knows how long
 * CUPTI takes to look at the buses of a machine. Does nothing if the loaded CUPTI has no such records, or other ones; that it
 * refuses them is not told, as nothing of the program is missing then. */
void lns_cuda_ask_topology (void);
