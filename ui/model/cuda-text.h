/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names of CUDA's enumeration values. They are CUDA's own names, the same in every language, and static. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/store/read/report.h"

/* CUpti_ActivityMemcpyKind: "HtoD"; LNS_FACET_MEMSET: "Memset". */
const char *lns_cuda_copy_kind_name (uint32_t kind);

/* CUpti_ActivityMemoryKind: "pinned". */
const char *lns_cuda_memory_kind_name (uint32_t kind);

/* CUpti_ActivityMemoryOperationType, or …PoolOperationType where IS_POOL. */
const char *lns_cuda_operation_name (uint32_t operation, bool is_pool);

/* What a call answered, where that is no success: "cudaErrorMemoryAllocation (2)"; NULL for success.
 * KIND is the track's: CUDA API or a CUDA library. IS_RUNTIME: of CUDA API, the runtime's. Owned by
 * the caller. */
char *lns_cuda_result_text (LnsTrackKind kind, bool is_runtime, int64_t result);

/* What an API call is for. */
typedef enum
{
  LNS_CUDA_CALL_LAUNCH,
  LNS_CUDA_CALL_MEMORY,
  LNS_CUDA_CALL_SYNC,
  LNS_CUDA_CALL_OTHER
} LnsCudaCallKind;

/* The GPUs of REPORT that have a name, each once, although each process may have its own description of it. The caller owns the array;
 * its items, const LnsCudaDevice, are the report's. */
GPtrArray *lns_cuda_devices (LnsReport *report) G_GNUC_WARN_UNUSED_RESULT;

LnsCudaCallKind lns_cuda_call_kind (const char *name, size_t size_bytes);
const char *lns_cuda_call_kind_name (LnsCudaCallKind kind); /* translated */
