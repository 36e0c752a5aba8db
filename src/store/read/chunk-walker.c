/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Chunks one after the other through one connection and one buffer. */

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/store/read/report-private.h"

struct LnsChunkWalker
{
  LnsReport *report;
  uint32_t lane;
  LnsColumnMask column_mask;
  uint32_t index;
  void *memory;
  size_t memory_bytes;
  LnsChunk chunk;
  const LnsChunk *open; /* the reference to the open event's chunk                              */
};

LnsChunkWalker *
lns_chunk_walker_new (LnsReport *report, uint32_t lane, LnsColumnMask column_mask)
{
  LnsChunkWalker *walker = lns_calloc (1, sizeof *walker);

  report = _lns_report_of (report, lane);
  walker->report = report;
  walker->lane = lane;
  walker->column_mask = _lns_lane_kind_mask (
      lane < report->n_lanes ? report->lanes[lane].kind : LNS_LANE_NONE, column_mask);
  return walker;
}

static bool
decode (LnsChunkWalker *walker, const LnsChunkReading *reading, LnsError *error)
{
  const size_t needed_bytes = _lns_chunk_columns_bytes (&reading->view, walker->column_mask);
  LnsError cause = { 0 };

  if (needed_bytes > walker->memory_bytes)
    {
      walker->memory = lns_realloc (walker->memory, needed_bytes, 1);
      walker->memory_bytes = needed_bytes;
    }
  if (!_lns_chunk_decode (&reading->view, walker->column_mask, walker->memory, &walker->chunk,
                          &cause))
    return _lns_report_file_damaged (&walker->report->file, error, "%s", cause.message);
  return true;
}

const LnsChunk *
lns_chunk_walker_next (LnsChunkWalker *walker, LnsError *error)
{
  LnsReport *report = walker->report;
  LnsChunkReading reading;

  if (walker->lane >= report->n_lanes || walker->index >= report->lanes[walker->lane].info.n_chunks)
    return NULL;
  const uint32_t index = walker->index++;
  if (index == report->lanes[walker->lane].n_chunks)
    {
      if (walker->open == NULL)
        walker->open = lns_report_chunk (report, walker->lane, index, 0, error);
      return walker->open;
    }
  /* Lent for one chunk: who merges thousands of lanes has as many walkers, and each connection is a file that is open
   * with a cache of its own. */
  LnsConnection *connection = _lns_report_file_take (&report->file, error);
  bool ok = connection != NULL &&
            _lns_report_begin_chunk (report, connection, walker->lane, 0, index, &reading, error);
  if (ok)
    {
      ok = decode (walker, &reading, error);
      _lns_report_end_chunk (&reading);
    }
  if (connection != NULL)
    _lns_report_file_give (&report->file, connection);
  return ok ? &walker->chunk : NULL;
}

void
lns_chunk_walker_seek (LnsChunkWalker *walker, uint32_t index)
{
  walker->index = index;
}

void
lns_chunk_walker_free (LnsChunkWalker *walker)
{
  if (walker == NULL)
    return;
  lns_chunk_unref (walker->open);
  free (walker->memory);
  free (walker);
}
