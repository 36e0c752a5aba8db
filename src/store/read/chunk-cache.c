/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/read/chunk-cache.h"

#include <pthread.h>
#include <stdlib.h>

#define N_SLOTS 4096 /* a power of two; 128 MiB are some 2,000–5,000 chunks */

struct LnsChunkCache
{
  pthread_mutex_t lock; /* held for a few pointer moves, never across a read or free */
  size_t limit_bytes;
  size_t held_bytes;
  LnsCacheItem *newest, *oldest;
  LnsCacheItem *slots[N_SLOTS];
};

LnsChunkCache *
_lns_chunk_cache_new (size_t limit_bytes)
{
  LnsChunkCache *cache = calloc (1, sizeof *cache);

  if (cache == NULL)
    return NULL;
  pthread_mutex_init (&cache->lock, NULL);
  cache->limit_bytes = limit_bytes;
  return cache;
}

void
_lns_cache_item_unref (LnsCacheItem *item)
{
  if (item != NULL && atomic_fetch_sub_explicit (&item->refs, 1, memory_order_acq_rel) == 1)
    free (item);
}

void
_lns_chunk_cache_free (LnsChunkCache *cache)
{
  if (cache == NULL)
    return;
  for (LnsCacheItem *item = cache->newest, *older; item != NULL; item = older)
    {
      older = item->older;
      _lns_cache_item_unref (item);
    }
  pthread_mutex_destroy (&cache->lock);
  free (cache);
}

/* The pointer to the item of KEY, or the place where it would go. */
static LnsCacheItem **
slot_of (LnsChunkCache *cache, LnsChunkKey key)
{
  uint64_t hash = ((uint64_t)key.lane << 32 | key.index) * UINT64_C (0x9E3779B97F4A7C15) +
                  key.level * UINT64_C (0xC2B2AE3D27D4EB4F) + key.n * UINT64_C (0x165667B19E3779F9);
  LnsCacheItem **slot = &cache->slots[hash >> 40 & (N_SLOTS - 1)];

  while (*slot != NULL && ((*slot)->key.lane != key.lane || (*slot)->key.level != key.level ||
                           (*slot)->key.index != key.index || (*slot)->key.n != key.n))
    slot = &(*slot)->next_in_slot;
  return slot;
}

static void
unlink_from_list (LnsChunkCache *cache, LnsCacheItem *item)
{
  *(item->newer != NULL ? &item->newer->older : &cache->newest) = item->older;
  *(item->older != NULL ? &item->older->newer : &cache->oldest) = item->newer;
}

static void
link_as_newest (LnsChunkCache *cache, LnsCacheItem *item)
{
  item->newer = NULL;
  item->older = cache->newest;
  *(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = item;
  cache->newest = item;
}

/* Removes the item at SLOT and prepends it to the list *DROPPED, linked by next_in_slot. */
static void
drop (LnsChunkCache *cache, LnsCacheItem **slot, LnsCacheItem **dropped)
{
  LnsCacheItem *item = *slot;

  *slot = item->next_in_slot;
  unlink_from_list (cache, item);
  cache->held_bytes -= item->size_bytes;
  item->next_in_slot = *dropped;
  *dropped = item;
}

LnsCacheItem *
_lns_chunk_cache_get (LnsChunkCache *cache,
                      LnsChunkKey key,
                      LnsColumnMask column_mask,
                      LnsColumnMask *ret_column_mask)
{
  *ret_column_mask = column_mask;
  pthread_mutex_lock (&cache->lock);
  LnsCacheItem *item = *slot_of (cache, key);
  if (item != NULL && (column_mask & ~item->column_mask) != 0)
    {
      *ret_column_mask |= item->column_mask;
      item = NULL;
    }
  if (item != NULL)
    {
      atomic_fetch_add_explicit (&item->refs, 1, memory_order_relaxed);
      unlink_from_list (cache, item);
      link_as_newest (cache, item);
    }
  pthread_mutex_unlock (&cache->lock);
  return item;
}

void
_lns_chunk_cache_put (LnsChunkCache *cache, LnsCacheItem *item)
{
  LnsCacheItem *dropped = NULL;

  pthread_mutex_lock (&cache->lock);
  LnsCacheItem **slot = slot_of (cache, item->key);
  if (*slot != NULL)
    {
      drop (cache, slot, &dropped);
      slot = slot_of (cache, item->key);
    }
  atomic_fetch_add_explicit (&item->refs, 1, memory_order_relaxed);
  item->next_in_slot = NULL;
  *slot = item;
  link_as_newest (cache, item);
  cache->held_bytes += item->size_bytes;
  while (cache->held_bytes > cache->limit_bytes && cache->oldest != item)
    drop (cache, slot_of (cache, cache->oldest->key), &dropped);
  pthread_mutex_unlock (&cache->lock);

  while (dropped != NULL)
    {
      LnsCacheItem *next = dropped->next_in_slot;
      _lns_cache_item_unref (dropped);
      dropped = next;
    }
}

size_t
_lns_chunk_cache_bytes (LnsChunkCache *cache)
{
  pthread_mutex_lock (&cache->lock);
  size_t held_bytes = cache->held_bytes;
  pthread_mutex_unlock (&cache->lock);
  return held_bytes;
}
