/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/tile-cache.h"

struct LnsTileCache
{
  GHashTable *entries; /* LnsTileKey (in the tile) → GList link in `used` */
  GQueue used;         /* of LnsTile, the latest used first */
  gsize bytes, max_bytes;
};

LnsTileCache *
lns_tile_cache_new (gsize max_bytes)
{
  LnsTileCache *self = g_new0 (LnsTileCache, 1);
  self->entries = g_hash_table_new (lns_tile_key_hash, lns_tile_key_equal);
  self->max_bytes = max_bytes;
  g_queue_init (&self->used);
  return self;
}

static void
drop (LnsTileCache *self, GList *link)
{
  LnsTile *tile = link->data;
  g_hash_table_remove (self->entries, &tile->key);
  self->bytes -= lns_tile_bytes (tile);
  g_queue_delete_link (&self->used, link);
  lns_tile_free (tile);
}

void
lns_tile_cache_free (LnsTileCache *self)
{
  if (self == NULL)
    return;
  while (self->used.head != NULL)
    drop (self, self->used.head);
  g_hash_table_unref (self->entries);
  g_free (self);
}

LnsTile *
lns_tile_cache_get (LnsTileCache *self, const LnsTileKey *key)
{
  GList *link = g_hash_table_lookup (self->entries, key);
  if (link == NULL)
    return NULL;
  g_queue_unlink (&self->used, link);
  g_queue_push_head_link (&self->used, link);
  return link->data;
}

void
lns_tile_cache_put (LnsTileCache *self, LnsTile *tile)
{
  GList *link = g_hash_table_lookup (self->entries, &tile->key);
  if (link != NULL)
    drop (self, link);
  g_queue_push_head (&self->used, tile);
  g_hash_table_insert (self->entries, &tile->key, self->used.head);
  self->bytes += lns_tile_bytes (tile);
  while (self->bytes > self->max_bytes && self->used.tail != self->used.head)
    drop (self, self->used.tail);
}

void
lns_tile_cache_forget_row (LnsTileCache *self, uint32_t row)
{
  for (GList *link = self->used.head, *next; link != NULL; link = next)
    {
      next = link->next;
      if (((LnsTile *)link->data)->key.strip.row == row)
        drop (self, link);
    }
}

void
lns_tile_cache_age (LnsTileCache *self, const int64_t *from_ns, uint32_t n_rows)
{
  for (GList *link = self->used.head; link != NULL; link = link->next)
    {
      LnsTile *tile = link->data;
      LnsTileKey next = tile->key;
      next.index++;
      if (next.strip.row < n_rows && lns_tile_origin_ns (&next) > from_ns[next.strip.row])
        tile->state = LNS_TILE_COARSE;
    }
}

void
lns_tile_cache_set_max (LnsTileCache *self, gsize max_bytes)
{
  self->max_bytes = max_bytes;
}
