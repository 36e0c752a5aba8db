/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What CUPTI calls when the program does something, on the program's threads. */

#pragma once

#include "capture/inject/cuda/engine.h"

/* What is subscribed with CUPTI. */
void lns_cuda_callback (void *unused,
                        CUpti_CallbackDomain domain,
                        CUpti_CallbackId cbid,
                        const void *data);
