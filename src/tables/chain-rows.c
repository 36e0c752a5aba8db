/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/chain-rows.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/tables/tables-private.h"

/* ENUM_STACK_UNWIND_METHOD */
#define FRAME_POINTERS 1

enum
{
  ID,
  SYMBOL,
  MODULE,
  KERNEL_MODE,
  THUMB_CODE,
  UNRESOLVED,
  SPECIAL_ENTRY,
  ORIGINAL_IP,
  UNWIND_METHOD,
  STACK_DEPTH,
  SOURCE_FILE,
  SOURCE_LINE,
  INLINED,
  N_COLUMNS
};

static const LnsTableColumn chain_columns[N_COLUMNS] = {
  [ID] = { "id", "INTEGER", LNS_COLUMN_NOT_NULL },
  [SYMBOL] = { "symbol", "INTEGER", LNS_COLUMN_NOT_NULL },
  [MODULE] = { "module", "INTEGER", LNS_COLUMN_NOT_NULL },
  [KERNEL_MODE] = { "kernelMode", "INTEGER" },
  [THUMB_CODE] = { "thumbCode", "INTEGER" },
  [UNRESOLVED] = { "unresolved", "INTEGER" },
  [SPECIAL_ENTRY] = { "specialEntry", "INTEGER" },
  [ORIGINAL_IP] = { "originalIP", "INTEGER" },
  [UNWIND_METHOD] = { "unwindMethod", "INTEGER" },
  [STACK_DEPTH] = { "stackDepth", "INTEGER", LNS_COLUMN_NOT_NULL },
  /* Not in nsys: */
  [SOURCE_FILE] = { "sourceFile", "INTEGER" },
  [SOURCE_LINE] = { "sourceLine", "INTEGER" },
  [INLINED] = { "inlined", "INTEGER" },
};

const LnsTable _lns_chain_table = { "SAMPLING_CALLCHAINS", LNS_ROWS_CHAINS, N_COLUMNS,
                                    chain_columns, .is_optional = true };

static const LnsTableColumn call_columns[] = {
  { "id", "INTEGER", LNS_COLUMN_NOT_NULL },
  { "symbol", "INTEGER", LNS_COLUMN_NOT_NULL },
  { "module", "INTEGER", LNS_COLUMN_NOT_NULL },
  { "unresolved", "INTEGER" },
  { "originalIP", "INTEGER" },
  { "stackDepth", "INTEGER", LNS_COLUMN_NOT_NULL },
  /* Not in nsys: */
  { "sourceFile", "INTEGER" },
  { "sourceLine", "INTEGER" },
  { "inlined", "INTEGER" },
};

/* Where these columns are among those of samples. */
static const uint8_t columns_of_call[] = { ID,          SYMBOL,      MODULE,
                                           UNRESOLVED,  ORIGINAL_IP, STACK_DEPTH,
                                           SOURCE_FILE, SOURCE_LINE, INLINED };
#define N_CALL_COLUMNS (sizeof columns_of_call / sizeof *columns_of_call)
_Static_assert(sizeof call_columns / sizeof *call_columns == N_CALL_COLUMNS, "one for each");

const LnsTable _lns_call_chain_table = { "CUDA_CALLCHAINS", LNS_ROWS_CALL_CHAINS, N_CALL_COLUMNS,
                                         call_columns, .is_optional = true };

/* As those of samples; how a chain was found is not known. */
const LnsTable _lns_os_chain_table = { "OSRT_CALLCHAINS", LNS_ROWS_CALL_CHAINS, N_COLUMNS,
                                       chain_columns, .is_optional = true };

/* Python functions have no address. */
static const LnsTableColumn python_columns[] = {
  { "id", "INTEGER", LNS_COLUMN_NOT_NULL },
  { "symbol", "INTEGER", LNS_COLUMN_NOT_NULL },
  { "stackDepth", "INTEGER", LNS_COLUMN_NOT_NULL },
  { "sourceFile", "INTEGER" },
  { "sourceLine", "INTEGER" },
};
static const uint8_t columns_of_python[] = { ID, SYMBOL, STACK_DEPTH, SOURCE_FILE, SOURCE_LINE };
#define N_PYTHON_COLUMNS (sizeof columns_of_python / sizeof *columns_of_python)
_Static_assert(sizeof python_columns / sizeof *python_columns == N_PYTHON_COLUMNS, "one for each");

