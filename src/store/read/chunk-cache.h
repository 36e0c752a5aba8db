/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Decoded chunks of events and nodes, the last used ones, bounded in bytes. Items are counted
 * references and never change; one that is still held elsewhere outlives its eviction. All
 * functions may be called from any thread; nothing is decoded or freed under the lock. */

#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "src/store/format/lane-kind.h"

typedef struct
{
  uint32_t lane;
  uint32_t level; /* 0 = events                                                                 */
  uint32_t index; /* of the chunk within its level                                              */
} LnsChunkKey;

/* The head of every cached thing, which is one malloc () block. */
typedef struct LnsCacheItem
{
  LnsChunkKey key;
  LnsColumnMask
      column_mask; /* what was decoded                                                     */
  size_t size_bytes;
  atomic_uint refs;
  struct LnsCacheItem *next_in_slot;
  struct LnsCacheItem *newer, *older;
} LnsCacheItem;

typedef struct LnsChunkCache LnsChunkCache;

/* NULL where memory ran out. */
LnsChunkCache *_lns_chunk_cache_new (size_t limit_bytes);
void _lns_chunk_cache_free (LnsChunkCache *cache); /* NULL is fine                              */

/* A reference to the item of KEY if it has all columns of COLUMN_MASK. Else NULL, and
 * *RET_COLUMN_MASK gets the columns that it should have to replace what is there. O(1). */
LnsCacheItem *_lns_chunk_cache_get (LnsChunkCache *cache,
                                    LnsChunkKey key,
                                    LnsColumnMask column_mask,
                                    LnsColumnMask *ret_column_mask);

/* Keeps ITEM (one more reference) in place of what has its key, and lets go of the items longest
 * unused until the limit holds. Amortised O(1). */
void _lns_chunk_cache_put (LnsChunkCache *cache, LnsCacheItem *item);

size_t _lns_chunk_cache_bytes (LnsChunkCache *cache);

void _lns_cache_item_unref (LnsCacheItem *item); /* NULL is fine                                */
