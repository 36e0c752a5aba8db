/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Packs the records of batches that wait long, at 300 MB a second, to a tenth of their bytes or less. Times become
 * differences to the record before, bytes of the same place in each record are put together, and zstd finds what
 * repeats. */

#pragma once

#include "capture/session/record/batch.h"

typedef struct LnsPacker LnsPacker;

/* Returns NULL if memory is short. A packer is used by one thread. */
LnsPacker *lns_packer_new (void);
void lns_packer_free (LnsPacker *packer); /* accepts NULL */

/* Packs the records of BATCH. Returns false if memory is short; the records are lost then. */
bool lns_batch_pack (LnsBatch *batch, LnsPacker *packer);

/* Unpacks them. Returns false if memory is short: then the last records are lost. */
bool lns_batch_unpack (LnsBatch *batch, LnsPacker *packer);

/* The memory that BATCH takes, packed or not, in bytes. */
size_t lns_batch_held_bytes (const LnsBatch *batch);