const LnsTable _lns_python_chain_table = { "LNS_PYTHON_CALLCHAINS", LNS_ROWS_CHAINS,
                                           N_PYTHON_COLUMNS, python_columns, .is_optional = true };

LnsLaneKind
_lns_chain_kind (const LnsTable *table)
{
  if (table->source == LNS_ROWS_CALL_CHAINS)
    return strcmp (table->name, _lns_os_chain_table.name) == 0 ? LNS_LANE_OS_CALL
                                                               : LNS_LANE_CUDA_API;
  return strcmp (table->name, _lns_python_chain_table.name) == 0 ? LNS_LANE_PYTHON_SAMPLE
                                                                 : LNS_LANE_CPU_SAMPLE;
}

const char *
_lns_chain_samples (const LnsTable *table)
{
  return _lns_chain_kind (table) == LNS_LANE_PYTHON_SAMPLE ? "LNS_PYTHON_SAMPLES"
                                                           : "COMPOSITE_EVENTS";
}

/* The address of FRAME in the process: see LnsStackFrame. */
static uint64_t
address_of (LnsReport *report, const LnsStackFrame *frame)
{
  if (frame->module == LNS_ID_NONE)
    return frame->offset;
  const LnsModule *module = &lns_report_modules (report, NULL)[frame->module];
  return module->start + (frame->offset - module->file_offset);
}

/* Puts the N_COLUMNS cells of a row of samples into RET_CELLS. */
static void
fill (
    LnsReport *report, int64_t id, const LnsStackFrame *frame, uint32_t depth, LnsValue *ret_cells)
{
  const LnsModule *module =
      frame->module != LNS_ID_NONE ? &lns_report_modules (report, NULL)[frame->module] : NULL;
  memset (ret_cells, 0, N_COLUMNS * sizeof *ret_cells);
  ret_cells[ID] = lns_value_integer (id);
  ret_cells[SYMBOL] = lns_value_integer (frame->symbol);
  ret_cells[MODULE] = lns_value_integer (module != NULL ? module->path : 0);
  if (module != NULL && module->kind == LNS_MODULE_KERNEL)
    ret_cells[KERNEL_MODE] = lns_value_integer (1);
  if (frame->is_resolved == 0)
    ret_cells[UNRESOLVED] = lns_value_integer (1);
  ret_cells[ORIGINAL_IP] = lns_value_integer ((int64_t)address_of (report, frame));
  ret_cells[UNWIND_METHOD] = lns_value_integer (FRAME_POINTERS);
  ret_cells[STACK_DEPTH] = lns_value_integer (depth);
  if (frame->file != 0)
    ret_cells[SOURCE_FILE] = lns_value_integer (frame->file);
  if (frame->line != 0)
    ret_cells[SOURCE_LINE] = lns_value_integer (frame->line);
  if (frame->inlined_in != 0)
    ret_cells[INLINED] = lns_value_integer (1);
}

void
_lns_chain_row (LnsReport *report,
                const LnsTable *table,
                int64_t id,
                const LnsStackFrame *frame,
                uint32_t depth,
                LnsValue *ret_cells)
{
  LnsValue cells[N_COLUMNS];
  const LnsLaneKind kind = _lns_chain_kind (table);
  const uint8_t *columns = kind == LNS_LANE_CUDA_API ? columns_of_call : columns_of_python;
  const bool has_all = kind == LNS_LANE_CPU_SAMPLE || kind == LNS_LANE_OS_CALL;
  fill (report, id, frame, depth, has_all ? ret_cells : cells);
  if (kind == LNS_LANE_OS_CALL)
    ret_cells[UNWIND_METHOD] = (LnsValue){ 0 };
  for (unsigned i = 0; !has_all && i < table->n_columns; i++)
    ret_cells[i] = cells[columns[i]];
}

