/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the files that compute rows share. */

#pragma once

#include <pthread.h>
#include <string.h>

#include "src/base/array.h"
#include "src/tables/payload.h"
#include "src/tables/tables.h"
#include "src/store/format/kept-codec.h"

/* A lane as part of a table. What all of its rows share is looked up once. */
typedef struct
{
  uint32_t lane;
  LnsLaneKind kind;
  uint64_t first; /* rows of the table before its own                                           */
  uint64_t n_events;
  int64_t global_tid; /* 0 where its events name their threads                                  */
  int64_t global_pid;
  const LnsTrack *track;
  int64_t domain_number;
  uint32_t device, context, stream; /* CUDA's and CUPTI's numbers, 0 where it has none          */
  int64_t gpu;                      /* TARGET_INFO_GPU.id, 0 where it has no device             */
  bool is_green;                    /* the context                                              */
  uint32_t ordinal;
} LnsTableLane;

typedef struct
{
  LnsTableLane *lanes; /* ascending by `first`                                                  */
  uint32_t n_lanes;
  uint64_t n_events;
  uint32_t *by_thread; /* positions in `lanes`, ascending by (global_tid or global_pid, position) */
} LnsTableLanes;

/* A table made of definitions: n × n_columns values. */
typedef struct
{
  LnsValue *values;
  uint64_t n_rows, n_allocated;
  bool built;
  uint64_t mixed; /* bits of columns with values other than integers and NULL, of a kept table */
  uint32_t *index[64]; /* rows ascending by the integers of a column; built when first asked for */
} LnsTableCells;

/* What belongs to one table of the report. */
typedef struct
{
  LnsTableLanes lanes; /* of a table of events                                                  */
  LnsTableCells cells;
  bool has_remainders; /* a kept table has more about its events                                */
  uint64_t absent;     /* bits of columns that the events' source did not have                  */
} LnsTableContents;

/* What belongs to one LnsKeptTable. */
typedef struct
{
  uint32_t n_columns; /* 0 = it is not offered                                                  */
  int8_t column[LNS_KEPT_MAX_COLUMNS]; /* position in its table, or -1                          */
  uint64_t n_rows;
  bool is_streamed; /* rows are read block by block, none is held                               */
} LnsTableKept;

/* Those of _lns_chain_nodes (). */
typedef struct
{
  uint32_t *nodes; /* NULL at first */
  uint32_t n;
} LnsChainNodes;

struct LnsTables
{
  LnsReport *report;
  LnsTable *all; /* n_all: lns_tables_all ()                                                    */
  unsigned n_all;
  LnsTableContents *contents; /* by position of the table in `all`                              */
  LnsTableKept *kept;         /* by LnsKeptTable                                                */
  uint64_t
      n_chain_rows[LNS_N_LANE_KINDS]; /* by _lns_chain_kind (): 1 + the rows of the table;    */
                                      /* 0 = not counted yet; atomic                       */
  LnsChainNodes chain_nodes[LNS_N_LANE_KINDS]; /* by _lns_chain_kind (); under the lock         */
  bool is_import; /* from another program's file                                                 */
  LnsPayloadDecoder *payloads;
  const LnsTableLanes *nvtx;
  int8_t extra[LNS_N_LANE_KINDS][LNS_N_COLUMNS]; /* lns_lane_kind_extra ()                      */
  LNS_ARRAY (void *) owned;                      /* memory of cells and tables                  */

  pthread_mutex_t lock;      /* over what follows and cells, built when first asked for         */
  uint64_t *payload_strings; /* bitmap of string ids that are payloads                          */
  uint64_t *hidden_strings;  /* the same of those that are no rows of StringIds                 */
  uint32_t *strings_by_hash; /* id + 1 of texts, 1 << string_bits slots                         */
  unsigned string_bits;
};

/* The position in `all` of TABLE, which may be one of lns_table_all ().                          */
static inline size_t
_lns_tables_position (const LnsTables *tables, const LnsTable *table)
{
  unsigned n;
  const LnsTable *common = lns_table_all (&n);
  return (size_t)(table >= common && table < common + n ? table - common : table - tables->all);
}

/* The lanes of TABLE, or NULL where it has none. */
static inline const LnsTableLanes *
_lns_tables_lanes (const LnsTables *tables, const LnsTable *table)
{
  return lns_table_has_events (table)
             ? &tables->contents[_lns_tables_position (tables, table)].lanes
             : NULL;
}

/* Whether TABLE is so large that its rows are read block by block instead of being held as cells. */
bool _lns_tables_is_streamed (const LnsTables *tables, const LnsTable *table);

/* The key by which `by_thread` is sorted. */
static inline int64_t
_lns_table_lane_key (const LnsTableLane *lane)
{
  return lane->global_tid != 0 ? lane->global_tid : lane->global_pid;
}

/* The 32 or 64 bits that CELL has of the struct at RECORD; 32 bits are unsigned. */
static inline int64_t
_lns_cell_field (const LnsCell *cell, const void *record)
{
  const char *at = (const char *)record + cell->argument;
  uint32_t narrow;
  int64_t wide;

  if (cell->n_bits == 64)
    {
      memcpy (&wide, at, sizeof wide);
      return wide;
    }
  memcpy (&narrow, at, sizeof narrow);
  return narrow;
}

/* String ID as a cell. */
static inline LnsValue
_lns_string_value (LnsReport *report, uint32_t id)
{
  size_t size;
  const char *bytes = lns_report_string (report, id, &size);
  return lns_value_text (bytes, size);
}

/* The same, NULL for 0. */
static inline LnsValue
_lns_string_or_null (LnsReport *report, uint32_t id)
{
  return id != 0 ? _lns_string_value (report, id) : (LnsValue){ 0 };
}

/* Whether DEVICE is the first of DEVICES that is its GPU, and TARGET_INFO_GPU.id of that GPU: CUDA's number, unless
 * processes number their GPUs in different ways. O(device). */
bool _lns_tables_is_gpu (const LnsCudaDevice *devices, uint32_t device);
int64_t _lns_tables_gpu_id (const LnsCudaDevice *devices, uint32_t device);

/* A kept value as a cell; its bytes are those of the block. */
LnsValue _lns_kept_value (const LnsKeptValue *kept);

/* Has TABLES free POINTER at its end. Returns it. */
static inline void *
_lns_tables_own (LnsTables *tables, void *pointer)
{
  return *lns_array_add (&tables->owned) = pointer;
}

/* The rows of TABLE that come from definitions (none for strings). Built once. */
const LnsTableCells *_lns_tables_cells (LnsTables *tables, const LnsTable *table);

/* The rows of TABLE's definitions ascending by COLUMN, whose values are integers (NULL first). */
const uint32_t *_lns_tables_index (LnsTables *tables, const LnsTable *table, unsigned column);

/* Appends to CELLS the rows of TABLE that come from definitions, or those that the report keeps. Called under the lock. */
void _lns_cells_build (LnsTables *tables, const LnsTable *table, LnsTableCells *cells);
void _lns_kept_cells_build (LnsTables *tables, const LnsTable *table, LnsTableCells *cells);

/* A bitmap with a bit set for each string id that is not a row of StringIds: payloads and the report's metadata.
 * The first call reads the names of all lanes. NULL and ERROR where a chunk is damaged. */
const uint64_t *_lns_tables_hidden_strings (LnsTables *tables, LnsError *error);
