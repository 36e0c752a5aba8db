/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The descent through a lane's level of detail, breadth first from its top nodes, so that the
 * chunks of a level are read in the order of the file. What a node means is the visitor's. */

#pragma once

#include "src/store/read/report-private.h"

typedef struct
{
  /* NODE stands for N_EVENTS events. True opens it: its children are visited later. */
  bool (*node) (void *data, const LnsNode *node, uint64_t n_events);
  /* Events FIRST … END-1 of CHUNK, of a node that was opened. */
  void (*events) (void *data, const LnsChunk *chunk, uint32_t first, uint32_t end);
  /* Event I of CHUNK, of which nothing before FROM_NS counts: of walks whose events may overlap. */
  void (*event) (void *data, const LnsChunk *chunk, uint32_t i, int64_t from_ns);
  /* Where an opened node's children are not in the cache and the walk is to be CACHED_ONLY: NODE
   * has to stand for those from FROM_NS on. */
  void (*rest) (void *data, const LnsNode *node, uint64_t n_events, int64_t from_ns);
  void *data;
  LnsColumnMask
      column_mask; /* of events                                                            */
  bool cached_only;
  const atomic_uint *generation; /* or NULL                                                     */
  unsigned expected_generation;
} LnsDetailVisitor;

/* Walks the closed events of LANE; nodes of one level, and events, ascend. False and ERROR where a
 * chunk is damaged or *generation is no longer the expected one. */
bool _lns_detail_walk (LnsReport *report,
                       uint32_t lane,
                       const LnsDetailVisitor *visitor,
                       LnsError *error);

/* Whether VISITOR's *generation is no longer the expected one, which fills ERROR. */
bool _lns_detail_is_cancelled (const LnsReport *report,
                               const LnsDetailVisitor *visitor,
                               LnsError *error);
