/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/export/code.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/id-map.h"
#include "src/tables/call-chain.h"

/* Ids of kept chains are small numbers. */
#define MOST_CHAINS (INT64_C (1) << 27)

typedef struct
{
  LnsReport *report;
  LNS_ARRAY (LnsStackFrame) frames;
  LNS_ARRAY (LnsCallNode) nodes;
  LNS_ARRAY (LnsModule) modules;
  LNS_ARRAY (uint32_t) node_of;
  LnsIdMap frame_ids;  /* 1 + frame by module << 32 | symbol, + 1 */
  LnsIdMap node_ids;   /* 1 + node by (1 + parent) << 32 | frame */
  LnsIdMap module_ids; /* 1 + module by the string of its path */
} Maker;

/* The module at PATH (a string id; 0 = none), or LNS_ID_NONE. */
static uint32_t
find_module (Maker *maker, uint32_t path)
{
  if (path == 0)
    return LNS_ID_NONE;
  uint64_t id = lns_id_map_number (&maker->module_ids, path);
  if (id == 0)
    {
      const bool is_kernel =
          strcmp (lns_report_string (maker->report, path, NULL), "[kernel.kallsyms]") == 0;
      *lns_array_add (&maker->modules) =
          (LnsModule){ .process = LNS_ID_NONE,
                       .kind = is_kernel ? LNS_MODULE_KERNEL : LNS_MODULE_ELF,
                       .path = path,
                       .end = 1,
                       .mapped_ns = LNS_TIME_UNKNOWN };
      lns_id_map_set_number (&maker->module_ids, path, id = maker->modules.n);
    }
  return (uint32_t)(id - 1);
}

static uint32_t
find_frame (Maker *maker, const LnsCallFrame *frame)
{
  const uint64_t key = 1 + ((uint64_t)frame->module << 32 | frame->symbol);
  uint64_t id = lns_id_map_number (&maker->frame_ids, key);
  if (id == 0)
    {
      /* A function that is not known is called by its module, by its place in it, or by a bare address, which would be a
       * function of its own. */
      const char *symbol = lns_report_string (maker->report, frame->symbol, NULL);
      const bool is_address = strncmp (symbol, "0x", 2) == 0;
      *lns_array_add (&maker->frames) =
          (LnsStackFrame){ .module = find_module (maker, frame->module),
                           .symbol =
                               is_address && frame->module != 0 ? frame->module : frame->symbol,
                           .is_resolved = frame->symbol != frame->module && !is_address &&
                                          strstr (symbol, "+0x") == NULL };
      lns_id_map_set_number (&maker->frame_ids, key, id = maker->frames.n);
    }
  return (uint32_t)(id - 1);
}

/* The node of FRAME below PARENT, which may be LNS_ID_NONE. */
static uint32_t
find_node (Maker *maker, uint32_t parent, uint32_t frame)
{
  const uint64_t key = (uint64_t)(uint32_t)(parent + 1) << 32 | frame;
  uint64_t id = lns_id_map_number (&maker->node_ids, key);
  if (id == 0)
    {
      *lns_array_add (&maker->nodes) = (LnsCallNode){ .parent = parent, .frame = frame };
      lns_id_map_set_number (&maker->node_ids, key, id = maker->nodes.n);
    }
  return (uint32_t)(id - 1);
}

static bool
add_chain (void *data, int64_t id, const LnsCallFrame *frames, size_t n)
{
  Maker *maker = data;
  uint32_t node = LNS_ID_NONE;
  if (id <= 0 || id > MOST_CHAINS)
    return true; /* no sample can have it */
  for (size_t i = n; i > 0; i--)
    node = find_node (maker, node, find_frame (maker, &frames[i - 1]));
  while (maker->node_of.n < (uint64_t)id)
    *lns_array_add (&maker->node_of) = LNS_ID_NONE;
  maker->node_of.items[id - 1] = node;
  return true;
}

void
lns_export_code_list (LnsReport *report, LnsExportCode *ret_code)
{
  Maker maker = { .report = report };

  *ret_code = (LnsExportCode){ 0 };
  ret_code->nodes = lns_report_call_nodes (report, &ret_code->n_nodes);
  ret_code->frames = lns_report_frames (report, &ret_code->n_frames);
  ret_code->modules = lns_report_modules (report, &ret_code->n_modules);
  if (ret_code->n_nodes > 0)
    return;
  const bool good = lns_call_chain_each (report, lns_call_chain_table (LNS_LANE_CPU_SAMPLE),
                                         add_chain, &maker, &ret_code->failure);
  lns_id_map_clear (&maker.frame_ids);
  lns_id_map_clear (&maker.node_ids);
  lns_id_map_clear (&maker.module_ids);
  if (good && maker.node_of.n > 0)
    {
      *ret_code = (LnsExportCode){ .frames = maker.frames.items,
                                   .nodes = maker.nodes.items,
                                   .modules = maker.modules.items,
                                   .n_frames = (uint32_t)maker.frames.n,
                                   .n_nodes = (uint32_t)maker.nodes.n,
                                   .n_modules = (uint32_t)maker.modules.n,
                                   .node_of = maker.node_of.items,
                                   .n_chains = (uint32_t)maker.node_of.n };
      return;
    }
  lns_array_clear (&maker.frames);
  lns_array_clear (&maker.nodes);
  lns_array_clear (&maker.modules);
  lns_array_clear (&maker.node_of);
}

void
lns_export_code_clear (LnsExportCode *code)
{
  if (code->node_of != NULL)
    {
      free ((void *)code->frames);
      free ((void *)code->nodes);
      free ((void *)code->modules);
      free (code->node_of);
    }
  *code = (LnsExportCode){ 0 };
}
