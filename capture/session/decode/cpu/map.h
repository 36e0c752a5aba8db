/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The code that a process has mapped. A module is shared by all processes that inherit it, so all maps that may share one
 * are used by the same thread. */

#pragma once

#include "capture/session/decode/core/core.h"
#include "capture/session/decode/cpu/cpu.h"

/* Shared by all processes that have it from the one that mapped it. */
typedef struct
{
  unsigned n_refs;
  uint32_t process;
  LnsModuleKind kind;
  uint64_t start, end, file_offset;
  int64_t time_ns;
  uint8_t n_build_id, build_id[20];
  uint32_t unwind_file; /* 1 + the number of an unwinder's; 0: it has none yet (unwinding.h) */
  LnsReportRef ref;
  LnsIdMap frames; /* of the report of `ref`: 1 + id, by address */
  char path[];
} LnsCpuModule;

/* A stretch of addresses that belongs to a module: the whole, or what later mappings left of it. */
typedef struct
{
  uint64_t start, end;
  LnsCpuModule *module;
} LnsCpuSpan;

/* What one process has mapped, ascending by address. */
typedef struct
{
  LnsCpuSpan *items;
  size_t n, n_allocated;
} LnsCpuMap;

/* Maps what MAPPING says in place of what was there, and returns its module. If memory is short, it is left out: NULL. */
LnsCpuModule *_lns_cpu_map_add (LnsCpuMap *map, const LnsCpuMapping *mapping);

/* Gives MAP, which is empty, what PARENT has. */
void _lns_cpu_map_inherit (LnsCpuMap *map, const LnsCpuMap *parent);
void _lns_cpu_map_clear (LnsCpuMap *map);

/* The module in which ADDRESS is, or NULL. */
LnsCpuModule *_lns_cpu_map_find (const LnsCpuMap *map, uint64_t address);
