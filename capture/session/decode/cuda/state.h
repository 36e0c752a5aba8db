/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include "capture/session/decode/core/counters.h"
#include "capture/wire/buffers.h"
#include "capture/wire/cupti-clock.h"

/* The records that CUPTI left in one buffer of a killed process, up to a kind of 0, with records as long as SIZES says and
 * times of CLOCK. The process wrote all of it. */
typedef struct
{
  LnsWireCuptiSizes sizes;
  LnsWireCuptiReadings clock;
  size_t n_bytes;
  _Alignas(8) uint8_t bytes[];
} LnsSalvage;

/* How far the session's processes have got with CUDA. */
typedef enum
{
  LNS_CUDA_UNSEEN,    /* none has initialised it, as far as the engine saw */
  LNS_CUDA_NO_DEVICE, /* one has initialised it, but no GPU is known */
  LNS_CUDA_IDLE,      /* one has initialised it, but this report has no CUDA events */
  LNS_CUDA_RECORDED   /* this report has CUDA events, or says why not */
} LnsCudaState;

LnsCudaState lns_decoder_cuda_state (const LnsDecoder *decoder);
