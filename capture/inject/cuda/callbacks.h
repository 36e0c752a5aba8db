/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The callback that CUPTI calls on the program's threads when the program makes a CUDA call. */

#pragma once

#include "capture/inject/cuda/engine.h"

/* The function to subscribe with CUPTI. */
void lns_cuda_callback (void *unused,
                        CUpti_CallbackDomain domain,
                        CUpti_CallbackId cbid,
                        const void *data);
