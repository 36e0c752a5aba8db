/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

/* How far the session's processes have come with CUDA. */
typedef enum
{
  LNS_CUDA_UNSEEN,    /* none has initialised it, as far as the engine saw */
  LNS_CUDA_NO_DEVICE, /* one has, and no GPU is known */
  LNS_CUDA_IDLE,      /* one has, and this report has no events of CUDA's */
  LNS_CUDA_RECORDED   /* this report has some, or says why not */
} LnsCudaState;
