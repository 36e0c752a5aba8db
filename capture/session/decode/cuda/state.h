/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include "capture/session/decode/core/counters.h"
#include "capture/wire/buffers.h"
#include "capture/wire/cupti-clock.h"

/* The records that CUPTI left in one buffer of a process, up to a kind of 0, with records as long as SIZES says and
 * times of CLOCK. The process wrote all of it. */
typedef struct
{
  LnsWireCuptiSizes sizes;
  LnsWireCuptiLines clock;
  uint32_t skipped_tid;  /* a thread of ours in the process; 0: none */
  uint32_t skipped_call; /* correlation of a call of ours on another thread; 0: none */
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

/* Has USED called with DATA and the bus id ("0000:3b:00.0") of each GPU on which a process makes a context, perhaps more than
 * once. Call this before the first record. */
void lns_decoder_set_gpu_used (LnsDecoder *decoder,
                               void (*used) (void *data, const char *bus),
                               void *data);

/* Does that for the N_BYTES of records at BYTES, which are defined and played later. O(records). */
void lns_decoder_look_for_gpus (const LnsDecoder *decoder, const uint8_t *bytes, size_t n_bytes);
