/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/mcp/kinds.h"

#define OF_ID(column) "(SELECT value FROM StringIds WHERE id = " column ")"
#define LABEL(table, column)                                                                       \
 "coalesce((SELECT label FROM " table " WHERE id = " column "), " column ")"

/* Calls of one table, by the column that names them. */
#define CALLS(kind_, table_, column_)                                                              \
 {                                                                                                 \
  .kind = kind_, .plural = kind_ "s", .other = "", .table = table_, .name = OF_ID (column_),       \
  .ids = { column_ },                                                                              \
 }

static const LnsMcpKind kinds[] = {
  { .kind = "kernel",
    .plural = "kernels",
    .other = "",
    .table = "CUPTI_ACTIVITY_KIND_KERNEL",
    .name = OF_ID ("demangledName"),
    .ids = { "demangledName", "shortName" },
    .is_on_device = true },
  { .kind = "copy",
    .plural = "copies",
    .other = "memcpy",
    .table = "CUPTI_ACTIVITY_KIND_MEMCPY",
    .name = LABEL ("ENUM_CUDA_MEMCPY_OPER", "copyKind"),
    .is_on_device = true,
    .has_bytes = true },
  { .kind = "memset",
    .plural = "memsets",
    .other = "",
    .table = "CUPTI_ACTIVITY_KIND_MEMSET",
    .name = "'memset'",
    .is_on_device = true,
    .has_bytes = true },
  { .kind = "graph",
    .plural = "graphs",
    .other = "CUDA graph",
    .table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    .name = "'graph ' || graphId",
    .is_on_device = true },
  { .kind = "synchronization",
    .plural = "synchronizations",
    .other = "",
    .table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    .name = LABEL ("ENUM_CUPTI_SYNC_TYPE", "syncType"),
    .is_on_device = true },
  { .kind = "range",
    .plural = "ranges",
    .other = "push/pop range,start/end range",
    .table = "NVTX_EVENTS",
    .only = "eventType IN (59, 60)",
    .name = "coalesce(text, " OF_ID ("textId") ")",
    .ids = { "textId" },
    .text = "text" },
  CALLS ("CUDA call", "CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"),
  CALLS ("OS runtime call", "OSRT_API", "nameId"),
  CALLS ("system call", "SYSCALL", "nameId"),
  CALLS ("MPI call", "MPI_P2P_EVENTS", "textId"),
  CALLS ("MPI call", "MPI_COLLECTIVES_EVENTS", "textId"),
  CALLS ("MPI call", "MPI_START_WAIT_EVENTS", "textId"),
  CALLS ("MPI call", "MPI_OTHER_EVENTS", "textId"),
  CALLS ("library call", "CUBLAS_EVENTS", "nameId"),
  CALLS ("library call", "CUDNN_EVENTS", "nameId"),
  CALLS ("library call", "LNS_CUSPARSE_EVENTS", "nameId"),
  CALLS ("library call", "LNS_CUSOLVER_EVENTS", "nameId"),
  CALLS ("compilation", "CUPTI_ACTIVITY_KIND_JIT", "nameId"),
};

const LnsMcpKind *
lns_mcp_kind_at (size_t i)
{
  return i < sizeof kinds / sizeof *kinds ? &kinds[i] : NULL;
}

bool
lns_mcp_kind_is_there (const LnsMcpKind *kind, LnsTables *tables)
{
  const LnsTable *table = lns_tables_find (tables, kind->table);
  return table != NULL && lns_tables_n_rows (tables, table) > 0;
}
