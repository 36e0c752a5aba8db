/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Walks a lane's level of detail, breadth first from its top nodes, so that chunks are read in the order of the file. The
 * visitor decides which nodes to open. */

#pragma once

#include "src/store/read/pixels.h"
#include "src/store/read/report-private.h"

typedef struct
{
  /* NODE stands for N_EVENTS events. True opens it: its children are visited later. */
  bool (*node) (void *data, const LnsNode *node, uint64_t n_events);
  /* Events FIRST … END-1 of CHUNK, of a node that was opened. */
  void (*events) (void *data, const LnsChunk *chunk, uint32_t first, uint32_t end);
  /* Event I of CHUNK, of which the part before FROM_NS does not count: in walks whose events may overlap. */
  void (*event) (void *data, const LnsChunk *chunk, uint32_t i, int64_t from_ns);
  /* An opened NODE whose children from FROM_NS on are not in the cache, in a walk that is CACHED_ONLY. */
  void (*rest) (void *data, const LnsNode *node, uint64_t n_events, int64_t from_ns);
  void *data;
  LnsColumnMask column_mask;  /* of events */
  const LnsPixelQuery *query; /* cached_only and the generations apply; or NULL */
} LnsDetailVisitor;

/* Walks the closed events of LANE. Nodes of one level, and events, are visited in ascending order. Returns false and sets
 * ERROR if a chunk is damaged or *generation is no longer the expected one. */
bool _lns_detail_walk (LnsReport *report,
                       uint32_t lane,
                       const LnsDetailVisitor *visitor,
                       LnsError *error);

/* Whether VISITOR's *generation is no longer the expected one; sets ERROR if so. */
bool _lns_detail_is_cancelled (const LnsReport *report,
                               const LnsDetailVisitor *visitor,
                               LnsError *error);
