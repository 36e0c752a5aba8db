/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cpu/map.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/search.h"

/* --- Modules ---------------------------------------------------------------------------------- */

static LnsModuleKind
kind_of (const char *path)
{
  if (strcmp (path, "[vdso]") == 0)
    return LNS_MODULE_VDSO;
  return path[0] == '/' && strncmp (path, "//anon", 6) != 0 &&
                 strncmp (path, "/dev/zero", 9) != 0 && strncmp (path, "/memfd:", 7) != 0
             ? LNS_MODULE_ELF
             : LNS_MODULE_ANONYMOUS;
}

static LnsCpuModule *
module_new (const LnsCpuMapping *mapping)
{
  const size_t n = strlen (mapping->path) + 1;
  LnsCpuModule *module = calloc (1, sizeof *module + n);
  if (module == NULL)
    return NULL;
  memcpy (module->path, mapping->path, n);
  module->n_refs = 1;
  module->process = mapping->head.process;
  module->kind = kind_of (mapping->path);
  module->start = mapping->start;
  module->end = mapping->end;
  /* The kernel calls the page that an anonymous mapping begins with its offset. */
  module->file_offset = module->kind == LNS_MODULE_ELF ? mapping->file_offset : 0;
  module->time_ns = mapping->head.time_ns;
  module->n_build_id = mapping->n_build_id <= sizeof module->build_id ? mapping->n_build_id : 0;
  memcpy (module->build_id, mapping->build_id, module->n_build_id);
  return module;
}

static void
module_unref (LnsCpuModule *module)
{
  if (--module->n_refs > 0)
    return;
  lns_id_map_clear (&module->frames);
  free (module);
}

/* --- Maps ------------------------------------------------------------------------------------- */

/* The first span of MAP that ends behind ADDRESS. */
static size_t
span_from (const LnsCpuMap *map, uint64_t address)
{
  return LNS_LOWER_BOUND (map->n, i, map->items[i].end <= address);
}

/* Makes room for a span at AT. */
static LnsCpuSpan *
insert (LnsCpuMap *map, size_t at)
{
  if (lns_array_try_add (map) == NULL)
    return NULL;
  memmove (&map->items[at + 1], &map->items[at], (map->n - 1 - at) * sizeof *map->items);
  return &map->items[at];
}

/* Takes what lies between START and END out of MAP. Returns where it was. */
static size_t
cut (LnsCpuMap *map, uint64_t start, uint64_t end)
{
  size_t at = span_from (map, start);
  if (at < map->n && map->items[at].start < start)
    {
      LnsCpuSpan *left = &map->items[at];
      if (left->end > end && (left = insert (map, at)) != NULL)
        {
          *left = (LnsCpuSpan){ left[1].start, start, left[1].module };
          left->module->n_refs++;
        }
      else if (left != NULL)
        left->end = start;
      at++;
    }
  size_t last = at;
  for (; last < map->n && map->items[last].end <= end; last++)
    module_unref (map->items[last].module);
  if (last < map->n && map->items[last].start < end)
    map->items[last].start = end;
  if (last > at)
    memmove (&map->items[at], &map->items[last], (map->n - last) * sizeof *map->items);
  map->n -= last - at;
  return at;
}

LnsCpuModule *
_lns_cpu_map_add (LnsCpuMap *map, const LnsCpuMapping *mapping)
{
  if (mapping->start >= mapping->end)
    return NULL;
  const size_t at = cut (map, mapping->start, mapping->end);
  LnsCpuModule *module = module_new (mapping);
  LnsCpuSpan *span = module != NULL ? insert (map, at) : NULL;
  if (span != NULL)
    *span = (LnsCpuSpan){ mapping->start, mapping->end, module };
  else if (module != NULL)
    module_unref (module);
  return span != NULL ? module : NULL;
}

void
_lns_cpu_map_inherit (LnsCpuMap *map, const LnsCpuMap *parent)
{
  for (size_t i = 0; i < parent->n; i++)
    {
      LnsCpuSpan *span = lns_array_try_add (map);
      if (span == NULL)
        return;
      *span = parent->items[i];
      span->module->n_refs++;
    }
}

void
_lns_cpu_map_clear (LnsCpuMap *map)
{
  for (size_t i = 0; i < map->n; i++)
    module_unref (map->items[i].module);
  lns_array_clear (map);
}

LnsCpuModule *
_lns_cpu_map_find (const LnsCpuMap *map, uint64_t address)
{
  const size_t at = span_from (map, address);
  return at < map->n && map->items[at].start <= address ? map->items[at].module : NULL;
}
