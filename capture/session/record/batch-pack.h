/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Packs the records of batches that wait long, at 300 MB a second, to a tenth of their bytes or less. Times become
 * differences to the record before, bytes of the same place in each record are put together, and zstd finds what
 * repeats. */

#pragma once

#include "capture/session/record/batch.h"
#include "capture/session/record/byte-queue.h"

typedef struct LnsPacker LnsPacker;

/* Returns NULL if memory is short. A packer is used by one thread. */
LnsPacker *lns_packer_new (void);
void lns_packer_free (LnsPacker *packer); /* accepts NULL */

/* Moves the records of BATCH, packed, into QUEUE. Returns false if memory is short; the records are lost then. */
bool lns_batch_pack (LnsBatch *batch, LnsPacker *packer, LnsByteQueue *queue);

/* Moves them back; BATCH is the oldest in QUEUE. Returns false if memory is or was short. The batch's events are
 * there in any case. */
bool lns_batch_unpack (LnsBatch *batch, LnsPacker *packer, LnsByteQueue *queue);

/* The memory of BATCH outside the queue, in bytes. */
size_t lns_batch_unpacked_bytes (const LnsBatch *batch);
