/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files that compute rows. */

#pragma once

#include <pthread.h>

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
  uint32_t domain; /* domain id, or LNS_ID_NONE                                                 */
  uint32_t domain_number;
  uint32_t track;
  uint32_t device, context, stream; /* CUDA's and CUPTI's numbers, 0 where it has none          */
  bool is_green;                    /* the context                                              */
  uint32_t ordinal, metric;
  int64_t track_number; /* LnsTrack.number                                                      */
} LnsTableLane;

typedef struct
{
  LnsTableLane *lanes; /* ascending by `first`                                                  */
  uint32_t n_lanes;
  uint64_t n_events;
  uint32_t *by_thread; /* positions in `lanes`, ascending by (global_tid or global_pid, position) */
} LnsTableLanes;

/* A table made of definitions: n_rows × n_columns values. */
typedef struct
{
  LnsValue *values;
  uint64_t n_rows, n_allocated;
  bool built;
  uint32_t *index[64]; /* rows ascending by the integers of a column; built when first asked for */
} LnsTableCells;

/* Where the columns of a kept table are. */
typedef struct
{
  uint32_t n_columns; /* 0 = it is not offered                                                  */
  int8_t column[LNS_KEPT_MAX_COLUMNS]; /* position in its table, or -1                          */
} LnsRemainder;

struct LnsTables
{
  LnsReport *report;
  LnsTable *all; /* n_all: lns_tables_all ()                                                     */
  unsigned n_all;
  bool *has_remainders;     /* by position of the table in `all`                                 */
  uint64_t *absent;         /* the same: bits of columns that the events' source did not have    */
  LnsRemainder *remainders; /* by LnsKeptTable                                                   */
  uint64_t *n_kept_rows;    /* by LnsKeptTable                                                   */
  bool *is_streamed;        /* by LnsKeptTable: rows are read block by block, none is held       */
  LnsPayloadDecoder *payloads;
  LnsTableLanes *lanes; /* by position of the table in `all`                                    */
  const LnsTableLanes *nvtx;
  int8_t extra[LNS_N_LANE_KINDS][LNS_N_COLUMNS]; /* lns_lane_kind_extra ()                      */
  uint64_t
      *payload_strings;     /* bitmap of string ids that are payloads; built when first asked for */
  uint64_t *hidden_strings; /* the same of those that are no rows of StringIds                    */
  uint32_t
      *strings_by_hash; /* id + 1 of texts, 1 << string_bits slots; built when first asked for */
  unsigned string_bits;
  pthread_mutex_t lock; /* over what is built when first asked for                         */
  LnsTableCells *cells; /* by position of the table in `all`                               */
  void **kept;          /* what cells and tables point to                                  */
  size_t n_kept;
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
  return lns_table_has_events (table) ? &tables->lanes[_lns_tables_position (tables, table)] : NULL;
}

/* Whether TABLE is so large that its rows are read block by block instead of being held as cells. */
bool _lns_tables_is_streamed (const LnsTables *tables, const LnsTable *table);

/* String ID as a cell. */
static inline LnsValue
_lns_string_value (LnsReport *report, uint32_t id)
{
  size_t size;
  const char *bytes = lns_report_string (report, id, &size);
  return lns_value_text (bytes, size);
}

/* A kept value as a cell; its bytes are those of the block. */
LnsValue _lns_kept_value (const LnsKeptValue *kept);

/* Makes `all`, and what remainders say of which columns. False and ERROR without memory, or where kept rows
 * are none that Lanescope writes. */
bool _lns_tables_make_all (LnsTables *tables, LnsError *error);

/* Has TABLES free POINTER (NULL: no memory) at its end. Returns it, or NULL (and has freed it). */
void *_lns_tables_own (LnsTables *tables, void *pointer);

/* The rows of TABLE that come from definitions (none for strings). Built once. NULL and ERROR
 * without memory. */
const LnsTableCells *_lns_tables_cells (LnsTables *tables, const LnsTable *table, LnsError *error);

/* The rows of TABLE's definitions ascending by COLUMN, whose values are integers (NULL first). */
const uint32_t *
_lns_tables_index (LnsTables *tables, const LnsTable *table, unsigned column, LnsError *error);

/* Fills CELLS; false without memory. Called under the lock. */
bool _lns_cells_build (LnsTables *tables, const LnsTable *table, LnsTableCells *cells);

/* Gets a bitmap with a bit set for each string id that is a typed payload's bytes and no text.
 * Reads the payload columns of all lanes, once. False and ERROR without memory or where a chunk is
 * damaged. */
bool _lns_tables_payload_strings (LnsTables *tables, const uint64_t **ret_bitmap, LnsError *error);

/* Gets a bitmap with a bit set for each string id that is no row of StringIds: payloads and the report's
 * metadata. Reads the names of all lanes, once. False and ERROR likewise. */
bool _lns_tables_hidden_strings (LnsTables *tables, const uint64_t **ret_bitmap, LnsError *error);
