/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/call-maker.h"

#include <stdlib.h>

#include "src/base/memory.h"

/* Many times what a recording has. A hostile report can name a place with 10^5 inlined calls in 10^5 nodes. */
#define MAX_NODES (UINT32_C (1) << 25)

uint32_t
lns_call_maker_function (LnsCallMaker *maker, LnsCallFunction function)
{
  LnsIdMap *map = &maker->function_of[function.sort];
  const uint64_t key = (uint64_t)function.module << 32 | function.symbol;
  uint64_t found = lns_id_map_number (map, key);
  if (found == 0)
    {
      *lns_array_add (&maker->functions) = function;
      found = maker->functions.n;
      lns_id_map_set_number (map, key, found);
    }
  return (uint32_t)(found - 1);
}

bool
lns_call_maker_has_room (const LnsCallMaker *maker, size_t n)
{
  return maker->nodes.n + n <= MAX_NODES;
}

uint32_t
lns_call_maker_new_node (LnsCallMaker *maker, uint32_t parent, uint32_t function)
{
  const uint32_t node = (uint32_t)maker->nodes.n;
  LnsCallTreeNode *new = lns_array_add (&maker->nodes);
  *new = (LnsCallTreeNode){
    .parent = parent, .first_child = LNS_ID_NONE, .next_sibling = LNS_ID_NONE, .function = function
  };
  if (parent != LNS_ID_NONE)
    {
      new->next_sibling = maker->nodes.items[parent].first_child;
      maker->nodes.items[parent].first_child = node;
    }
  else
    {
      if (node > 0)
        maker->nodes.items[maker->last_root].next_sibling = node;
      maker->last_root = node;
    }
  return node;
}

uint32_t
lns_call_maker_node (LnsCallMaker *maker, uint32_t parent, uint32_t function)
{
  const uint64_t key = (uint64_t)(uint32_t)(parent + 1) << 32 | function;
  uint64_t found = lns_id_map_number (&maker->child_of, key);
  if (found == 0)
    {
      found = (uint64_t)lns_call_maker_new_node (maker, parent, function) + 1;
      lns_id_map_set_number (&maker->child_of, key, found);
    }
  return (uint32_t)(found - 1);
}

/* Finds the first function of each function's module. Each process and thread is a module of its own. */
static void
find_modules (LnsCallTree *tree)
{
  LnsIdMap firsts = { 0 }; /* 1 + function by sort and 1 + module */

  tree->first_of_module = lns_calloc (tree->n_functions, sizeof *tree->first_of_module);
  for (uint32_t i = 0; i < tree->n_functions; i++)
    {
      const LnsCallFunction *it = &tree->functions[i];
      const bool is_own = it->sort == LNS_CALL_PROCESS || it->sort == LNS_CALL_THREAD;
      const uint64_t key =
          (uint64_t)it->sort << 33 | (1 + (uint64_t)(is_own ? it->symbol : it->module));
      if (lns_id_map_number (&firsts, key) == 0)
        lns_id_map_set_number (&firsts, key, 1 + (uint64_t)i);
      tree->first_of_module[i] = (uint32_t)lns_id_map_number (&firsts, key) - 1;
    }
  lns_id_map_clear (&firsts);
}

/* Marks the nodes below others of the same function or module. Steps through the tree without a stack, because chains may be as long
 * as the file says. */
static void
mark_recursion (LnsCallTree *tree)
{
  uint32_t *n_above = lns_calloc (tree->n_functions, sizeof *n_above);
  uint32_t *n_in_module = lns_calloc (tree->n_functions, sizeof *n_in_module);
  uint32_t node = tree->n_nodes > 0 ? 0 : LNS_ID_NONE;

  while (node != LNS_ID_NONE)
    {
      LnsCallTreeNode *at = &tree->nodes[node];
      at->is_recursive = n_above[at->function]++ > 0;
      at->is_in_again = n_in_module[tree->first_of_module[at->function]]++ > 0;
      if (at->first_child != LNS_ID_NONE)
        {
          node = at->first_child;
          continue;
        }
      uint32_t next = LNS_ID_NONE;
      while (node != LNS_ID_NONE && next == LNS_ID_NONE)
        {
          n_above[tree->nodes[node].function]--;
          n_in_module[tree->first_of_module[tree->nodes[node].function]]--;
          next = tree->nodes[node].next_sibling;
          node = tree->nodes[node].parent;
        }
      node = next;
    }
  free (n_above);
  free (n_in_module);
}

void
lns_call_maker_finish (LnsCallMaker *maker, LnsCallTree *tree)
{
  tree->functions = maker->functions.items;
  tree->n_functions = (uint32_t)maker->functions.n;
  tree->nodes = maker->nodes.items;
  tree->n_nodes = (uint32_t)maker->nodes.n;
  for (unsigned sort = 0; sort < LNS_N_CALL_SORTS; sort++)
    lns_id_map_clear (&maker->function_of[sort]);
  lns_id_map_clear (&maker->child_of);
  *maker = (LnsCallMaker){ 0 };
  find_modules (tree);
  mark_recursion (tree);
}