/* How many functions the place of FRAME has. */
static uint32_t
n_functions (const LnsStackFrame *frames, const LnsStackFrame *frame)
{
  uint32_t n = 1;
  for (uint32_t at = frame->innermost; at != 0 && frames[at - 1].inlined_in != 0;
       at = frames[at - 1].inlined_in)
    n++;
  return n;
}

/* Calls EACH with DATA for each call chain, 1 + a node, of the events of KIND; 0: the event has none. */
static void
walk_chains (LnsReport *report,
             LnsLaneKind kind,
             void (*each) (void *data, uint64_t chain),
             void *data)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const int chain = lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    {
      const LnsChunk *chunk;
      if (lanes[lane].kind != kind)
        continue;
      LnsChunkWalker *walker =
          lns_chunk_walker_new (report, lane, LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN));
      while ((chunk = lns_chunk_walker_next (walker, NULL)) != NULL)
        for (uint32_t i = 0; i < chunk->n && chunk->extra[chain] != NULL; i++)
          each (data, chunk->extra[chain][i]);
      lns_chunk_walker_free (walker);
    }
}

typedef struct
{
  uint32_t n;
  const uint32_t *lengths; /* by node: of the chain that ends with it */
  uint64_t n_rows;
  bool *is_used; /* by node */
} Nodes;

static void
add_length (void *data, uint64_t chain)
{
  Nodes *nodes = data;
  nodes->n_rows += chain - 1 < nodes->n ? nodes->lengths[chain - 1] : 0;
}

static void
mark (void *data, uint64_t chain)
{
  const Nodes *nodes = data;
  if (chain - 1 < nodes->n)
    nodes->is_used[chain - 1] = true;
}

const uint32_t *
_lns_chain_nodes (LnsTables *tables, const LnsTable *table, uint32_t *ret_n)
{
  const LnsLaneKind kind = _lns_chain_kind (table);
  LnsChainNodes *chains = &tables->chain_nodes[kind];
  pthread_mutex_lock (&tables->lock);
  if (chains->nodes == NULL)
    {
      Nodes nodes = { 0 };
      lns_report_call_nodes (tables->report, &nodes.n);
      nodes.is_used = lns_calloc (nodes.n + 1u, sizeof *nodes.is_used);
      chains->nodes = lns_calloc (nodes.n + 1u, sizeof *chains->nodes);
      walk_chains (tables->report, kind, mark, &nodes);
      for (uint32_t i = 0; i < nodes.n; i++)
        if (nodes.is_used[i])
          chains->nodes[chains->n++] = i;
      free (nodes.is_used);
    }
  *ret_n = chains->n;
  pthread_mutex_unlock (&tables->lock);
  return chains->nodes;
}

uint64_t
_lns_chain_n_rows (LnsTables *tables, const LnsTable *table)
{
  Nodes sum = { 0 };
  const LnsCallNode *nodes = lns_report_call_nodes (tables->report, &sum.n);
  const LnsStackFrame *frames = lns_report_frames (tables->report, NULL);
  uint32_t n_used, *lengths = lns_calloc (sum.n, sizeof *lengths);
  for (uint32_t i = 0; i < sum.n; i++)
    lengths[i] = n_functions (frames, &frames[nodes[i].frame]) +
                 (nodes[i].parent != LNS_ID_NONE ? lengths[nodes[i].parent] : 0);
  sum.lengths = lengths;
  if (table->source == LNS_ROWS_CHAINS)
    walk_chains (tables->report, _lns_chain_kind (table), add_length, &sum);
  else
    {
      const uint32_t *used = _lns_chain_nodes (tables, table, &n_used);
      for (uint32_t i = 0; i < n_used; i++)
        sum.n_rows += lengths[used[i]];
    }
  free (lengths);
  return sum.n_rows;
}
