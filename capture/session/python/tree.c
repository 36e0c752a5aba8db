/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/tree.h"

#include <stdlib.h>
#include <string.h>

#include "capture/session/decode/python/samples.h"
#include "src/base/hash.h"
#include "src/store/format/definitions.h"

/* Programs that make more call chains than this fill memory; what they make later is left out. */
#define MOST_NODES (2u << 20)

typedef struct
{
  uint32_t number;
  char text[];
} Text;

/* Room for a record of N_BYTES, its head included. NULL if memory is short. */
static LnsPythonHead *
add_record (LnsPythonTree *tree, LnsPythonKind kind, size_t n_bytes)
{
  const size_t n_words = (n_bytes + 7) / 8;
  uint8_t *at = lns_buffer_reserve (&tree->out, n_words * 8);
  tree->out.failed = false;
  if (at == NULL)
    return NULL;
  memset (at, 0, n_words * 8);
  tree->out.size_bytes += n_words * 8;
  LnsPythonHead *head = (LnsPythonHead *)at;
  *head =
      (LnsPythonHead){ .kind = (uint16_t)kind, .n_words = (uint16_t)n_words, .time_ns = INT64_MIN };
  return head;
}

/* The number of TEXT. */
static uint32_t
text_number (LnsPythonTree *tree, const char *text)
{
  const size_t n = strlen (text) + 1;
  uint64_t key = lns_hash (text, n);
  Text *known;
  for (; (known = lns_id_map_get (&tree->texts, key)) != NULL; key++)
    if (strcmp (known->text, text) == 0)
      return known->number;
  known = malloc (sizeof *known + n);
  if (known == NULL || !lns_id_map_set (&tree->texts, key, known))
    {
      free (known);
      return LNS_ID_NONE;
    }
  LnsPythonTextRecord *record = (LnsPythonTextRecord *)add_record (
      tree, LNS_PYTHON_TEXT, offsetof (LnsPythonTextRecord, text) + n);
  if (record == NULL)
    {
      free (lns_id_map_take (&tree->texts, key));
      return LNS_ID_NONE;
    }
  memcpy (known->text, text, n);
  memcpy (record->text, text, n);
  record->number = known->number = tree->n_texts++;
  return known->number;
}

/* Notes that KEY has the number *INOUT_N in MAP. Returns false if memory is short. */
static bool
number (LnsIdMap *map, uint64_t key, uint32_t *inout_n)
{
  if (!lns_id_map_set (map, key, (void *)(uintptr_t)(1 + (uint64_t)*inout_n)))
    return false;
  ++*inout_n;
  return true;
}

uint32_t
_lns_python_tree_function (LnsPythonTree *tree, const char *name, const char *file)
{
  const uint32_t of_name = text_number (tree, name);
  const uint32_t of_file = file != NULL ? text_number (tree, file) : LNS_ID_NONE;
  if (of_name == LNS_ID_NONE || (file != NULL && of_file == LNS_ID_NONE))
    return LNS_ID_NONE;
  const uint64_t key = (uint64_t)of_file << 32 | of_name;
  const uint64_t known = lns_id_map_number (&tree->functions, key);
  if (known != 0)
    return (uint32_t)(known - 1);
  uint64_t *names = lns_array_try_add (&tree->names);
  if (names == NULL)
    return LNS_ID_NONE;
  *names = key;
  if (number (&tree->functions, key, &tree->n_functions))
    return tree->n_functions - 1;
  tree->names.n--;
  return LNS_ID_NONE;
}

static uint32_t
frame_number (LnsPythonTree *tree, uint32_t function, uint32_t line)
{
  const uint64_t key = (uint64_t)function << 32 | line;
  const uint64_t known = lns_id_map_number (&tree->frames, key);
  if (known != 0)
    return (uint32_t)(known - 1);
  const size_t size = tree->out.size_bytes;
  LnsPythonFrameRecord *record =
      (LnsPythonFrameRecord *)add_record (tree, LNS_PYTHON_FRAME, sizeof *record);
  if (record == NULL)
    return LNS_ID_NONE;
  record->function = (uint32_t)tree->names.items[function];
  record->file = (uint32_t)(tree->names.items[function] >> 32);
  record->line = line;
  record->number = tree->n_frames;
  if (number (&tree->frames, key, &tree->n_frames))
    return tree->n_frames - 1;
  tree->out.size_bytes = size;
  return LNS_ID_NONE;
}

static uint32_t
node_number (LnsPythonTree *tree, uint32_t parent, uint32_t frame)
{
  const uint64_t key = (uint64_t)parent << 32 | frame;
  const uint64_t known = lns_id_map_number (&tree->nodes, key);
  if (known != 0 || tree->n_nodes == MOST_NODES)
    return (uint32_t)(known - 1);
  const size_t size = tree->out.size_bytes;
  LnsPythonNodeRecord *record =
      (LnsPythonNodeRecord *)add_record (tree, LNS_PYTHON_NODE, sizeof *record);
  if (record == NULL)
    return LNS_ID_NONE;
  record->parent = parent;
  record->frame = frame;
  record->number = tree->n_nodes;
  if (number (&tree->nodes, key, &tree->n_nodes))
    return tree->n_nodes - 1;
  tree->out.size_bytes = size;
  return LNS_ID_NONE;
}

uint32_t
_lns_python_tree_node (LnsPythonTree *tree,
                       LnsPythonTrail *trail,
                       const uint32_t *functions,
                       const uint32_t *lines,
                       size_t n)
{
  size_t same = 0;
  while (same < n && same < trail->n && trail->steps[same].function == functions[same] &&
         trail->steps[same].line == lines[same])
    same++;
  trail->n = same;
  uint32_t node = same > 0 ? trail->steps[same - 1].node : LNS_ID_NONE;
  for (size_t i = same; i < n; i++)
    {
      const uint32_t frame = frame_number (tree, functions[i], lines[i]);
      node = frame != LNS_ID_NONE ? node_number (tree, node, frame) : LNS_ID_NONE;
      if (node == LNS_ID_NONE)
        {
          trail->n = 0;
          return LNS_ID_NONE;
        }
      if (trail->n == trail->n_allocated)
        {
          const size_t n_allocated = trail->n_allocated > 0 ? 2 * trail->n_allocated : 32;
          struct LnsPythonStep *steps = realloc (trail->steps, n_allocated * sizeof *steps);
          if (steps == NULL)
            {
              trail->n = 0;
              return LNS_ID_NONE;
            }
          trail->steps = steps;
          trail->n_allocated = n_allocated;
        }
      trail->steps[trail->n++] = (struct LnsPythonStep){ functions[i], lines[i], node };
    }
  return node;
}

void
_lns_python_trail_clear (LnsPythonTrail *trail)
{
  free (trail->steps);
  *trail = (LnsPythonTrail){ 0 };
}

void
_lns_python_tree_clear (LnsPythonTree *tree)
{
  Text *text;
  for (size_t at = 0; (text = lns_id_map_next (&tree->texts, &at)) != NULL;)
    free (text);
  lns_id_map_clear (&tree->texts);
  lns_id_map_clear (&tree->functions);
  lns_id_map_clear (&tree->frames);
  lns_id_map_clear (&tree->nodes);
  lns_array_clear (&tree->names);
  lns_buffer_clear (&tree->out);
}
