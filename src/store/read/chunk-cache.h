/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A cache of decoded chunks of events and nodes, bounded in bytes, that drops the least recently used ones. Items are
 * reference-counted and immutable, so one that is still in use outlives its eviction. Any thread may call any function.
 * Nothing is decoded or freed under the lock. */

#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "src/store/format/lane-kind.h"

typedef struct
{
  uint32_t lane;
  uint32_t level; /* 0 = events */
  uint32_t index; /* of the chunk within its level */
  uint64_t n;     /* of a lane's tail, which grows: how many events the lane has; else 0 */
} LnsChunkKey;

/* The head of every cached item, which is one malloc () block. */
typedef struct LnsCacheItem
{
  LnsChunkKey key;
  LnsColumnMask column_mask; /* the columns that were decoded */
  size_t size_bytes;
  atomic_uint refs;
  struct LnsCacheItem *next_in_slot;
  struct LnsCacheItem *newer, *older;
} LnsCacheItem;

typedef struct LnsChunkCache LnsChunkCache;

/* NULL if memory runs out. */
LnsChunkCache *_lns_chunk_cache_new (size_t limit_bytes);
void _lns_chunk_cache_free (LnsChunkCache *cache); /* NULL is fine */

/* A reference to the item of KEY if it has all columns of COLUMN_MASK. Otherwise NULL, and *RET_COLUMN_MASK gets the
 * columns to decode: those of COLUMN_MASK and those of the item, which the new one replaces. O(1). */
LnsCacheItem *_lns_chunk_cache_get (LnsChunkCache *cache,
                                    LnsChunkKey key,
                                    LnsColumnMask column_mask,
                                    LnsColumnMask *ret_column_mask);

/* Adds ITEM (and a reference to it) in place of the item with its key, and drops the least recently used items until the
 * limit holds. Amortised O(1). */
void _lns_chunk_cache_put (LnsChunkCache *cache, LnsCacheItem *item);

size_t _lns_chunk_cache_bytes (LnsChunkCache *cache);

void _lns_cache_item_unref (LnsCacheItem *item); /* NULL is fine */
