/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The call chains of all Python samples of a session as a tree. What is new in a chain becomes records for the decoder
 * (decode/python/samples.h). Used by one thread. */

#pragma once

#include "capture/session/python/reader.h"
#include "src/base/array.h"
#include "src/base/buffer.h"
#include "src/base/id-map.h"

typedef struct
{
  LnsIdMap texts;     /* of the tree, by hash */
  LnsIdMap functions; /* 1 + number, by name and file */
  LnsIdMap frames;    /* 1 + number, by function and line */
  LnsIdMap nodes;     /* 1 + number, by parent and frame */
  uint32_t n_texts, n_functions, n_frames, n_nodes;
  LNS_ARRAY (uint64_t) names; /* of functions: the numbers of the name and of the file << 32 */
  LnsBuffer out;              /* records that nobody has taken yet */
} LnsPythonTree;

/* Where in the tree one thread was last. Zero it before first use. */
typedef struct
{
  struct LnsPythonStep
  {
    uint32_t function, line, node;
  } * steps; /* the outermost first */
  size_t n, n_allocated;
  int64_t sampled_ns; /* the time of the last sample of the thread */
  uint64_t name;      /* hash of the thread's name that the decoder knows; 0: none */
} LnsPythonTrail;

/* The number of the function NAME in FILE (NULL: none). LNS_ID_NONE if memory is short. */
uint32_t _lns_python_tree_function (LnsPythonTree *tree, const char *name, const char *file);

/* The node of the N frames at FUNCTIONS and LINES, the outermost first. TRAIL is of its thread, and
 * makes it cheap to find what is as before. LNS_ID_NONE if memory is short. O(frames), and O(1) for each that is new */
uint32_t _lns_python_tree_node (LnsPythonTree *tree,
                                LnsPythonTrail *trail,
                                const uint32_t *functions,
                                const uint32_t *lines,
                                size_t n);

void _lns_python_trail_clear (LnsPythonTrail *trail);
void _lns_python_tree_clear (LnsPythonTree *tree);
