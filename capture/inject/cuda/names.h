/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names from CUPTI and the driver, each written once. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The registered string of the kernel's name at ADDRESS, which is written with its address. O(1). */
uint32_t lns_cuda_kernel_name (const char *address);

/* The registered string of a function's name; 0 if CUPTI does not know it. O(1). */
uint32_t lns_cuda_call_name (bool is_runtime, uint32_t cbid);

/* The bus id of DEVICE, or "" if it is not known yet. */
const char *lns_cuda_bus (uint32_t device);

/* Asks the driver for the bus ids that are not known yet. Called by the control thread alone. */
void lns_cuda_learn_buses (void);

/* Tells the session that the process has made a context on DEVICE, once, and as soon as the bus id is known. */
void lns_cuda_tell_used (uint32_t device);
